"""What a GPU can do, from what the probe wrote into its target.

Source: Apple, Metal Feature Set Tables; Metal Shading Language Specification.
"""

from plugrad.dtype import STORABLE, dtypes
from plugrad.target import Capabilities, Target
from plugrad.uop.ops import COMPARE, Ops

_INTEGER_OPS = (Ops.CDIV, Ops.CMOD, Ops.SHL, Ops.SHR, Ops.AND, Ops.OR, Ops.XOR)
_FLOAT_OPS = (Ops.FDIV, Ops.RECIP, Ops.SQRT, Ops.TRUNC)
_SHARED_OPS = (Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.MAX, Ops.WHERE, Ops.MULACC, *COMPARE)
NATIVE_OPS = frozenset(op.name for op in (*_INTEGER_OPS, *_FLOAT_OPS, *_SHARED_OPS))

BUFFER_SLOTS = 31  # "Maximum number of entries in the buffer argument table, per kernel function"
BFLOAT_SINCE = (3, 1)


def language_of(target: Target) -> tuple[int, int]:
    """Return the version of the language that kernels are written in.

    Example:
        >>> language_of(Target("METAL", detail=(("language", "3.1"),)))
        (3, 1)
    """
    major, _, minor = (target.get("language") or "2.4").partition(".")
    return int(major), int(minor)


def capabilities(target: Target) -> Capabilities:
    """Return what kernels on a GPU can do. There is no float64, whatever the GPU."""
    group = int(target.get("workgroup") or 1024)
    absent = {dtypes.float64}
    converted = {dtypes.bfloat16}  # the language has the type from BFLOAT_SINCE on, but few functions of it
    return Capabilities(
        storage_dtypes=frozenset(STORABLE) - absent,
        compute_dtypes=frozenset(STORABLE) - absent - converted,
        max_lanes=4,
        max_load_bits=128,
        grid_dims=3,
        max_grid=((1 << 31) - 1, (1 << 16) - 1, (1 << 16) - 1),
        max_workgroup=group,
        max_workgroup_dims=(group, group, group),
        local_memory_bytes=int(target.get("local_bytes") or 32 << 10),
        native_ops=NATIVE_OPS,
        max_buffers=BUFFER_SLOTS - 1,  # the last is for the values of variables
    )
