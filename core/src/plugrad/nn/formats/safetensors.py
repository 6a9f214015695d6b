"""The safetensors file format: checked headers, and data as slices of the file.

A file is the length of its header (8 bytes, little endian), the header (a JSON object from tensor names to
dtype, shape and offsets), and the data, which the tensors cover without holes or overlaps. Files come from
strangers: whatever is not exactly that is a FileFormatError, and no offset is used before it was checked.

Source: https://github.com/huggingface/safetensors, "Format".
"""

import json
import math
import os
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NoReturn, cast

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes
from plugrad.errors import DtypeError, FileFormatError
from plugrad.nn.formats.byte_source import ByteSource

_PREFIX_BYTES = 8
# the limit of the reference implementation: larger headers are attacks on the JSON parser
_HEADER_LIMIT = 100_000_000
# alignment of the data, so that mapped files can be read in place
_ALIGNMENT = 8
# NumPy's limit; also keeps the product of the dimensions small
_MOST_DIMENSIONS = 64

_NAMES = {
    dtypes.bool: "BOOL",
    dtypes.int8: "I8",
    dtypes.uint8: "U8",
    dtypes.int16: "I16",
    dtypes.uint16: "U16",
    dtypes.int32: "I32",
    dtypes.uint32: "U32",
    dtypes.int64: "I64",
    dtypes.uint64: "U64",
    dtypes.fp8e4m3: "F8_E4M3",
    dtypes.fp8e5m2: "F8_E5M2",
    dtypes.fp8e4m3fnuz: "F8_E4M3FNUZ",
    dtypes.fp8e5m2fnuz: "F8_E5M2FNUZ",
    dtypes.float16: "F16",
    dtypes.bfloat16: "BF16",
    dtypes.float32: "F32",
    dtypes.float64: "F64",
    dtypes.complex64: "C64",
}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}


@frozen
class StoredTensor:
    """A tensor in a file, from byte `begin` to byte `end` of the file."""

    dtype: DType
    shape: tuple[int, ...]
    begin: int
    end: int


@frozen
class Header:
    """Contents of a file: tensors in the order of their data, and metadata."""

    tensors: Mapping[str, StoredTensor]
    metadata: Mapping[str, str]


