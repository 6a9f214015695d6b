"""Members of tar and zip archives are tensors; damaged archives are errors."""

import io
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from plugrad.errors import FileFormatError
from plugrad.nn.formats.archive import tar_extract, zip_extract
from plugrad.tensor import Tensor

FILES = {"a.bin": b"\x01\x02\x03", "folder/b.txt": b"text" * 500, "empty": b""}


def write_tar(path: Path, mode: str = "w") -> Path:
    with tarfile.open(path, mode) as tar:  # pyright: ignore[reportCallIssue, reportArgumentType, reportUnknownVariableType]
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)  # pyright: ignore[reportUnknownMemberType]
        for name, content in FILES.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))  # pyright: ignore[reportUnknownMemberType]
    return path


def write_zip(path: Path, method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        file.mkdir("folder")
        for name, content in FILES.items():
            file.writestr(name, content)
    return path


def contents(tensors: dict[str, Tensor]) -> dict[str, bytes]:
    return {name: bytes(tensor.tolist()) for name, tensor in tensors.items()}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_files_in_a_tar_archive_are_tensors(tmp_path: Path, mode: str) -> None:
    path = write_tar(tmp_path / "x.tar", mode)
    assert contents(tar_extract(path)) == FILES
    assert contents(tar_extract(Tensor(path.read_bytes()), "PYTHON")) == FILES


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_files_in_a_zip_archive_are_tensors(tmp_path: Path, method: int) -> None:
    path = write_zip(tmp_path / "x.zip", method)
    assert contents(zip_extract(path)) == FILES
    assert contents(zip_extract(Tensor(path.read_bytes()), "PYTHON")) == FILES


def test_archives_in_archives_are_tensors_of_tensors(tmp_path: Path) -> None:
    inner = write_tar(tmp_path / "x.tar")
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.write(inner, "x.tar")
    assert contents(tar_extract(zip_extract(tmp_path / "x.zip")["x.tar"])) == FILES


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_archive_that_is_cut_is_an_error(tmp_path: Path, mode: str) -> None:
    path = write_tar(tmp_path / "x.tar", mode)
    content = path.read_bytes()
    cut = content.index(b"text") + 600 if mode == "w" else len(content) // 2
    path.write_bytes(content[:cut])
    with pytest.raises(FileFormatError):
        tar_extract(path)


@pytest.mark.parametrize("keep", [0, 10, -1, -10])
def test_a_zip_archive_that_is_cut_is_an_error(tmp_path: Path, keep: int) -> None:
    path = write_zip(tmp_path / "x.zip")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(FileFormatError, match="no zip archive"):
        zip_extract(path)


def test_bytes_that_are_no_archive_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(range(256)) * 8)
    with pytest.raises(FileFormatError, match="no tar archive") as caught:
        tar_extract(tmp_path / "x")
    assert caught.value.path == str(tmp_path / "x")


def test_a_deflated_member_that_is_damaged_is_found_when_it_is_used(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", zipfile.ZIP_DEFLATED)
    content = bytearray(path.read_bytes())
    begin = content.index(b"folder/b.txt") + len("folder/b.txt")
    content[begin : begin + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(content)
    found = zip_extract(path)
    assert found["a.bin"].tolist() == [1, 2, 3]
    with pytest.raises(FileFormatError, match=r"'folder/b.txt' does not inflate"):
        found["folder/b.txt"].tolist()


def directory(content: bytearray, name: str) -> int:
    """Return where the central directory's entry for `name` begins."""
    return content.rindex(name.encode()) - 46


def changed(path: Path, name: str, field: int, value: bytes) -> Path:
    content = bytearray(path.read_bytes())
    begin = directory(content, name) + field
    content[begin : begin + len(value)] = value
    path.write_bytes(content)
    return path


# offsets of fields in the central directory. Source: APPNOTE.TXT, 4.3.12
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (8, b"\x01\x00", "is encrypted"),
        (10, b"\x0c\x00", "compressed by method 12"),
        (24, struct.pack("<L", 1 << 31), "claims 2147483648 bytes, but takes"),
        (42, struct.pack("<L", 5), "has no header at byte 5"),
        (46, b"\0", "no zip archive"),
        (42, struct.pack("<L", 1 << 30), "takes 30 bytes from byte 1073741824 on"),
    ],
)
def test_a_hostile_directory_is_an_error(tmp_path: Path, field: int, value: bytes, message: str) -> None:
    path = write_zip(tmp_path / "x.zip", zipfile.ZIP_DEFLATED)
    with pytest.raises(FileFormatError, match=message):
        zip_extract(changed(path, "folder/b.txt", field, value))


def test_a_member_of_another_checksum_is_an_error(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", zipfile.ZIP_DEFLATED)
    found = zip_extract(changed(path, "folder/b.txt", 16, b"\0\0\0\0"))
    with pytest.raises(FileFormatError, match="CRC-32 00000000"):
        found["folder/b.txt"].tolist()


def test_a_member_that_inflates_to_another_size_is_an_error(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", zipfile.ZIP_DEFLATED)
    found = zip_extract(changed(path, "folder/b.txt", 24, struct.pack("<L", 1999)))
    with pytest.raises(FileFormatError, match="does not inflate to 1999 bytes"):
        found["folder/b.txt"].tolist()


def test_a_tar_archive_that_is_cut_anywhere_is_an_error(tmp_path: Path) -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name in ("a", "b"):
            info = tarfile.TarInfo(name)
            info.size = 700
            tar.addfile(info, io.BytesIO(bytes(700)))
    whole = content.getvalue()
    # two members of a header and two blocks, and a block of the mark
    members, file = 2 * 3 * 512, tmp_path / "a.tar"
    for keep in (*range(0, members + 512, 61), members, members + 511):
        file.write_bytes(whole[:keep])
        with pytest.raises(FileFormatError):
            tar_extract(file)
    file.write_bytes(whole[: members + 512])
    assert list(tar_extract(file)) == ["a", "b"]


def test_a_damaged_header_does_not_hide_the_members_behind_it(tmp_path: Path) -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name in ("a", "b"):
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    damaged = bytearray(content.getvalue())
    damaged[512] ^= 1
    (tmp_path / "a.tar").write_bytes(damaged)
    with pytest.raises(FileFormatError, match="no member and no end at byte 512"):
        tar_extract(tmp_path / "a.tar")
