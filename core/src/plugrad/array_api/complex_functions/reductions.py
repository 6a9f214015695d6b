"""Sums, products and other reductions of complex numbers: `plugrad.array_api` says what the functions do."""

import math

from plugrad.array_api import reductions as real_reductions
from plugrad.array_api.complex_functions.operands import AnyDType, joined
from plugrad.array_api.complexes.array import Array, Complex, as_complex
from plugrad.array_api.complexes.dtypes import ComplexDType
from plugrad.array_api.reductions import Axis
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.complex_formulas import pairs
from plugrad.tensor.complex_formulas.pairs import Pair
from plugrad.tensor.shapes import fixed_shape, one_axis, several

__all__ = ["FUNCTIONS"]


def _in(x: Array, dtype: AnyDType | None, what: str) -> Complex:
    """Return what is reduced in the dtype that was asked for."""
    if dtype is None:
        return as_complex(x)
    if not isinstance(dtype, ComplexDType):
        raise DtypeError(f"{what} of complex numbers as {dtype!r:.60}. Pass complex64 or complex128.")
    return as_complex(x).cast(dtype)


def sum(x: Array, /, *, axis: Axis = None, dtype: AnyDType | None = None, keepdims: bool = False) -> Complex:
    parts = _in(x, dtype, "sum").parts()
    return Complex.of_parts(*(part.sum(axis, keepdims) for part in parts))


def mean(x: Complex, /, *, axis: Axis = None, keepdims: bool = False) -> Complex:
    return Complex.of_parts(*(part.mean(axis, keepdims) for part in x.parts()))


def prod(x: Array, /, *, axis: Axis = None, dtype: AnyDType | None = None, keepdims: bool = False) -> Complex:
    z = _in(x, dtype, "prod")
    shape = fixed_shape(z.shape, "prod")
    axes = set(range(z.ndim) if axis is None else [one_axis(each, z.ndim, "prod") for each in several(axis)])
    others = [each for each in range(z.ndim) if each not in axes]
    kept, count = [shape[each] for each in others], math.prod(shape[each] for each in axes)
    real, imag = (part.permute(*others, *sorted(axes)).reshape(*kept, count) for part in z.parts())
    out = [1 if each in axes else size for each, size in enumerate(shape)] if keepdims else kept
    return Complex.of_parts(*(part.reshape(tuple(out)) for part in _product((real, imag), count)))


def _product(z: Pair, count: int) -> Pair:
    """Return the products along the last axis: of halves, until one is left."""
    if not count:
        real, imag = (part.sum(-1) for part in z)
        return real + 1, imag
    while count > 1:
        half = count // 2
        left, right = ((z[0][..., at : at + half], z[1][..., at : at + half]) for at in (0, half))
        real, imag = pairs.multiplied(left, right)
        if count % 2:
            real, imag = real.cat(z[0][..., -1:], axis=-1), imag.cat(z[1][..., -1:], axis=-1)
        # each step in memory, or the last one would be an expression of all elements
        z, count = (real.contiguous(), imag.contiguous()), half + count % 2
    return z[0][..., 0] * 1, z[1][..., 0] * 1


def cumulative_sum(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: AnyDType | None = None,
    include_initial: bool = False,
) -> Complex:
    parts = _in(x, dtype, "cumulative_sum").parts()
    return Complex.of_parts(
        *(real_reductions.cumulative_sum(p, axis=axis, include_initial=include_initial) for p in parts)
    )


def cumulative_prod(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: AnyDType | None = None,
    include_initial: bool = False,
) -> Complex:
    z = _in(x, dtype, "cumulative_prod")
    along = one_axis(real_reductions.only_axis(z.real, axis, "cumulative_prod"), z.ndim, "cumulative_prod")
    count = fixed_shape(z.shape, "cumulative_prod")[along]
    real, imag = (part.movedim(along, 0) for part in z.parts())
    step = 1
    while step < count:
        before = _shifted(real, step, 1.0), _shifted(imag, step, 0.0)
        real, imag = (part.contiguous() for part in pairs.multiplied((real, imag), before))
        step *= 2
    if include_initial:
        real, imag = _after(real, 1, 1.0), _after(imag, 1, 0.0)
    return Complex.of_parts(real.movedim(0, along) * 1, imag.movedim(0, along) * 1)


def _shifted(x: Tensor, step: int, first: float) -> Tensor:
    return _after(x[:-step], step, first)


def _after(x: Tensor, count: int, first: float) -> Tensor:
    """Return `x` after as many rows of one number."""
    shape = (count, *fixed_shape(x.shape, "cumulative_prod")[1:])
    return Tensor.full(shape, first, dtype=x.dtype, device=x.device).cat(x, axis=0)


def all(x: Complex, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    return real_reductions.all(x != 0, axis=axis, keepdims=keepdims)


def any(x: Complex, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    return real_reductions.any(x != 0, axis=axis, keepdims=keepdims)


def count_nonzero(x: Complex, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    return real_reductions.count_nonzero(x != 0, axis=axis, keepdims=keepdims)


def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Complex:
    given = {"x": x, "prepend": prepend, "append": append}
    names = [name for name, array in given.items() if array is not None]
    wide = dict(zip(names, joined([given[name] for name in names]), strict=True))  # pyright: ignore
    parts = [{name: array.parts()[side] for name, array in wide.items()} for side in (0, 1)]
    return Complex.of_parts(*(real_reductions.diff(p.pop("x"), axis=axis, n=n, **p) for p in parts))


#: The functions.
FUNCTIONS = (sum, mean, prod, cumulative_sum, cumulative_prod, all, any, count_nonzero, diff)
