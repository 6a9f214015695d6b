"""Dequantize the blocks of ggml to float32, as graphs that fuse with their users.

A row is cut into blocks of 32 or 256 elements. A block holds a scale (and a minimum), and a few bits for each
element. Names end in the bits: Q4_0 is 4 bits and a scale, Q4_1 a minimum as well; the K kinds have scales of
scales for parts of 16 or 32 elements.

Source: the structs of https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h; MXFP4: OCP
Microscaling Formats (MX) Specification 1.0, 5.3.3 and 5.4.1.
"""

from collections.abc import Callable

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes
from plugrad.tensor import Tensor


@frozen
class Block:
    """Storage of one type of blocks.

    Attributes:
        name: ggml's name of the type.
        elements: how many a block has.
        nbytes: what it takes.
        dequantize: from blocks (n, nbytes) of uint8 to (n, elements) of float32.
    """

    name: str
    elements: int
    nbytes: int
    dequantize: Callable[[Tensor], Tensor]


def _half(blocks: Tensor, offset: int) -> Tensor:
    """Return the float16 at byte `offset` of each block: (n, 1) of float32."""
    return blocks[:, offset : offset + 2].bitcast(dtypes.float16).float()


def _bits(packed: Tensor, width: int, count: int) -> Tensor:
    """Return `count` fields of `width` bits of each byte, lowest first: (..., m) -> (..., count, m)."""
    return Tensor.stack(*[(packed >> (width * i)) & ((1 << width) - 1) for i in range(count)], axis=-2)


def _nibbles(packed: Tensor) -> Tensor:
    """Return the low halves of the bytes, then the high ones: (n, m) -> (n, 2*m)."""
    return _bits(packed, 4, 2).flatten(1)


def _fifth_bits(packed: Tensor) -> Tensor:
    """Return bit j of 32 as element j: (n, 4) -> (n, 32)."""
    return Tensor.stack(*[(packed >> i) & 1 for i in range(8)], axis=-1).flatten(1)


def _q4_0(blocks: Tensor) -> Tensor:
    return _half(blocks, 0) * (_nibbles(blocks[:, 2:]).int() - 8).float()


def _q4_1(blocks: Tensor) -> Tensor:
    return _half(blocks, 0) * _nibbles(blocks[:, 4:]).float() + _half(blocks, 2)


def _q5_0(blocks: Tensor) -> Tensor:
    quants = _nibbles(blocks[:, 6:]) | (_fifth_bits(blocks[:, 2:6]) << 4)
    return _half(blocks, 0) * (quants.int() - 16).float()


def _q5_1(blocks: Tensor) -> Tensor:
    quants = _nibbles(blocks[:, 8:]) | (_fifth_bits(blocks[:, 4:8]) << 4)
    return _half(blocks, 0) * quants.float() + _half(blocks, 2)


def _q8_0(blocks: Tensor) -> Tensor:
    return _half(blocks, 0) * blocks[:, 2:].bitcast(dtypes.int8).float()


def _q2_k(blocks: Tensor) -> Tensor:
    scales = blocks[:, :16]
    # each half of 128 elements: four bit pairs of 32 bytes
    quants = _bits(blocks[:, 16:80].reshape(-1, 2, 32), 2, 4).reshape(-1, 16, 16)
    factors = _half(blocks, 80) * (scales & 15).float()
    minima = _half(blocks, 82) * (scales >> 4).float()
    return (factors.unsqueeze(-1) * quants.float() - minima.unsqueeze(-1)).flatten(1)


def _q3_k(blocks: Tensor) -> Tensor:
    low = _bits(blocks[:, 32:96].reshape(-1, 2, 32), 2, 4).flatten(1)
    high = _bits(blocks[:, :32], 1, 8).flatten(1)
    quants = (low | (high << 2)).int() - 4
    packed = blocks[:, 96:108]
    scales = _nibbles(packed[:, :8]) | (_bits(packed[:, 8:], 2, 4).flatten(1) << 4)
    factors = _half(blocks, 108) * (scales.int() - 32).float()
    return (factors.unsqueeze(-1) * quants.float().reshape(-1, 16, 16)).flatten(1)


def _six_bit_pairs(packed: Tensor) -> tuple[Tensor, Tensor]:
    """Return 8 scales and 8 minima of 6 bits: (n, 12) -> (n, 8), (n, 8) of float32.

    Bytes 0 to 3 have the first four scales, and the top bits of the last four; bytes 4 to 7 so the minima;
    bytes 8 to 11 the low bits of the last four scales, and above them of the last four minima.
    """
    first, second, rest = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scales = Tensor.cat(first & 63, (rest & 15) | ((first >> 6) << 4), axis=1)
    minima = Tensor.cat(second & 63, (rest >> 4) | ((second >> 6) << 4), axis=1)
    return scales.float(), minima.float()


