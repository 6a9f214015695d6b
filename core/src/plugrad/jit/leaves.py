"""The tensors and bound variables among arguments and results, and a key of everything else."""

from collections.abc import Hashable
from typing import Any

from plugrad.errors import JitError
from plugrad.tensor import Tensor
from plugrad.tree import freeze
from plugrad.uop import Ops, UOp


class Leaves:
    """Tensors and bound variables of trees, in order."""

    __slots__ = ("tensors", "variables")

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.variables: list[UOp] = []

    def collect(self, tree: Any) -> Hashable:
        """Collect the tensors and bound variables of a tree; return a key of the rest.

        Other leaves are part of the key: by value where their class compares values (numbers, texts, enums,
        frozen dataclasses), else as the object that they are.

        Raises:
            JitError: a leaf is not hashable.
        """
        return freeze(self._key, tree)

    def _key(self, leaf: Any) -> Hashable:
        kind: Any = type(leaf)  # pyright: ignore[reportUnknownVariableType]
        if isinstance(leaf, Tensor):
            self.tensors.append(leaf)
            return Tensor
        if kind is float:
            # 0.0 equals -0.0, and NaN nothing
            return kind, leaf.hex()
        if kind is UOp and leaf.op is Ops.BIND:
            self.variables.append(leaf)
            return UOp
        try:
            hash(leaf)
        except TypeError as error:
            raise JitError(
                f"a jitted function got or returned {leaf!r:.80} ({kind.__name__}), which is not hashable, "
                "so a call with another one could not be told apart. Pass a Tensor, or a hashable value."
            ) from error
        # 1, 1.0 and True are equal and not the same
        return kind, leaf
