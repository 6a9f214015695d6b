"""Read what `torch.save` writes: zip archives, and the two formats before them.

All hold a pickle that tells how tensors are made of storages, which lie beside it. The pickle is read by
`safe_pickle`, which may name nothing but the parts of tensors; offsets, sizes and strides are checked before
anything is made of them.

Source: https://pytorch.org/docs/stable/notes/serialization.html, "Serialized file format for torch.save";
https://pytorch.org/docs/stable/tensor_attributes.html (dtypes and strides). The older formats are as files
written with `_use_new_zipfile_serialization=False` show them.
"""

import io
import math
from types import MethodType
from typing import Any, cast

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes, is_float
from plugrad.errors import FileFormatError
from plugrad.nn.archive import ZipMember, zip_members
from plugrad.nn.byte_source import ByteSource, Located
from plugrad.nn.safe_pickle import PLAIN, Admitted, load_data
from plugrad.nn.strided import extent, from_strides
from plugrad.tensor import Tensor

__all__ = ["torch_load"]

_ZIP_MAGIC = b"PK\x03\x04"
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_VERSION = 1001
# what a checkpoint says of its tensors takes some hundred bytes for each
_MOST_PICKLE_BYTES = 1 << 30
# tensors with more elements than their storage (expanded ones) may be that large
_MOST_REPEATED = 1 << 32
_MOST_DIMENSIONS = 64
_MOST_ORDER_BYTES = 16

_DTYPES: dict[str, DType] = {
    "bool": dtypes.bool,
    "int8": dtypes.int8,
    "uint8": dtypes.uint8,
    "int16": dtypes.int16,
    "uint16": dtypes.uint16,
    "int32": dtypes.int32,
    "uint32": dtypes.uint32,
    "int64": dtypes.int64,
    "uint64": dtypes.uint64,
    "float16": dtypes.float16,
    "bfloat16": dtypes.bfloat16,
    "float32": dtypes.float32,
    "float64": dtypes.float64,
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
    "UntypedStorage": dtypes.uint8,
    "storage.UntypedStorage": dtypes.uint8,
}


def torch_load(source: Located, device: str | None = None) -> Any:
    """Return what `torch.save` wrote: tensors, numbers, texts and containers of them.

    Tensors are read when they are used. A file that holds anything else, such as a whole `torch.nn.Module`,
    is refused: nothing in it is ever run.

    Args:
        source: a path, or a tensor of the file's bytes.
        device: where the tensors are to live, wherever they were; the default device if left out.

    Raises:
        FileFormatError: the file is truncated, damaged or hostile, or holds other things than those.
        OSError: the file cannot be read.

    Example:
        >>> torch_load("model.pt")["bias"].tolist()
        [1.0, 2.0]
    """
    file = ByteSource(source)
    try:
        if file.read(0, min(file.nbytes, len(_ZIP_MAGIC))) == _ZIP_MAGIC:
            return _load_zip(file, _Rebuilder(device))
        return _load_legacy(file, _Rebuilder(device))
    except FileFormatError as error:
        if error.path or not file.path:
            raise
        # the pickle does not know where it is from
        raise FileFormatError(f"{file.name}: {error}", path=file.path) from error


# --- storages, and tensors of them ---


@frozen
class _StorageKind:
    """What the name of a class of storages stands for."""

    dtype: DType


class _Storage:
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

    def part(self, first: Any, count: Any) -> "_Storage":
        """Return a part of this storage as one of its own."""
        first, count = _sizes((first, count), "the place of a part of a storage")
        if first + count > self.count:
            raise FileFormatError(
                f"a part of {count} elements from {first} on, of a storage of {self.count}."
            )
        return _Storage(self.source, self.offset + first * self.dtype.itemsize, self.dtype, count)


