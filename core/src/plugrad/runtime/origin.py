"""Record the origin of a buffer: a line of the user's program, and a shape."""

import os
import sys
from types import CodeType

from plugrad._frozen import frozen

# frames of files below this folder are plugrad's own
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

#: The label of buffers in which the intermediate values of one schedule lie.
ARENA = "intermediate values"
#: The label of buffers that hold what a jitted function computes once for all replays.
CONSTANT = "computed once by jit"


@frozen
class CallSite:
    """A line of the user's program, looked up only when it is shown."""

    code: CodeType
    instruction: int

    @property
    def line(self) -> int:
        """The number of the line."""
        for start, end, line in self.code.co_lines():
            if start <= self.instruction < end and line is not None:
                return line
        return self.code.co_firstlineno

    def __str__(self) -> str:
        """Return `file:line in function`."""
        return f"{self.code.co_filename}:{self.line} in {self.code.co_qualname}"


@frozen
class Origin:
    """The line and the shape that a buffer was made for.

    Attributes:
        shape: of the value in it.
        site: the line that asked for it; None where no line of a user did.
    """

    shape: tuple[int, ...]
    site: CallSite | None

    def __str__(self) -> str:
        """Return the line."""
        return "" if self.site is None else str(self.site)


def call_site() -> CallSite | None:
    """Return the innermost running line outside of plugrad, or None.

    Example:
        >>> call_site().code.co_name
        '<module>'
    """
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - what `logging` and `warnings` use as well
    while frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return CallSite(frame.f_code, frame.f_lasti)
