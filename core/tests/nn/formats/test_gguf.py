"""GGUF files are read as the format's definition says; hostile and damaged ones are errors."""

import contextlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from plugrad.dtype import dtypes
from plugrad.errors import FileFormatError
from plugrad.nn.formats.gguf import gguf_load
from plugrad.tensor import Tensor

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
FORMATS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B"}
FORMATS |= {U64: "Q", I64: "q", F64: "d"}


def text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def value_bytes(kind: int, value: Any) -> bytes:
    if kind == STRING:
        return text(value)
    if kind == ARRAY:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(value_bytes(inner, item) for item in items)
    return struct.pack("<" + FORMATS[kind], value)


def described(name: str, shape: tuple[int, ...], kind: int, offset: int) -> bytes:
    axes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
    return text(name) + axes + struct.pack("<IQ", kind, offset)


def gguf_bytes(
    metadata: dict[str, tuple[int, Any]],
    tensors: dict[str, tuple[tuple[int, ...], int, bytes]],
    version: int = 3,
    alignment: int = 32,
) -> bytes:
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    for key, (kind, value) in metadata.items():
        out += text(key) + struct.pack("<I", kind) + value_bytes(kind, value)
    data = b""
    for name, (shape, kind, content) in tensors.items():
        out += described(name, shape, kind, len(data))
        data += content + bytes(-len(content) % alignment)
    return out + bytes(-len(out) % alignment) + data


def quantized_q4_0(x: npt.NDArray[np.float32]) -> bytes:
    """Return blocks of 4 bits and a scale, which maps the number of the largest magnitude to -8."""
    rows = x.reshape(-1, 32)
    largest = rows[np.arange(len(rows)), np.abs(rows).argmax(1)]
    scales = (largest / -8).astype("<f2")
    quants = np.clip(np.round(rows / scales[:, None].astype(np.float32)) + 8, 0, 15).astype(np.uint8)
    packed = quants[:, :16] | quants[:, 16:] << 4
    return np.concatenate([scales[:, None].view(np.uint8), packed], 1).tobytes()


def quantized_q8_0(x: npt.NDArray[np.float32]) -> bytes:
    rows = x.reshape(-1, 32)
    scales = (np.abs(rows).max(1) / 127).astype("<f2")
    quants = np.clip(np.round(rows / scales[:, None].astype(np.float32)), -127, 127).astype(np.int8)
    return np.concatenate([scales[:, None].view(np.uint8), quants.view(np.uint8)], 1).tobytes()


METADATA: dict[str, tuple[int, Any]] = {
    "general.name": (STRING, "small ünïcode"),
    "u8": (U8, 200),
    "i8": (I8, -100),
    "u16": (U16, 60000),
    "i16": (I16, -30000),
    "u32": (U32, 4000000000),
    "i32": (I32, -2000000000),
    "f32": (F32, 0.5),
    "bool": (BOOL, 1),
    "u64": (U64, 1 << 63),
    "i64": (I64, -(1 << 62)),
    "f64": (F64, 0.1),
    "tokens": (ARRAY, (STRING, ["a", "", "b" * 100])),
    "scores": (ARRAY, (F32, [1.0, -0.5])),
    "nested": (ARRAY, (ARRAY, [(I32, [1, 2]), (BOOL, [0, 1]), (I32, [])])),
}


def test_metadata_of_every_type_are_read(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(gguf_bytes(METADATA, {}))
    metadata, tensors = gguf_load(tmp_path / "m.gguf")
    assert tensors == {}
    expected = {key: value for key, (kind, value) in METADATA.items() if kind != ARRAY}
    expected |= {"tokens": ["a", "", "b" * 100], "scores": [1.0, -0.5]}
    assert metadata == {**expected, "nested": [[1, 2], [False, True], []]}
    assert metadata["bool"] is True


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (0, "float32"),
        (1, "float16"),
        (24, "int8"),
        (25, "int16"),
        (26, "int32"),
        (27, "int64"),
        (28, "float64"),
        (30, "bfloat16"),
    ],
)
def test_numbers_keep_their_dtype(tmp_path: Path, kind: int, dtype: str) -> None:
    x = Tensor([[1, -2, 3], [4, 5, -6]], dtype=dtype)
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes({}, {"x": ((2, 3), kind, bytes(x.data().cast("B")))}, version=2))
    found = gguf_load(path)[1]["x"]
    assert found.dtype.name == dtype
    assert found.tolist() == x.tolist()


