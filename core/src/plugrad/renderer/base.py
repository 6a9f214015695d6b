"""Define the interface of renderers: linear programs in, source out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugrad.target import Capabilities
from plugrad.uop import UOp

if TYPE_CHECKING:
    from plugrad.uop import PatternMatcher


class Renderer:
    """Turns linear programs into the source of one target.

    Needs no device, and pickles, so that kernels render in other processes and on other machines.

    Attributes:
        capabilities: what the target can do; all that codegen knows of it.
        extra_rules: rewrites that codegen applies after its own, when only the order is left to decide: they
            say with one op what this target does better with another, one that `capabilities` allow.
    """

    capabilities: Capabilities
    extra_rules: "PatternMatcher | None" = None

    def render(self, uops: Sequence[UOp], name: str) -> str:
        """Return the source of the linear program `uops` as a kernel called `name`.

        Sources stand before their users; dtypes and ops are those that `capabilities` allow. The arguments of
        a launch are the buffers by slot (PARAM), then the scalars in the order of their names (DEFINE_VAR). A
        buffer that the kernel writes overlaps no other, so pointers may be `restrict`. Vectors in memory are
        aligned to their elements only.
        """
        raise NotImplementedError(f"{type(self).__name__} has no render")
