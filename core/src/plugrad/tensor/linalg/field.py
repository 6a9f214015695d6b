"""Arithmetic of graphs with real or complex elements: magnitudes, directions, quotients.

Of real elements each function is the plain formula, so factorizations are written once for both.
"""

from plugrad.dtype import is_complex
from plugrad.uop import UOp


def magnitude(x: UOp) -> UOp:
    """Return magnitudes, for complex elements |real| + |imag|; NaN stays NaN."""
    if is_complex(x.dtype):
        return magnitude(x.real()) + magnitude(x.imag())
    return (x < 0.0).where(-x, x)


def square(x: UOp) -> UOp:
    """Return squared lengths."""
    if is_complex(x.dtype):
        return square(x.real()) + square(x.imag())
    return x * x


def scaled(x: UOp, factor: UOp) -> UOp:
    """Return elements multiplied by real factors."""
    return (x.real() * factor).with_imag(x.imag() * factor) if is_complex(x.dtype) else x * factor


def divided(x: UOp, divisor: UOp) -> UOp:
    """Return elements divided by real numbers."""
    return (x.real() / divisor).with_imag(x.imag() / divisor) if is_complex(x.dtype) else x / divisor


def quotient(x: UOp, y: UOp) -> UOp:
    """Return `x / y`, scaling complex divisors so that their squares do not overflow."""
    if not is_complex(y.dtype):
        return x / y
    size = magnitude(y)
    unit = divided(y, size)
    return divided(x * unit.conj(), square(unit) * size)


def direction(x: UOp) -> tuple[UOp, UOp]:
    """Return `x / |x|`, 1 for 0, and the magnitude `|x|`."""
    size = magnitude(x)
    if not is_complex(x.dtype):
        return (x < 0.0).where(x.const_like(-1.0), x.const_like(1.0)), size
    is_zero = size.eq(0.0)
    unit = is_zero.where(x.const_like(1.0), divided(x, is_zero.where(size.const_like(1.0), size)))
    length = square(unit).sqrt()
    return divided(unit, length), length * size