def test_quantized_tensors_are_near_what_they_were(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)
    content = gguf_bytes(
        {"general.alignment": (U32, 64)},
        {
            "q4": ((3, 64), 2, quantized_q4_0(x)),
            "q8": ((3, 64), 8, quantized_q8_0(x)),
            "none": ((0, 64), 8, b""),
        },
        alignment=64,
    )
    (tmp_path / "m.gguf").write_bytes(content)
    for source in (tmp_path / "m.gguf", Tensor(content)):
        found = gguf_load(source)[1]
        # half a step: of 15 (Q4_0, and one more at the end that is not there) and of 254
        np.testing.assert_allclose(found["q4"].numpy(), x, atol=np.abs(x).max() / 8)
        np.testing.assert_allclose(found["q8"].numpy(), x, atol=np.abs(x).max() / 250)
        assert found["none"].shape == (0, 64)
        assert found["none"].dtype is dtypes.float32


def test_tensors_are_read_when_they_are_used(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes({}, {"x": ((4,), 24, b"\x07" * 4), "q": ((32,), 8, b"\x01" * 34)}))
    found = gguf_load(path, device="PYTHON")[1]
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(content.replace(b"\x07" * 4, b"\x08" * 4))
        file.truncate(len(content) - 40)
    assert found["x"].device == "PYTHON"
    assert found["x"].tolist() == [8, 8, 8, 8]
    with pytest.raises(FileFormatError, match="truncated"):
        found["q"].tolist()


def test_files_of_the_package_are_read(tmp_path: Path) -> None:
    gguf: Any = pytest.importorskip("gguf", reason="pip install gguf to compare with its writer")
    x = np.random.default_rng(1).normal(size=(2, 512)).astype(np.float32)
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    writer.add_block_count(3)
    writer.add_token_list(["a", "b"])
    kinds = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"]
    for kind in kinds:
        number = gguf.GGMLQuantizationType[kind]
        writer.add_tensor(kind, gguf.quants.quantize(x, number), raw_dtype=number)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    metadata, tensors = gguf_load(tmp_path / "m.gguf")
    assert metadata["general.architecture"] == "llama"
    assert metadata["llama.block_count"] == 3
    assert metadata["tokenizer.ggml.tokens"] == ["a", "b"]
    reader = gguf.GGUFReader(tmp_path / "m.gguf")
    for stored in reader.tensors:
        expected = gguf.quants.dequantize(stored.data, stored.tensor_type)
        assert tensors[stored.name].shape == (2, 512)
        np.testing.assert_array_equal(tensors[stored.name].cast("float32").numpy(), expected)


