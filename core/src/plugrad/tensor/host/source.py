"""Graphs of data: numbers, lists, bytes, arrays, files.

Data that the caller may change later (arrays, `bytearray`, `memoryview`) is copied at once, straight to the
device: one copy. Immutable data (lists become `bytes`) waits on the host until it is needed. A `memoryview`
of contiguous bytes is bytes, any other an array of its elements.
"""

from __future__ import annotations

from typing import Any

from plugrad._util import numpy as np
from plugrad._util import pathlib
from plugrad.dtype import DType, dtypes, from_numpy, from_py, is_complex, to_numpy
from plugrad.engine import storage
from plugrad.engine.capture import note_data
from plugrad.errors import ArgumentError, DeviceNotFound, DtypeError, ShapeError
from plugrad.tensor.base import TensorBase
from plugrad.tensor.host.host_data import (
    HOST,
    check_element,
    computes,
    copied_buffer,
    flatten,
    host_buffer,
    infer_dtype,
    pack,
    shared_buffer,
)
from plugrad.tensor.shapes import show
from plugrad.uop import UOp


def graph_of(data: Any, dtype: DType | None, device: str = HOST, *, copy: bool = True) -> UOp:
    """Return the graph of data for `device`, in memory there or on the host.

    With `copy=False`, the memory of `data` itself.
    """
    if not copy:
        return _shared_graph(data, dtype, device)
    if isinstance(data, UOp):
        # a bound variable is a number
        return data.cast(dtypes.default_int) if data.dtype is dtypes.index else data
    if isinstance(data, (bool, int, float, complex)) and not hasattr(data, "__array__"):
        if dtype is None:
            dtype = infer_dtype([data]) if isinstance(data, int) else from_py(data)
        return UOp.const(dtype, check_element(data, dtype))
    if isinstance(data, (list, tuple, range)) and not _holds_arrays(data):  # pyright: ignore[reportUnknownArgumentType]
        shape, values = flatten(data)
        chosen = infer_dtype(values) if dtype is None else dtype
        return host_buffer(pack(values, chosen), shape, chosen)
    if isinstance(data, (bytes, bytearray)) or _is_of_bytes(data, dtype):
        return _bytes_graph(data, dtypes.uint8 if dtype is None else dtype, device)
    if isinstance(data, TensorBase):
        return data.uop
    if isinstance(data, pathlib.Path):
        return _file_graph(data, dtypes.uint8 if dtype is None else dtype)
    if isinstance(data, (list, tuple)) or hasattr(data, "__array__") or is_buffer(data):
        return _array_graph(_as_array(data), dtype, device)
    raise DtypeError(
        f"cannot make a tensor of {data!r} ({type(data).__name__}). Pass a number, nested lists, bytes or "
        "an array."
    )


# a list may hold itself
_DEEPEST = 64


def holds_tensors(data: Any) -> bool:
    """Say whether a list, or the first list in it, holds tensors without axes.

    Those with a gradient are none: it would be lost.
    """
    members: Any = data
    depth = 0
    while type(members) in (list, tuple) and members and type(members[0]) in (list, tuple):
        members = members[0]
        depth += 1
        if depth > _DEEPEST:
            return False
    if type(members) not in (list, tuple):
        return False
    kinds: set[Any] = set(map(type, members))
    return any([issubclass(kind, TensorBase) for kind in kinds]) and all(
        [not isinstance(x, TensorBase) or (x.ndim == 0 and not x.requires_grad) for x in members]
    )


def _holds_arrays(data: Any) -> bool:
    """Say whether a list holds arrays with axes, which NumPy stacks."""
    kinds: set[Any] = {kind for kind in set(map(type, data)) if hasattr(kind, "__array__")}
    if not kinds:
        return False
    if any(issubclass(kind, TensorBase) for kind in kinds):
        # NumPy would join their values, and leave their gradients behind
        raise DtypeError(
            "cannot make elements of tensors that have axes or gradients: join tensors with Tensor.stack, "
            f"which keeps both. Received {data!r:.80}."
        )
    return any(np.ndim(item) > 0 for item in data if type(item) in kinds)


def _is_of_bytes(view: Any, dtype: DType | None) -> bool:
    """Say whether this is a contiguous view of bytes, read as elements of any dtype."""
    if type(view) is not memoryview:
        return False
    try:
        is_of_bytes = view.format in ("B", "c")
    except ValueError as error:
        raise DtypeError(f"cannot make a tensor of {view!r}: {error}. Pass it before.") from error
    if is_of_bytes and view.ndim != 1 and dtype not in (None, dtypes.uint8):
        raise ShapeError(
            f"bytes of shape {show(view.shape or ())} as {dtype.name if dtype else ''}: only bytes in a row "
            'are read as other elements. Make them that: .cast("B").'
        )
    return is_of_bytes and view.ndim == 1


