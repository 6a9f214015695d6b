"""Matrix instructions: fragments become words of 32 bits, and the instruction takes lists of them.

Source: PTX ISA, section "Matrix Multiply-Accumulate Operation Using mma Instruction".
"""

from collections.abc import Iterable

from plugrad.dtype import FLOAT8, dtypes
from plugrad.target import TensorCore
from plugrad.uop import Ops, UOp
from plugrad_cuda.ptx.builder import PtxBuilder
from plugrad_cuda.ptx.memory import words_of
from plugrad_cuda.tensor_cores import opcode

_WORD = dtypes.uint32


def write_matrix_instruction(body: PtxBuilder, u: UOp) -> None:
    """Write a WMMA."""
    core: TensorCore = u.arg
    a, b = (_fragment_registers(body, s) for s in u.src[:2])
    scalar = u.dtype.scalar()
    c = [body.in_register(scalar, lane) for lane in body.values[u.src[2]]]
    given = [body.register(scalar) for _ in c]
    lists = ", ".join(f"{{{', '.join(registers)}}}" for registers in (given, a, b, c))
    body.line(f"{opcode(core)} {lists}")
    body.values[u] = tuple(given)


def version_of_matrices(uops: Iterable[UOp]) -> tuple[int, int]:
    """Return the PTX version that a program's matrix instructions need, or (0, 0)."""
    return max((_version(u.arg) for u in uops if u.op is Ops.WMMA), default=(0, 0))


def _version(core: TensorCore) -> tuple[int, int]:
    if core.dtype_in in FLOAT8:
        return 8, 4
    is_of_turing = core.dims == (8, 8, 16) or (core.dims == (8, 16, 8) and core.dtype_in is dtypes.float16)
    return (6, 5) if is_of_turing else (7, 0)


def _fragment_registers(body: PtxBuilder, fragment: UOp) -> list[str]:
    """Return the registers of a fragment: packed words, or floats rounded to tf32."""
    scalar, lanes = fragment.dtype.scalar(), body.values[fragment]
    if scalar is dtypes.float32:
        floats = (body.in_register(scalar, lane) for lane in lanes)
        return [body.value(_WORD, "cvt.rna.tf32.f32", x) for x in floats]
    return [body.in_register(_WORD, word) for word in words_of(body, scalar, lanes)]
