"""Declare and write the instructions of x86 that add up products of neighbouring factors.

A lane of 32 bits takes two products of bfloat16 or four of 8-bit integers: as a matrix instruction of one
thread, which multiplies a row of A by 16 columns of B. Its rows of B lie side by side, as a staged copy has
them.

Source: Intel Architecture Instruction Set Extensions Programming Reference, VDPBF16PS and VPDPBUSD.
"""

from plugrad.dtype import DType, dtypes
from plugrad.target import Fragment, TensorCore
from plugrad_cpu_clang import preamble
from plugrad_cpu_clang.machine import Machine
from plugrad_cpu_clang.preamble import Define

_COLUMNS = ("n0", "n1", "n2", "n3")
# the flag of the extension that has each instruction, as Linux calls it
_FLAGS = {"vdpbf16ps": "avx512_bf16", "vpdpbusd": "avx512_vnni"}


def _core(name: str, factor: DType, result: DType) -> TensorCore:
    inner = ("k0", "k1")[: 4 // factor.itemsize // 2]
    a, b, c = (Fragment((), places) for places in (inner, (*inner, *_COLUMNS), _COLUMNS))
    # VPDPBUSD takes unsigned bytes on one side: with their highest bit turned, bytes are greater by 128
    offset = 128 if factor is dtypes.int8 else 0
    return TensorCore(name, (16, 1, 4 // factor.itemsize), 1, factor, result, a, b, c, offset=offset)


CORES = (_core("vdpbf16ps", dtypes.bfloat16, dtypes.float32), _core("vpdpbusd", dtypes.int8, dtypes.int32))


def dot_products(machine: Machine) -> tuple[TensorCore, ...]:
    """Return the instructions that a machine has."""
    wide = machine.vector_bits == 512
    return tuple(core for core in CORES if wide and _FLAGS[core.name] in machine.flags)


def dot_product(define: Define, core: TensorCore) -> str:
    """Define the function `c + a @ b` of an instruction; return its name.

    Types of builtins change from compiler to compiler; gcc keeps what assembly changes in memory.
    """
    count = core.b.count // 16
    short = preamble.SHORT_NAMES[core.dtype_in]
    few, many = (preamble.vector_type(define, short, lanes) for lanes in (count, core.b.count))
    result = preamble.vector_type(define, preamble.SHORT_NAMES[core.dtype_out], 16)
    ints, filled = preamble.vector_type(define, "i32", 16), preamble.broadcast(define, "i32", 16)
    head = f"static inline {result} {core.name}({few} a, {many} b, {result} c) {{"
    body = _PAIRS if core.dtype_in is dtypes.bfloat16 else _BYTES
    return define(core.name, f"{head}\n{body.replace('INTS', ints).replace('FILLED', filled)}\n}}")


_PAIRS = """\
#if defined(__clang__)
  INTS row = FILLED((int)a);
  __asm__("vdpbf16ps %2, %1, %0" : "+v"(c) : "v"(row), "v"(b));
  return c;
#else
#if __GNUC__ < 13
  typedef short pairs __attribute__((vector_size(64)));
#else
  typedef __bf16 pairs __attribute__((vector_size(64)));
#endif
  return __builtin_ia32_dpbf16ps_v16sf(c, (pairs)FILLED((int)a), (pairs)b);
#endif"""

_BYTES = """\
  INTS row = FILLED((int)a ^ (int)0x80808080);
#if defined(__clang__)
  __asm__("vpdpbusd %2, %1, %0" : "+v"(c) : "v"(row), "v"(b));
  return c;
#else
  return __builtin_ia32_vpdpbusd_v16si(c, row, (INTS)b);
#endif"""