@frozen
class Entry:
    """A tensor to write; `data` has its elements in row-major order, little endian."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    data: memoryview


def read_header(file: ByteSource) -> Header:
    """Read and check the header of a file."""
    return _HeaderReader(file, "safetensors file").read()


def read_index(file: ByteSource) -> dict[str, str]:
    """Return the file of each tensor of a model, from the index beside the files.

    Source: https://huggingface.co/docs/transformers/big_models, "Sharded checkpoints".
    """
    return _HeaderReader(file, "index of safetensors files").read_index()


class _HeaderReader:
    """Checks one file; holds its expected content for the messages."""

    def __init__(self, file: ByteSource, kind: str) -> None:
        self._file = file
        self._kind = kind

    def read(self) -> Header:
        file_nbytes = self._file.nbytes
        if file_nbytes < _PREFIX_BYTES:
            self._fail(f"it has {file_nbytes} bytes, too few for the length of a header.")
        header_nbytes = int.from_bytes(self._file.read(0, _PREFIX_BYTES), "little")
        if header_nbytes > _HEADER_LIMIT:
            self._fail(f"its header claims {header_nbytes} bytes; at most {_HEADER_LIMIT} are allowed.")
        data_begin = _PREFIX_BYTES + header_nbytes
        if data_begin > file_nbytes:
            self._fail(f"its header claims {header_nbytes} bytes, but the file ends after {file_nbytes}.")
        fields = self._parse(self._file.read(_PREFIX_BYTES, header_nbytes))
        metadata = self._metadata(fields.pop("__metadata__", {}))
        found = [(name, self._tensor(name, spec, data_begin)) for name, spec in fields.items()]
        found.sort(key=lambda item: (item[1].begin, item[1].end))
        self._check_coverage(found, data_begin, file_nbytes)
        return Header(dict(found), metadata)

    def read_index(self) -> dict[str, str]:
        if self._file.nbytes > _HEADER_LIMIT:
            self._fail(f"it has more than {_HEADER_LIMIT} bytes.")
        places = self._parse(self._file.read(0, self._file.nbytes).lstrip()).get("weight_map")
        if not isinstance(places, dict):
            self._fail(f"its weight_map is {places!r:.60}, not an object.")
        for name, shard in cast("dict[str, object]", places).items():
            # beside the index: not a way to read other files
            if not isinstance(shard, str) or shard in ("", ".", "..") or set("/\\\0") & set(shard):
                self._fail(f"{name!r} lies in {shard!r:.60}, which is no name of a file.")
        return cast("dict[str, str]", places)

    def _fail(self, what: str, cause: Exception | None = None) -> NoReturn:
        self._file.fail(f"no {self._kind}: {what}", cause)

    def _parse(self, text: bytes) -> dict[str, object]:
        if not text.startswith(b"{"):
            self._fail(f"its header starts with {text[:8]!r}, not with '{{'.")
        try:
            # decoded here: json.loads would guess other encodings from the first bytes
            fields = json.loads(
                text.decode("utf-8"), object_pairs_hook=self._unique, parse_constant=self._no_constant
            )
        except FileFormatError:
            raise
        except (ValueError, RecursionError) as error:
            self._fail(f"its header is not JSON ({error}).", error)
        for name in fields:
            if not _is_text(name):
                self._fail(f"the name {name!r} is no Unicode text.")
        return fields

    def _unique(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        out: dict[str, object] = {}
        for key, value in pairs:
            if key in out:
                self._fail(f"its header has {key!r} twice.")
            out[key] = value
        return out

    def _no_constant(self, name: str) -> NoReturn:
        self._fail(f"its header holds {name}, which is not JSON.")

    def _metadata(self, value: object) -> dict[str, str]:
        if not isinstance(value, dict):
            self._fail(f"__metadata__ is {value!r:.60}, not an object.")
        fields = cast("dict[str, object]", value)
        for key, text in fields.items():
            if not isinstance(text, str):
                self._fail(f"__metadata__ maps {key!r} to {text!r:.60}, not to a text.")
        return cast("dict[str, str]", fields)

    def _tensor(self, name: str, spec: object, data_begin: int) -> StoredTensor:
        if not isinstance(spec, dict):
            self._fail(f"{name!r} is described by {spec!r:.60}, not by an object.")
        fields = cast("dict[str, object]", spec)
        if fields.keys() != {"dtype", "shape", "data_offsets"}:
            self._fail(f"{name!r} has the fields {sorted(fields)}, not dtype, shape and data_offsets.")
        dtype = _DTYPES.get(str(fields["dtype"]))
        if dtype is None:
            self._fail(f"{name!r} has dtype {fields['dtype']!r:.60}; known are {', '.join(_DTYPES)}.")
        shape = self._integers(name, "shape", fields["shape"])
        if len(shape) > _MOST_DIMENSIONS:
            self._fail(f"{name!r} has {len(shape)} dimensions; at most {_MOST_DIMENSIONS} are allowed.")
        offsets = self._integers(name, "data_offsets", fields["data_offsets"])
        if len(offsets) != 2 or offsets[0] > offsets[1]:
            self._fail(f"{name!r} has data_offsets {list(offsets)}, not [begin, end].")
        begin, end = offsets
        # an axis of size 0 hides the others from the product
        if math.prod(size or 1 for size in shape) * dtype.itemsize >= 1 << 63:
            self._fail(f"{name!r} has shape {shape}, whose sizes no memory has.")
        nbytes = math.prod(shape) * dtype.itemsize
        if end - begin != nbytes:
            self._fail(f"{name!r} of shape {shape} {dtype.name} takes {nbytes} bytes, not {end - begin}.")
        return StoredTensor(dtype, shape, data_begin + begin, data_begin + end)

    def _integers(self, name: str, field: str, value: object) -> tuple[int, ...]:
        items = cast("list[object]", value) if isinstance(value, list) else [None]
        integers = [item for item in items if type(item) is int and 0 <= item < 1 << 63]
        if len(integers) != len(items):
            self._fail(f"{name!r} has {field} {value!r:.60}, not a list of non-negative integers.")
        return tuple(integers)

    def _check_coverage(self, found: list[tuple[str, StoredTensor]], begin: int, file_nbytes: int) -> None:
        for name, stored in found:
            if stored.begin != begin:
                problem = "overlaps another tensor" if stored.begin < begin else "leaves a hole before it"
                self._fail(f"{name!r} at byte {stored.begin} {problem}; it should start at {begin}.")
            begin = stored.end
        if begin != file_nbytes:
            self._fail(f"its tensors end at byte {begin}, but the file has {file_nbytes}.")


def write_file(
    path: str | os.PathLike[str], entries: Iterable[Entry], metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors to a new file, which replaces `path` once it is complete."""
    # widest first keeps each tensor aligned to its elements; otherwise the given order stays
    ordered = sorted(entries, key=lambda entry: -entry.dtype.itemsize)
    header = _header_bytes(ordered, metadata or {})
    # a symbolic link stays one
    target = Path(path).resolve()
    temporary = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}")
    try:
        with open(temporary, "xb") as file:
            file.write(len(header).to_bytes(_PREFIX_BYTES, "little"))
            file.write(header)
            for entry in ordered:
                file.write(entry.data)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _header_bytes(entries: list[Entry], metadata: Mapping[str, str]) -> bytes:
    fields: dict[str, object] = {}
    if metadata:
        if not all(_is_text(text) for pair in metadata.items() for text in pair):
            raise FileFormatError(f"metadata maps texts to texts, not {dict(metadata)!r:.200}.")
        fields["__metadata__"] = dict(metadata)
    begin = 0
    for entry in entries:
        if entry.name in fields or entry.name == "__metadata__" or not _is_text(entry.name):
            raise FileFormatError(f"cannot save a tensor as {entry.name!r}: the name is taken or no text.")
        if entry.dtype not in _NAMES:
            raise DtypeError(f"{entry.name!r} is {entry.dtype}: the format knows {', '.join(_DTYPES)}.")
        end = begin + entry.data.nbytes
        dtype = _NAMES[entry.dtype]
        fields[entry.name] = {"dtype": dtype, "shape": list(entry.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()
    return text + b" " * (-len(text) % _ALIGNMENT)


def _is_text(value: object) -> bool:
    """Say whether `value` is text that UTF-8 can hold, without lone surrogates."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
