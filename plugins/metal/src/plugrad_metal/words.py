"""The MSL that stands before a kernel: small functions, each one paragraph."""

from collections.abc import Callable

from plugrad.dtype import DType, is_unsigned

Define = Callable[[str, str], str]

PROLOGUE = "#include <metal_stdlib>\nusing namespace metal;\n#pragma STDC FP_CONTRACT OFF"


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
