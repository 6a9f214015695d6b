"""Numbers that are attributes and methods at once: `Tensor.size` and `Tensor.nbytes`.

The size is NumPy's number of elements, which gives PyTorch's shape when called.
"""

from typing import Any, NoReturn

from plugrad.errors import ShapeError
from plugrad.tensor.shapes import Shape, is_static, one_axis, product, show


class ByteCount(int):
    """A callable number of bytes: an attribute in NumPy and PyTorch, a method in tinygrad.

    Example:
        >>> count = ByteCount(8)
        >>> count, count()
        (8, 8)
    """

    def __call__(self) -> int:
        """Return the number."""
        return int(self)


class Size(int):
    """A number of elements that knows the shape they are in.

    Example:
        >>> size = size_of_shape((3, 4))
        >>> size, size(), size(-1)
        (12, (3, 4), 4)
    """

    _shape: Shape

    def __new__(cls, shape: tuple[int, ...]) -> "Size":
        """Return the size of a shape."""
        self = super().__new__(cls, product(shape))
        self._shape = shape
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (self._shape,)

    def __call__(self, axis: int | None = None, *, dim: int | None = None) -> Any:
        """Return the shape, or the size of one axis, which PyTorch calls `dim`.

        Raises:
            AxisError: there is no such axis.
        """
        return _size_along(self._shape, axis if dim is None else dim)


class UnknownSize:
    """The number of elements of a symbolic shape: unknown, but it still returns the shape."""

    __slots__ = ("_shape",)

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    def __call__(self, axis: int | None = None, *, dim: int | None = None) -> Any:
        """Return the shape, or the size of one axis, as `Size` does."""
        return _size_along(self._shape, axis if dim is None else dim)

    def __repr__(self) -> str:
        return f"<size of the symbolic shape {show(self._shape)}>"

    def __index__(self) -> NoReturn:
        raise ShapeError(
            f"size: the shape {show(self._shape)} is symbolic, and its number of elements not known. Use "
            "numel(), or the variable's value."
        )


def size_of_shape(shape: Shape) -> Any:
    """Return the size of a shape, a number where its sizes are."""
    sizes: Any = shape
    return Size(sizes) if is_static(shape) else UnknownSize(shape)


def _size_along(shape: Shape, axis: int | None) -> Any:
    return shape if axis is None else shape[one_axis(axis, len(shape), "size: axis")]
