"""Write short Fourier transforms out, as sums and differences of what they share.

Source: Cooley and Tukey 1965, "An algorithm for the machine calculation of complex Fourier series"; for odd
prime sizes, elements at the same distance from both ends meet one cosine, and opposite sines.
"""

import math
from collections.abc import Sequence

from plugrad.uop import UOp

Pair = tuple[UOp, UOp]

# Four before two: its turns are exchanges of parts.
_SPLIT_BY = (4, 2, 3, 5, 7, 11, 13)


def transformed(x: Sequence[Pair], sign: int) -> list[Pair]:
    """Return the Fourier transform of a few complex numbers."""
    size = len(x)
    radix = next((f for f in _SPLIT_BY if size % f == 0), size)
    if radix == size:
        return _by_halves(x, sign) if size % 2 == 0 else _by_symmetry(x, sign)
    rest = size // radix
    columns = [transformed(x[first::radix], sign) for first in range(radix)]
    rows = [
        transformed([turned(c[low], i * low, size, sign) for i, c in enumerate(columns)], sign)
        for low in range(rest)
    ]
    return [rows[low][high] for high in range(radix) for low in range(rest)]


def turned(x: Pair, part: int, whole: int, sign: int) -> Pair:
    """Return `x` turned by `part / whole` of a circle, quarters of it by exchanging parts."""
    quarters, rest = divmod(part * 4, whole)
    real, imaginary = x
    for _ in range(quarters % 4):
        real, imaginary = (imaginary, -real) if sign < 0 else (-imaginary, real)
    if not rest:
        return real, imaginary
    angle = rest * math.pi / 2 / whole
    cosine, sine = math.cos(angle), sign * math.sin(angle)
    if rest * 2 == whole:
        one, other = (
            (real + imaginary, imaginary - real) if sign < 0 else (real - imaginary, imaginary + real)
        )
        return one * cosine, other * cosine
    return times((real, imaginary), (real.const_like(cosine), real.const_like(sine)))


def _by_halves(x: Sequence[Pair], sign: int) -> list[Pair]:
    """Return the transform of two or four numbers, by two of half the size."""
    if len(x) == 2:
        return [plus(*x), minus(*x)]
    even, odd = transformed(x[::2], sign), transformed(x[1::2], sign)
    pairs = [(even[i], turned(odd[i], i, 4, sign)) for i in range(2)]
    return [*(plus(*pair) for pair in pairs), *(minus(*pair) for pair in pairs)]


def _by_symmetry(x: Sequence[Pair], sign: int) -> list[Pair]:
    first, size = x[0], len(x)
    half = range(1, size // 2 + 1)
    even = [plus(x[j], x[-j]) for j in half]
    odd = [minus(x[j], x[-j]) for j in half]
    out = [first] * size
    for u in even:
        out[0] = plus(out[0], u)
    for k in half:
        angles = [2 * math.pi * (j * k % size) / size for j in half]
        cosines = first
        for u, angle in zip(even, angles, strict=True):
            cosines = _with_multiple(cosines, u, math.cos(angle))
        real, imaginary = (part * (sign * math.sin(angles[0])) for part in odd[0])
        for u, angle in zip(odd[1:], angles[1:], strict=True):
            real, imaginary = _with_multiple((real, imaginary), u, sign * math.sin(angle))
        out[k] = plus(cosines, (-imaginary, real))
        out[-k] = plus(cosines, (imaginary, -real))
    return out


def plus(x: Pair, y: Pair) -> Pair:
    """Return the sum of two complex numbers."""
    return x[0] + y[0], x[1] + y[1]


def minus(x: Pair, y: Pair) -> Pair:
    """Return the difference of two complex numbers."""
    return x[0] - y[0], x[1] - y[1]


def times(x: Pair, y: Pair) -> Pair:
    """Return the product of two complex numbers."""
    return (-x[1]).mulacc(y[1], x[0] * y[0]), x[1].mulacc(y[0], x[0] * y[1])


def _with_multiple(x: Pair, y: Pair, factor: float) -> Pair:
    real, imaginary = (b.mulacc(b.const_like(factor), a) for a, b in zip(x, y, strict=True))
    return real, imaginary
