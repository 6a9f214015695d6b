"""Elements of any dtype, between the host and the device, bit for bit.

Arrays are float64 for floats narrower than float64, so that a dtype without a NumPy type needs no special
place; float64 is longdouble where an oracle can use the digits.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrad import Tensor
from plugrad.dtype import (
    DType,
    dtype_max,
    dtype_min,
    dtypes,
    is_bool,
    is_float,
    is_unsigned,
    to_numpy,
    truncate,
)

Array = NDArray[Any]

FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
SIGNED = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
UNSIGNED = (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)
INTS = (*SIGNED, *UNSIGNED)
ALL = (dtypes.bool, *INTS, *FLOATS)

_LARGEST = {dtypes.float16: 65504.0, dtypes.bfloat16: 3.3895313892515355e38}


@dataclass(frozen=True, slots=True)
class ByteFloat:
    """The numbers of a float of a byte.

    Source: OCP 8-bit Floating Point Specification, revision 1.0, section 5; ONNX, "Float stored in 8 bits".

    Attributes:
        fraction_bits: stored bits of the significand.
        bias: of the exponent.
        first_special: the first positive code that is no number.
        too_large: what numbers become that are larger than all.
    """

    fraction_bits: int
    bias: int
    first_special: int
    too_large: float

    def values(self) -> Array:
        """Return the numbers of the codes from 0 up to the first that is none."""
        codes = np.arange(self.first_special)
        exponent, digits = codes >> self.fraction_bits, codes & ((1 << self.fraction_bits) - 1)
        scale = np.ldexp(1.0, np.maximum(exponent, 1) - self.bias - self.fraction_bits)
        return (digits + np.where(exponent > 0, 1 << self.fraction_bits, 0)) * scale

    def nearest(self, x: Array) -> Array:
        """Return the numbers nearest to `x`, which are in range; ties go to even codes."""
        values, size = self.values(), np.abs(x)
        above = np.clip(np.searchsorted(values, size), 1, len(values) - 1)
        low, high = values[above - 1], values[above]
        up = (size - low > high - size) | ((size - low == high - size) & (above % 2 == 0))
        return np.copysign(np.where(up, high, low), x)


BYTES = {
    dtypes.fp8e4m3: ByteFloat(3, 7, 0x7F, 448.0),
    dtypes.fp8e5m2: ByteFloat(2, 15, 0x7C, np.inf),
    dtypes.fp8e4m3fnuz: ByteFloat(3, 8, 0x80, np.nan),
    dtypes.fp8e5m2fnuz: ByteFloat(2, 16, 0x80, np.nan),
}


def numpy_dtype(dtype: DType) -> "np.dtype[Any]":
    """Return NumPy's dtype for one that NumPy has."""
    found = to_numpy(dtype)
    assert found is not None, f"NumPy has no {dtype.name}"
    return found


def memory_of(array: Array) -> memoryview:
    """Return the bytes of an array."""
    readable: Any = np.ascontiguousarray(array)
    return memoryview(readable)


def sizes_of(tensor: Tensor) -> tuple[int, ...]:
    """Return the shape of a tensor, which must not be symbolic."""
    shape: Any = tensor.shape
    return tuple(int(size) for size in shape)


def largest(dtype: DType) -> float:
    """Return the largest finite value of a float dtype."""
    return _LARGEST.get(dtype) or float(np.finfo(numpy_dtype(dtype).type).max)


def smallest_normal(dtype: DType) -> float:
    """Return the smallest positive normal value of a float dtype."""
    return 2.0 ** {dtypes.float16: -14, dtypes.float64: -1022}.get(dtype, -126)


def round_to(values: Any, dtype: DType) -> Array:
    """Return float64 values as `dtype` holds them, in float64."""
    flat = [truncate(float(v), dtype) for v in np.ravel(values)]
    return np.array(flat, np.float64).reshape(np.shape(values))


def tensor_of(values: Array, dtype: DType, device: str) -> Tensor:
    """Return a tensor of `dtype` on `device` with exactly these values."""
    exact = to_numpy(dtype)
    if exact is None:
        bits = round_to(values, dtype).astype(np.float32).view(np.uint32) >> 16
        data = bits.astype(np.uint16).tobytes()
    else:
        data = np.ascontiguousarray(values).astype(exact).tobytes()
    return Tensor(data, dtype=dtype, device=device).reshape(np.shape(values))


def array_of(tensor: Tensor) -> Array:
    """Return the elements of a realized tensor, floats as float64."""
    raw, shape = tensor.data().cast("B") if 0 not in tensor.shape else b"", sizes_of(tensor)
    stored = to_numpy(tensor.dtype)
    if stored is None:
        bits = np.frombuffer(raw, np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).astype(np.float64).reshape(shape)
    if is_bool(tensor.dtype):
        found = np.frombuffer(raw, np.uint8)
        odd = found[found > 1]
        assert not odd.size, f"a bool in memory is 0 or 1, this one is {odd[0]}"
        return found.astype(bool).reshape(shape)
    array = np.frombuffer(raw, stored).reshape(shape)
    return array.astype(np.float64) if is_float(tensor.dtype) else array


def sample(dtype: DType, count: int, seed: int = 0, scale: float = 4.0) -> Array:
    """Return ordinary values of `dtype`: floats about `scale`, integers of a few digits, bools."""
    rng = np.random.default_rng(seed)
    if is_bool(dtype):
        return rng.integers(0, 2, count).astype(bool)
    if is_float(dtype):
        return round_to(rng.standard_normal(count) * scale, dtype)
    low = 0 if is_unsigned(dtype) else -100
    return rng.integers(low, 100, count).astype(to_numpy(dtype))


def edges(dtype: DType) -> Array:
    """Return the extreme values of `dtype`: ends, zeros, infinities, NaN and ties."""
    if is_bool(dtype):
        return np.array([False, True])
    if is_float(dtype):
        big, small = largest(dtype), smallest_normal(dtype)
        ordinary = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 7.0, 0.1, 1e-3, 100.0, small, small * 1.5, big]
        return round_to(np.array([*ordinary, *(-v for v in ordinary), np.inf, -np.inf, np.nan]), dtype)
    low, high = int(dtype_min(dtype)), int(dtype_max(dtype))
    inside = [0, 1, 2, 3, 7, 8, 100, high, high - 1, high // 2, low, low + 1]
    return np.array([*inside, *((-1, -2, -3, -7, -8, -100) if low else ())], to_numpy(dtype))


def operands(dtype: DType, count: int, seed: int = 0, scale: float = 4.0) -> Array:
    """Return the edges of `dtype`, and ordinary values after them."""
    ends = edges(dtype)
    return np.concatenate([ends, sample(dtype, max(count - len(ends), 0), seed, scale)])[
        : max(count, len(ends))
    ]


def pairs(dtype: DType, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Return two arrays in which every edge meets every edge, and ordinary values after them."""
    ends = edges(dtype)
    x, y = np.repeat(ends, len(ends)), np.tile(ends, len(ends))
    return (
        np.concatenate([x, sample(dtype, count, seed)]),
        np.concatenate([y, sample(dtype, count, seed + 1)]),
    )
