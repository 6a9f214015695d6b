"""Blocks become the numbers that the format's definition gives, and that ggml's own Python package gives.

The definition is written down a second time here, an element at a time as the C structs read.
"""

import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from plugrad.nn.formats.ggml_blocks import BLOCKS
from plugrad.tensor import Tensor

NAMES = {block.name: block for block in BLOCKS.values()}
COUNT = 4


def half(block: bytes, offset: int) -> np.float32:
    return np.float32(struct.unpack_from("<e", block, offset)[0])


def nibble(packed: bytes, i: int, width: int) -> int:
    """Return element i of 2 * width nibbles: the low ones of `width` bytes come first."""
    return packed[i % width] >> (4 * (i // width)) & 15


def one_scale(block: bytes, i: int, kind: str) -> np.float32:
    """Return element i of a block of 32 elements."""
    has_minimum = kind in ("Q4_1", "Q5_1")
    begin = 4 if has_minimum else 2
    fifth = 0
    if kind.startswith("Q5"):
        fifth = int.from_bytes(block[begin : begin + 4], "little") >> i & 1
        begin += 4
    quant = nibble(block[begin:], i, 16) | fifth << 4
    if has_minimum:
        return half(block, 0) * np.float32(quant) + half(block, 2)
    return half(block, 0) * np.float32(quant - {"Q4_0": 8, "Q5_0": 16}[kind])


def six_bits(packed: bytes, j: int) -> tuple[int, int]:
    if j < 4:
        return packed[j] & 63, packed[j + 4] & 63
    return packed[j + 4] & 15 | packed[j - 4] >> 6 << 4, packed[j + 4] >> 4 | packed[j] >> 6 << 4


def pairs_of_scales(block: bytes, i: int, kind: str) -> np.float32:
    scale, minimum = six_bits(block[4:16], i // 32)
    quants = block[16:] if kind == "Q4_K" else block[48:]
    quant = nibble(quants[i // 64 * 32 :], i % 64, 32)
    if kind == "Q5_K":
        quant |= (block[16 + i % 32] >> (i // 32) & 1) << 4
    return half(block, 0) * np.float32(scale) * np.float32(quant) - half(block, 2) * np.float32(minimum)


def two_bits(packed: bytes, i: int) -> int:
    return packed[i // 128 * 32 + i % 32] >> (i % 128 // 32 * 2) & 3


def q2_k(block: bytes, i: int) -> np.float32:
    scale = block[i // 16]
    factor, minimum = half(block, 80) * np.float32(scale & 15), half(block, 82) * np.float32(scale >> 4)
    return factor * np.float32(two_bits(block[16:80], i)) - minimum


def q3_k(block: bytes, i: int) -> np.float32:
    j = i // 16
    scale = nibble(block[96:104], j, 8) | (block[104 + j % 4] >> (j // 4 * 2) & 3) << 4
    quant = two_bits(block[32:96], i) | (block[i % 32] >> (i // 32) & 1) << 2
    return half(block, 108) * np.float32(scale - 32) * np.float32(quant - 4)


def q6_k(block: bytes, i: int) -> np.float32:
    low = nibble(block[i // 128 * 64 :], i % 128, 64)
    quant = low | two_bits(block[128:192], i) << 4
    (scale,) = struct.unpack_from("<b", block, 192 + i // 16)
    return half(block, 208) * np.float32(scale) * np.float32(quant - 32)


IQ4 = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)


def iq4_xs(block: bytes, i: int) -> np.float32:
    part = i // 32
    high = int.from_bytes(block[2:4], "little") >> (2 * part) & 3
    scale = (block[4 + part // 2] >> (4 * (part % 2)) & 15 | high << 4) - 32
    level = IQ4[nibble(block[8 + 16 * part :], i % 32, 16)]
    return half(block, 0) * np.float32(scale) * np.float32(level)


def mxfp4(block: bytes, i: int) -> np.float32:
    bits = nibble(block[1:], i, 16)
    exponent, digit = bits >> 1 & 3, bits & 1
    magnitude = digit / 2 if not exponent else (1 + digit / 2) * 2 ** (exponent - 1)
    scale = float("nan") if block[0] == 255 else 2.0 ** (block[0] - 127)
    return np.float32(-magnitude if bits & 8 else magnitude) * np.float32(scale)


def defined(block: bytes, i: int, kind: str) -> np.float32:
    """Return element i of a block as its definition says."""
    if kind in ("Q4_K", "Q5_K"):
        return pairs_of_scales(block, i, kind)
    if kind == "Q8_0":
        return half(block, 0) * np.float32(struct.unpack_from("<b", block, 2 + i)[0])
    if kind == "IQ4_NL":
        return half(block, 0) * np.float32(IQ4[nibble(block[2:], i, 16)])
    others: dict[str, Any] = {"Q2_K": q2_k, "Q3_K": q3_k, "Q6_K": q6_k, "IQ4_XS": iq4_xs, "MXFP4": mxfp4}
    return others[kind](block, i) if kind in others else one_scale(block, i, kind)


def random_blocks(kind: str) -> npt.NDArray[np.uint8]:
    """Return blocks of any bytes, but with finite scales."""
    rng = np.random.default_rng(list(kind.encode()))
    blocks = rng.integers(0, 256, (COUNT, NAMES[kind].nbytes), dtype=np.uint8)
    scales = {"Q2_K": [80, 82], "Q3_K": [108], "Q6_K": [208], "MXFP4": []}.get(kind, [0, 2])
    if kind in ("Q4_0", "Q5_0", "Q8_0", "IQ4_NL", "IQ4_XS"):
        scales = [0]
    for offset in scales:
        blocks[:, offset : offset + 2] = rng.normal(size=(COUNT, 1)).astype("<f2").view(np.uint8)
    return blocks


@pytest.mark.parametrize("device", ["PYTHON", "CPU"])
@pytest.mark.parametrize("kind", NAMES)
def test_blocks_are_what_their_definition_says(kind: str, device: str) -> None:
    blocks, block = random_blocks(kind), NAMES[kind]
    if kind == "MXFP4":
        blocks[:, 0] = [0, 1, 130, 255]
    found = block.dequantize(Tensor(blocks, device=device)).numpy()
    assert found.dtype == np.float32
    expected = [[defined(bytes(row), i, kind) for i in range(block.elements)] for row in blocks]
    np.testing.assert_array_equal(found, np.array(expected, np.float32))


@pytest.mark.parametrize("kind", NAMES)
def test_blocks_are_what_the_package_of_ggml_says(kind: str) -> None:
    gguf: Any = pytest.importorskip("gguf", reason="pip install gguf to compare with its dequantizers")
    blocks, block = random_blocks(kind), NAMES[kind]
    number = gguf.GGMLQuantizationType[kind]
    assert BLOCKS[number.value] is block
    assert gguf.GGML_QUANT_SIZES[number] == (block.elements, block.nbytes)
    if kind == "MXFP4":
        # 255 is NaN by the specification, which the package does not treat
        blocks[:, 0] = [0, 1, 127, 254]
    with np.errstate(over="ignore"):
        expected = gguf.quants.dequantize(blocks, number)
    np.testing.assert_array_equal(block.dequantize(Tensor(blocks)).numpy(), expected)