def is_buffer(data: Any) -> bool:
    """Say whether a value shows its memory as a buffer."""
    try:
        memoryview(data).release()
    except TypeError:
        return False
    return True


def _as_array(data: Any) -> np.typing.NDArray[Any]:
    if hasattr(data, "filled") and np.ma.is_masked(data):
        raise DtypeError(
            "cannot make a tensor of a masked array: tensors have no masks. Fill it: .filled(value)."
        )
    try:
        return np.asarray(data)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise DtypeError(
            f"cannot make a tensor of this {type(data).__name__}: {error}. Pass an array that NumPy "
            "understands; Tensor.from_dlpack takes others."
        ) from error


def _bytes_graph(data: Any, dtype: DType, device: str) -> UOp:
    view = memoryview(data)
    _check_whole(view.nbytes, dtype)
    shape = (view.nbytes // dtype.itemsize,)
    is_plain = view.format == "B" and view.c_contiguous
    if isinstance(data, bytes) or device == HOST or not is_plain or not computes(device):
        return host_buffer(bytes(data), shape, dtype)
    return copied_buffer(view, shape, dtype, device)


def _file_graph(path: pathlib.Path, dtype: DType) -> UOp:
    """Return a whole file, which is read when it is copied to where something computes."""
    where = path.expanduser().resolve()
    if not where.is_file():
        raise DeviceNotFound(f"{str(path)!r} is no file. Check the path.", device=f"DISK:{where}")
    size = where.stat().st_size
    _check_whole(size, dtype, str(path))
    return storage.new_buffer(f"DISK:{where}", (size // dtype.itemsize,), dtype)


def _check_whole(nbytes: int, dtype: DType, what: str = "") -> None:
    if nbytes % dtype.itemsize:
        of = f" of {what}" if what else ""
        raise ShapeError(
            f"{nbytes} bytes{of} are no whole number of {dtype.name}, of {dtype.itemsize} bytes each. Cut "
            "the rest off."
        )


def _array_graph(array: np.typing.NDArray[Any], dtype: DType | None, device: str) -> UOp:
    if array.dtype.kind not in "biufc":
        # NumPy would cast it as well: dates as their counts
        from_numpy(array.dtype)
    if array.dtype.kind == "c" and dtype is not None and not is_complex(dtype):
        raise DtypeError(
            f"an array of {array.dtype} as {dtype.name} would lose its imaginary part. Pass array.real."
        )
    wanted = (None if dtype is None else to_numpy(dtype)) or array.dtype.newbyteorder("=")
    known = from_numpy(wanted)
    if device == HOST or not computes(device):
        return host_buffer(array.astype(wanted, copy=False).tobytes(), array.shape, known)
    if array.dtype == wanted and array.flags.c_contiguous:
        return copied_buffer(bytes_of(array), array.shape, known, device)
    uop = storage.new_buffer(device, array.shape, known)
    buffer = storage.buffer_of(uop)
    seen = buffer.host_view()
    if seen is None:
        buffer.copyin(bytes_of(np.ascontiguousarray(array, wanted)))
    else:
        # converted and put in order on the way
        np.copyto(np.frombuffer(seen, wanted).reshape(array.shape), array, casting="unsafe")
    return note_data(uop)


def _shared_graph(data: Any, dtype: DType | None, device: str) -> UOp:
    """Return a BUFFER on `device` that is the memory of the array `data`."""
    if not hasattr(data, "__array__") or isinstance(data, TensorBase):
        raise ArgumentError(f"copy=False takes a NumPy array, not {type(data).__name__}. Leave it out.")
    array = _as_array(data)
    known = from_numpy(array.dtype)
    problem = ""
    if dtype not in (None, known):
        problem = f"its dtype is {known.name}, not {dtype.name if dtype else ''}"
    elif not array.flags.c_contiguous or not array.dtype.isnative or not array.size:
        problem = "it is empty, or its elements do not lie in row-major order and native byte order"
    else:
        uop = shared_buffer(bytes_of(array).toreadonly(), array.shape, known, device)
        if uop is not None:
            return uop
        problem = f"{device} does not use the host's memory, or not at this alignment"
    raise ArgumentError(f"copy=False of an array {show(array.shape)}: {problem}. Let it be copied.")


def bytes_of(array: np.typing.NDArray[Any]) -> memoryview:
    """Return the bytes of an array in row-major order, which are its memory."""
    return array.reshape(-1).view(np.uint8).data
