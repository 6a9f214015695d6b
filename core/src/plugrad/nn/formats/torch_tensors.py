"""The tensors of torch's files: checked views of storages by offset, shape and strides.

Source: https://pytorch.org/docs/stable/tensor_attributes.html (dtypes), and
https://pytorch.org/docs/stable/tensor_view.html (strides).
"""

import math
from types import MethodType
from typing import Any, cast

from plugrad._frozen import frozen
from plugrad.dtype import ELEMENTS, FLOAT8, DType, dtypes, is_float
from plugrad.errors import FileFormatError
from plugrad.nn.formats.byte_source import ByteSource
from plugrad.nn.formats.safe_pickle import PLAIN, Admitted, checked_call
from plugrad.nn.formats.strided import extent, from_strides
from plugrad.tensor import Tensor

# tensors with more elements than their storage (expanded ones) may be that large
_MOST_REPEATED = 1 << 32
MOST_DIMENSIONS = 64

# torch has our names, but for those of floats of a byte
_DTYPES: dict[str, DType] = {
    **{dtype.name: dtype for dtype in ELEMENTS if dtype not in FLOAT8},
    "float8_e4m3fn": dtypes.fp8e4m3,
    "float8_e4m3fnuz": dtypes.fp8e4m3fnuz,
    "float8_e5m2": dtypes.fp8e5m2,
    "float8_e5m2fnuz": dtypes.fp8e5m2fnuz,
}
_STORAGES: dict[str, DType] = {
    "BoolStorage": dtypes.bool,
    "CharStorage": dtypes.int8,
    "ByteStorage": dtypes.uint8,
    "ShortStorage": dtypes.int16,
    "IntStorage": dtypes.int32,
    "LongStorage": dtypes.int64,
    "HalfStorage": dtypes.float16,
    "BFloat16Storage": dtypes.bfloat16,
    "FloatStorage": dtypes.float32,
    "DoubleStorage": dtypes.float64,
    "ComplexFloatStorage": dtypes.complex64,
    "ComplexDoubleStorage": dtypes.complex128,
    "UntypedStorage": dtypes.uint8,
    "storage.UntypedStorage": dtypes.uint8,
}


@frozen
class StorageKind:
    """The dtype of a class of storages."""

    dtype: DType


class Storage:
    """`count` elements of `dtype` that lie from byte `offset` of `source` on.

    Tensors of the same elements are the same memory, and are read once.
    """

    def __init__(self, source: ByteSource, offset: int, dtype: DType, count: int) -> None:
        self.source = source
        self.offset = offset
        self.dtype = dtype
        self.count = count
        self._regions: dict[tuple[int, int, DType], Tensor] = {}

    def region(self, first: int, count: int, dtype: DType, device: str | None) -> Tensor:
        """Return `count` elements from the one with number `first` on."""
        place = (first, count, dtype)
        if place not in self._regions:
            offset = self.offset + first * dtype.itemsize
            self._regions[place] = self.source.tensor(offset, (count,), dtype, device, "a storage")
        return self._regions[place]

    def part(self, first: Any, count: Any) -> "Storage":
        """Return a part of this storage as one of its own."""
        first, count = _sizes((first, count), "the place of a part of a storage")
        if first + count > self.count:
            raise FileFormatError(
                f"a part of {count} elements from {first} on, of a storage of {self.count}."
            )
        return Storage(self.source, self.offset + first * self.dtype.itemsize, self.dtype, count)


def storage_fields(identity: Any) -> tuple[DType, str, int]:
    """Return dtype, key and number of elements that a persistent id tells."""
    fields: tuple[Any, ...] = ()
    if isinstance(identity, tuple):
        fields = cast("tuple[Any, ...]", identity)
    if len(fields) not in (5, 6) or fields[0] != "storage" or not isinstance(fields[1], StorageKind):
        raise FileFormatError(f"the pickle refers to {identity!r:.100}, which is no storage.")
    if not isinstance(fields[2], str):
        raise FileFormatError(f"the pickle refers to a storage by {fields[2]!r:.100}, which is no text.")
    (count,) = _sizes((fields[4],), f"the size of the storage {fields[2]!r}")
    return fields[1].dtype, fields[2], count


def _sizes(values: Any, what: str) -> tuple[int, ...]:
    """Return sizes, strides or places as a pickle has them."""
    items = cast("tuple[Any, ...]", values) if isinstance(values, (tuple, list)) else ()
    integers = tuple(item for item in items if type(item) is int and 0 <= item < 1 << 62)
    if not isinstance(values, (tuple, list)) or len(integers) != len(items):
        raise FileFormatError(f"{what} is {values!r:.100}, not made of integers of 0 and more.")
    return integers


def no_persistent(identity: Any) -> Any:
    """Refuse a persistent id."""
    raise FileFormatError(f"the pickle refers to {identity!r:.100} where no storage is expected.")


