"""Shapes as tuples of sizes, and what permutations and sums make of them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad.uop.uop import UOp

    Shape = tuple[int | UOp, ...]


class SymbolicShape(tuple[Any, ...]):
    """A shape with sizes that are nodes, which are printed as expressions.

    Example:
        >>> SymbolicShape((UOp.variable("n", 1, 8) * 2 + 1, 3))
        (n*2+1, 3)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        # not simplified: a bound variable would be its value of today
        sizes = [repr(size) if isinstance(size, int) else size.render(simplify=False) for size in self]
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def shape_of_sizes(sizes: "Sequence[int | UOp]") -> "Shape":
    """Return sizes as a shape."""
    for size in sizes:
        if not isinstance(size, int):
            return SymbolicShape(sizes)
    return tuple(sizes)


def permuted_shape(shape: "Shape", axes: tuple[int, ...]) -> "Shape":
    """Return the shape of a PERMUTE."""
    return type(shape)([shape[axis] for axis in axes])


def reduced_shape(shape: "Shape", axes: tuple[int, ...]) -> "Shape":
    """Return the shape of a REDUCE_AXIS."""
    sizes = [*shape]
    for axis in axes:
        sizes[axis] = 1
    return tuple(sizes) if type(shape) is tuple else shape_of_sizes(sizes)
