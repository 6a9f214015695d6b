"""Arguments and results of functions as trees: their tensors in order, and a key of everything else."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, cast

from plugrad._frozen import frozen
from plugrad.errors import JitError
from plugrad.tensor import Tensor
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

__all__ = ["Leaf", "Leaves", "collect", "rebuild"]


@frozen
class Leaf:
    """The place of tensor number `index` in a tree that is kept without its tensors."""

    index: int


class Leaves:
    """What `collect` found: tensors and bound variables, in order."""

    __slots__ = ("tensors", "variables")

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.variables: list[UOp] = []


def collect(value: Any, leaves: Leaves) -> Hashable:
    """Add the tensors and bound variables of a tree to `leaves`, and return a key of everything else.

    Looks into lists, tuples and dicts. Other values are part of the key: by value where their
    class compares values (numbers, texts, enums, frozen dataclasses), else as the object that they are.

    Raises:
        JitError: a value is not hashable.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, Tensor):
        leaves.tensors.append(value)
        return Tensor
    if kind is float:
        # 0.0 equals -0.0, and NaN nothing
        return kind, value.hex()
    if isinstance(value, (list, tuple)):
        return kind, *[collect(item, leaves) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return kind, *[(collect(key, leaves), collect(item, leaves)) for key, item in items]
    if kind is UOp and value.op is Ops.BIND:
        leaves.variables.append(value)
        return UOp
    try:
        hash(value)
    except TypeError as error:
        raise JitError(
            f"a jitted function got or returned {value!r:.80} ({kind.__name__}), which is not hashable, so a "
            "call with another one could not be told apart. Pass a Tensor, or a hashable value."
        ) from error
    # 1, 1.0 and True are equal and not the same
    return kind, value


def rebuild(value: Any, tensors: Iterator[Any]) -> Any:
    """Return a tree in which each tensor, or Leaf, is the next one of `tensors`."""
    if isinstance(value, (Tensor, Leaf)):
        return next(tensors)
    if isinstance(value, (list, tuple)):
        items = [rebuild(item, tensors) for item in cast("list[Any]", value)]
        kind: Any = type(cast("object", value))
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value).items()
        return {key: rebuild(item, tensors) for key, item in pairs}
    return value
