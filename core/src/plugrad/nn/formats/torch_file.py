"""Read files of `torch.save`: zip archives, and the two formats before them.

All hold a pickle that tells how tensors are made of storages, which lie beside it. The pickle is read by
`safe_pickle`, which may name nothing but the parts of tensors; offsets, sizes and strides are checked before
anything is made of them.

Source: https://pytorch.org/docs/stable/notes/serialization.html, "Serialized file format for torch.save". The
older formats are as files show that are written with `_use_new_zipfile_serialization=False`, or that
`torch.load` accepts.
"""

import io
import os
import struct
from types import MethodType
from typing import Any, BinaryIO, cast

from plugrad.dtype import DType
from plugrad.errors import FileFormatError
from plugrad.nn.formats.archive import ZipMember, tar_members, zip_members
from plugrad.nn.formats.byte_source import ByteSource, PathOrBytes
from plugrad.nn.formats.safe_pickle import Admitted, load_data, plain_key
from plugrad.nn.formats.torch_tensors import (
    MOST_DIMENSIONS,
    Rebuilder,
    Storage,
    StorageKind,
    no_persistent,
    storage_fields,
)
from plugrad.tensor import Tensor

_ZIP_MAGIC = b"PK\x03\x04"
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_VERSION = 1001
# what a checkpoint says of its tensors takes some hundred bytes for each
_MOST_PICKLE_BYTES = 1 << 30
_MOST_ORDER_BYTES = 16
_COUNT_BYTES = 8
_AXES_BYTES = _AXES_PADDING_BYTES = 4


