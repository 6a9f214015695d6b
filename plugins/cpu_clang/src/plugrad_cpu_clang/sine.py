"""Sine and cosine of vectors: a few instructions for ordinary angles, libm's for others.

Fused operations take multiples of pi/2 from the angle, in three parts (W. Cody and W. Waite, "Software Manual
for the Elementary Functions", 1980, chapter 8). The first difference is exact, and so are the digits that the
second one cancels, up to the limit. Quarter turns are counted in the last digits of a float.
"""

from collections.abc import Sequence

from plugrad.dtype import DType, dtypes
from plugrad.uop import Ops
from plugrad_cpu_clang.lanes import SUFFIXES, any_lane, lanes_by_libm
from plugrad_cpu_clang.preamble import (
    SHORT_NAMES,
    Define,
    broadcast,
    fused_multiply_add,
    select,
    vector_type,
)

_NAMES = {Ops.SIN: "sin", Ops.COS: "cos"}
#: By dtype: the greatest angle, and a float whose last digit is 1.
_LIMITS = {dtypes.float32: ("0x1p18f", "0x1.8p23f"), dtypes.float64: ("0x1p30", "0x1.8p52")}
#: 2/pi, and pi/2 as a sum of three floats.
_CONSTANTS = {
    dtypes.float32: ("0x1.45f306p-1f", ("0x1.921fb6p+0f", "-0x1.777a5cp-25f", "-0x1.ee59dap-50f")),
    dtypes.float64: (
        "0x1.45f306dc9c883p-1",
        ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110"),
    ),
}
#: sin(r) == r + r**3*P(r*r) and cos(r) == 1 - r*r/2 + r**4*P(r*r) in [-pi/4, pi/4], lowest power first.
#: Source: derived by `core/tests/codegen/decompositions/derive_coefficients.py`.
_SINE = {
    dtypes.float32: (-0.16666653752326965, 0.008332121185958385, -0.00019511012942530215),
    dtypes.float64: (
        -0.1666666666666663,
        0.008333333333321919,
        -0.00019841269829459042,
        2.7557313582665136e-06,
        -2.5050742416526147e-08,
        1.5895950989994064e-10,
    ),
}
_COSINE = {
    dtypes.float32: (0.04166664555668831, -0.0013887310633435845, 2.443256562401075e-05),
    dtypes.float64: (
        0.04166666666666659,
        -0.0013888888888872347,
        2.480158728846744e-05,
        -2.7557314080711417e-07,
        2.0875688730829875e-09,
        -1.1357962206478123e-11,
    ),
}


def sine(define: Define, op: Ops, dtype: DType, count: int) -> str:
    """Define sine or cosine, at most 1.6 ULP off; return its name."""
    name, suffix, (greatest, units) = _NAMES[op], SUFFIXES[dtype], _LIMITS[dtype]
    if count == 1:
        return f"__builtin_{name}{suffix}"
    short, bits = SHORT_NAMES[dtype], dtype.itemsize * 8
    vector, mask = vector_type(define, short, count), vector_type(define, f"i{bits}", count)
    fused, choose = fused_multiply_add(define, short, count), select(define, short, count)
    any_far = any_lane(define, f"i{bits}", count)
    per_radian, parts = _CONSTANTS[dtype]
    lanes = lanes_by_libm(define, name, dtype, count)

    def number(text: str) -> str:
        return f"{broadcast(define, short, count)}({text})"

    def polynomial(coefficients: Sequence[float]) -> str:
        """Return the polynomial in z by Horner's rule."""
        value = number(f"{coefficients[-1]}{suffix}")
        for c in reversed(coefficients[:-1]):
            value = f"{fused}({value}, z, {number(f'{c}{suffix}')})"
        return value

    cosine_rest = f"{fused}(z, {polynomial(_COSINE[dtype])}, {number(f'-0.5{suffix}')})"
    first, *others = parts
    return define(
        f"{name}_{vector}",
        f"static inline {vector} {name}_{vector}({vector} x) {{\n"
        f"  {mask} sign = ({mask}){number(f'-0.0{suffix}')};\n"
        f"  {vector} a = ({vector})(({mask})x & ~sign);\n"
        # NaN fails the comparison, too
        f"  if (__builtin_expect({any_far}(~(a <= {greatest})), 0)) return {lanes}(x);\n"
        f"  {vector} counted = {fused}(a, {number(per_radian)}, {number(units)}), n = {units} - counted;\n"
        f"  {vector} r = {fused}(n, {number(first)}, a);\n"
        + "".join(f"  r = {fused}(n, {number(part)}, r);\n" for part in others)
        + f"  {vector} z = r * r;\n"
        f"  {vector} sine = {fused}(r * z, {polynomial(_SINE[dtype])}, r);\n"
        f"  {vector} cosine = {fused}(z, {cosine_rest}, {number('1')});\n"
        f"  {mask} quarter = ({mask})counted{' + 1' if op is Ops.COS else ''};\n"
        f"  {vector} y = {choose}((quarter & 1) != 0, cosine, sine);\n"
        f"  {mask} turned = quarter << {bits - 2}{f' ^ ({mask})x' if op is Ops.SIN else ''};\n"
        f"  return ({vector})(({mask})y ^ (turned & sign));\n}}",
    )
