"""The host reads elements: as Python numbers, as bytes, as NumPy arrays.

Of a symbolic shape, it reads the elements that there are today: the first ones of memory for as many as there
may be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad._util import numpy as np
from plugrad.device import Device
from plugrad.dtype import ConstType, dtypes, is_complex, is_int, part_dtype, to_numpy
from plugrad.engine import storage
from plugrad.engine.capture import current_capture
from plugrad.engine.plugin_errors import blaming_plugin
from plugrad.errors import ArgumentError, DtypeError, JitError, ShapeError, SharingError
from plugrad.runtime.buffer import Buffer
from plugrad.schedule.movement import ALWAYS, ZERO, Indices, source_indices
from plugrad.tensor.base import Tensor
from plugrad.tensor.host.display import describe
from plugrad.tensor.host.host_data import computes, empty_lists, nest, pack, unpack
from plugrad.tensor.host.source import bytes_of
from plugrad.tensor.host.strided import is_whole, is_whole_today, lies_in_order, read_element, read_view
from plugrad.tensor.shapes import as_flag, is_static, product, shape_today, show
from plugrad.uop import ELEMENTWISE, MOVEMENT, Ops, UOp, simplify

if TYPE_CHECKING:
    import numpy.typing as npt

_WRITABLE = 1  # PyBUF_WRITABLE of Python's buffer protocol


def shaped_memory(x: Tensor) -> memoryview:
    """Return the elements as read-only host memory of this shape (see `Tensor.data`)."""
    shape = shape_today(x.shape, "data")
    flat: Any = stored_bytes(x)
    fmt: Any = part_dtype(x.dtype).fmt
    if is_complex(x.dtype):
        shape = (*shape, 2)
    elif fmt is None or fmt == "e":
        # memoryview has no floats of one byte or two
        fmt = "B" if x.dtype.itemsize == 1 else "H"
    return flat.cast(fmt) if 0 in shape else flat.cast(fmt, shape)


def __buffer__(self: Tensor, flags: int) -> memoryview:
    """Let `memoryview` read the elements, as `data()` does (since Python 3.12).

    Raises:
        SharingError: writable memory is asked for, or buffers have no such dtype (`data()` gives bits).

    Example:
        >>> Tensor([1, 2]).__buffer__(0).tolist()
        [1, 2]
    """
    if flags & _WRITABLE:
        raise SharingError(f"{describe(self)} gives read-only memory. Copy it: bytearray(tensor.data()).")
    if self.dtype.fmt is None or self.dtype.fmt == "e":
        raise SharingError(f"memoryview has no {self.dtype.name}, which {describe(self)} is of. Use data().")
    shape = shape_today(self.shape, "memoryview")
    memory = shaped_memory(self)
    # a memoryview of no elements cannot be cast to a shape
    return np.empty(shape, to_numpy(self.dtype)).data.toreadonly() if 0 in shape else memory


def stored_bytes(x: Tensor) -> memoryview:
    """Return the elements' bytes as they are now, in row-major order: read-only, never changed."""
    with storage.lock:
        stored = _stored(x)
        memory = stored.snapshot() if isinstance(stored, Buffer) else memoryview(stored)
        return _present_part(x, memory)


def _present_part(x: Tensor, memory: memoryview) -> memoryview:
    if is_static(x.shape):
        return memory
    return memory.cast("B")[: product(shape_today(x.shape, "data")) * x.dtype.itemsize]


def _stored(x: Tensor) -> Buffer | bytes:
    """Compute the elements; return their memory, or bytes in row-major order."""
    u = x.uop
    if u.op is Ops.CONST:
        return pack([u.arg], x.dtype)
    if 0 in u.shape:
        return b""
    if current_capture() is not None:
        raise JitError(
            f"a jitted function reads the elements of {describe(x)}. Its replays run no Python, so "
            "what it does with them would not be done again. Return the tensor and read it outside; "
            "choose with where()."
        )
    if u.device is None and product(u.shape) == 1 and (value := constant_of(u)) is not None:
        return pack([value], x.dtype)
    if not computes(x._device) and not is_whole(u):
        # what lies there in another order, or in parts, is put together where kernels run
        return _stored(x._make(u.copy_to_device(Device.DEFAULT), Device.DEFAULT))
    if not storage.is_view(u):
        u = x.realize().uop
    if is_static(u.shape) and (elements := read_view(u)) is not None:
        return elements
    if not (is_whole(u) or is_whole_today(u)):
        u = x._make(u.contiguous(), x._device).realize().uop
    return storage.buffer_of(storage.viewed(u))


