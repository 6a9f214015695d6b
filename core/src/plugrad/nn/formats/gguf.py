"""Read GGUF files: metadata, and tensors that kernels dequantize when they are used.

A file is a header, metadata (key, type, value), descriptions of tensors, and their data, aligned. All numbers
are little endian. Files come from strangers: no count, length or offset is used before it is checked.

Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

import math
import struct
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import dtypes
from plugrad.nn.formats.byte_source import ByteSource, PathOrBytes
from plugrad.nn.formats.ggml_blocks import BLOCKS, PLAIN_TYPES
from plugrad.tensor import Tensor

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_DEFAULT_ALIGNMENT = 32
# GGML_MAX_DIMS, and the longest name that ggml takes is 64 bytes: some writers make longer ones
_MOST_DIMENSIONS = 4
_MOST_NAME_BYTES = 1 << 16
# arrays of arrays of arrays are legal, and a stack is finite
_MOST_LEVELS = 16

_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 10: "<Q", 11: "<q", 12: "<d"}
_BOOL, _STRING, _ARRAY = 7, 8, 9
_LEAST_STRING_BYTES, _LEAST_ARRAY_BYTES = 8, 12
# name, dimensions, type, offset
_LEAST_DESCRIPTION_BYTES = 8 + 4 + 4 + 8
# key, type, value
_LEAST_METADATA_BYTES = 8 + 4 + 1


def gguf_load(source: PathOrBytes, device: str | None = None) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the metadata and the tensors of a GGUF file.

    Tensors are read when they are used. Quantized ones (Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K,
    Q6_K, IQ4_NL, IQ4_XS, MXFP4) are dequantized to float32 by then; the others keep their dtypes. Shapes have
    the axis first that lies farthest apart, as everywhere in plugrad; GGUF writes them in the other order.

    Args:
        source: a path, or a tensor of the file's bytes.
        device: where the tensors are to live; the default device if left out.

    Returns:
        Values by key (numbers, texts, lists of them), and tensors by name.

    Raises:
        FileFormatError: the file is truncated, damaged or hostile, big endian, of version 1, or a tensor has
            a type that is not known here.
        OSError: the file cannot be read.

    Example:
        >>> metadata, tensors = gguf_load("model.gguf")
        >>> metadata["general.name"], tensors["bias"].tolist()
        ('small', [1.0, 2.0])
    """
    file = ByteSource(source)
    reader = _Reader(file)
    tensor_count, metadata_count = reader.header()
    metadata = reader.metadata(metadata_count)
    descriptions = reader.descriptions(tensor_count)
    alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
    if type(alignment) is not int or alignment <= 0 or alignment & (alignment - 1):
        file.fail(f"general.alignment is {alignment!r:.60}, not a power of two.")
    begin = -(-reader.position // alignment) * alignment
    return metadata, {
        name: _tensor(file, name, found, begin, alignment, device) for name, found in descriptions.items()
    }


@frozen
class _Description:
    """Description of a tensor in a file; `offset` counts from the start of the data."""

    shape: tuple[int, ...]
    kind: int
    offset: int


def _tensor(
    file: ByteSource, name: str, found: _Description, begin: int, alignment: int, device: str | None
) -> Tensor:
    what, offset = f"the tensor {name!r}", begin + found.offset
    if found.offset % alignment:
        file.fail(f"{what} starts at byte {found.offset} of the data, no multiple of {alignment}.")
    plain = PLAIN_TYPES.get(found.kind)
    if plain is not None:
        return file.tensor(offset, found.shape, plain, device, what)
    block = BLOCKS.get(found.kind)
    if block is None:
        known = ", ".join(block.name for block in BLOCKS.values())
        file.fail(f"{what} has type {found.kind}, which is not known here: {known} are, and plain numbers.")
    if not found.shape or found.shape[-1] % block.elements:
        file.fail(f"{what} of shape {found.shape} has rows that are no whole {block.name} blocks.")
    count = math.prod(found.shape) // block.elements
    stored = file.tensor(offset, (count, block.nbytes), dtypes.uint8, device, what)
    if not count:
        return Tensor.zeros(*found.shape, dtype=dtypes.float32, device=device)
    return block.dequantize(stored).reshape(found.shape)


class _Reader:
    """Reads the header before the data, from `position` on."""

    def __init__(self, file: ByteSource) -> None:
        self._file = file
        self.position = 0
        # in pieces: values take a few bytes each
        self._piece, self._piece_begin = b"", 0

    def header(self) -> tuple[int, int]:
        """Return the numbers of tensors and of metadata."""
        magic = self._take(4, "its magic number")
        if magic != _MAGIC:
            self._file.fail(f"no GGUF file: it starts with {magic!r}, not {_MAGIC!r}.")
        version = self._number("<I")
        if version not in _VERSIONS:
            order = " (it is big endian)" if version & 0xFFFF == 0 else ""
            self._file.fail(f"version {version}{order} of GGUF; {_VERSIONS} in little endian can be read.")
        tensors, metadata = self._number("<Q"), self._number("<Q")
        self._check_count(tensors, _LEAST_DESCRIPTION_BYTES, "tensors")
        self._check_count(metadata, _LEAST_METADATA_BYTES, "metadata")
        return tensors, metadata

    def metadata(self, count: int) -> dict[str, Any]:
        """Return values by key."""
        out: dict[str, Any] = {}
        for _ in range(count):
            key = self._text(_MOST_NAME_BYTES)
            if key in out:
                self._file.fail(f"its metadata has {key!r} twice.")
            out[key] = self._value(self._number("<I"), 0)
        return out

    def descriptions(self, count: int) -> dict[str, _Description]:
        """Return the description of each tensor."""
        out: dict[str, _Description] = {}
        for _ in range(count):
            name = self._text(_MOST_NAME_BYTES)
            axes = self._number("<I")
            if name in out or axes > _MOST_DIMENSIONS:
                self._file.fail(
                    f"it has {name!r} twice, or with {axes} axes; {_MOST_DIMENSIONS} are allowed."
                )
            # the nearest elements come first
            shape = tuple(self._number("<Q") for _ in range(axes))[::-1]
            if math.prod(max(size, 1) for size in shape) >= 1 << 62:
                self._file.fail(f"the tensor {name!r} has shape {shape}.")
            out[name] = _Description(shape, self._number("<I"), self._number("<Q"))
        return out

    def _value(self, kind: int, level: int) -> Any:
        if kind in _NUMBERS:
            return self._number(_NUMBERS[kind])
        if kind == _BOOL:
            byte = self._number("<B")
            if byte > 1:
                self._file.fail(f"it has the truth value {byte} at byte {self.position - 1}.")
            return bool(byte)
        if kind == _STRING:
            return self._text(self._file.nbytes)
        if kind == _ARRAY and level < _MOST_LEVELS:
            return self._array(level)
        self._file.fail(f"it has a value of type {kind} at byte {self.position}, at level {level}.")

    def _array(self, level: int) -> list[Any]:
        kind, count = self._number("<I"), self._number("<Q")
        fmt = _NUMBERS.get(kind)
        if fmt is not None:
            nbytes = struct.calcsize(fmt)
            self._check_count(count, nbytes, "numbers")
            return [value for (value,) in struct.iter_unpack(fmt, self._take(count * nbytes, "an array"))]
        least = {_BOOL: 1, _STRING: _LEAST_STRING_BYTES}.get(kind, _LEAST_ARRAY_BYTES)
        self._check_count(count, least, "values")
        return [self._value(kind, level + 1) for _ in range(count)]

    def _check_count(self, count: int, least_nbytes: int, what: str) -> None:
        left = self._file.nbytes - self.position
        if count * least_nbytes > left:
            self._file.fail(f"it claims {count} {what} at byte {self.position}, with {left} bytes left.")

    def _number(self, fmt: str) -> Any:
        (value,) = struct.unpack(fmt, self._take(struct.calcsize(fmt), "a number"))
        return value

    def _text(self, most: int) -> str:
        nbytes = self._number("<Q")
        if nbytes > most:
            self._file.fail(f"it claims a text of {nbytes} bytes at byte {self.position}.")
        encoded = self._take(nbytes, "a text")
        try:
            return encoded.decode("utf-8")
        except UnicodeDecodeError as error:
            self._file.fail(f"the text at byte {self.position - nbytes} is not UTF-8 ({error}).", error)

    def _take(self, nbytes: int, what: str) -> bytes:
        begin = self.position - self._piece_begin
        if begin + nbytes > len(self._piece):
            self._file.check(self.position, nbytes, what)
            size = min(max(nbytes, _PIECE_BYTES), self._file.nbytes - self.position)
            self._piece, self._piece_begin, begin = self._file.read(self.position, size), self.position, 0
        self.position += nbytes
        return self._piece[begin : begin + nbytes]


_PIECE_BYTES = 1 << 16
