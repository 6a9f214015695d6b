"""Define elementwise ops on NumPy arrays, dtype by dtype: the reference for every device.

A value is an array over work-items, with lanes of vectors on a second axis. bfloat16 lives in float32 arrays
that hold bfloat16 values only. What C leaves undefined is defined here: integer division by zero gives 0,
shifts by the width or more give what an endless row of bits would, and a float outside int64 (or NaN) becomes
the lowest int64, which then wraps into narrower types.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from plugrad._util import numpy as np
from plugrad.dtype import FLOAT8, DType, dtypes, is_bool, is_float, to_numpy
from plugrad.errors import DeviceError
from plugrad.uop import Ops

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
else:
    Array = Any
Function = Callable[..., Array]

_SIGN_64 = 2.0**63


def lane_dtype(dtype: DType) -> "np.dtype[Any]":
    """Return the NumPy dtype that holds values of `dtype` while they are computed with."""
    return to_numpy(dtype) or np.dtype(np.float32)


def storage_dtype(dtype: DType) -> "np.dtype[Any]":
    """Return the NumPy dtype of `dtype` in memory.

    A bool is a byte, a bfloat16 its bits.
    """
    if is_bool(dtype):
        return np.dtype(np.uint8)
    return to_numpy(dtype) or np.dtype(np.uint16)


def from_storage(raw: Array, dtype: DType) -> Array:
    """Return values of `dtype` from memory."""
    if is_bool(dtype):
        return raw != 0
    if dtype.scalar() is dtypes.bfloat16:
        return (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return raw


def to_storage(values: Array, dtype: DType) -> Array:
    """Return values of `dtype` as they are written to memory."""
    if dtype.scalar() is dtypes.bfloat16:
        return (np.ascontiguousarray(values).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return values.astype(np.uint8) if is_bool(dtype) else values


def decoded(memory: memoryview, dtype: DType) -> Array:
    """Return all elements in memory, floats in float64."""
    if dtype in FLOAT8:
        values = np.array([FLOAT8[dtype].decode(code) for code in range(256)])
        return values[np.frombuffer(memory, "uint8")]
    found = from_storage(np.frombuffer(memory, storage_dtype(dtype)), dtype)
    return found.astype("float64") if is_float(dtype) else found


def constant(value: bool | int | float, dtype: DType) -> Array:
    """Return the constant for every work-item and lane."""
    return np.full((1,) if dtype.count == 1 else (1, dtype.count), value, lane_dtype(dtype))


def round_to_bfloat16(values: Array) -> Array:
    """Round float32 or float64 to the nearest bfloat16, ties to even, as float32."""
    single = values.astype(np.float32)
    bits = np.atleast_1d(single).view(np.uint32)
    if values.dtype == np.float64:
        # rounding twice errs on ties that the first rounding made: undo its direction there
        back = np.atleast_1d(single).astype(np.float64)
        is_tie = (bits & np.uint32(0xFFFF)) == 0x8000
        step = np.where(np.abs(values) > np.abs(back), np.uint32(1), np.uint32(0xFFFFFFFF))
        bits = np.where(is_tie & (back != values), bits + step, bits)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(single), np.float32(np.nan), rounded.view(np.float32))


def cast(source: DType, target: DType) -> Function:
    """Return the conversion from `source` to `target`."""
    to = lane_dtype(target)
    if is_bool(target):
        return _is_nonzero
    if target.scalar() is dtypes.bfloat16:
        exact = np.float32 if source.itemsize < 4 or source.scalar() is dtypes.float32 else np.float64
        return partial(_convert_to_bfloat16, through=exact)
    if is_float(source) and not is_float(target):
        return partial(_float_to_int, to=to)
    return partial(_convert, to=to)


def _is_nonzero(values: Array) -> Array:
    return values != 0


def _convert_to_bfloat16(values: Array, through: "type[np.floating[Any]]") -> Array:
    return round_to_bfloat16(values.astype(through))


def _convert(values: Array, to: "np.dtype[Any]") -> Array:
    return values.astype(to)


def _float_to_int(values: Array, to: "np.dtype[Any]") -> Array:
    whole = np.trunc(values.astype(np.float64))
    inside = np.abs(whole) < _SIGN_64
    out = np.where(inside, whole, -_SIGN_64).astype(np.int64).astype(to)
    if to == np.uint64:
        upper = (whole >= _SIGN_64) & (whole < 2 * _SIGN_64)
        shifted = np.where(upper, whole - _SIGN_64, 0.0).astype(np.uint64)
        out = np.where(upper, shifted + np.uint64(1 << 63), out)
    return out


def bitcast(source: DType, target: DType) -> Function:
    """Return the reinterpretation of `source`'s bits as `target`."""
    stored = storage_dtype(target)

    def reinterpret(x: Array) -> Array:
        bits = np.ascontiguousarray(to_storage(x, source))
        if source.count != target.count:
            bits = bits.reshape(len(bits), -1).view(stored)
            return from_storage(bits if target.count > 1 else bits[:, 0], target)
        return from_storage(bits.view(stored), target)

    return reinterpret


