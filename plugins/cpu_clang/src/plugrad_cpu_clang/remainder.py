"""The remainder of floats: a few instructions for ordinary quotients, libm's for others.

One fused operation gives `a - q*b` exactly for a quotient of no more digits than the float. The quotient is
at most one too great, by the rounding of `a / b`.
"""

from plugrad.dtype import DType, dtypes
from plugrad_cpu_clang.lanes import SUFFIXES, any_lane, lanes_by_libm
from plugrad_cpu_clang.preamble import (
    SHORT_NAMES,
    Define,
    fused_multiply_add,
    lanewise,
    scalar_type,
    select,
    vector_type,
)

#: By dtype: the greatest quotient, the least normal number and the greatest.
_LIMITS = {
    dtypes.float32: ("0x1p23f", "0x1p-126f", "0x1.fffffep127f"),
    dtypes.float64: ("0x1p52", "0x1p-1022", "0x1.fffffffffffffp1023"),
}


def float_remainder(define: Define, dtype: DType, count: int) -> str:
    """Define C's fmod, exact for all operands; return its name."""
    most, least, greatest = _LIMITS[dtype]
    if count == 1:
        return f"__builtin_fmod{SUFFIXES[dtype]}"
    short = SHORT_NAMES[dtype]
    vector, mask = vector_type(define, short, count), vector_type(define, f"i{dtype.itemsize * 8}", count)
    shift = dtype.itemsize * 8 - 1
    any_far = any_lane(define, f"i{dtype.itemsize * 8}", count)
    lanes = lanes_by_libm(define, "fmod", dtype, count, "ab")
    fused, choose = fused_multiply_add(define, short, count), select(define, short, count)
    whole = lanewise(define, "trunc", short, count)
    integer = scalar_type(f"i{dtype.itemsize * 8}")
    return define(
        f"fmod_{vector}",
        f"static inline {vector} fmod_{vector}({vector} a, {vector} b) {{\n"
        f"  {mask} sign = {{}};\n"
        f"  sign -= (({integer})1 << {shift});\n"
        f"  {vector} m = ({vector})(({mask})a & ~sign), n = ({vector})(({mask})b & ~sign);\n"
        f"  {vector} q = {whole}(m / n);\n"
        f"  {vector} r = {fused}(-q, n, m);\n"
        f"  {vector} y = ({vector})(({mask}){choose}(r < 0, r + n, r) | (({mask})a & sign));\n"
        # NaN fails each comparison, too
        f"  {mask} is_far = ~((q < {most}) & (n >= {least}) & (n <= {greatest}));\n"
        f"  return __builtin_expect({any_far}(is_far), 0) ? {lanes}(a, b) : y;\n}}",
    )
