"""The matrix instructions of each compute capability (`mma.sync`), as data.

All of them spread their tiles over the threads of a warp by one rule. A register of 32 bits holds neighbours
along the inner axis; four threads hold neighbours of those, and the eight groups of four hold eight rows of
A, or columns of B. Of a larger tile, further registers hold eight more rows first, then what follows along
the inner axis. Of C and D a thread holds pairs along a row.

Source: PTX ISA, section "Matrix Fragments for mma.m16n8k16" and those of the other shapes.
"""

from plugrad.dtype import DType, dtypes, is_float
from plugrad.target import Fragment, FragmentLoad, TensorCore

WARP = 32
# the first driver whose PTX has them (CUDA 12.4, PTX 8.4)
_FLOAT8_DRIVER = 12040
_CODES = {
    dtypes.float16: "f16",
    dtypes.bfloat16: "bf16",
    dtypes.float32: "tf32",
    dtypes.int8: "s8",
    dtypes.uint8: "u8",
    dtypes.fp8e4m3: "e4m3",
    dtypes.fp8e5m2: "e5m2",
}


def tensor_cores(
    version: tuple[int, int], *, driver: int = 0, allows_tf32: bool = False
) -> tuple[TensorCore, ...]:
    """Return the matrix instructions of a GPU.

    Args:
        version: its compute capability.
        driver: the CUDA version of the driver, as it says it (12040 is 12.4); 0: there is none.
        allows_tf32: whether products of float32 may drop the last 13 bits of their factors.

    Example:
        >>> [core.name for core in tensor_cores((7, 5))]
        ['m16n8k8_f16_f32', 'm8n8k16_s8_s32', 'm8n8k16_u8_u32', 'm8n8k16_u8_s32']
    """
    if version < (7, 5):
        return ()
    halves = (dtypes.float16, dtypes.bfloat16) if version >= (8, 0) else (dtypes.float16,)
    # a shorter tile is for an inner axis that the longer one does not fit
    short = (*(_core(16, 8, dtype) for dtype in halves), *_of_bytes(16 if version >= (8, 0) else 8, 16))
    if version < (8, 0):
        return short
    long = (*(_core(16, 16, dtype) for dtype in halves), *_of_bytes(16, 32))
    has_float8 = version >= (8, 9) and (not driver or driver >= _FLOAT8_DRIVER)
    floats = tuple(_core(16, 32, dtype) for dtype in (dtypes.fp8e4m3, dtypes.fp8e5m2) if has_float8)
    rounded = (_core(16, 8, dtypes.float32),) if allows_tf32 else ()
    return (*long, *floats, *short, *rounded)


def opcode(core: TensorCore) -> str:
    """Return the PTX name of an instruction.

    Example:
        >>> opcode(tensor_cores((8, 0))[0])
        'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32'
    """
    columns, rows, inner = core.dims
    taken, given = _CODES[core.dtype_in], "f32" if is_float(core.dtype_out) else "s32"
    return f"mma.sync.aligned.m{rows}n{columns}k{inner}.row.col.{given}.{taken}.{taken}.{given}"


def opcode_of_load(load: FragmentLoad) -> str:
    """Return the PTX name of the load of a fragment.

    Source: PTX ISA, section "Warp-level matrix load instruction: ldmatrix".

    Example:
        >>> opcode_of_load(FragmentLoad(4, is_transposed=True))
        'ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16'
    """
    return f"ldmatrix.sync.aligned.m8n8.x{load.matrices}{'.trans' if load.is_transposed else ''}.shared.b16"


def cache_of_copy(nbytes: int) -> str:
    """Return the caches of an asynchronous copy: 16 bytes pass by the first."""
    return "cg" if nbytes == 16 else "ca"


def _of_bytes(rows: int, inner: int) -> tuple[TensorCore, ...]:
    # sums wrap, so that one instruction gives those of both signs
    return (
        _core(rows, inner, dtypes.int8, dtypes.int32),
        _core(rows, inner, dtypes.uint8, dtypes.uint32),
        _core(rows, inner, dtypes.uint8, dtypes.int32),
    )


def _core(rows: int, inner: int, taken: DType, given: DType = dtypes.float32) -> TensorCore:
    code = {dtypes.float32: "f32", dtypes.int32: "s32", dtypes.uint32: "u32"}[given]
    in_register = {1: 2, 2: 1, 4: 0}[taken.itemsize]  # bits of the inner coordinate
    along = [f"k{bit}" for bit in range(inner.bit_length() - 1)]
    lower, four, upper = along[:in_register], along[in_register : in_register + 2], along[in_register + 2 :]
    more_rows = ["m3"] if rows == 16 else []
    return TensorCore(
        name=f"m{rows}n8k{inner}_{_CODES[taken]}_{code}",
        dims=(8, rows, inner),
        threads=WARP,
        dtype_in=taken,
        dtype_out=given,
        a=Fragment((*four, "m0", "m1", "m2"), (*lower, *more_rows, *upper)),
        b=Fragment((*four, "n0", "n1", "n2"), (*lower, *upper)),
        c=Fragment(("n1", "n2", "m0", "m1", "m2"), ("n0", *more_rows)),
        loads_rows=taken.itemsize == 2 or taken in (dtypes.int8, dtypes.uint8),
    )
