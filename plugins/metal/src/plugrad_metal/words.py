"""The MSL that stands before a kernel: small functions, each one paragraph."""

from collections.abc import Callable

from plugrad.dtype import DType, is_unsigned

Define = Callable[[str, str], str]

PROLOGUE = "#include <metal_stdlib>\nusing namespace metal;\n#pragma METAL fp contract(off)"


def _function(define: Define, name: str, result: str, arguments: str, *body: str) -> str:
    return define(name, "\n".join((f"static inline {result} {name}({arguments}) {{", *body, "}")))


def division(define: Define, operator: str, scalar: str, dtype: DType) -> str:
    """Define / or % without what C++ leaves open: by 0 gives 0, and the lowest number by -1 wraps."""
    word = {"/": "div", "%": "mod"}[operator]
    lines = ["  if (b == 0) return 0;"]
    if not is_unsigned(dtype):
        negated = f"({scalar})(0 - (u{scalar})a)" if operator == "/" else "0"
        lines.append(f"  if (b == -1) return {negated};")
    return _function(
        define,
        f"{word}_{dtype.name}",
        scalar,
        f"{scalar} a, {scalar} b",
        *lines,
        f"  return ({scalar})(a {operator} b);",
    )


def float_from_bfloat(define: Define) -> str:
    """Define the float of a bfloat16's bits; return the function's name."""
    return _function(
        define, "float_from_bfloat", "float", "ushort x", "  return as_type<float>((uint)x << 16);"
    )


def bfloat_from_float(define: Define) -> str:
    """Define the bits of the bfloat16 nearest to a float; return the function's name."""
    return _function(
        define,
        "bfloat_from_float",
        "ushort",
        "float x",
        "  uint b = as_type<uint>(x), high = b >> 16;",
        "  uint rounded = (b + 0x7fffu + (high & 1u)) >> 16;",
        "  return (ushort)(x != x ? (high | 0x40u) : rounded);",
    )


def odd_float_from(define: Define, scalar: str, dtype: DType) -> str:
    """Define the float next to an integer towards zero, with an odd last bit if that is not exact.

    Rounding it to 16 bits gives what rounding the integer at once would give.

    Source: S. Boldo and G. Melquiond, "When double rounding is odd" (2005).
    """
    unsigned = is_unsigned(dtype)
    size = "x" if unsigned else "x < 0 ? 0ul - (ulong)x : (ulong)x"
    return _function(
        define,
        f"odd_float_from_{dtype.name}",
        "float",
        f"{scalar} x",
        f"  ulong m = {size};",
        "  uint drop = m >> 24 ? 40u - (uint)clz(m) : 0u; /* 24 bits stay */",
        "  uint kept = (uint)(m >> drop);",
        "  kept |= ((ulong)kept << drop) != m ? 1u : 0u;",
        "  float y = (float)kept * as_type<float>((127u + drop) << 23);",
        f"  return {'y' if unsigned else 'x < 0 ? -y : y'};",
    )
