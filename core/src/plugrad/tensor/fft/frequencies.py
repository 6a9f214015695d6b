"""Fourier transforms along the last axis, without a divisor, of pairs and of real numbers.

Where loops run, a length of 16 to 4096 without prime factors above 13 takes one kernel. Others that are
products of numbers up to 64 take one matrix product for each of some factors, those that take least time
together: 2 products for 256, 3 for 4096, 4 for a million. Prime lengths up to 256 are one
product too, and longer ones for many rows; where loops run and the length before such a prime takes one
kernel, they are a convolution of that length. What else has larger prime factors is one of at least twice
the length. A symbolic length, whose factors vary, is taken for a prime one: what it is at most says
which of these ways.

Source: Cooley and Tukey 1965, "An algorithm for the machine calculation of complex Fourier series"; Bluestein
1970, "A linear filtering approach to the computation of discrete Fourier transform".
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from plugrad.dtype import dtypes
from plugrad.schedule.prepare.lower_complex import join_parts
from plugrad.tensor.base import Tensor
from plugrad.tensor.dispatch import InLoops
from plugrad.tensor.fft.twiddles import (
    by_real_transforms,
    complex_product,
    conjugate,
    count_up,
    half_by_matrices,
    times_twiddles,
    twiddle_factors,
)
from plugrad.tensor.host.host_data import HOST, host_buffer
from plugrad.tensor.linalg.jvp import in_memory
from plugrad.tensor.lookup import pick_last, size_beside
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
_BLUESTEIN = 4000
_BLUESTEIN_IN_LOOPS = 800
# That of the length before a prime (1000 rows of 337 real numbers take 1.6 ms, and 1.3 by all cosines; 5.7
# and 11 of 1009).
_RADER = 600


def frequencies(x: Tensor, sign: int, axis: int = -2, parts: int = -1) -> Tensor:
    """Return the Fourier transform along one axis, in the same shape.

    Numbers are pairs along another axis.

    Frequency k is the sum of `exp(sign * 2j * pi * j * k / n) * x[j]`. Axes are numbered from the end.
    """
    size = x.shape[axis]
    pairs = x.movedim((axis, parts), (-2, -1))
    if not isinstance(size, int):
        is_short = greatest(size) <= _DIRECT
        found = _by_dft_matrix(pairs, sign) if is_short else _by_bluestein(pairs, sign)
        return found.movedim((-2, -1), (axis, parts))
    found = _by_products(pairs, size, sign).movedim((-2, -1), (axis, parts))
    if not (factors := factors_of(size)):
        return found
    rule = InLoops(_in_one_kernel, (FourierArg(sign, factors, axis, parts),))
    roots = _roots(x, factors, sign, size).expand(*pairs.shape).movedim((-2, -1), (axis, parts))
    return x._like(found._graph.dispatch(rule, x._graph, roots._graph))


def _in_one_kernel(_device: str, x: UOp, *given: Any) -> UOp:
    *roots, arg = given
    return x.fourier(arg, *roots)


def _where_loops_run(elsewhere: Tensor, x: Tensor) -> Tensor:
    """Return `x` on devices that run loops, and on others `elsewhere`, its values otherwise computed."""
    return x._like(elsewhere._graph.dispatch(InLoops(_itself), x._graph))


def _itself(_device: str, x: UOp) -> UOp:
    return x


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


def _roots(x: Tensor, factors: tuple[int, ...], sign: int, count: int) -> Tensor:
    """Return the factors between the steps, in the order of the steps: (count, 2).

    A step with `factor`, behind which `rest` are left of `size = done * factor * rest`, has those of
    `k * place * done / size` of a circle, for k from 1 below the factor and each place below the rest.
    Behind these, no step reads.
    """
    size = math.prod(factors)
    number = count_up(x, count)
    parts = number.zeros_like()
    done, rest, here = 1, size, number
    for factor in factors[:-1]:
        rest //= factor
        parts = (here < 0).where(parts, (here // rest + 1) * (here % rest) * done)
        here = here - (factor - 1) * rest
        done *= factor
    cosine, sine = twiddle_factors(parts, size, x.dtype)
    return in_memory(cosine.stack(sine * sign)).transpose(0, 1)


def _by_products(x: Tensor, size: int, sign: int) -> Tensor:
    radix = _radix(size)
    if radix == size:
        return _by_dft_matrix(x, sign)
    if radix == 1:
        is_direct = _is_direct(x, size, 2)
        found = by_real_transforms(x, sign) if is_direct else _by_bluestein(x, sign)
        if _rader_pays(x, size, 2):
            return _where_loops_run(found, _by_rader(x, sign))
        if not is_direct or _is_direct(x, size, 2, _BLUESTEIN_IN_LOOPS):
            return found
        return _where_loops_run(found, _by_bluestein(x, sign))
    # element i = first * (size / radix) + second gives frequency k = low + radix * high
    others = x.shape[:-2]
    rest = size // radix
    x = _by_dft_matrix(x.reshape(*others, radix, rest, 2).transpose(-3, -2), sign)
    second, low = count_up(x, rest).unsqueeze(-1), count_up(x, radix)
    x = in_memory(times_twiddles(x, second * low, size, sign))
    x = frequencies(x.transpose(-3, -2), sign)
    return x.transpose(-3, -2).reshape(*others, size, 2)


def half_frequencies(x: Tensor) -> Tensor:
    """Return the transform of (..., n) real numbers without its mirror: (..., n//2+1, 2)."""
    size: Any = x.shape[-1]
    radix = _radix(size)
    if size <= _RADIX or (radix == 1 and _is_direct(x, size, 1)):
        found = half_by_matrices(x)
    elif size % 2 == 0:
        pairs = x.reshape(*x.shape[:-1], size // 2, 2)
        found = _half_from_packed(in_memory(frequencies(pairs.transpose(-1, -2), -1, -1, -2)), size)
        return _half_in_one_kernel(found, pairs, size) if factors_of(size // 2) else found
    else:
        whole = frequencies(x.stack(x.zeros_like(), axis=-1), -1)
        found = interval(whole, x.ndim - 1, 0, size // 2 + 1)
    return _where_loops_run(found, _half_by_rader(x)) if _rader_pays(x, size, 1) else found


def real_numbers(half: Tensor) -> Tensor:
    """Return the even number of real numbers with these frequencies, times it: (..., n/2+1, 2) -> (..., n).

    Neighbours are the parts of complex numbers, half as many.
    """
    count: Any = half.shape[-2] - 1
    axis = half.ndim - 2
    real, imaginary = interval(half, axis, 0, count).unbind(-1)
    back, turned = interval(half, axis, 1, count + 1).flip(axis).unbind(-1)
    place = count_up(half, count)
    # what no real numbers have
    imaginary, turned = (place.eq(0).where(0, part) for part in (imaginary, turned))
    cosine, sine = twiddle_factors(place, 2 * count, half.dtype)
    first, second = real - back, imaginary + turned
    left = real + back - first * sine - second * cosine
    right = imaginary - turned + first * cosine - second * sine
    packed = left._like(join_parts(left._graph, right._graph))
    return frequencies(packed, 1).reshape(*half.shape[:-2], 2 * count)


def _half_in_one_kernel(elsewhere: Tensor, pairs: Tensor, size: int) -> Tensor:
    """Return the frequencies of real numbers, `elsewhere` on devices without loops."""
    factors, count = factors_of(size // 2), size // 2 + 1
    x = resized(pairs, pairs.ndim - 2, count)
    cosine, sine = twiddle_factors(count_up(x, count), size, x.dtype)
    tables = (_roots(x, factors, -1, count), in_memory(cosine.stack(sine)).transpose(0, 1))
    rule = InLoops(_in_one_kernel, (FourierArg(-1, factors, half=True),))
    return x._like(elsewhere._graph.dispatch(rule, x._graph, *(u.expand(*x.shape)._graph for u in tables)))


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


def _is_direct(x: Tensor, size: int, parts: int, convolved: int = _BLUESTEIN) -> bool:
    """Say whether products with all cosines and sines cost less than a convolution."""
    rows = math.prod(map(greatest, x.shape)) // size // parts
    return size <= _DIRECT or parts * size * (rows + _ROWS_TO_MAKE) <= convolved * rows


def _by_dft_matrix(x: Tensor, sign: int) -> Tensor:
    """Return the transform as one product with a (2n, 2n) matrix of cosines and sines."""
    shape: Any = x.shape
    size: Any = shape[-2]
    place = count_up(x, size)
    whole = size_beside(x, size, place.dtype)
    cosine, sine = twiddle_factors(place.unsqueeze(-1) * place % whole, whole, x.dtype)
    cosine, sine = (part.reshape(size, 1, size, 1) for part in (cosine, sine * sign))
    have, want = count_up(x, 2).reshape(1, 2, 1, 1), count_up(x, 2)
    matrix = (have == want).where(cosine, (have < want).where(sine, -sine))
    matrix = in_memory(matrix.reshape(2 * size, 2 * size))
    return x.reshape(*shape[:-2], 2 * size).matmul(matrix).reshape(*shape)


def _by_bluestein(x: Tensor, sign: int) -> Tensor:
    """Return the transform as a chirp convolution, by transforms of a power of two."""
    today: Any = x.shape[-2]
    axis, size = x.ndim - 2, greatest(today)
    length = 1 << (2 * size - 2).bit_length()
    place = count_up(x, size).cast(dtypes.int64)
    squares = (place * place % size_beside(x, today * 2, dtypes.int64)).cast(dtypes.int32)
    whole = size_beside(x, today * 2, dtypes.int32)
    x = times_twiddles(resized(x, axis, size), squares, whole, sign)
    cosine, sine = twiddle_factors(squares, whole, x.dtype)
    chirp = cosine.stack(sine * -sign, axis=-1)
    later = interval(chirp, 0, 1, size).flip(0)
    chirp = chirp.cat(interval(chirp.zeros_like(), 0, 0, 1).expand(length - 2 * size + 1, 2), later)
    left = frequencies(in_memory(resized(x, axis, length)), -1)
    right = frequencies(in_memory(chirp), -1)
    product = complex_product(left, interval(right, 1, 0, 1), interval(right, 1, 1, 2))
    out = frequencies(in_memory(product), 1) / length
    out = times_twiddles(interval(out, axis, 0, size), squares, whole, sign)
    return interval(out, axis, 0, today)


def _rader_pays(x: Tensor, size: int, parts: int) -> bool:
    """Say whether the length is a prime that Rader's algorithm transforms in less time."""
    is_prime = all(size % n for n in range(2, math.isqrt(size) + 1))
    return is_prime and bool(factors_of(size - 1)) and not _is_direct(x, size, parts, _RADER)


@lru_cache(maxsize=64)
def _powers_of_generator(size: int) -> tuple[int, ...]:
    """Return the powers of a prime's least primitive root, modulo the prime.

    Example:
        >>> _powers_of_generator(7)
        (1, 3, 2, 6, 4, 5)
    """

    def powers_of(root: int) -> tuple[int, ...]:
        found = [1]
        while (following := found[-1] * root % size) != 1:
            found.append(following)
        return tuple(found)

    return next(found for found in map(powers_of, range(2, size)) if len(found) == size - 1)


def _by_rader(x: Tensor, sign: int) -> Tensor:
    """Return the transform of a prime length as a cyclic convolution of one less.

    In the order of powers of a number, frequencies are sums of elements times roots so many powers apart.

    Source: Rader 1968, "Discrete Fourier transforms when the number of data samples is prime".
    """
    size: Any = x.shape[-2]
    whole = frequencies(in_memory(_rows_at(x, _powers_of_generator(size))), -1)
    return _rader_convolution(interval(x, x.ndim - 2, 0, 1), whole, size, size, sign)


def _half_by_rader(x: Tensor) -> Tensor:
    """Return the first half of the transform of real numbers, as `_by_rader` does."""
    size: Any = x.shape[-1]
    x = x.unsqueeze(-1)
    half = in_memory(half_frequencies(in_memory(_rows_at(x, _powers_of_generator(size)).squeeze(-1))))
    whole = half.cat(mirrored(half, x.ndim - 2, size - 1), axis=-2)
    first = interval(x, x.ndim - 2, 0, 1)
    return _rader_convolution(first.cat(first.zeros_like(), axis=-1), whole, size, size // 2 + 1, -1)


def _rader_convolution(first: Tensor, whole: Tensor, size: int, count: int, sign: int) -> Tensor:
    """Return `count` frequencies of a prime length.

    Args:
        first: the first element, (..., 1, 2).
        whole: the transform of the others in the order of powers, (..., size-1, 2).
    """
    powers = _powers_of_generator(size)
    backwards = powers[:1] + powers[:0:-1]
    cosine, sine = twiddle_factors(_integers_on(first, backwards), size, first.dtype)
    roots = frequencies(in_memory(cosine.stack(sine * sign, axis=-1)), -1) / (size - 1)
    (cosine, sine), (real, imaginary) = in_memory(roots).unbind(-1), whole.unbind(-1)
    product = (real * cosine - imaginary * sine).stack(real * sine + imaginary * cosine, axis=-1)
    found = frequencies(product, 1)
    places = {power: place for place, power in enumerate(backwards)}
    others = _rows_at(found, [places[k] for k in range(1, count)])
    total = first + interval(whole, whole.ndim - 2, 0, 1)
    return total.cat(others + first, axis=-2)


def _rows_at(x: Tensor, places: Sequence[int]) -> Tensor:
    """Return the elements along the second axis from the end at fixed places."""
    turned = x.transpose(-1, -2)
    table = _integers_on(x, places).expand(*turned.shape[:-1], len(places))
    return x._like(pick_last(turned._graph, table._graph)).transpose(-1, -2)


def _integers_on(x: Tensor, numbers: Sequence[int]) -> Tensor:
    """Return an int32 tensor of `numbers` on the device of `x`."""
    data = host_buffer(struct.pack(f"={len(numbers)}i", *numbers), (len(numbers),), dtypes.int32)
    return x._make(data if x.device == HOST else data.copy_to_device(x.device), x.device)


def _half_from_packed(x: Tensor, size: int) -> Tensor:
    """Return frequencies of real numbers from the transform of neighbours packed as complex numbers.

    (..., 2, n/2) -> (..., n/2+1, 2)
    """
    # the first frequency follows the last
    real, imaginary = x.cat(interval(x, x.ndim - 1, 0, 1), axis=-1).unbind(-2)
    back, turned = real.flip(-1), imaginary.flip(-1)
    cosine, sine = twiddle_factors(count_up(x, size // 2 + 1), size, x.dtype)
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
    return _cheapest_radix(size)[1]


@lru_cache(maxsize=1024)
def _cheapest_radix(size: int) -> tuple[float, int]:
    """Return the cost per element, and the largest of the cheapest first factors."""
    factors = [factor for factor in range(2, min(_RADIX, size // 2) + 1) if size % factor == 0]
    choices = [(_cost_of_step(n) + _STEP + _cheapest_radix(size // n)[0], -n) for n in factors]
    if size <= _RADIX:
        choices.append((_cost_of_step(size), -size))
    cost, factor = min(choices, default=(0.0, -1))
    return cost, -factor


def _cost_of_step(radix: int) -> float:
    """Return a step's multiplications per element, in whole vectors; partly filled ones cost more."""
    columns = 2 * radix
    lanes = min(_LANES, 1 << (columns.bit_length() - 1))
    return -(-columns // lanes) * _LANES * (1 if columns % lanes == 0 else _RAGGED)
