"""The graph of what a tensor can be made of: numbers, lists, bytes, arrays, files."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from plugrad._util import numpy as np
from plugrad.dtype import ConstType, DType, dtypes, from_numpy, from_py, to_numpy
from plugrad.engine import storage
from plugrad.errors import DeviceNotFound, DtypeError, ShapeError
from plugrad.tensor.base import TensorBase
from plugrad.tensor.host import check_fits, flatten, host_buffer, infer_dtype, pack
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    import numpy.typing as npt


def graph_of(data: Any, dtype: DType | None) -> UOp:
    """Return the graph of what a tensor can be made of."""
    if isinstance(data, UOp):
        return data
    if isinstance(data, (bool, int, float)) and not hasattr(data, "__array__"):
        chosen = _scalar_dtype(data) if dtype is None else dtype
        return UOp.const(chosen, check_fits(data, chosen))
    if isinstance(data, (list, tuple)):
        shape, values = flatten(data)
        chosen = infer_dtype(values) if dtype is None else dtype
        return host_buffer(pack(values, chosen), shape, chosen)
    if isinstance(data, (bytes, bytearray, memoryview)):
        return _bytes_graph(
            bytes(data),  # pyright: ignore[reportUnknownArgumentType] - of any format
            dtypes.uint8 if dtype is None else dtype,
        )
    if isinstance(data, TensorBase):
        return data.uop
    if isinstance(data, Path):
        return _file_graph(data, dtypes.uint8 if dtype is None else dtype)
    if hasattr(data, "__array__"):
        return _array_graph(np.asarray(data), dtype)
    raise DtypeError(
        f"cannot make a tensor of {data!r} ({type(data).__name__}). Pass a number, nested lists, bytes or "
        "an array."
    )


def _scalar_dtype(value: ConstType) -> DType:
    return infer_dtype([value]) if isinstance(value, int) else from_py(value)


def _bytes_graph(data: bytes, dtype: DType) -> UOp:
    _check_whole(len(data), dtype)
    return host_buffer(data, (len(data) // dtype.itemsize,), dtype)


def _file_graph(path: Path, dtype: DType) -> UOp:
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


def _array_graph(array: "npt.NDArray[Any]", dtype: DType | None) -> UOp:
    # a copy: the caller may change the array before the tensor is computed
    wanted = None if dtype is None else to_numpy(dtype)
    native = array.astype(array.dtype.newbyteorder("=") if wanted is None else wanted, copy=False)
    return host_buffer(native.tobytes(), native.shape, from_numpy(native.dtype))
