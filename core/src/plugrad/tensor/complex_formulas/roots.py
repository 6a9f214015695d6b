"""Square roots of pairs."""

import math

from plugrad.dtype import dtypes
from plugrad.tensor.complex_formulas.derivatives import has_derivative, over
from plugrad.tensor.complex_formulas.pairs import Pair, format_of


@has_derivative(lambda z, w: over(w, 0.5))
def root(z: Pair) -> Pair:
    """Return principal square roots: real parts >= 0, imaginary parts signed like those of `z`.

    Source: Kahan, "Branch Cuts for Complex Elementary Functions", 1987, CSQRT.
    """
    form = format_of(z[0].dtype)
    size = z[0].abs().maximum(z[1].abs())
    is_large, is_small = size > form.largest / 4, size < form.smallest / form.epsilon
    up, back = (2.0**60, 2.0**-30) if form.bits is dtypes.int32 else (2.0**108, 2.0**-54)
    x, y = (is_large.where(part / 16, is_small.where(part * up, part)) for part in z)
    long = ((x.abs() + x.hypot(y)) / 2).sqrt()
    short = y.abs() / (long * 2)
    is_right = x >= 0
    parts = is_right.where(long, short), is_right.where(short, long)
    real, imag = (is_large.where(part * 4, is_small.where(part * back, part)) for part in parts)
    is_zero, is_infinite = size == 0, z[1].isinf()
    real = is_infinite.where(math.inf, is_zero.where(0.0, real))
    return real, is_infinite.where(math.inf, is_zero.where(0.0, imag)).copysign(z[1])
