"""Read the elements of initializers, from the model or lazily from files in its folder."""

# functions of onnx take files that have no type
# pyright: reportUnknownMemberType=false

import math
from pathlib import Path

import numpy as np
import onnx.external_data_helper
import onnx.helper
import onnx.numpy_helper
from onnx import GraphProto, ModelProto, TensorProto

from plugrad.errors import FileFormatError
from plugrad.nn.formats.byte_source import ByteSource
from plugrad_onnx.errors import InvalidModel
from plugrad_onnx.values import DTYPES, Array, Value

SMALL = 4096  # elements; fewer may be shape arithmetic, and are read at once
_PAIRS = (TensorProto.COMPLEX64, TensorProto.COMPLEX128)  # which no device stores as one


class Weights:
    """Read the tensors of one model.

    Args:
        folder: where external data may lie; None allows none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder.resolve()
        self._files: dict[Path, ByteSource] = {}

    def value(self, tensor: TensorProto) -> Value:
        """Return an initializer as an array, or a Tensor that reads external data later.

        Raises:
            InvalidModel: its data has another size than its shape, or lies outside of the folder.
        """
        dtype = None if tensor.data_type in _PAIRS else DTYPES.get(tensor.data_type)
        if dtype is None or math.prod(tensor.dims) <= SMALL or not _is_external(tensor):
            return self.array(tensor)
        file, offset = self._region(tensor, math.prod(_dims(tensor)) * dtype.itemsize)
        return file.tensor(offset, _dims(tensor), dtype, None, _what(tensor))

    def array(self, tensor: TensorProto) -> Array:
        """Return the elements of a tensor.

        Raises:
            InvalidModel: its data has another size than its shape, or lies outside of the folder.
        """
        _dims(tensor)
        try:
            return np.asarray(onnx.numpy_helper.to_array(self.filled(tensor)))
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise InvalidModel(f"{_what(tensor)}: {error}") from error

    def filled(self, tensor: TensorProto) -> TensorProto:
        """Return a tensor with its external data inside."""
        if not _is_external(tensor):
            return tensor
        bits = math.prod(_dims(tensor)) * _BITS.get(tensor.data_type, 8 * _itemsize(tensor))
        file, offset = self._region(tensor, -(-bits // 8))
        out = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
        out.raw_data = file.read(offset, -(-bits // 8), _what(tensor))
        return out

    def _region(self, tensor: TensorProto, nbytes: int) -> tuple[ByteSource, int]:
        """Return the file that holds a tensor, and where it begins there."""
        what, place = _what(tensor), {entry.key: entry.value for entry in tensor.external_data}
        location = place.get("location", "")
        if self._folder is None:
            raise InvalidModel(
                f"{what} lies in {location!r}, and a model in bytes has no folder. Give its path."
            )
        try:
            path = (self._folder / location).resolve()
            offset, length = int(place.get("offset", 0)), int(place.get("length", nbytes))
            if not path.is_relative_to(self._folder) or not path.is_file():
                raise InvalidModel(
                    f"{what} lies in {location!r}, which is no file in the folder of the model"
                )
            if length != nbytes:
                raise InvalidModel(f"{what} has {nbytes} bytes by its shape, and {length} in {location!r}")
            if path not in self._files:
                self._files[path] = ByteSource(path)
            self._files[path].check(offset, nbytes, what)
        except InvalidModel:
            raise
        except (ValueError, OSError, FileFormatError) as error:
            raise InvalidModel(f"{what} in {location!r}: {error}") from error
        return self._files[path], offset


def self_contained(proto: ModelProto, folder: Path | None) -> ModelProto:
    """Return a model with the external data of its initializers inside."""
    out = ModelProto()
    out.CopyFrom(proto)
    weights = Weights(folder)
    for tensor in _initializers(out.graph):
        tensor.CopyFrom(weights.filled(tensor))
    return out


def _initializers(graph: GraphProto) -> list[TensorProto]:
    inner = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return [*graph.initializer, *(tensor for other in inner for tensor in _initializers(other))]


_BITS: dict[int, int] = {
    **dict.fromkeys((TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1), 4),
    **dict.fromkeys((TensorProto.INT2, TensorProto.UINT2), 2),
}


def _itemsize(tensor: TensorProto) -> int:
    try:
        return onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
    except KeyError as error:
        raise InvalidModel(f"{_what(tensor)} has no element type: {tensor.data_type}") from error


def _dims(tensor: TensorProto) -> tuple[int, ...]:
    if any(size < 0 for size in tensor.dims):
        raise InvalidModel(f"{_what(tensor)} has the shape {tuple(tensor.dims)}")
    return tuple(tensor.dims)


def _is_external(tensor: TensorProto) -> bool:
    return bool(onnx.external_data_helper.uses_external_data(tensor))


def _what(tensor: TensorProto) -> str:
    return f"initializer {tensor.name!r}"
