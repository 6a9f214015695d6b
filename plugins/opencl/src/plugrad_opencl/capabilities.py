"""Derive the capabilities of a device from its target.

A CPU is a target that runs loops on vectors, in as many work-items as it has cores; a GPU is one that
launches grids of work-items. Nothing else tells codegen which of the two it works for.
"""

from dataclasses import replace

from plugrad.dtype import STORABLE, DType, dtypes
from plugrad.renderer.cstyle import NATIVE_OPS
from plugrad.settings import settings
from plugrad.target import Capabilities, Target
from plugrad.uop import Ops

# The full profile bounds their error by 3 units in the last place. SIN and COS have a bound, too: PoCL's miss
# it on vectors with a large angle in some lane. Its FMOD is exact, and slower than codegen's where exponents
# differ.
# Source: OpenCL C, section "Relative Error as ULPs".
BOUNDED_OPS = frozenset(op.name for op in (Ops.EXP, Ops.EXP2, Ops.LOG2))

#: The extension that has each 64-bit atomic operation; those of 32 bits are in the language since 1.1.
#: Source: OpenCL C, section "Atomic Functions"; OpenCL Extension Specification, "64-bit Atomics".
ATOMICS_OF_64_BITS = {Ops.ADD: "cl_khr_int64_base_atomics", Ops.MAX: "cl_khr_int64_extended_atomics"}

# what a unit multiplies in a cycle, by LLVM's name of the processor, where vectors may be wider
_UNIT_BITS = {"znver4": 256}
MAX_LANES = 16  # OpenCL C, section "Built-in Vector Data Types"
_BYTES_OF_VARIABLES = 128  # of the space for parameters, kept for scalars
_BYTES_OF_A_BUFFER = 16  # a pointer, and its shift with padding


def capabilities(target: Target) -> Capabilities:
    """Return the capabilities of a device."""
    absent: set[DType] = set() if target.get("fp64") else {dtypes.float64}
    as_bits = {dtypes.bfloat16} if target.get("fp16") else {dtypes.bfloat16, dtypes.float16}
    for_buffers = _number(target, "parameter_bytes", 1024) - _BYTES_OF_VARIABLES
    bounded = BOUNDED_OPS if target.get("profile") == "FULL_PROFILE" else frozenset[str]()
    shared = Capabilities(
        storage_dtypes=frozenset(STORABLE) - absent,
        compute_dtypes=frozenset(STORABLE) - absent - as_bits,
        native_ops=NATIVE_OPS | bounded,
        max_lanes=MAX_LANES,
        max_buffers=max(8, for_buffers // _BYTES_OF_A_BUFFER),
    )
    bits = _number(target, "vector_bits")
    return _of_a_cpu(target, shared, bits) if bits else _of_a_gpu(target, shared)


def _of_a_cpu(target: Target, shared: Capabilities, bits: int) -> Capabilities:
    return replace(
        shared,
        vector_bits=bits,
        vector_unit_bits=min(bits, _UNIT_BITS.get(target.arch, bits)),
        vector_registers=32 if bits > 256 else 16,
        max_load_bits=bits,
        threads=settings.THREADS or _number(target, "units", 1),
    )


def _of_a_gpu(target: Target, shared: Capabilities) -> Capabilities:
    group = _number(target, "workgroup", 1)
    group_dims = target.get("workgroup_dims", f"{group}x1x1").split("x")
    return replace(
        shared,
        grid_dims=3,
        max_grid=((1 << 31) - 1, (1 << 16) - 1, (1 << 16) - 1),  # the least that GPUs have
        max_workgroup=group,
        max_workgroup_dims=tuple(int(size) for size in group_dims),
        local_memory_bytes=_number(target, "local_bytes"),
        compute_units=_number(target, "units", 16),
        atomic_ops=_atomic_ops(target),
    )


def _atomic_ops(target: Target) -> frozenset[tuple[str, DType]]:
    """Return the atomic operations on integers, and the sum of floats by comparing and exchanging."""
    extensions = target.get("int64_atomics").split()
    words = [(op, dtype) for op in ATOMICS_OF_64_BITS for dtype in (dtypes.int32, dtypes.uint32)]
    words += [
        (op, dtype)
        for op, extension in ATOMICS_OF_64_BITS.items()
        for dtype in (dtypes.int64, dtypes.uint64)
        if extension in extensions
    ]
    return frozenset((op.name, dtype) for op, dtype in (*words, (Ops.ADD, dtypes.float32)))


def _number(target: Target, key: str, default: int = 0) -> int:
    return int(target.get(key) or default)