def _scaled_and_shifted(blocks: Tensor, quants: Tensor) -> Tensor:
    """Scale and shift quants (n, 256) of Q4_K or Q5_K, in parts of 32."""
    scales, minima = _six_bit_pairs(blocks[:, 4:16])
    factors = (_half(blocks, 0) * scales).unsqueeze(-1)
    offsets = (_half(blocks, 2) * minima).unsqueeze(-1)
    return (factors * quants.float().reshape(-1, 8, 32) - offsets).flatten(1)


def _q4_k(blocks: Tensor) -> Tensor:
    return _scaled_and_shifted(blocks, _bits(blocks[:, 16:].reshape(-1, 4, 32), 4, 2).flatten(1))


def _q5_k(blocks: Tensor) -> Tensor:
    low = _bits(blocks[:, 48:].reshape(-1, 4, 32), 4, 2).flatten(1)
    high = _bits(blocks[:, 16:48], 1, 8).flatten(1)
    return _scaled_and_shifted(blocks, low | (high << 4))


def _q6_k(blocks: Tensor) -> Tensor:
    # each half of 128 elements: nibbles of 64 bytes, bit pairs of 32 bytes
    low = _bits(blocks[:, :128].reshape(-1, 2, 64), 4, 2).flatten(1)
    high = _bits(blocks[:, 128:192].reshape(-1, 2, 32), 2, 4).flatten(1)
    quants = (low | (high << 4)).int() - 32
    factors = _half(blocks, 208) * blocks[:, 192:208].bitcast(dtypes.int8).float()
    return (factors.unsqueeze(-1) * quants.float().reshape(-1, 16, 16)).flatten(1)


# Source: kvalues_iq4nl of ggml-common.h
_IQ4_LEVELS = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
# the values of E2M1. Source: OCP MX 1.0, table 5
_E2M1_LEVELS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)


def _looked_up(levels: tuple[float, ...], quants: Tensor) -> Tensor:
    table = Tensor(levels, dtype=dtypes.float32, device=quants.device)
    return table[quants.int()]


def _iq4_nl(blocks: Tensor) -> Tensor:
    return _half(blocks, 0) * _looked_up(_IQ4_LEVELS, _nibbles(blocks[:, 2:]))


def _iq4_xs(blocks: Tensor) -> Tensor:
    # eight scales: low nibbles side by side in bytes, and their top bit pairs in 16 bits
    low = Tensor.stack(blocks[:, 4:8] & 15, blocks[:, 4:8] >> 4, axis=-1).flatten(1)
    high = Tensor.stack(*[(blocks[:, 2:4] >> (2 * i)) & 3 for i in range(4)], axis=-1).flatten(1)
    factors = _half(blocks, 0) * ((low | (high << 4)).int() - 32).float()
    levels = _looked_up(_IQ4_LEVELS, _bits(blocks[:, 8:].reshape(-1, 8, 16), 4, 2).reshape(-1, 8, 32))
    return (factors.unsqueeze(-1) * levels).flatten(1)


def _mxfp4(blocks: Tensor) -> Tensor:
    exponent = blocks[:, :1].cast(dtypes.uint32)
    # a power of two by its bits: exponent 0 is 2**-127, a subnormal number; 255 is NaN
    bits = (exponent == 0).where(1 << 22, (exponent == 255).where(0x7FC00000, exponent << 23))
    return bits.cast(dtypes.uint32).bitcast(dtypes.float32) * _looked_up(
        _E2M1_LEVELS, _nibbles(blocks[:, 1:])
    )


#: Quantized types by their numbers in files.
BLOCKS: dict[int, Block] = {
    2: Block("Q4_0", 32, 18, _q4_0),
    3: Block("Q4_1", 32, 20, _q4_1),
    6: Block("Q5_0", 32, 22, _q5_0),
    7: Block("Q5_1", 32, 24, _q5_1),
    8: Block("Q8_0", 32, 34, _q8_0),
    10: Block("Q2_K", 256, 84, _q2_k),
    11: Block("Q3_K", 256, 110, _q3_k),
    12: Block("Q4_K", 256, 144, _q4_k),
    13: Block("Q5_K", 256, 176, _q5_k),
    14: Block("Q6_K", 256, 210, _q6_k),
    20: Block("IQ4_NL", 32, 18, _iq4_nl),
    23: Block("IQ4_XS", 256, 136, _iq4_xs),
    39: Block("MXFP4", 32, 17, _mxfp4),
}
#: The other types, whose elements lie one after the other.
PLAIN_TYPES: dict[int, DType] = {
    0: dtypes.float32,
    1: dtypes.float16,
    24: dtypes.int8,
    25: dtypes.int16,
    26: dtypes.int32,
    27: dtypes.int64,
    28: dtypes.float64,
    30: dtypes.bfloat16,
}
