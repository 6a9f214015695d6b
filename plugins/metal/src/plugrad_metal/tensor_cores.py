"""Describe the matrix instructions of Apple's GPUs: 8x8 matrices that 32 threads hold.

All matrices have one layout, whatever they stand for: a thread holds two neighbours of a row.

Source: Metal Shading Language Specification, section "SIMD-group Matrix Functions", for types and sizes;
Metal Feature Set Tables, "SIMD-scoped matrix multiply operations", for families; MLX, BaseMMAFrag::get_coord,
for which elements are in which thread, which Apple does not write down elsewhere.
"""

from plugrad.dtype import DType, dtypes
from plugrad.target import Fragment, TensorCore

_A = Fragment(("k1", "m0", "m1", "k2", "m2"), ("k0",))
_B = Fragment(("n1", "k0", "k1", "n2", "k2"), ("n0",))
_C = Fragment(("n1", "m0", "m1", "n2", "m2"), ("n0",))

OLDEST = 7  # the first generation of Apple's families that has them

#: What the language calls a matrix of a dtype.
MATRICES: dict[DType, str] = {
    dtypes.float16: "simdgroup_half8x8",
    dtypes.bfloat16: "simdgroup_bfloat8x8",
    dtypes.float32: "simdgroup_float8x8",
}


def tensor_cores(generation: int, has_bfloat: bool) -> tuple[TensorCore, ...]:
    """Return the matrix instructions of a GPU.

    Args:
        generation: of Apple's families; 0 where the GPU belongs to none of them.
        has_bfloat: whether the language of kernels has that type.

    Example:
        >>> [core.name for core in tensor_cores(8, has_bfloat=False)]
        ['mma8x8_float16', 'mma8x8_float32']
        >>> tensor_cores(0, has_bfloat=True)
        ()
    """
    if generation < OLDEST:
        return ()
    return tuple(
        TensorCore(f"mma8x8_{dtype.name}", (8, 8, 8), 32, dtype, dtypes.float32, _A, _B, _C)
        for dtype in MATRICES
        if dtype is not dtypes.bfloat16 or has_bfloat
    )
