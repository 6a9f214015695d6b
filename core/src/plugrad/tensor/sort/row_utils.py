"""Helpers of algorithms that run along rows of keys."""

import struct
from typing import Any

from plugrad.dtype import DType, dtype_max, dtypes
from plugrad.tensor.host.host_data import HOST, host_buffer
from plugrad.tensor.lookup import counted
from plugrad.tensor.shapes import Dim
from plugrad.uop import Ops, UOp


def sum_last(u: UOp) -> UOp:
    """Return the sums along the last axis, which goes: (*R, n) -> (*R)."""
    return u.reduce_axis(Ops.ADD, (len(u.shape) - 1,)).reshape(u.shape[:-1])


def whole_blocks(keys: UOp, block: int) -> UOp:
    """Fill keys up to whole blocks with the greatest key, behind all equal ones."""
    size: Any = keys.shape[-1]
    room = -size % block
    if not room:
        return keys
    return mask_behind(keys.pad([*[(0, 0)] * (len(keys.shape) - 1), (0, room)]), size)


def mask_behind(keys: UOp, size: Dim) -> UOp:
    """Replace all but the first `size` keys of each row by the greatest key."""
    count = keys.shape[-1]
    if count is size or count == size:
        return keys
    place = counted(count, dtypes.int32, keys.shape, len(keys.shape) - 1)
    inside = place < (size if isinstance(size, int) else size.cast(dtypes.int32))
    return inside.where(keys, keys.const_like(dtype_max(keys.dtype)))


def bit_numbers() -> UOp:
    """Return 0 to 63 in the host's memory, for `bit_number`: (64,) of int64."""
    return host_buffer(struct.pack("=64q", *range(64)), (64,), dtypes.int64)


def bit_number(bits: UOp, bit: int, device: str) -> UOp:
    """Return a number of `bits` in memory, so kernels are shared."""
    return bits.shrink(((bit, bit + 1),)).copy_to_device(device)


def number_on_device(number: int, device: str, dtype: DType = dtypes.int32) -> UOp:
    """Return a number in memory, (1,) of an integer dtype, so kernels are shared."""
    uop = host_buffer(struct.pack("=i" if dtype is dtypes.int32 else "=q", number), (1,), dtype)
    return uop if device == HOST else uop.copy_to_device(device)