def _c_divide(x: Array, y: Array) -> Array:
    # x minus its remainder divides exactly, so that rounding down is rounding towards zero
    return np.floor_divide(x - np.fmod(x, y), y)


def _reciprocal(x: Array) -> Array:
    return np.divide(x.dtype.type(1), x)


def _shift_left(x: Array, y: Array) -> Array:
    return np.left_shift(x, y.astype(x.dtype))


def _shift_right(x: Array, y: Array) -> Array:
    return np.right_shift(x, y.astype(x.dtype))


def _mulacc(x: Array, y: Array, z: Array) -> Array:
    if x.dtype.kind != "f":
        return x * y + z
    # the product of two float32 is exact in float64: the sum is as good as rounded once
    wide = x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)
    return wide.astype(x.dtype)


_UFUNCS: dict[Ops, str] = {
    Ops.NEG: "negative",
    Ops.SQRT: "sqrt",
    Ops.TRUNC: "trunc",
    Ops.ADD: "add",
    Ops.SUB: "subtract",
    Ops.MUL: "multiply",
    Ops.FDIV: "divide",
    Ops.FMOD: "fmod",
    Ops.FLOORDIV: "floor_divide",
    Ops.FLOORMOD: "remainder",
    Ops.CMOD: "fmod",
    Ops.MAX: "maximum",
    Ops.CMPLT: "less",
    Ops.CMPNE: "not_equal",
    Ops.CMPEQ: "equal",
    Ops.AND: "bitwise_and",
    Ops.OR: "bitwise_or",
    Ops.XOR: "bitwise_xor",
    Ops.WHERE: "where",
}
_FUNCTIONS: dict[Ops, Function] = {
    Ops.RECIP: _reciprocal,
    Ops.CDIV: _c_divide,
    Ops.SHL: _shift_left,
    Ops.SHR: _shift_right,
    Ops.MULACC: _mulacc,
}

#: The ALU ops that have a meaning here; all others are decomposed, with the rules that devices use.
SUPPORTED = frozenset((*_UFUNCS, *_FUNCTIONS))


def function(op: Ops, dtype: DType, sources: tuple[DType, ...]) -> Function:
    """Return the function that computes `op` on arrays of `sources`.

    Raises:
        DeviceError: `op` should have been decomposed.
    """
    if op is Ops.CAST:
        return cast(sources[0], dtype)
    if op is Ops.BITCAST:
        return bitcast(sources[0], dtype)
    if op not in SUPPORTED:
        raise DeviceError(
            f"PYTHON has no {op.name}: it is not among its native ops, so codegen decomposes it. "
            "Run plugrad.codegen.decompositions.decompose before linearizing.",
            device="PYTHON",
        )
    exact: Function = _FUNCTIONS[op] if op in _FUNCTIONS else getattr(np, _UFUNCS[op])
    if dtype.scalar() is dtypes.bfloat16 and op is not Ops.WHERE:
        # two bfloat16 give a float32 whose second rounding is harmless: 24 bits are more than 2*8+2
        return lambda *x: round_to_bfloat16(exact(*x))
    return exact
