"""The CUDA C that stands before a kernel: small types and functions, each one paragraph.

No header of the toolkit is needed. What is called here, NVRTC knows itself: its built-in functions, and two
of libdevice that are instructions for float16.
"""

import itertools
from collections.abc import Callable

from plugrad.dtype import dtypes, is_float
from plugrad.target import FragmentLoad, TensorCore
from plugrad_cuda.tensor_cores import cache_of_copy, opcode, opcode_of_load

Define = Callable[[str, str], str]

INLINE = "static __device__ __forceinline__"


def vector_type(define: Define, scalar: str, short: str, nbytes: int, count: int) -> str:
    """Define a vector in memory, aligned so that one instruction moves it."""
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


def negated_short(define: Define) -> str:
    """Define -x of 16 bits, which wraps.

    The assembler of NVRTC 13.0 takes `neg.s16` and the conversion that widens it for one negation of 32
    bits, which gives 32768 for -32768 (seen on an H100), and NVRTC writes `neg.s16` for all ways to say it
    in C. It does not look into asm.
    """
    return _function(
        define,
        "negated_short",
        "short",
        "short x",
        "  unsigned int y;",
        '  asm("neg.s32 %0, %1;" : "=r"(y) : "r"((unsigned int)x));',
        "  return (short)y;",
    )


def float_from_half(define: Define) -> str:
    """Declare the float of a float16's bits, one instruction; return the function's name.

    Source: NVIDIA, libdevice user's guide; it is `cvt.f32.f16`.
    """
    return define("__nv_half2float", 'extern "C" __device__ float __nv_half2float(unsigned short);')


def half_from_float(define: Define) -> str:
    """Declare the conversion to a float16's bits, one instruction; return the function's name.

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


def matrix_instruction(define: Define, core: TensorCore, a: str, b: str, c: str) -> str:
    """Define `a @ b + c` on a thread's fragments of one tile; return its name.

    The instruction takes registers of 32 bits, with the first element in the lowest bits. It is volatile as
    all threads of a warp must run it together.

    Args:
        define: adds a definition.
        core: the instruction.
        a: type of a fragment of A, as `vector_type` gives it.
        b: type of one of B.
        c: type of one of C and of the result.
    """
    of_c = "f" if is_float(core.dtype_out) else "r"
    words_of_a = _registers(define, core, "a", core.a.count)
    words_of_b = _registers(define, core, "b", core.b.count)
    numbers = itertools.count()
    groups = [
        f"{{{', '.join(f'%{number}' for number in itertools.islice(numbers, size))}}}"
        for size in (core.c.count, len(words_of_a), len(words_of_b), core.c.count)
    ]
    given = [f'"={of_c}"(d.lane[{i}])' for i in range(core.c.count)]
    taken = [f'"r"({word})' for word in (*words_of_a, *words_of_b)]
    taken += [f'"{of_c}"(c.lane[{i}])' for i in range(core.c.count)]
    return _function(
        define,
        f"mma_{core.name}",
        c,
        f"{a} a, {b} b, {c} c",
        f"  {c} d;",
        f'  asm volatile("{opcode(core)} {", ".join(groups)};"',
        f"    : {', '.join(given)}",
        f"    : {', '.join(taken)});",
        "  return d;",
    )


def shared_address(define: Define) -> str:
    """Define the 32-bit address of memory that a block shares; return the function's name."""
    return _function(
        define,
        "shared_address",
        "unsigned int",
        "const void *p",
        "  return (unsigned int)__cvta_generic_to_shared(p);",
    )


def async_copy(define: Define, nbytes: int) -> str:
    """Define an asynchronous copy to memory of the block; return its name.

    It is of a buffer, or of zeros.

    Source: PTX ISA, section "Data Movement and Conversion Instructions: cp.async".
    """
    return _function(
        define,
        f"copy{nbytes}_async",
        "void",
        "void *to, const void *from, bool is_there",
        f'  asm volatile("cp.async.{cache_of_copy(nbytes)}.shared.global [%0], [%1], {nbytes}, %2;"',
        f'    : : "r"({shared_address(define)}(to)), "l"((unsigned long long)from),',
        f'    "r"(is_there ? {nbytes}u : 0u) : "memory");',
    )


def commit_copies(define: Define) -> str:
    """Define the end of a group of copies; return the function's name."""
    return _function(
        define, "commit_copies", "void", "", '  asm volatile("cp.async.commit_group;" : : : "memory");'
    )


def wait_for_copies(define: Define, left: int) -> str:
    """Define the wait for all but this thread's last copies; return its name."""
    return _function(
        define,
        f"wait_for_copies_but_{left}",
        "void",
        "",
        f'  asm volatile("cp.async.wait_group {left};" : : : "memory");',
    )


def matrix_load(define: Define, load: FragmentLoad, vector: str, count: int) -> str:
    """Define the load of a fragment by the threads of a warp; return its name.

    Each thread gives the address of a row.

    Args:
        define: adds a definition.
        load: how many matrices, and whether a thread's elements are neighbours along a column.
        vector: type of the fragment, as `vector_type` gives it.
        count: its elements.
    """
    words = load.matrices
    together = count // words
    given = ", ".join(f'"=r"(word[{i}])' for i in range(words))
    numbers = ", ".join(f"%{i}" for i in range(words))
    lanes = [
        f"  v.lane[{i}] = word[{i // together}] >> {32 // together * (i % together)};" for i in range(count)
    ]
    return _function(
        define,
        f"load_{vector}{'_across' if load.is_transposed else ''}",
        vector,
        "const void *p",
        f"  unsigned int word[{words}];",
        f'  asm volatile("{opcode_of_load(load)} {{{numbers}}}, [%{words}];"',
        f'    : {given} : "r"({shared_address(define)}(p)) : "memory");',
        f"  {vector} v;",
        *lanes,
        "  return v;",
    )


def _registers(define: Define, core: TensorCore, vector: str, count: int) -> list[str]:
    """Return the 32-bit words of a fragment as the instruction takes them."""
    if core.dtype_in is dtypes.float32:
        return [f"{_rounded_to_tf32(define)}({vector}.lane[{i}])" for i in range(count)]
    together = 4 // core.dtype_in.itemsize
    word = _word_of_bytes(define) if together == 4 else _word_of_shorts(define)
    return [
        f"{word}({', '.join(f'{vector}.lane[{first + i}]' for i in range(together))})"
        for first in range(0, count, together)
    ]


def _word_of_shorts(define: Define) -> str:
    return _function(
        define,
        "word_of_shorts",
        "unsigned int",
        "unsigned short x, unsigned short y",
        "  return x | (unsigned int)y << 16;",
    )


def _word_of_bytes(define: Define) -> str:
    return _function(
        define,
        "word_of_bytes",
        "unsigned int",
        "unsigned char x, unsigned char y, unsigned char z, unsigned char w",
        "  return x | (unsigned int)y << 8 | (unsigned int)z << 16 | (unsigned int)w << 24;",
    )


def _rounded_to_tf32(define: Define) -> str:
    """Define the tf32 nearest to a float, as a register holds it.

    Source: PTX ISA, section "Data Movement and Conversion Instructions: cvt".
    """
    return _function(
        define,
        "tf32_from_float",
        "unsigned int",
        "float x",
        "  unsigned int bits;",
        '  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));',
        "  return bits;",
    )
