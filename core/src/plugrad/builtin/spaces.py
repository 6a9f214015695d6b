"""Memory as kernels of the PYTHON device see it: typed, bounded, shared by many work-items."""

from typing import Any, NamedTuple

from plugrad._util import numpy as np
from plugrad.builtin.arithmetic import Array, from_storage, to_storage
from plugrad.dtype import DType
from plugrad.errors import DeviceError


class Space(NamedTuple):
    """One buffer, or one local array of every workgroup.

    Attributes:
        kernel: name of the kernel that uses it, for messages.
        name: what messages call it.
        array: its elements as stored.
        numel: how many elements a work-item sees.
        dtype: their type.
        base: for local memory of several workgroups, the first element of each work-item's own.
    """

    kernel: str
    name: str
    array: Array
    numel: int
    dtype: DType
    base: Array | None = None


class Address(NamedTuple):
    """Element `idx` of `space` for each work-item, where `gate` (if any) holds."""

    space: Space
    idx: Array
    gate: Array | None = None


def both(a: Array | None, b: Array | None) -> Array | None:
    """Return where both masks hold; None stands for everywhere."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def gather(place: Address, count: int, lanes: int, mask: Array | None, alternative: Array) -> Array:
    """Return `count` consecutive elements for each work-item; where the mask does not hold, `alternative`.

    Raises:
        DeviceError: an active work-item reads outside of the space.
    """
    space, idx, gate = place
    mask = both(mask, gate)
    if mask is None or (len(mask) == 1 and mask[0]):
        return from_storage(space.array[_elements(space, idx, None, count, "LOAD")], space.dtype)
    if not mask.any():
        return alternative
    active = np.flatnonzero(mask)
    out = np.broadcast_to(alternative, (lanes, *alternative.shape[1:])).copy()
    elements = _elements(space, idx, active, count, "LOAD")
    out[active] = from_storage(space.array[elements], space.dtype)
    return out


def scatter(place: Address, count: int, lanes: int, mask: Array | None, values: Array) -> None:
    """Write `count` consecutive elements for each work-item in the mask.

    Of several writes to one place, the last one stays.

    Raises:
        DeviceError: an active work-item writes outside of the space.
    """
    space, idx, gate = place
    mask = both(mask, gate)
    stored = to_storage(values, space.dtype)
    if mask is None and len(stored) in (1, len(idx)):
        space.array[_elements(space, idx, None, count, "STORE")] = stored
        return
    active = np.arange(lanes) if mask is None else np.flatnonzero(np.broadcast_to(mask, lanes))
    if len(active) == 0:
        return
    if len(stored) > 1:
        stored = stored[active]
    idx = np.broadcast_to(idx, lanes)
    space.array[_elements(space, idx, active, count, "STORE")] = stored


def update(place: Address, lanes: int, mask: Array | None, values: Array, combine: Any) -> None:
    """Combine an element of each work-item in the mask with memory, one after the other.

    Raises:
        DeviceError: an active work-item updates an element outside of the space.
    """
    space, idx, gate = place
    mask = both(mask, gate)
    active = np.arange(lanes) if mask is None else np.flatnonzero(np.broadcast_to(mask, lanes))
    if len(active) == 0:
        return
    elements = _elements(space, np.broadcast_to(idx, lanes), active, 1, "STORE")
    combine.at(space.array, elements, np.broadcast_to(values, lanes)[active])


def _elements(space: Space, idx: Array, active: Array | None, count: int, access: str) -> Array:
    """Return the positions in `space.array` that the active work-items (None: all) touch."""
    if active is not None and len(idx) > 1:
        idx = idx[active]
    lowest, highest = (int(idx[0]),) * 2 if len(idx) == 1 else (int(idx.min()), int(idx.max()))
    if lowest < 0 or highest + count > space.numel:
        raise _outside(space, lowest if lowest < 0 else highest, count, access)
    if space.base is not None:
        idx = idx + (space.base if active is None else space.base[active])
    return idx if count == 1 else idx[:, None] + np.arange(count)


def _outside(space: Space, index: int, count: int, access: str) -> DeviceError:
    what = f"element {index}" if count == 1 else f"elements {index}..{index + count - 1}"
    return DeviceError(
        f"kernel {space.kernel}: {access} of {what} of {space.name}, which has {space.numel} "
        f"{space.dtype.name}. The generated code misses a gate or computes a wrong address.",
        device="PYTHON",
    )
