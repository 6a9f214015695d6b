"""The members of tar and zip archives as tensors of bytes, read lazily.

Members that are stored as they are stay where they are: parts of the archive. Deflated ones are inflated when
they are used. A compressed tar has no places to go to: it is decompressed at once, in memory. No file is
written.

Source: PKWARE's APPNOTE.TXT (zip); POSIX.1-2017, pax, "ustar Interchange Format" (tar).
"""

import bz2
import gzip
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

from plugrad._frozen import frozen
from plugrad.dtype import dtypes
from plugrad.nn.formats.byte_source import ByteSource, PathOrBytes
from plugrad.tensor import Tensor

# what the readers of the standard library raise for bytes that are no archive
_DAMAGE = (
    EOFError,
    # of zipfile, for a name that is empty or begins with a zero
    IndexError,
    OverflowError,
    RecursionError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
)
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_LOCAL_MAGIC = b"PK\x03\x04"
_ENCRYPTED = 1
# deflate makes at most 258 bytes of 2 bits. Source: RFC 1951, 3.2.5
MOST_INFLATION = 1032
_COMPRESSIONS = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ\x00": lzma.decompress}
_MOST_MAGIC_BYTES = 6


def tar_extract(source: PathOrBytes, device: str | None = None) -> dict[str, Tensor]:
    """Return the files in a tar archive by name, as lazy tensors of bytes.

    Folders, links and devices are left out; of two files of one name, the later one counts.

    Args:
        source: a path, or a tensor of the archive's bytes. It may be compressed by gzip, bzip2 or xz, and is
            then decompressed at once.
        device: where the tensors are to live; the default device if left out.

    Raises:
        FileFormatError: it is no tar archive, or a damaged one.
        OSError: the file cannot be read.

    Example:
        >>> tar_extract("weights.tar")["a.bin"].tolist()
        [1, 2, 3]
    """
    archive = _decompressed(ByteSource(source))
    return {
        name: archive.tensor(offset, (nbytes,), dtypes.uint8, device, f"the member {name!r}")
        for name, offset, nbytes in tar_members(archive)
    }


def tar_members(archive: ByteSource) -> list[tuple[str, int, int]]:
    """Return the files in a tar archive that is not compressed: names, offsets and sizes."""
    try:
        with archive.open() as file, tarfile.open(fileobj=file, mode="r:") as tar:
            plain = [member for member in tar if member.isreg() and not member.issparse()]
            found = [(member.name, member.offset_data, member.size) for member in plain]
            end = tar.offset
    except _DAMAGE as error:
        archive.fail(f"no tar archive ({error}).", error)
    _check_end(archive, end)
    return found


def _check_end(archive: ByteSource, end: int) -> None:
    """Refuse an archive without its end mark, which `tarfile` accepts silently.

    Source: POSIX.1-2017, pax: "two 512-octet records filled with binary zeros" at the end.
    """
    mark = archive.read(end, min(tarfile.BLOCKSIZE, max(archive.nbytes - end, 0)), "the end")
    if mark != bytes(tarfile.BLOCKSIZE):
        archive.fail(f"a tar archive that is cut or damaged: no member and no end at byte {end}.")


def _decompressed(archive: ByteSource) -> ByteSource:
    start = archive.read(0, min(archive.nbytes, _MOST_MAGIC_BYTES))
    decompress = next((do for magic, do in _COMPRESSIONS.items() if start.startswith(magic)), None)
    if decompress is None:
        return archive
    try:
        content = memoryview(decompress(archive.read(0, archive.nbytes)))
    except (*_DAMAGE, OSError) as error:
        archive.fail(f"it does not decompress ({error}).", error)
    return ByteSource.lazy(archive.name, len(content), lambda: content)


