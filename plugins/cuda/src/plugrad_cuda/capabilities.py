"""List the capabilities of GPUs by compute capability, as data.

Source: CUDA C++ Programming Guide, section "Compute Capabilities", technical specifications per compute
capability.
"""

from dataclasses import replace

from plugrad.dtype import STORABLE, DType, dtypes
from plugrad.errors import DeviceNotFound
from plugrad.renderer.cstyle import NATIVE_OPS
from plugrad.target import Capabilities, Target
from plugrad.uop import Ops
from plugrad_cuda.tensor_cores import WARP, tensor_cores

OLDEST = (7, 0)
INTEGERS = (dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64)  # that functions of memory take

#: Source: CUDA C++ Programming Guide, section "Atomic Functions".
ATOMIC_OPS = frozenset(
    (op.name, dtype)
    for op, dtypes_of_op in (
        (Ops.ADD, (*INTEGERS, dtypes.float32, dtypes.float64)),
        (Ops.MAX, INTEGERS),
    )
    for dtype in dtypes_of_op
)

_RESERVED_BYTES = 1 << 10  # of the shared memory of a unit, for each block
STATIC_SHARED_BYTES = 48 << 10  # what a kernel may declare; more is asked for at the launch
_SHARED_KILOBYTES = {
    (7, 0): 96,
    (7, 2): 96,
    (7, 5): 64,
    (8, 0): 163,
    (8, 6): 99,
    (8, 7): 163,
    (8, 9): 99,
    (9, 0): 227,
    (10, 0): 227,
    (10, 1): 227,
    (10, 3): 227,
    (12, 0): 99,
    (12, 1): 99,
}

# Where no driver says it: of the first GPUs of each.
_UNITS = {
    (7, 0): 80,
    (7, 5): 68,
    (8, 0): 108,
    (8, 6): 82,
    (8, 9): 128,
    (9, 0): 132,
    (10, 0): 148,
    (12, 0): 170,
}
_CLOCK_KILOHERTZ = 1_500_000
_BANDWIDTH = {(7, 0): 900, (8, 0): 1555, (9, 0): 3350, (10, 0): 8000}  # in 10**9 bytes a second
# Additions and multiplications of a multiprocessor in a clock, half of them fused.
# Source: CUDA C++ Programming Guide, table "Throughput of Native Arithmetic Instructions".
_FLOAT32_IN_A_CLOCK = {(7, 0): 128, (7, 2): 128, (7, 5): 128, (8, 0): 128}
_FAST_FLOAT64 = frozenset({(7, 0), (8, 0), (9, 0), (10, 0)})
REGISTERS_OF_A_UNIT = 64 << 10
REGISTERS_OF_A_THREAD = 255


def version_of(arch: str) -> tuple[int, int]:
    """Return the compute capability of an architecture's name.

    Raises:
        DeviceNotFound: it is no name of an architecture.

    Example:
        >>> version_of("sm_90"), version_of("sm_100")
        ((9, 0), (10, 0))
    """
    digits = arch.removeprefix("sm_").rstrip("af")
    if not arch.startswith("sm_") or not digits.isdecimal() or len(digits) < 2:
        raise DeviceNotFound(
            f"{arch!r} is no architecture of NVIDIA's GPUs. Pass a name such as 'sm_80'.", device="CUDA"
        )
    return int(digits[:-1]), int(digits[-1])


def capabilities(target: Target, *, allows_tf32: bool = False) -> Capabilities:
    """Return the capabilities of a target.

    Args:
        target: its `arch` decides; in its detail is what the driver said of the device, and `driver`, the
            driver's version.
        allows_tf32: whether products of float32 may drop the last 13 bits of their factors.
    """
    version = version_of(target.arch)
    shared = int(target.get("shared_bytes") or _SHARED_KILOBYTES.get(version, 48) << 10)
    units = int(target.get("units") or _UNITS.get(version, 64))
    emulated = {dtypes.float16, dtypes.bfloat16}  # no headers: stored as bits, computed in float32
    return Capabilities(
        storage_dtypes=frozenset(STORABLE),
        compute_dtypes=frozenset(STORABLE) - emulated,
        max_load_bits=128,
        grid_dims=3,
        max_grid=((1 << 31) - 1, (1 << 16) - 1, (1 << 16) - 1),
        max_workgroup=1024,
        max_workgroup_dims=(1024, 1024, 64),
        local_memory_bytes=shared,
        native_ops=NATIVE_OPS,
        atomic_ops=ATOMIC_OPS,
        compute_units=units,
        warp_size=WARP,
        unit_registers=int(target.get("unit_registers") or REGISTERS_OF_A_UNIT),
        thread_registers=REGISTERS_OF_A_THREAD,
        unit_memory_bytes=int(target.get("unit_memory_bytes") or shared + _RESERVED_BYTES),
        async_copy_bytes=(4, 8, 16) if version >= (8, 0) else (),
        memory_bandwidth=int(target.get("bandwidth") or _BANDWIDTH.get(version, 500) * 10**9),
        flop_rates=_flop_rates(version, units * 1000 * int(target.get("clock") or _CLOCK_KILOHERTZ)),
        max_buffers=256,  # 4 KB of parameters, half of them left for scalars
        tensor_cores=tensor_cores(version, driver=int(target.get("driver") or 0), allows_tf32=allows_tf32),
    )


def without_warp_copies(can: Capabilities) -> Capabilities:
    """Return the capabilities of a renderer without asynchronous copies and loads of whole warps."""
    cores = tuple(replace(core, loads_rows=False) for core in can.tensor_cores)
    return replace(can, tensor_cores=cores, async_copy_bytes=())


def _flop_rates(version: tuple[int, int], clocks: int) -> tuple[tuple[DType, int], ...]:
    """Return the rates of all multiprocessors together, which have so many clocks a second."""
    single = clocks * _FLOAT32_IN_A_CLOCK.get(version, 256)
    double = single // 2 if version in _FAST_FLOAT64 else single // 64
    return ((dtypes.float32, single), (dtypes.float64, double))