START = b"GGUF" + struct.pack("<I", 3)
KEY = text("k")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "magic number takes 4 bytes"),
        (b"GGUX" + bytes(20), "it starts with b'GGUX'"),
        (b"GGUF" + struct.pack("<I", 1) + bytes(16), "version 1 of GGUF"),
        (b"GGUF" + struct.pack(">I", 3) + bytes(16), "it is big endian"),
        (START, "a number takes 8 bytes"),
        (START + struct.pack("<QQ", 1 << 60, 0), "claims 1152921504606846976 tensors"),
        (START + struct.pack("<QQ", 0, 1 << 60), "claims 1152921504606846976 metadata"),
        (START + struct.pack("<QQQ", 0, 1, 1 << 50) + bytes(20), "claims a text of"),
        (START + struct.pack("<QQQ", 0, 1, 9000) + bytes(20), "a text takes 9000 bytes"),
        (START + struct.pack("<QQ", 0, 1) + struct.pack("<Q", 1) + b"\xff" + bytes(20), "is not UTF-8"),
        (START + struct.pack("<QQ", 0, 1) + KEY + struct.pack("<I", 13) + bytes(8), "value of type 13"),
        (START + struct.pack("<QQ", 0, 1) + KEY + struct.pack("<IB", BOOL, 2), "the truth value 2"),
        (
            START + struct.pack("<QQ", 0, 1) + KEY + struct.pack("<IIQ", ARRAY, U8, 1 << 61),
            "claims 2305843009213693952 numbers",
        ),
        (
            START + struct.pack("<QQ", 0, 1) + KEY + struct.pack("<IIQ", ARRAY, STRING, 1 << 61),
            "claims 2305843009213693952 values",
        ),
        (
            START
            + struct.pack("<QQ", 0, 1)
            + KEY
            + struct.pack("<I", ARRAY)
            + struct.pack("<IQ", ARRAY, 1) * 50,
            "value of type 9 at byte .*, at level 16",
        ),
        (START + struct.pack("<QQ", 0, 2) + (KEY + struct.pack("<IB", U8, 1)) * 2, "has 'k' twice"),
        (START + struct.pack("<QQ", 2, 0) + described("x", (), 0, 0) * 2 + bytes(64), "'x' twice"),
        (START + struct.pack("<QQ", 1, 0) + described("x", (1,) * 5, 0, 0) + bytes(64), "with 5 axes"),
        (START + struct.pack("<QQ", 1, 0) + described("x", (1 << 40,) * 2, 0, 0), "has shape"),
        (START + struct.pack("<QQ", 1, 0) + described("x", (1 << 40, 0, 1 << 40), 0, 0), "has shape"),
        (
            START + struct.pack("<QQ", 1, 0) + described("x", (4,), 0, 0) + bytes(20),
            "takes 16 bytes from byte",
        ),
        (START + struct.pack("<QQ", 1, 0) + described("x", (4,), 0, 1 << 63) + bytes(64), "takes 16 bytes"),
        (START + struct.pack("<QQ", 1, 0) + described("x", (1,), 0, 4) + bytes(64), "no multiple of 32"),
        (
            START + struct.pack("<QQ", 1, 0) + described("x", (256,), 16, 0) + bytes(99),
            "has type 16, which is",
        ),
        (
            START + struct.pack("<QQ", 1, 0) + described("x", (2, 16), 8, 0) + bytes(99),
            "no whole Q8_0 blocks",
        ),
        (START + struct.pack("<QQ", 1, 0) + described("x", (), 8, 0) + bytes(99), "no whole Q8_0 blocks"),
        (gguf_bytes({"general.alignment": (U32, 0)}, {}), "general.alignment is 0"),
        (gguf_bytes({"general.alignment": (U32, 48)}, {}), "general.alignment is 48"),
        (gguf_bytes({"general.alignment": (STRING, "x")}, {}), "general.alignment is 'x'"),
    ],
)
def test_hostile_files_are_errors(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as caught:
        gguf_load(path)
    assert caught.value.path == str(path)


def test_files_that_are_cut_or_damaged_are_read_or_errors(tmp_path: Path) -> None:
    content = gguf_bytes(METADATA, {"x": ((2, 3), 0, bytes(24)), "q": ((64,), 8, bytes(68))})
    path = tmp_path / "m.gguf"
    for keep in range(0, len(content) - 40, 7):
        path.write_bytes(content[:keep])
        with pytest.raises(FileFormatError):
            gguf_load(path)
    rng = np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(content)
        damaged[rng.integers(0, len(content))] = rng.integers(0, 256)
        path.write_bytes(damaged)
        with contextlib.suppress(FileFormatError):
            gguf_load(path)