def _storage_fields(identity: Any) -> tuple[DType, str, int]:
    """Return dtype, key and number of elements that a persistent id tells."""
    fields = cast("tuple[Any, ...]", identity) if isinstance(identity, tuple) else ()
    if len(fields) not in (5, 6) or fields[0] != "storage" or not isinstance(fields[1], _StorageKind):
        raise FileFormatError(f"the pickle refers to {identity!r:.100}, which is no storage.")
    if not isinstance(fields[2], str):
        raise FileFormatError(f"the pickle refers to a storage by {fields[2]!r:.100}, which is no text.")
    (count,) = _sizes((fields[4],), f"the size of the storage {fields[2]!r}")
    return fields[1].dtype, fields[2], count


def _sizes(values: Any, what: str) -> tuple[int, ...]:
    items = cast("tuple[Any, ...]", values) if isinstance(values, (tuple, list)) else (None,)
    if not all(type(item) is int and 0 <= item < 1 << 62 for item in items):
        raise FileFormatError(f"{what} is {values!r:.100}, not made of integers of 0 and more.")
    return tuple(items)


def _no_persistent(identity: Any) -> Any:
    raise FileFormatError(f"the pickle refers to {identity!r:.100} where no storage is expected.")


class _Rebuilder:
    """Makes tensors on a device; its methods stand in for the functions that pickles of tensors name."""

    def __init__(self, device: str | None) -> None:
        self._device = device

    def tensor(self, storage: Any, offset: Any, shape: Any, strides: Any) -> Tensor:
        """Return the elements of a storage that an offset, a shape and strides pick."""
        return self._picked(storage, offset, shape, strides, None)

    def _picked(self, storage: Any, offset: Any, shape: Any, strides: Any, dtype: DType | None) -> Tensor:
        if not isinstance(storage, _Storage):
            raise FileFormatError(f"a tensor is made of {storage!r:.100}, which is no storage.")
        dims, steps = _sizes(shape, "the shape of a tensor"), _sizes(strides, "the strides of a tensor")
        (first,) = _sizes((offset,), "the offset of a tensor")
        if len(dims) != len(steps) or len(dims) > _MOST_DIMENSIONS:
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
        return self.parameter(self.tensor(storage, offset, shape, strides), requires_grad)

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
        return self.parameter(self._picked(storage, offset, shape, strides, dtype), requires_grad)

    def parameter(self, data: Any, requires_grad: Any = True, hooks: Any = None, state: Any = None) -> Tensor:
        """Return a tensor that gets a gradient if `requires_grad`."""
        if not isinstance(data, Tensor) or type(requires_grad) is not bool:
            raise FileFormatError(f"a parameter is made of {data!r:.100} and {requires_grad!r:.100}.")
        data.requires_grad = requires_grad and is_float(data.dtype)
        return data

    def from_type(self, function: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
        """Return a tensor that had attributes, without them."""
        if not isinstance(function, MethodType) or function == self.from_type or kind is not _TENSOR_TYPE:
            raise FileFormatError(f"a tensor is made by {function!r:.100} as a {kind!r:.100}.")
        return function(*arguments)

    def admitted(self) -> Admitted:
        """Return what the pickle may name."""
        return {
            **PLAIN,
            **{f"torch.{name}": dtype for name, dtype in _DTYPES.items()},
            **{f"torch.{name}": _StorageKind(dtype) for name, dtype in _STORAGES.items()},
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


def _check_metadata(metadata: Any) -> None:
    if metadata:
        raise FileFormatError(f"a tensor has {metadata!r:.100} still to be applied. Save x.resolve_neg().")


def _torch_size(sizes: Any) -> tuple[int, ...]:
    return _sizes(sizes, "a torch.Size")


def _torch_device(*parts: Any) -> str:
    return ":".join(map(str, parts))


# --- the formats: where storages are ---


def _load_zip(file: ByteSource, rebuilder: _Rebuilder) -> Any:
    members = {member.name: member for member in zip_members(file)}
    pickles = [name for name in members if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(pickles) != 1:
        file.fail(f"its zip archive has {len(pickles)} members */data.pkl, not one.")
    root = pickles[0].removesuffix("data.pkl")
    _check_zip(file, members[pickles[0]], members.get(f"{root}byteorder"))
    found: dict[str, _Storage] = {}

    def load_persistent(identity: Any) -> _Storage:
        dtype, key, count = _storage_fields(identity)
        if key not in found:
            member = members.get(f"{root}data/{key}")
            if member is None:
                file.fail(f"its tensors lie in data/{key}, which is missing.")
            if count * dtype.itemsize > member.nbytes:
                file.fail(f"the storage {key} has {member.nbytes} bytes, too few for {count} {dtype.name}.")
            found[key] = _Storage(*member.content(), dtype, count)
        return found[key]

    return load_data(io.BytesIO(members[pickles[0]].read()), rebuilder.admitted(), load_persistent)


def _check_zip(file: ByteSource, pickled: ZipMember, order: ZipMember | None) -> None:
    if pickled.nbytes > _MOST_PICKLE_BYTES:
        file.fail(f"its pickle has {pickled.nbytes} bytes; at most {_MOST_PICKLE_BYTES} are read.")
    if order is not None and (order.nbytes > _MOST_ORDER_BYTES or order.read() != b"little"):
        file.fail("its tensors are not little endian.")


def _load_legacy(file: ByteSource, rebuilder: _Rebuilder) -> Any:
    """Read pickles of a number, a version, the machine, the value and the storages' keys, then storages."""
    with file.open() as stream:
        if load_data(stream, {}, _no_persistent) != _LEGACY_MAGIC:
            file.fail("no file of torch.save: it starts with something else.")
        version = load_data(stream, {}, _no_persistent)
        if version != _LEGACY_VERSION:
            file.fail(f"version {version!r:.60} of the old format; only {_LEGACY_VERSION} is known.")
        machine = load_data(stream, {}, _no_persistent)
        if not isinstance(machine, dict) or not cast("dict[Any, Any]", machine).get("little_endian"):
            file.fail("its tensors are not little endian.")
        begin = stream.tell()
        # storages lie behind the value, without a table: the value is read once to learn what there are, and
        # once more to make tensors of them
        expected: dict[str, DType] = {}

        def note(identity: Any) -> None:
            dtype, key, _ = _storage_fields(identity)
            expected[key] = dtype

        load_data(stream, {name: _unmade(value) for name, value in rebuilder.admitted().items()}, note)
        keys = load_data(stream, {}, _no_persistent)
        storages = _locate(file, stream.tell(), keys, expected)

        def load_persistent(identity: Any) -> _Storage:
            dtype, key, count = _storage_fields(identity)
            if key not in storages or storages[key].count < count or storages[key].dtype is not dtype:
                file.fail(f"the storage {key!r} is missing, too small or of another dtype.")
            view = identity[5] if len(identity) > 5 else None
            if view is None:
                return storages[key]
            if not isinstance(view, tuple) or len(cast("tuple[Any, ...]", view)) != 3:
                file.fail(f"a part of a storage is described by {view!r:.100}.")
            return storages[key].part(view[1], view[2])

        stream.seek(begin)
        return load_data(stream, rebuilder.admitted(), load_persistent)


def _unmade(value: Any) -> Any:
    """Return a stand-in for what makes tensors that makes nothing; other values are themselves."""
    return (lambda *_: None) if isinstance(value, MethodType) else value


def _locate(file: ByteSource, offset: int, keys: Any, expected: dict[str, DType]) -> dict[str, _Storage]:
    """Return the storages that lie one after the other from `offset` on: number of elements, elements."""
    out: dict[str, _Storage] = {}
    for key in cast("list[Any]", keys) if isinstance(keys, list) else [None]:
        if not isinstance(key, str) or key not in expected:
            file.fail(f"its storages have the keys {keys!r:.100}, but its tensors use others.")
        count = int.from_bytes(file.read(offset, 8, f"the size of the storage {key!r}"), "little")
        dtype, offset = expected[key], offset + 8
        file.check(offset, count * dtype.itemsize, f"the storage {key!r}")
        out[key] = _Storage(file, offset, dtype, count)
        offset += count * dtype.itemsize
    return out