def numpy(self: Tensor) -> npt.NDArray[Any]:
    """Return a copy of the elements as a NumPy array; bfloat16 becomes float32.

    That takes one copy. `np.asarray(tensor)` takes none where the tensor is in the host's memory, and is
    read-only. Of a symbolic shape it has the elements that there are today.

    Raises:
        ShapeError: a symbolic size has no value.

    Example:
        >>> Tensor([1, 2]).numpy()
        array([1, 2], dtype=int32)
    """
    shape = shape_today(self.shape, "numpy")
    dtype = to_numpy(self.dtype)
    if dtype is None:
        return self.cast(dtypes.float32).numpy()
    with storage.lock:
        stored = _stored(self)
        if not isinstance(stored, Buffer):
            return np.frombuffer(stored, dtype).reshape(shape).copy()
        out = np.empty(shape if is_static(self.shape) else stored.nbytes // dtype.itemsize, dtype)
        with blaming_plugin(Device[stored.device], "plugrad_allocator", f"reading {stored.nbytes} bytes"):
            stored.copyout(bytes_of(out))
        return out if is_static(self.shape) else out[: product(shape)].reshape(shape).copy()


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
    """Return a NumPy array of this tensor, without a copy (and read-only) where possible.

    The array does not change: an assign to the tensor moves the tensor to other memory.

    Raises:
        ValueError: `copy=False`, and a copy is needed; or `copy` is neither None nor a bool.

    Example:
        >>> array = np.asarray(Tensor([1, 2]))
        >>> array.tolist(), array.flags.writeable
        ([1, 2], False)
    """
    copy = None if copy is None else as_flag(copy, "copy")
    own = to_numpy(self.dtype)
    wanted = own if dtype is None else np.dtype(dtype)
    if copy or own is None:
        if copy is False:
            raise ArgumentError(f"NumPy has no {self.dtype.name}: {describe(self)} needs a copy.")
        out = self.numpy()
        return out if wanted is None else out.astype(wanted, copy=False)
    flat = stored_bytes(self) if copy is None else shared_bytes(self)
    out = np.frombuffer(flat, own).reshape(shape_today(self.shape, "numpy"))
    if copy is False and wanted != own:
        raise ArgumentError(f"{describe(self)} as {wanted} needs a copy. Let it be copied, or cast it first.")
    return out if wanted is None else out.astype(wanted, copy=False)


@property
def __array_interface__(self: Tensor) -> dict[str, Any]:
    """NumPy's array interface of the memory itself, read-only and never changed.

    It is there where no copy is needed.
    Source: NumPy reference, "The array interface protocol", version 3.

    Raises:
        AttributeError: sharing needs a copy, or NumPy has no such dtype; `__array__` copies then.

    Example:
        >>> interface = Tensor([[1, 2, 3]], device="PYTHON").realize().__array_interface__
        >>> interface["shape"], interface["typestr"], interface["data"].readonly
        ((1, 3), '<i4', True)
    """
    own = to_numpy(self.dtype)
    if own is None:
        raise AttributeError(f"NumPy has no {self.dtype.name}, which {describe(self)} is of.")
    try:
        flat = shared_bytes(self)
    except ArgumentError as error:
        raise AttributeError(str(error)) from error
    shape = shape_today(self.shape, "numpy")
    return {"version": 3, "shape": shape, "typestr": np.dtype(own).str, "data": flat}


def shared_bytes(x: Tensor) -> memoryview:
    """Return the memory itself as bytes that never change.

    Raises:
        ArgumentError: sharing needs a copy.
    """
    u = x.uop
    if storage.is_view(u) and is_static(u.shape) and 0 not in u.shape and not lies_in_order(u):
        raise ArgumentError(
            f"the elements of {describe(x)} do not lie in row-major order: it shows a part of other memory. "
            "Let it be copied, or call .contiguous() first."
        )
    with storage.lock:
        stored = _stored(x)
        shared = stored.share() if isinstance(stored, Buffer) else memoryview(stored)
        shared = None if shared is None else _present_part(x, shared)
    if shared is None:
        raise ArgumentError(
            f"the memory of {describe(x)} cannot be shared: it is not the host's, belongs to somebody "
            "else, or a jitted function uses it. Let it be copied."
        )
    return shared


def tolist(self: Tensor) -> Any:
    """Return the elements as nested lists of Python numbers; one number for shape ().

    Raises:
        ShapeError: a symbolic size has no value.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
    """
    shape = shape_today(self.shape, "tolist")
    memory = stored_bytes(self)
    return empty_lists(shape) if 0 in shape else nest(unpack(memory.cast("B"), self.dtype), shape)


def item(self: Tensor) -> Any:
    """Return the only element as a Python number.

    Raises:
        ShapeError: there are more or fewer, or a symbolic size has no value.

    Example:
        >>> Tensor([[5]]).item()
        5
    """
    return _only_element(self, ShapeError)


class _NoNumber(ShapeError, TypeError):
    """Error of several elements taken for a number; also a TypeError, as NumPy raises."""


def _only_element(x: Tensor, error: type[ShapeError]) -> Any:
    shape = x.shape
    count = product(shape_today(shape, "item")) if shape else 1
    if count != 1:
        raise error(
            f"item() of shape {show(x.shape)}: it has {count} elements. Index one, reduce, or use tolist()."
        )
    return unpack(_element_of(x) or stored_bytes(x).cast("B"), x.dtype)[0]


def _element_of(x: Tensor) -> memoryview | None:
    """Return the only element of what shows memory, or None.

    None where it has to be computed, or moved, first.
    """
    if not x._storage.is_memory or current_capture() is not None or not computes(x._device):
        return None
    with storage.lock:
        u = x.uop
        return read_element(u) if storage.is_view(u) and is_static(u.shape) else None


def __bool__(self: Tensor) -> bool:
    if self.numel() != 1:
        raise ShapeError(
            f"a tensor of shape {show(self.shape)} is neither true nor false. Use .any() or .all()."
        )
    return bool(self.item())


def __float__(self: Tensor) -> float:
    return float(_real_item(self))


def __int__(self: Tensor) -> int:
    return int(_real_item(self))


def _real_item(x: Tensor) -> Any:
    if is_complex(x.dtype):
        raise DtypeError(f"{x.dtype.name} is no real number. Take .real, .imag or .abs() first.")
    return _only_element(x, _NoNumber)


def __complex__(self: Tensor) -> complex:
    return complex(_only_element(self, _NoNumber))


def __index__(self: Tensor) -> int:
    if not is_int(self.dtype):
        raise DtypeError(f"{self.dtype.name} is no index. Cast to an integer dtype first.")
    return _only_element(self, _NoNumber)


# Larger graphs are for kernels: an element of them is worked out way by way.
_MOST_NODES = 64


def constant_of(u: UOp) -> ConstType | None:
    """Return the only element of a graph if it follows from numbers alone, else None.

    It is what the kernel of that element would write, as both simplify alike.

    Example:
        >>> constant_of((UOp.iota(50) * 2).shrink(((3, 4),)))
        6
    """
    if u.device is not None or len(u.toposort()) > _MOST_NODES:
        return None
    found = _element(u, (ZERO,) * len(u.shape))
    value = None if found is None else simplify(found)
    return value.arg if value is not None and value.op is Ops.CONST else None


def _element(u: UOp, idxs: Indices) -> UOp | None:
    """Return the element at `idxs` as a number, None for what takes a kernel."""
    if u.op is Ops.CONST:
        return u
    if u.op is Ops.IOTA:
        return idxs[0].cast(u.dtype)
    if u.op in MOVEMENT:
        below, inside = source_indices(u, idxs)
        return _element(u.src[0], below) if inside is ALWAYS else None
    if u.op not in ELEMENTWISE:
        return None
    operands: list[UOp] = []
    for s in u.src:
        if (found := _element(s, idxs if s.shape else ())) is None:
            return None
        operands.append(found)
    return UOp(u.op, u.dtype, tuple(operands), u.arg)
