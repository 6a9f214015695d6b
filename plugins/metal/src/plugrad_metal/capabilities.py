"""Derive the capabilities of a GPU from its target.

Source: Apple, Metal Feature Set Tables; Metal Shading Language Specification.
"""

from plugrad.dtype import STORABLE, DType, dtypes
from plugrad.renderer.cstyle import NATIVE_OPS
from plugrad.target import Capabilities, Target
from plugrad.uop import Ops
from plugrad.uop.ops import UPDATING
from plugrad_metal.tensor_cores import tensor_cores

BUFFER_SLOTS = 31  # "Maximum number of entries in the buffer argument table, per kernel function"
BFLOAT_SINCE = (3, 1)
FLOAT_ATOMICS_SINCE = (3, 0)
# Indirect command buffers: Apple7 and Apple8 fail with some, and Intel Macs are slower with them.
# Source: tinygrad, pull requests 6313 and 10366, issue 8648.
REPLAY_SINCE = 9


def language_of(target: Target) -> tuple[int, int]:
    """Return the version of the language that kernels are written in.

    Example:
        >>> language_of(Target("METAL", detail=(("language", "3.1"),)))
        (3, 1)
    """
    major, _, minor = (target.get("language") or "2.4").partition(".")
    return int(major), int(minor)


def generation_of(target: Target) -> int:
    """Return the generation of a GPU among Apple's families, or 0.

    Example:
        >>> generation_of(Target("METAL", arch="apple9")), generation_of(Target("METAL", arch="mac2"))
        (9, 0)
    """
    family, _, generation = target.arch.partition("apple")
    return int(generation) if not family and generation else 0


def can_replay(target: Target) -> bool:
    """Say whether recorded launches go to a GPU as one indirect command buffer.

    Example:
        >>> can_replay(Target("METAL", arch="apple9")), can_replay(Target("METAL", arch="apple7"))
        (True, False)
    """
    return generation_of(target) >= REPLAY_SINCE


def capabilities(target: Target) -> Capabilities:
    """Return the capabilities of a GPU; none has float64."""
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
        atomic_ops=_atomic_ops(target),
        max_buffers=BUFFER_SLOTS - 1,  # the last is for the values of variables
        tensor_cores=tensor_cores(generation_of(target), language_of(target) >= BFLOAT_SINCE),
    )


def _atomic_ops(target: Target) -> frozenset[tuple[str, DType]]:
    """Return the atomic operations on integers, and the sum of floats.

    Source: Metal Shading Language Specification, section "Atomic Functions".
    """
    integers = {(op.name, dtype) for op in UPDATING for dtype in (dtypes.int32, dtypes.uint32)}
    has_floats = language_of(target) >= FLOAT_ATOMICS_SINCE
    return frozenset(integers | {(Ops.ADD.name, dtypes.float32)} if has_floats else integers)