class Rebuilder:
    """Makes tensors on a device, by the functions that pickles of tensors name."""

    def __init__(self, device: str | None) -> None:
        self._device = device

    def tensor(self, storage: Any, offset: Any, shape: Any, strides: Any) -> Tensor:
        """Return the elements of a storage that an offset, a shape and strides pick."""
        return self._picked(storage, offset, shape, strides, None)

    def _picked(self, storage: Any, offset: Any, shape: Any, strides: Any, dtype: DType | None) -> Tensor:
        if not isinstance(storage, Storage):
            raise FileFormatError(f"a tensor is made of {storage!r:.100}, which is no storage.")
        dims, steps = _sizes(shape, "the shape of a tensor"), _sizes(strides, "the strides of a tensor")
        (first,) = _sizes((offset,), "the offset of a tensor")
        if len(dims) != len(steps) or len(dims) > MOST_DIMENSIONS:
            raise FileFormatError(f"a tensor has the shape {dims} and the strides {steps}.")
        dtype = dtype or storage.dtype
        have, count = storage.count * storage.dtype.itemsize // dtype.itemsize, extent(dims, steps)
        if first + count > have:
            raise FileFormatError(
                f"a tensor of shape {dims} and strides {steps} reaches over {count} elements from {first} "
                f"on, but its storage has {have}."
            )
        if math.prod(dims) > max(have, _MOST_REPEATED):
            raise FileFormatError(f"a tensor of shape {dims} repeats the {have} elements of its storage.")
        return from_strides(storage.region(first, count, dtype, self._device), dims, steps)

    def tensor_v2(
        self,
        storage: Any,
        offset: Any,
        shape: Any,
        strides: Any,
        requires_grad: Any = False,
        hooks: Any = None,
        metadata: Any = None,
    ) -> Tensor:
        """Return a tensor that may be a leaf."""
        _check_metadata(metadata)
        return _leaf(self.tensor(storage, offset, shape, strides), requires_grad)

    def tensor_v3(
        self,
        storage: Any,
        offset: Any,
        shape: Any,
        strides: Any,
        requires_grad: Any,
        hooks: Any,
        dtype: Any,
        metadata: Any = None,
    ) -> Tensor:
        """Return a tensor of an untyped storage."""
        _check_metadata(metadata)
        if not isinstance(dtype, DType):
            raise FileFormatError(f"a tensor has the dtype {dtype!r:.100}.")
        return _leaf(self._picked(storage, offset, shape, strides, dtype), requires_grad)

    def parameter(self, data: Any, requires_grad: Any = True, hooks: Any = None, state: Any = None) -> Tensor:
        """Return a parameter, which gets a gradient if `requires_grad`, and else is a constant."""
        out = _leaf(data, requires_grad)
        out.requires_grad = out.requires_grad
        return out

    def from_type(self, function: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
        """Return a tensor that had attributes, without them."""
        if not isinstance(function, MethodType) or function == self.from_type or kind is not _TENSOR_TYPE:
            raise FileFormatError(f"a tensor is made by {function!r:.100} as a {kind!r:.100}.")
        if type(arguments) is not tuple:
            raise FileFormatError(f"a tensor is made of {arguments!r:.100}, which is no tuple.")
        return checked_call("_rebuild_from_type_v2", function, cast("tuple[Any, ...]", arguments))

    def admitted(self) -> Admitted:
        """Return the names that a pickle may use."""
        return {
            **PLAIN,
            **{f"torch.{name}": dtype for name, dtype in _DTYPES.items()},
            **{f"torch.{name}": StorageKind(dtype) for name, dtype in _STORAGES.items()},
            **{f"torch.{name[:-7]}Tensor": _TENSOR_TYPE for name in _STORAGES},
            "torch.Tensor": _TENSOR_TYPE,
            "torch.nn.parameter.Parameter": _TENSOR_TYPE,
            "torch.Size": _torch_size,
            "torch.device": _torch_device,
            "torch._utils._rebuild_tensor": self.tensor,
            "torch._utils._rebuild_tensor_v2": self.tensor_v2,
            "torch._utils._rebuild_tensor_v3": self.tensor_v3,
            "torch._utils._rebuild_parameter": self.parameter,
            "torch._utils._rebuild_parameter_with_state": self.parameter,
            "torch._tensor._rebuild_from_type_v2": self.from_type,
        }


_TENSOR_TYPE = "torch.Tensor"


def _leaf(data: Any, requires_grad: Any) -> Tensor:
    """Return a tensor that gets a gradient if `requires_grad`; otherwise nothing is said of one.

    All tensors of a state dict are without one, those to be trained as well.
    """
    if not isinstance(data, Tensor) or type(requires_grad) is not bool:
        raise FileFormatError(f"a parameter is made of {data!r:.100} and {requires_grad!r:.100}.")
    if requires_grad and is_float(data.dtype):
        data.requires_grad = True
    return data


def _check_metadata(metadata: Any) -> None:
    if metadata:
        raise FileFormatError(f"a tensor has {metadata!r:.100} still to be applied. Save x.resolve_neg().")


def _torch_size(sizes: Any) -> tuple[int, ...]:
    return _sizes(sizes, "a torch.Size")


def _torch_device(*parts: Any) -> str:
    if not all(isinstance(part, (str, int)) for part in parts):
        raise FileFormatError(f"a torch.device is made of {parts!r:.100}.")
    return ":".join(map(str, parts))
