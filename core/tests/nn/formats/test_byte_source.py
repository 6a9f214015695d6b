"""Bytes of files and tensors are read in part, when they are used, and never beyond their end."""

from pathlib import Path

import pytest

from plugrad.dtype import dtypes
from plugrad.errors import FileFormatError, ShapeError
from plugrad.nn.formats.byte_source import ByteSource
from plugrad.tensor import Tensor


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "data.bin"
    file.write_bytes(bytes(range(100)))
    return file


def sources(path: Path) -> list[ByteSource]:
    content = path.read_bytes()
    return [
        ByteSource(path),
        ByteSource(Tensor(path)),
        ByteSource(Tensor(path)[:]),
        ByteSource(Tensor(content)),
        ByteSource.lazy("made", len(content), lambda: memoryview(content)),
    ]


def test_parts_are_the_same_wherever_they_lie(path: Path) -> None:
    for source in sources(path):
        assert source.nbytes == 100
        assert source.read(3, 2) == b"\x03\x04"
        assert source.tensor(5, (2, 1), dtypes.uint16, None).tolist() == [[0x0605], [0x0807]]
        assert source.tensor(100, (0, 2), dtypes.int32, "PYTHON").tolist() == []
        with source.open() as file:
            file.seek(-2, 2)
            assert file.read(1 << 60) == b"bc"
            assert file.read() == b""


def test_what_lies_beyond_the_end_is_an_error(path: Path) -> None:
    for source in sources(path):
        with pytest.raises(
            FileFormatError, match="a tensor takes 4 bytes from byte 97 on, but there are 100"
        ):
            source.tensor(97, (1,), dtypes.int32, None)
        with pytest.raises(FileFormatError, match="from byte -1 on"):
            source.read(-1, 1)
        with source.open() as file, pytest.raises(ValueError, match="before the start"):
            file.seek(-1)


def test_a_tensor_of_a_file_is_read_when_it_is_used(path: Path) -> None:
    source = ByteSource(path)
    first, last = source.tensor(0, (4,), dtypes.uint8, None), source.tensor(96, (4,), dtypes.uint8, None)
    with path.open("r+b") as file:
        file.write(b"\xff")
        file.truncate(90)
    assert first.tolist() == [255, 1, 2, 3]
    with pytest.raises(FileFormatError, match="truncated"):
        last.tolist()


def test_bytes_are_made_when_they_are_used_and_cannot_be_written() -> None:
    made: list[int] = []

    def make() -> memoryview:
        made.append(1)
        return memoryview(b"abcd")

    x = ByteSource.lazy("made", 4, make).tensor(1, (2,), dtypes.uint8, None)
    assert not made
    assert (x + 1).tolist() == [99, 100]
    assert made == [1]


def test_a_source_is_an_axis_of_bytes(path: Path) -> None:
    with pytest.raises(ShapeError, match=r"not \(10, 10\) of uint8"):
        ByteSource(Tensor(path).reshape(10, 10))
    with pytest.raises(ShapeError, match=r"not \(25,\) of float32"):
        ByteSource(Tensor(path, dtype="float32"))
    with pytest.raises(FileNotFoundError):
        ByteSource(path.with_name("nowhere"))
