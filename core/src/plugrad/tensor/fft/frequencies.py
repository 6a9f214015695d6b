"""Fourier transforms along the last axis, without a divisor, of pairs and of real numbers.

Where loops run, a length of 16 to 4096 without prime factors above 13 takes one kernel. Others that are
products of numbers up to 64 take one matrix product for each of some factors, those that take least time
together: 2 products for 256, 3 for 4096, 4 for a million. Prime lengths up to 256 are one
product too, and longer ones for many rows; what else has larger prime factors is a convolution of at least
twice the length. A symbolic length, whose factors vary, is taken for a prime one: what it is at most says
which of these ways.

Source: Cooley and Tukey 1965, "An algorithm for the machine calculation of complex Fourier series"; Bluestein
1970, "A linear filtering approach to the computation of discrete Fourier transform".
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes
from plugrad.schedule.prepare.lower_complex import join_parts
from plugrad.tensor.base import Tensor
from plugrad.tensor.lookup import size_beside
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import Dim
from plugrad.uop import UOp, add_sizes, greatest
from plugrad.uop.ops import FourierArg

_RADIX = 64
# Products in the time of one more step through memory, for each number, and how much dearer those are whose
# rows are no whole vectors: a million numbers take 1.1 ms a step, and 0.9, 1.5 and 3 ms by factors of 8, 16
# and 32 (Zen 4, 512 bits).
_STEP = 48
_LANES = 16
_RAGGED = 1.5
_DIRECT = 256
# Sizes whose transforms are one kernel, as numbers and roots stay in near memory; the largest factor, the
# time of a step beside that of its factor, and that of factors whose numbers registers do not hold.
_SHORTEST, _LONGEST = 16, 4096
_BUTTERFLY = 13
_THROUGH_CACHE = 8
_HELD, _SPILLED = 8, 1.5
# Making a cosine takes as long as multiplying by it for so many rows.
_ROWS_TO_MAKE = 75
# A convolution takes the time of so many multiplications for each element: of grids, and where its transforms
# are one kernel each (500 rows of 509 take 4.8 ms, and 7.5 by all cosines; 12 and 26 of 1009).
_CONVOLVED = 4000
_CONVOLVED_IN_LOOPS = 800


def frequencies(x: Tensor, sign: int, axis: int = -2, parts: int = -1) -> Tensor:
    """Return the Fourier transform along one axis, in the same shape.

    Numbers are pairs along another axis.

    Frequency k is the sum of `exp(sign * 2j * pi * j * k / n) * x[j]`. Axes are numbered from the end.
    """
    size = x.shape[axis]
    pairs = x.movedim((axis, parts), (-2, -1))
    if not isinstance(size, int):
        is_short = greatest(size) <= _DIRECT
        found = _by_matrix(pairs, sign) if is_short else _by_convolution(pairs, sign)
        return found.movedim((-2, -1), (axis, parts))
    found = _by_products(pairs, size, sign).movedim((-2, -1), (axis, parts))
    if not (factors := factors_of(size)):
        return found
    rule = _InOneKernel(FourierArg(sign, factors, axis, parts))
    roots = _roots(x, factors, sign).expand(*pairs.shape).movedim((-2, -1), (axis, parts))
    return x._like(found._graph.dispatch(rule, x._graph, roots._graph))


@frozen
class _InOneKernel:
    """The rule for devices with loops, which have a kernel for all steps."""

    arg: FourierArg

    def __call__(self, device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp | None:
        x, roots = inputs
        return x.fourier(roots, self.arg) if runs_loops else None


def _first_where_loops_run(device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp | None:
    return inputs[0] if runs_loops else None


@lru_cache(maxsize=1024)
def factors_of(size: int) -> tuple[int, ...]:
    """Return the factors whose steps are one kernel; none where there is no such kernel.

    Those come first that have most vectors of later steps whole.

    Example:
        >>> [factors_of(n) for n in (256, 1000, 1024, 127, 8192)]
        [(8, 8, 4), (8, 5, 5, 5), (8, 8, 4, 4), (), ()]
    """
    found = _cheapest_factors(size)[1] if _SHORTEST <= size <= _LONGEST else ()
    return tuple(sorted(found, key=lambda factor: (-(factor & -factor), -factor)))


@lru_cache(maxsize=1024)
def _cheapest_factors(size: int) -> tuple[float, tuple[int, ...]]:
    if size == 1:
        return 0, ()
    choices: list[tuple[float, tuple[int, ...]]] = [(math.inf, ())]
    for factor in (f for f in range(2, _BUTTERFLY + 1) if size % f == 0):
        cost, others = _cheapest_factors(size // factor)
        own = factor if factor <= _HELD else _SPILLED * factor
        choices.append((own + _THROUGH_CACHE + cost, (factor, *others)))
    cost, factors = min(choices)
    return cost, factors if cost < math.inf else ()


def _roots(x: Tensor, factors: tuple[int, ...], sign: int) -> Tensor:
    """Return the factors between the steps, in the order of the steps: (n, 2).

    A step with `factor`, behind which `rest` are left of `size = done * factor * rest`, has those of
    `k * place * done / size` of a circle, for k from 1 below the factor and each place below the rest.
    """
    size = math.prod(factors)
    number = count_up(x, size)
    parts = number.zeros_like()
    done, rest, here = 1, size, number
    for factor in factors[:-1]:
        rest //= factor
        parts = (here < 0).where(parts, (here // rest + 1) * (here % rest) * done)
        here = here - (factor - 1) * rest
        done *= factor
    cosine, sine = circle(parts, size, x.dtype)
    return in_memory(cosine.stack(sine * sign, axis=-1))


def _by_products(x: Tensor, size: int, sign: int) -> Tensor:
    radix = _radix(size)
    if radix == size:
        return _by_matrix(x, sign)
    if radix == 1:
        if not _is_direct(x, size, 2):
            return _by_convolution(x, sign)
        found = by_symmetry(x, sign)
        if _is_direct(x, size, 2, _CONVOLVED_IN_LOOPS):
            return found
        return x._like(found._graph.dispatch(_first_where_loops_run, _by_convolution(x, sign)._graph))
    # element i = first * (size / radix) + second gives frequency k = low + radix * high
    others = x.shape[:-2]
    rest = size // radix
    x = _by_matrix(x.reshape(*others, radix, rest, 2).transpose(-3, -2), sign)
    second, low = count_up(x, rest).unsqueeze(-1), count_up(x, radix)
    x = in_memory(turned_by(x, second * low, size, sign))
    x = frequencies(x.transpose(-3, -2), sign)
    return x.transpose(-3, -2).reshape(*others, size, 2)


def half_frequencies(x: Tensor) -> Tensor:
    """Return the transform of (..., n) real numbers without its mirror: (..., n//2+1, 2)."""
    size: Any = x.shape[-1]
    radix = _radix(size)
    if size <= _RADIX or (radix == 1 and _is_direct(x, size, 1)):
        return half_by_matrices(x)
    if size % 2 == 0:
        parts = x.reshape(*x.shape[:-1], size // 2, 2).transpose(-1, -2)
        return _half_from_neighbours(in_memory(frequencies(parts, -1, -1, -2)), size)
    whole = frequencies(x.stack(x.zeros_like(), axis=-1), -1)
    return interval(whole, x.ndim - 1, 0, size // 2 + 1)


def mirrored(half: Tensor, axis: int, count: Any) -> Tensor:
    """Return the frequencies of `count` real numbers, completing conjugate pairs along an axis."""
    return conjugate(interval(half, axis, 1, (count + 1) // 2).flip(axis))


def resized(x: Tensor, axis: int, size: Dim) -> Tensor:
    """Return `size` elements along an axis: cut off, or with zeros behind."""
    have = x.shape[axis]
    if have is size:
        return x
    if not (isinstance(have, int) and isinstance(size, int)):
        room = max(greatest(have), greatest(size))
        widths = [(0, add_sizes(room, -have) if at == axis else 0) for at in range(x.ndim)]
        return interval(x.pad(widths), axis, 0, size)
    if size <= have:
        return interval(x, axis, 0, size)
    return x.pad_to(*[size if at == axis else None for at in range(x.ndim)])


def _is_direct(x: Tensor, size: int, parts: int, convolved: int = _CONVOLVED) -> bool:
    """Say whether products with all cosines and sines cost less than a convolution."""
    rows = math.prod(map(greatest, x.shape)) // size // parts
    return size <= _DIRECT or parts * size * (rows + _ROWS_TO_MAKE) <= convolved * rows


def _by_matrix(x: Tensor, sign: int) -> Tensor:
    """Return the transform as one product with a (2n, 2n) matrix of cosines and sines."""
    shape: Any = x.shape
    size: Any = shape[-2]
    place = count_up(x, size)
    whole = size_beside(x, size, place.dtype)
    cosine, sine = circle(place.unsqueeze(-1) * place % whole, whole, x.dtype)
    cosine, sine = (part.reshape(size, 1, size, 1) for part in (cosine, sine * sign))
    have, want = count_up(x, 2).reshape(1, 2, 1, 1), count_up(x, 2)
    matrix = (have == want).where(cosine, (have < want).where(sine, -sine))
    matrix = in_memory(matrix.reshape(2 * size, 2 * size))
    return x.reshape(*shape[:-2], 2 * size).matmul(matrix).reshape(*shape)


def _by_convolution(x: Tensor, sign: int) -> Tensor:
    """Return the transform as a chirp convolution, by transforms of a power of two."""
    today: Any = x.shape[-2]
    axis, size = x.ndim - 2, greatest(today)
    length = 1 << (2 * size - 2).bit_length()
    place = count_up(x, size).cast(dtypes.int64)
    squares = (place * place % size_beside(x, today * 2, dtypes.int64)).cast(dtypes.int32)
    whole = size_beside(x, today * 2, dtypes.int32)
    x = turned_by(resized(x, axis, size), squares, whole, sign)
    cosine, sine = circle(squares, whole, x.dtype)
    chirp = cosine.stack(sine * -sign, axis=-1)
    later = interval(chirp, 0, 1, size).flip(0)
    chirp = chirp.cat(interval(chirp.zeros_like(), 0, 0, 1).expand(length - 2 * size + 1, 2), later)
    left = frequencies(in_memory(resized(x, axis, length)), -1)
    right = frequencies(in_memory(chirp), -1)
    product = times(left, interval(right, 1, 0, 1), interval(right, 1, 1, 2))
    out = frequencies(in_memory(product), 1) / length
    out = turned_by(interval(out, axis, 0, size), squares, whole, sign)
    return interval(out, axis, 0, today)


def _half_from_neighbours(x: Tensor, size: int) -> Tensor:
    """Return the frequencies of real numbers, by those of neighbours taken for complex numbers.

    (..., 2, n/2) -> (..., n/2+1, 2)
    """
    # the first frequency follows the last
    real, imaginary = x.cat(interval(x, x.ndim - 1, 0, 1), axis=-1).unbind(-2)
    back, turned = real.flip(-1), imaginary.flip(-1)
    cosine, sine = circle(count_up(x, size // 2 + 1), size, x.dtype)
    # the first ones of neighbours are half the sum, the second ones half the difference over i
    first, second = imaginary + turned, back - real
    left = real + back + first * cosine + second * sine
    right = imaginary - turned + second * cosine - first * sine
    return left._like(join_parts((left * 0.5)._graph, (right * 0.5)._graph))


def _radix(size: int) -> int:
    """Return the factor to split off: `size` for a single product, 1 for none.

    Example:
        >>> [_radix(n) for n in (32, 256, 4096, 127, 2 * 127)]
        [32, 16, 16, 1, 2]
    """
    return _best_radix(size)[1]


@lru_cache(maxsize=1024)
def _best_radix(size: int) -> tuple[float, int]:
    """Return each number's products and the first factor; the largest of equals."""
    factors = [factor for factor in range(2, min(_RADIX, size // 2) + 1) if size % factor == 0]
    choices = [(_products(n) + _STEP + _best_radix(size // n)[0], -n) for n in factors]
    if size <= _RADIX:
        choices.append((_products(size), -size))
    cost, factor = min(choices, default=(0.0, -1))
    return cost, -factor


def _products(radix: int) -> float:
    """Return a step's products of each number, on vectors; parts cost more."""
    columns = 2 * radix
    lanes = min(_LANES, 1 << (columns.bit_length() - 1))
    return -(-columns // lanes) * _LANES * (1 if columns % lanes == 0 else _RAGGED)


def count_up(x: Tensor, size: Dim) -> Tensor:
    """Return the integers from 0 to `size - 1` on the device of `x`."""
    return x._make(UOp.iota(size, dtypes.int32), x.device)


def in_memory(x: Tensor) -> Tensor:
    """Return `x` written to memory once and read from there."""
    return x._like(x._graph.contiguous())


def signs(x: Tensor) -> Tensor:
    """Return (1, -1) in the dtype of `x`."""
    return 1 - 2 * count_up(x, 2).cast(x.dtype)


def conjugate(x: Tensor) -> Tensor:
    """Return the conjugates of pairs."""
    return x * signs(x)


def times(x: Tensor, real: Tensor, imaginary: Tensor) -> Tensor:
    """Return the products of pairs with the numbers of these parts."""
    return x * real - x.flip(-1) * signs(x) * imaginary


def turned_by(x: Tensor, part: Tensor, whole: Any, sign: int) -> Tensor:
    """Return pairs turned by `part / whole` of a circle."""
    cosine, sine = circle(part, whole, x.dtype)
    return times(x, cosine.unsqueeze(-1), sine.unsqueeze(-1) * sign)


def circle(part: Tensor, whole: Any, dtype: DType) -> tuple[Tensor, Tensor]:
    """Return the cosine and sine of 2 pi `part / whole`, for 0 <= part < whole.

    The angle is taken from the nearest quarter, so that it is small and its rounding as well.
    """
    quarter = (part * 4 + whole // 2) // whole
    unit = math.pi / 2 / (whole if isinstance(whole, int) else whole.cast(dtype))
    angle = (part * 4 - quarter * whole).cast(dtype) * unit
    cosine, sine = angle.cos(), angle.sin()
    is_odd, is_behind = quarter % 2 == 1, quarter % 4 >= 2
    first, second = is_odd.where(-sine, cosine), is_odd.where(cosine, sine)
    return is_behind.where(-first, first), is_behind.where(-second, second)


def cosines_and_sines(x: Tensor, sign: int) -> tuple[Tensor, Tensor]:
    """Return the sums of real numbers times cosines, and times `sign` times sines.

    The angle of `x[j]` is `2 * pi * j * k / n`: (..., n) -> (..., n//2+1) each, for the frequencies k from 0
    to n//2. Elements at the same distance from both ends meet the same cosine, and opposite sines: their
    sums and differences are multiplied by half of the columns each, an eighth of the
    products that complex numbers take.

    Source: Bracewell 2000, "The Fourier transform and its applications", third edition, chapters 2 (even and
    odd parts) and 11.
    """
    size: Any = x.shape[-1]
    last, pairs = size // 2, (size - 1) // 2
    axis = x.ndim - 1
    late = interval(x, axis, last + 1, size).flip(axis)
    widths = [(0, 0)] * axis
    place = count_up(x, last + 1)
    cosine, sine = circle(place.unsqueeze(-1) * place % size, size, x.dtype)
    even = interval(x, axis, 0, last + 1) + late.pad([*widths, (1, last - pairs)])
    cosines = even.matmul(in_memory(cosine))
    if not pairs:
        return cosines, cosines - cosines  # 0.0, and NaN where that is
    odd = interval(x, axis, 1, pairs + 1) - late
    return cosines, odd.matmul(in_memory(interval(sine, 0, 1, pairs + 1) * sign))


def half_by_matrices(x: Tensor) -> Tensor:
    """Return the first half of the transform of real numbers: (..., n) -> (..., n//2+1, 2)."""
    # a sum of nothing is 0.0: were it turned around instead of the sines, it would be -0.0
    cosines, sines = cosines_and_sines(x, -1)
    return cosines.stack(sines, axis=-1)


def by_symmetry(x: Tensor, sign: int) -> Tensor:
    """Return the transform of (..., n, 2) by those of real and imaginary parts."""
    size: Any = x.shape[-2]
    cosines, sines = cosines_and_sines(x.transpose(-1, -2), sign)
    turned = sines.flip(-2) * -signs(x).unsqueeze(-1)
    first, second = ((cosines + turned).transpose(-1, -2), (cosines - turned).transpose(-1, -2))
    at = x.ndim - 2
    return first.cat(interval(second, at, 1, (size - 1) // 2 + 1).flip(at), axis=at)