def zip_extract(source: PathOrBytes, device: str | None = None) -> dict[str, Tensor]:
    """Return the files in a zip archive by name, as lazy tensors of bytes.

    Args:
        source: a path, or a tensor of the archive's bytes.
        device: where the tensors are to live; the default device if left out.

    Raises:
        FileFormatError: it is no zip archive or a damaged one, or a member is encrypted or compressed by
            anything but deflate. A deflated member that is damaged is found when it is used.
        OSError: the file cannot be read.

    Example:
        >>> zip_extract("weights.zip")["a.bin"].tolist()
        [1, 2, 3]
    """
    return {member.name: _bytes_of(member, device) for member in zip_members(ByteSource(source))}


def _bytes_of(member: "ZipMember", device: str | None) -> Tensor:
    content, offset = member.content()
    return content.tensor(offset, (member.nbytes,), dtypes.uint8, device, f"the member {member.name!r}")


@frozen
class ZipMember:
    """A file in a zip archive, checked to lie inside it.

    Attributes:
        archive: what it lies in.
        name: its path there.
        offset: where its data start.
        nbytes: its size.
        deflated_nbytes: what it takes in the archive if it is deflated, else None.
        crc: the CRC-32 of its bytes.
    """

    archive: ByteSource
    name: str
    offset: int
    nbytes: int
    deflated_nbytes: int | None
    crc: int

    def read(self) -> bytes:
        """Return all of it."""
        if self.deflated_nbytes is None:
            content = self.archive.read(self.offset, self.nbytes, repr(self.name))
        else:
            content = self._inflated(self.archive.read(self.offset, self.deflated_nbytes, repr(self.name)))
        if zlib.crc32(content) != self.crc:
            self.archive.fail(f"the member {self.name!r} has not the CRC-32 {self.crc:08x} that it should.")
        return content

    def _inflated(self, packed: bytes) -> bytes:
        try:
            # one byte more: what inflates to more than its size is noticed
            content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, self.nbytes + 1)
        except zlib.error as error:
            self.archive.fail(f"the member {self.name!r} does not inflate ({error}).", error)
        if len(content) != self.nbytes:
            self.archive.fail(f"the member {self.name!r} does not inflate to {self.nbytes} bytes.")
        return content

    def content(self) -> tuple[ByteSource, int]:
        """Return the source of its bytes and their offset there, to read parts."""
        if self.deflated_nbytes is None:
            return self.archive, self.offset
        name = f"{self.archive.name}/{self.name}"
        return ByteSource.lazy(name, self.nbytes, lambda: memoryview(self.read())), 0


def zip_members(archive: ByteSource) -> Iterator[ZipMember]:
    """Yield the files of a zip archive."""
    try:
        with archive.open() as file, zipfile.ZipFile(file) as opened:
            entries = [info for info in opened.infolist() if not info.is_dir()]
    except _DAMAGE as error:
        archive.fail(f"no zip archive ({error}).", error)
    for info in entries:
        yield _member(archive, info)


def _member(archive: ByteSource, info: zipfile.ZipInfo) -> ZipMember:
    what = f"the member {info.filename!r}"
    if info.flag_bits & _ENCRYPTED:
        archive.fail(f"{what} is encrypted.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        archive.fail(f"{what} is compressed by method {info.compress_type}; deflate (8) can be read.")
    header = _LOCAL_HEADER.unpack(archive.read(info.header_offset, _LOCAL_HEADER.size, what))
    if header[0] != _LOCAL_MAGIC:
        archive.fail(f"{what} has no header at byte {info.header_offset}.")
    offset = info.header_offset + _LOCAL_HEADER.size + header[-2] + header[-1]
    archive.check(offset, info.compress_size, what)
    deflated = info.compress_size if info.compress_type == zipfile.ZIP_DEFLATED else None
    if (deflated is None and info.compress_size != info.file_size) or info.file_size > MOST_INFLATION * (
        info.compress_size + 1
    ):
        archive.fail(f"{what} claims {info.file_size} bytes, but takes {info.compress_size} in the archive.")
    return ZipMember(archive, info.filename, offset, info.file_size, deflated, info.CRC)