def torch_load(source: PathOrBytes, device: str | None = None) -> Any:
    """Return the contents of a `torch.save` file: tensors, numbers, texts and containers.

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
        start = file.read(0, min(file.nbytes, _TAR_MAGIC_AT + len(_TAR_MAGIC)))
        if start.startswith(_ZIP_MAGIC):
            return _load_zip(file, Rebuilder(device))
        if start[_TAR_MAGIC_AT:] == _TAR_MAGIC:
            return _load_tar(file, Rebuilder(device))
        return _load_legacy(file, Rebuilder(device))
    except FileFormatError as error:
        if error.path or not file.path:
            raise
        # the pickle does not know where it is from
        raise FileFormatError(f"{file.name}: {error}", path=file.path) from error


def _load_zip(file: ByteSource, rebuilder: Rebuilder) -> Any:
    members = {member.name: member for member in zip_members(file)}
    pickles = [name for name in members if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(pickles) != 1:
        file.fail(f"its zip archive has {len(pickles)} members */data.pkl, not one.")
    root = pickles[0].removesuffix("data.pkl")
    _check_zip(file, members[pickles[0]], members.get(f"{root}byteorder"))
    found: dict[str, Storage] = {}

    def load_persistent(identity: Any) -> Storage:
        dtype, key, count = storage_fields(identity)
        if key not in found:
            member = members.get(f"{root}data/{key}")
            if member is None:
                file.fail(f"its tensors lie in data/{key}, which is missing.")
            if count * dtype.itemsize > member.nbytes:
                file.fail(f"the storage {key} has {member.nbytes} bytes, too few for {count} {dtype.name}.")
            found[key] = Storage(*member.content(), dtype, count)
        return found[key]

    return load_data(io.BytesIO(members[pickles[0]].read()), rebuilder.admitted(), load_persistent)


def _check_zip(file: ByteSource, pickled: ZipMember, order: ZipMember | None) -> None:
    if pickled.nbytes > _MOST_PICKLE_BYTES:
        file.fail(f"its pickle has {pickled.nbytes} bytes; at most {_MOST_PICKLE_BYTES} are read.")
    if order is not None and (order.nbytes > _MOST_ORDER_BYTES or order.read() != b"little"):
        file.fail("its tensors are not little endian.")


def _load_legacy(file: ByteSource, rebuilder: Rebuilder) -> Any:
    """Read five pickles (number, version, machine, value, keys of storages), then the storages."""
    with file.open() as stream:
        if load_data(stream, {}, no_persistent) != _LEGACY_MAGIC:
            file.fail("no file of torch.save: it starts with something else.")
        version = load_data(stream, {}, no_persistent)
        if version != _LEGACY_VERSION:
            file.fail(f"version {version!r:.60} of the old format; only {_LEGACY_VERSION} is known.")
        machine = load_data(stream, {}, no_persistent)
        if not isinstance(machine, dict) or not cast("dict[Any, Any]", machine).get("little_endian"):
            file.fail("its tensors are not little endian.")
        begin = stream.tell()
        # storages lie behind the value, without a table: the value is read once to learn what there are, and
        # once more to make tensors of them
        expected: dict[str, DType] = {}

        def note(identity: Any) -> None:
            dtype, key, _ = storage_fields(identity)
            expected[key] = dtype

        # functions that make tensors have stand-ins, so only values are read
        admitted = rebuilder.admitted().items()
        named = {name: _make_nothing if isinstance(it, MethodType) else it for name, it in admitted}
        load_data(stream, named, note)
        keys = load_data(stream, {}, no_persistent)
        storages = _storages(file, stream.tell(), keys, expected)

        def load_persistent(identity: Any) -> Storage:
            dtype, key, count = storage_fields(identity)
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


def _make_nothing(*_arguments: Any) -> None:
    """Stand for the constructor of a tensor, whose call makes nothing here."""


def _storages(file: ByteSource, offset: int, keys: Any, expected: dict[str, DType]) -> dict[str, Storage]:
    """Return the storages that follow from `offset` on, each a count and that many elements."""
    out: dict[str, Storage] = {}
    for key in cast("list[Any]", keys) if isinstance(keys, list) else [None]:
        if not isinstance(key, str) or key not in expected:
            file.fail(f"its storages have the keys {keys!r:.100}, but its tensors use others.")
        count = int.from_bytes(file.read(offset, _COUNT_BYTES, f"the size of the storage {key!r}"), "little")
        dtype, offset = expected[key], offset + _COUNT_BYTES
        file.check(offset, count * dtype.itemsize, f"the storage {key!r}")
        out[key] = Storage(file, offset, dtype, count)
        offset += count * dtype.itemsize
    return out


def _load_tar(file: ByteSource, rebuilder: Rebuilder) -> Any:
    """Read three members: storages, tensors of them, and a pickle of references."""
    found = {name: (offset, nbytes) for name, offset, nbytes in tar_members(file)}
    missing = sorted({"storages", "tensors", "pickle"} - found.keys())
    if missing:
        file.fail(f"its tar archive has no {', no '.join(missing)}.")
    admitted = rebuilder.admitted()
    with file.open() as stream:
        storages = _tar_storages(file, stream, found["storages"][0], admitted)
        tensors = _tar_tensors(file, stream, found["tensors"][0], storages, rebuilder)

        def load_persistent(identity: Any) -> Any:
            # kinds of containers are noted with their source
            if isinstance(identity, tuple):
                return cast("tuple[Any, ...]", identity)[0]
            key = int(identity) if isinstance(identity, (str, int)) else None
            if key not in tensors:
                file.fail(f"its pickle refers to the tensor {identity!r:.100}, which is missing.")
            return tensors[key]

        stream.seek(found["pickle"][0])
        return load_data(stream, admitted, load_persistent)


def _tar_storages(file: ByteSource, stream: BinaryIO, begin: int, admitted: Admitted) -> dict[Any, Storage]:
    out: dict[Any, Storage] = {}
    stream.seek(begin)
    for _ in range(_count(file, load_data(stream, {}, no_persistent))):
        key, _location, kind = _fields(file, load_data(stream, admitted, no_persistent), 3)
        if not isinstance(kind, StorageKind):
            file.fail(f"a storage is of the kind {kind!r:.100}.")
        count = int.from_bytes(stream.read(_COUNT_BYTES), "little")
        file.check(stream.tell(), count * kind.dtype.itemsize, f"the storage {key!r:.100}")
        out[plain_key(key)] = Storage(file, stream.tell(), kind.dtype, count)
        stream.seek(count * kind.dtype.itemsize, os.SEEK_CUR)
    views = load_data(stream, {}, no_persistent)
    for view in cast("list[Any]", views) if isinstance(views, list) else [None]:
        target, root, first, count = _fields(file, view, 4)
        if plain_key(root) not in out:
            file.fail(f"a part is of the storage {root!r:.100}, which is missing.")
        out[plain_key(target)] = out[root].part(first, count)
    return out


def _tar_tensors(
    file: ByteSource, stream: BinaryIO, begin: int, storages: dict[Any, Storage], rebuilder: Rebuilder
) -> dict[Any, Tensor]:
    out: dict[Any, Tensor] = {}
    stream.seek(begin)
    for _ in range(_count(file, load_data(stream, {}, no_persistent))):
        key, storage, _kind = _fields(file, load_data(stream, rebuilder.admitted(), no_persistent), 3)
        axes = int.from_bytes(stream.read(_AXES_BYTES), "little")
        if plain_key(storage) not in storages or axes > MOST_DIMENSIONS:
            file.fail(f"a tensor has {axes} axes, and lies in the storage {storage!r:.100}.")
        stream.read(_AXES_PADDING_BYTES)
        packed = stream.read(_COUNT_BYTES * (2 * axes + 1))
        if len(packed) != _COUNT_BYTES * (2 * axes + 1):
            file.fail("it ends within a tensor.")
        numbers = struct.unpack(f"<{2 * axes + 1}q", packed)
        shape, strides, first = numbers[:axes], numbers[axes:-1], numbers[-1]
        out[plain_key(key)] = rebuilder.tensor(storages[storage], first, shape, strides)
    return out


def _count(file: ByteSource, value: Any) -> int:
    if type(value) is not int or not 0 <= value <= file.nbytes:
        file.fail(f"it claims {value!r:.100} storages or tensors.")
    return value


def _fields(file: ByteSource, value: Any, count: int) -> tuple[Any, ...]:
    fields = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()
    if len(fields) != count:
        file.fail(f"it describes a storage or a tensor by {value!r:.100}.")
    return fields
