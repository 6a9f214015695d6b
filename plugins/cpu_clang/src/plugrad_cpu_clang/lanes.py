"""Functions of C over lanes of vectors: tests, calls of libm, shuffles."""

from plugrad.dtype import DType, dtypes, is_bool
from plugrad.uop import Ops, UOp
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


def shuffle(define: Define, short: str, count: int) -> str:
    """Define the macro that picks lanes of two vectors; return its name.

    gcc sees one shuffle in lanes picked one by one only where neither vector is made of such lanes itself.
    """
    vector = vector_type(define, short, count)
    places = vector_type(define, f"i{SCALAR_TYPES[short][1] * 8}", count)
    name = f"{vector}_shuffled"
    return define(
        name,
        f"#ifdef __clang__\n"
        f"#define {name}(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)\n"
        f"#else\n"
        f"#define {name}(a, b, ...) __builtin_shuffle(a, b, ({places}){{__VA_ARGS__}})\n"
        f"#endif",
    )


def shuffled_vectors(u: UOp) -> list[UOp]:
    """Return the two vectors whose lanes make another of their type, or none."""
    if u.op is not Ops.VECTORIZE or is_bool(u.dtype) or any(s.op is not Ops.GEP for s in u.src):
        return []
    vectors = list(dict.fromkeys(s.src[0] for s in u.src))
    return vectors if len(vectors) == 2 and all(v.dtype is u.dtype for v in vectors) else []
