"""Lanes beyond the range of a formula: one test finds them, libm computes them."""

from plugrad.dtype import DType, dtypes
from plugrad_cpu_clang.preamble import SCALAR_TYPES, SHORT_NAMES, Define, vector_type

#: By dtype: C's suffix of functions and constants.
SUFFIXES = {dtypes.float32: "f", dtypes.float64: ""}


def any_lane(define: Define, short: str, count: int) -> str:
    """Define the truth of a mask that holds in any lane; return its name."""
    mask = vector_type(define, short, count)
    words = SCALAR_TYPES[short][1] * count // SCALAR_TYPES["i64"][1]
    return define(
        f"any_{mask}",
        f"static inline int any_{mask}({mask} mask) {{\n"
        f"  long long words[{words}], any = 0;\n"
        "  __builtin_memcpy(words, &mask, sizeof mask);\n"
        f"  for (int i = 0; i < {words}; i++) any |= words[i];\n"
        "  return any != 0;\n}",
    )


def lanes_by_libm(define: Define, function: str, dtype: DType, count: int, operands: str = "a") -> str:
    """Define a function of C lane by lane; return its name.

    Each letter of `operands` is one.
    """
    vector = vector_type(define, SHORT_NAMES[dtype], count)
    parameters = ", ".join(f"{vector} {x}" for x in operands)
    arguments = ", ".join(f"{x}[i]" for x in operands)
    name = f"{function}_lanes_{vector}"
    return define(
        name,
        f"static __attribute__((noinline, cold)) {vector} {name}({parameters}) {{\n"
        f"  {vector} y;\n"
        f"  for (int i = 0; i < {count}; i++) y[i] = __builtin_{function}{SUFFIXES[dtype]}({arguments});\n"
        "  return y;\n}",
    )
