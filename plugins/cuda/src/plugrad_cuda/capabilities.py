"""List the capabilities of GPUs by compute capability, as data.

Source: CUDA C++ Programming Guide, section "Compute Capabilities", technical specifications per compute
capability.
"""

from plugrad.dtype import STORABLE, dtypes
from plugrad.errors import DeviceNotFound
from plugrad.target import Capabilities, Target
from plugrad.uop.ops import COMPARE, Ops
from plugrad_cuda.tensor_cores import tensor_cores

OLDEST = (7, 0)

_INTEGER_OPS = (Ops.CDIV, Ops.CMOD, Ops.SHL, Ops.SHR, Ops.AND, Ops.OR, Ops.XOR)
_FLOAT_OPS = (Ops.FDIV, Ops.RECIP, Ops.SQRT, Ops.TRUNC)
_SHARED_OPS = (Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.MAX, Ops.WHERE, Ops.MULACC, *COMPARE)
NATIVE_OPS = frozenset(op.name for op in (*_INTEGER_OPS, *_FLOAT_OPS, *_SHARED_OPS))

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
    """Return what kernels on a target can do.

    Args:
        target: its `arch` decides; in its detail, `shared_bytes` is what the driver said of the device, and
            `driver` the driver's version.
        allows_tf32: whether products of float32 may drop the last 13 bits of their factors.
    """
    version = version_of(target.arch)
    shared = int(target.get("shared_bytes") or _SHARED_KILOBYTES.get(version, 48) << 10)
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
        max_buffers=256,  # 4 KB of parameters, half of them left for scalars
        tensor_cores=tensor_cores(version, driver=int(target.get("driver") or 0), allows_tf32=allows_tf32),
    )
