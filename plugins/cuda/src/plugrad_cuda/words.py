"""The CUDA C that stands before a kernel: small types and functions, each one paragraph.

No header of the toolkit is needed. What is called here, NVRTC knows itself: its built-in functions, and two
of libdevice that are instructions for float16.
"""

from collections.abc import Callable

from plugrad.dtype import DType, is_bool, is_unsigned

Define = Callable[[str, str], str]

INLINE = "static __device__ __forceinline__"


def vector_type(define: Define, scalar: str, short: str, nbytes: int, count: int) -> str:
    """Define a vector as memory holds it, aligned to its size so that one instruction moves it."""
    name = f"{short}x{count}"
    return define(name, f"struct __align__({nbytes * count}) {name} {{ {scalar} lane[{count}]; }};")


def _function(define: Define, name: str, result: str, arguments: str, *body: str) -> str:
    return define(name, "\n".join((f"{INLINE} {result} {name}({arguments}) {{", *body, "}")))


def reinterpret(define: Define, to: str, source: str, short_to: str, short_from: str) -> str:
    """Define the bits of `source` as `to`; return the function's name."""
    return _function(
        define,
        f"{short_to}_bits_of_{short_from}",
        to,
        f"{source} x",
        f"  union {{ {source} from; {to} to; }} u;",
        "  u.from = x;",
        "  return u.to;",
    )


def division(define: Define, operator: str, scalar: str, unsigned: str, dtype: DType) -> str:
    """Define / or % without what C leaves open: by 0 gives 0, and the lowest number by -1 wraps."""
    word = {"/": "div", "%": "mod"}[operator]
    lines = ["  if (b == 0) return 0;"]
    if not is_unsigned(dtype) and not is_bool(dtype):
        negated = f"({scalar})(0 - ({unsigned})a)" if operator == "/" else "0"
        lines.append(f"  if (b == -1) return {negated};")
    return _function(
        define,
        f"{word}_{dtype.name}",
        scalar,
        f"{scalar} a, {scalar} b",
        *lines,
        f"  return ({scalar})(a {operator} b);",
    )


def float_from_half(define: Define) -> str:
    """Declare the float of a float16's bits, one instruction; return the function's name.

    Source: NVIDIA, libdevice user's guide; it is `cvt.f32.f16`.
    """
    return define("__nv_half2float", 'extern "C" __device__ float __nv_half2float(unsigned short);')


def half_from_float(define: Define) -> str:
    """Declare the bits of the float16 nearest to a float, one instruction; return the function's name.

    Source: NVIDIA, libdevice user's guide; it is `cvt.rn.f16.f32`.
    """
    return define("__nv_float2half_rn", 'extern "C" __device__ unsigned short __nv_float2half_rn(float);')


def float_from_bfloat(define: Define) -> str:
    """Define the float of a bfloat16's bits; return the function's name."""
    return _function(
        define,
        "float_from_bfloat",
        "float",
        "unsigned short x",
        "  return __uint_as_float((unsigned int)x << 16);",
    )


def bfloat_from_float(define: Define) -> str:
    """Define the bits of the bfloat16 nearest to a float; return the function's name.

    Integer arithmetic, as the instruction came with compute capability 8.0 and gives another NaN.
    """
    return _function(
        define,
        "bfloat_from_float",
        "unsigned short",
        "float x",
        "  unsigned int b = __float_as_uint(x), high = b >> 16;",
        "  unsigned int rounded = (b + 0x7fffu + (high & 1u)) >> 16;",
        "  return (unsigned short)(x != x ? (high | 0x40u) : rounded);",
    )
