"""The safetensors format, both ways with the reference library, and with files that lie."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from plugrad.dtype import dtypes, from_numpy
from plugrad.errors import DtypeError, FileFormatError
from plugrad.nn.formats.byte_source import ByteSource
from plugrad.nn.formats.safetensors import Entry, read_header, write_file

ARRAYS = {
    "weight": np.arange(12, dtype=np.float32).reshape(3, 4),
    "mask": np.array([True, False, True]),
    "steps": np.array(7, dtype=np.int64),
    "empty": np.zeros((0, 5), dtype=np.float16),
    "ids": np.array([1, 2, 3], dtype=np.uint16),
}


def entries(arrays: dict[str, np.ndarray]) -> list[Entry]:
    return [
        Entry(name, from_numpy(a.dtype), a.shape, memoryview(np.frombuffer(a.tobytes(), np.uint8)))
        for name, a in arrays.items()
    ]


def load(path: Path) -> dict[str, np.ndarray]:
    content = path.read_bytes()
    return {
        name: np.frombuffer(content[t.begin : t.end], t.dtype.name).reshape(t.shape)
        for name, t in read_header(ByteSource(path)).tensors.items()
    }


def file_of(path: Path, header: object, data: bytes = b"", nbytes: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if nbytes is None else nbytes).to_bytes(8, "little") + text + data)
    return path


def tensor(
    begin: object = 0, end: object = 4, shape: object = (1,), dtype: object = "F32"
) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> None:
    assert left.keys() == right.keys()
    for name, array in left.items():
        assert array.dtype == right[name].dtype
        np.testing.assert_array_equal(array, right[name])


def test_the_library_reads_what_we_write(tmp_path: Path) -> None:
    write_file(tmp_path / "m.safetensors", entries(ARRAYS), {"format": "pt", "ключ": "значение"})
    same(safetensors.numpy.load_file(tmp_path / "m.safetensors"), ARRAYS)
    with safetensors.safe_open(tmp_path / "m.safetensors", "numpy") as opened:
        assert opened.metadata() == {"format": "pt", "ключ": "значение"}


def test_we_read_what_the_library_writes(tmp_path: Path) -> None:
    safetensors.numpy.save_file(ARRAYS, tmp_path / "m.safetensors", metadata={"a": "b"})
    same(load(tmp_path / "m.safetensors"), ARRAYS)
    assert read_header(ByteSource(tmp_path / "m.safetensors")).metadata == {"a": "b"}


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(
            lambda name: name != "__metadata__"
        ),
        npst.arrays(
            st.sampled_from([np.bool_, np.uint8, np.int16, np.float32, np.int64]),
            npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        ),
        max_size=5,
    )
)
def test_any_tensors_survive_both_ways(tmp_path_factory: pytest.TempPathFactory, arrays: dict) -> None:
    folder = tmp_path_factory.mktemp("both")
    write_file(folder / "ours", entries(arrays))
    same(safetensors.numpy.load_file(folder / "ours"), arrays)
    safetensors.numpy.save_file(arrays, folder / "theirs")
    same(load(folder / "theirs"), arrays)


def test_floats_of_a_byte_are_those_of_the_library(tmp_path: Path) -> None:
    pairs = {dtypes.fp8e4m3: torch.float8_e4m3fn, dtypes.fp8e5m2: torch.float8_e5m2}
    codes = torch.arange(256, dtype=torch.uint8)
    theirs = {dtype.name: codes.clone().view(theirs) for dtype, theirs in pairs.items()}
    safetensors.torch.save_file(theirs, tmp_path / "theirs")
    read = read_header(ByteSource(tmp_path / "theirs")).tensors
    assert {name: tensor.dtype for name, tensor in read.items()} == {d.name: d for d in pairs}
    write_file(tmp_path / "ours", [Entry(d.name, d, (256,), memoryview(bytes(range(256)))) for d in pairs])
    for name, tensor in safetensors.torch.load_file(tmp_path / "ours").items():
        assert tensor.dtype is theirs[name].dtype
        assert tensor.view(torch.uint8).equal(codes)


def test_data_is_aligned_to_the_elements(tmp_path: Path) -> None:
    write_file(tmp_path / "m", entries(ARRAYS))
    assert all(
        t.begin % t.dtype.itemsize == 0 for t in read_header(ByteSource(tmp_path / "m")).tensors.values()
    )


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m"
    write_file(path, entries(ARRAYS))
    before = path.read_bytes()
    bad = Entry("x", dtypes.float32, (1,), "not bytes")  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        write_file(path, [bad])
    with pytest.raises(DtypeError, match="'x' is dtypes"):
        write_file(path, [Entry("x", dtypes.index, (1,), memoryview(b"12345678"))])
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("name", ["__metadata__", "\ud800"])
def test_names_that_the_format_cannot_hold_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileFormatError, match="cannot save a tensor as"):
        write_file(tmp_path / "m", [Entry(name, dtypes.uint8, (1,), memoryview(b"1"))])


HOSTILE: dict[str, tuple[object, bytes, int | None, str]] = {
    "a header longer than the file": ({}, b"", 1000, "the file ends after"),
    "a header of exabytes": ({}, b"", (1 << 64) - 1, "at most 100000000"),
    "no JSON": (b"{not json", b"", None, "not JSON"),
    "nothing": (b"", b"", None, "starts with b''"),
    "another encoding": ("{}".encode("utf-16"), b"", None, "starts with"),
    "broken UTF-8": (b'{"\xff": 1}', b"", None, "not JSON"),
    "a list": ([], b"", None, "starts with"),
    "endless nesting": (b'{"a":' * 200_000, b"", None, "not JSON"),
    "an endless number": (b'{"a": ' + b"9" * 10_000 + b"}", b"", None, "not JSON"),
    "NaN": (b'{"a": NaN}', b"", None, "NaN"),
    "a duplicate name": (b'{"a": 1, "a": 2}', b"", None, "'a' twice"),
    "a duplicate field": (
        b'{"a":{"dtype":"U8","dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
        b"1234",
        None,
        "'dtype' twice",
    ),
    "a surrogate in a name": (b'{"\\ud800": 1}', b"", None, "no Unicode text"),
    "metadata of numbers": ({"__metadata__": {"a": 1}}, b"", None, "not to a text"),
    "metadata as a list": ({"__metadata__": []}, b"", None, "not an object"),
    "a tensor as a number": ({"a": 1}, b"", None, "not by an object"),
    "a missing field": ({"a": {"dtype": "F32", "shape": [1]}}, b"", None, "has the fields"),
    "an extra field": ({"a": {**tensor(), "evil": 1}}, b"1234", None, "has the fields"),
    "an unknown dtype": ({"a": tensor(dtype="F7")}, b"1234", None, "dtype 'F7'"),
    "a dtype that is a list": ({"a": tensor(dtype=["F32"])}, b"1234", None, "dtype"),
    "the wrong dtype": ({"a": tensor(dtype="F64")}, b"1234", None, "takes 8 bytes, not 4"),
    "the wrong shape": ({"a": tensor(shape=[2])}, b"1234", None, "takes 8 bytes, not 4"),
    "a negative dimension": ({"a": tensor(shape=[-1, -1])}, b"1234", None, "non-negative"),
    "a fractional dimension": ({"a": tensor(shape=[1.0])}, b"1234", None, "non-negative"),
    "a boolean dimension": ({"a": tensor(shape=[True])}, b"1234", None, "non-negative"),
    "a shape that overflows": ({"a": tensor(shape=[1 << 62, 4])}, b"1234", None, "no memory has"),
    "an overflow behind a 0": ({"a": tensor(0, 0, [1 << 40, 0, 1 << 40])}, b"", None, "no memory has"),
    "too many dimensions": ({"a": tensor(shape=[1] * 100_000)}, b"1234", None, "dimensions"),
    "a shape that is a number": ({"a": tensor(shape=1)}, b"1234", None, "non-negative"),
    "offsets behind the file": ({"a": tensor(4, 8)}, b"1234", None, "leaves a hole"),
    "offsets past the end": ({"a": tensor(0, 8, [2])}, b"1234", None, "end at byte"),
    "reversed offsets": ({"a": tensor(4, 0)}, b"1234", None, r"not \[begin, end\]"),
    "negative offsets": ({"a": tensor(-4, 0)}, b"1234", None, "non-negative"),
    "huge offsets": ({"a": tensor(1 << 70, (1 << 70) + 4)}, b"1234", None, "non-negative"),
    "overlapping tensors": ({"a": tensor(), "b": tensor()}, b"1234", None, "overlaps"),
    "a hole between tensors": ({"a": tensor(), "b": tensor(8, 12)}, b"1" * 12, None, "hole"),
    "data that nobody owns": ({"a": tensor()}, b"12345", None, "end at byte"),
    "data without tensors": ({}, b"1", None, "end at byte"),
    "truncated data": ({"a": tensor()}, b"123", None, "end at byte"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_a_clear_error(tmp_path: Path, case: str) -> None:
    header, data, nbytes, message = HOSTILE[case]
    path = file_of(tmp_path / "evil", header, data, nbytes)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_header(ByteSource(path))
    assert caught.value.path == str(path)


def test_every_truncation_is_an_error(tmp_path: Path) -> None:
    write_file(tmp_path / "m", entries(ARRAYS))
    content = (tmp_path / "m").read_bytes()
    for length in range(len(content)):
        (tmp_path / "m").write_bytes(content[:length])
        with pytest.raises(FileFormatError):
            read_header(ByteSource(tmp_path / "m"))


def test_damaged_files_never_lead_outside_of_the_file(tmp_path: Path) -> None:
    rng = random.Random(1)
    write_file(tmp_path / "m", entries(ARRAYS), {"a": "b"})
    content = (tmp_path / "m").read_bytes()
    for _ in range(3000):
        damaged = bytearray(content)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.choice(
                [rng.randrange(256), ord(rng.choice('0123456789{}[]",:'))]
            )
        (tmp_path / "m").write_bytes(damaged)
        try:
            header = read_header(ByteSource(tmp_path / "m"))
        except FileFormatError:
            continue
        for stored in header.tensors.values():
            assert 8 <= stored.begin <= stored.end <= len(damaged)
            assert stored.end - stored.begin == math.prod(stored.shape) * stored.dtype.itemsize
