"""Axes, joins, products of matrices, and elements by position or value, of complex numbers.

`plugrad.array_api` says what the functions do.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from plugrad.array_api import creation, manipulation, searching
from plugrad.array_api.checks import checked
from plugrad.array_api.complex_functions.operands import joined
from plugrad.array_api.complexes.array import Array, Complex
from plugrad.array_api.complexes.operands import bilinear
from plugrad.array_api.searching import UniqueAll, UniqueCounts, UniqueInverse
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import fixed_shape

__all__ = ["FUNCTIONS"]


def _by_parts(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of one array for complex ones: it does the same with both parts."""
    of_reals = checked(function)

    # its arguments are checked once for each part
    def apply(x: Any, *args: Any, **keywords: Any) -> Any:
        if isinstance(x, Tensor):
            raise DtypeError(
                f"{function.__name__}: complex numbers are for its first argument only. Take real(x) of the "
                "others first."
            )
        if not isinstance(x, Complex):
            # no array: the check says so
            return of_reals(x, *args, **keywords)
        real, imag = (of_reals(part, *args, **keywords) for part in x.parts())
        if issubclass(type(real), tuple):
            return tuple(Complex.of_parts(*side) for side in zip(real, imag, strict=True))
        return Complex.of_parts(real, imag)

    apply.__name__ = apply.__qualname__ = function.__name__
    return apply


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Complex:
    return _joined(manipulation.concat, arrays, axis=axis)


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Complex:
    return _joined(manipulation.stack, arrays, axis=axis)


def _joined(function: Callable[..., Tensor], arrays: Sequence[Array], **keywords: Any) -> Complex:
    parts = zip(*(x.parts() for x in joined(list(arrays))), strict=True)
    return Complex.of_parts(*(function(list(each), **keywords) for each in parts))


def broadcast_arrays(*arrays: Array) -> list[Array]:
    return _each(manipulation.broadcast_arrays, arrays)


def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> list[Array]:
    return _each(creation.meshgrid, arrays, indexing=indexing)


def _each(function: Callable[..., list[Tensor]], arrays: tuple[Array, ...], **keywords: Any) -> list[Array]:
    """Return what a function makes of each array: of two parts where there are two."""
    reals = function(*(x.real if isinstance(x, Complex) else x for x in arrays), **keywords)
    imags = function(*(x.imag if isinstance(x, Complex) else x for x in arrays), **keywords)
    return [
        Complex.of_parts(real, imag) if isinstance(x, Complex) else real
        for x, real, imag in zip(arrays, reals, imags, strict=True)
    ]


def matmul(x1: Array, x2: Array, /) -> Complex:
    return bilinear(x1, x2, manipulation.matmul)


def tensordot(x1: Array, x2: Array, /, *, axes: "int | Sequence[Sequence[int]]" = 2) -> Complex:
    return bilinear(x1, x2, lambda one, other: manipulation.tensordot(one, other, axes=axes))


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Complex:
    left = Complex.of_parts(x1.real, -x1.imag) if isinstance(x1, Complex) else x1
    return bilinear(left, x2, lambda one, other: manipulation.vecdot(one, other, axis=axis))


def nonzero(x: Complex, /) -> tuple[Tensor, ...]:
    return searching.nonzero(x != 0)


def unique_all(x: Complex, /) -> UniqueAll:
    count = math.prod(fixed_shape(x.shape, "unique_all"))
    flat = Complex.of_parts(x.real.flatten(), x.imag.flatten())
    # by real parts, and by imaginary ones where these are equal; both keep what is equal in its order
    order = flat.imag.argsort()
    order = order[flat.real[order].argsort()]
    ordered = flat[order]
    if not count:
        return UniqueAll(ordered, order, order.reshape(x.shape), order)  # pyright: ignore
    is_new = Tensor([True], device=x.device).cat(ordered[1:] != ordered[:-1])
    starts = is_new.nonzero().flatten()
    ends = starts[1:].cat(Tensor([count], dtype=starts.dtype, device=x.device))
    inverse = order.zeros_like().scatter(0, order, (is_new.cumsum() - 1).cast(order.dtype))
    values: Any = ordered[starts]
    return UniqueAll(values, order[starts], inverse.reshape(x.shape), ends - starts)


def unique_counts(x: Complex, /) -> UniqueCounts:
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Complex, /) -> UniqueInverse:
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Complex, /) -> Complex:
    values: Any = unique_all(x).values
    return values


_OF_PARTS = (
    *(manipulation.broadcast_to, manipulation.expand_dims, manipulation.flip, manipulation.matrix_transpose),
    *(manipulation.moveaxis, manipulation.permute_dims, manipulation.repeat, manipulation.reshape),
    *(manipulation.roll, manipulation.squeeze, manipulation.take, manipulation.take_along_axis),
    *(manipulation.tile, manipulation.unstack, creation.tril, creation.triu),
)

#: The functions.
FUNCTIONS = (
    *(concat, stack, broadcast_arrays, meshgrid, matmul, tensordot, vecdot),
    *(nonzero, unique_all, unique_counts, unique_inverse, unique_values),
    *map(_by_parts, _OF_PARTS),
)
