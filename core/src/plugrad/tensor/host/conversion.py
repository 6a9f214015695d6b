"""Other dtypes for the same elements: casts keep the value, bitcasts the bits."""

from __future__ import annotations

import builtins
import math
from typing import Any

from plugrad.dtype import DType, dtypes, element_dtype, is_bool, is_complex, is_float, is_int
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.base import DTypeLike, Tensor, TensorBase
from plugrad.tensor.shapes import expanded, show
from plugrad.uop import Ops, UOp


def cast(self: Tensor, dtype: DTypeLike) -> Tensor:
    """Return the values in another dtype.

    Floats to integers lose their fraction; to bool, anything but 0 is true. Integers wrap. Floats are
    rounded once, to the nearest and to even between two, also from float64 and large integers, where
    PyTorch goes through float32 and rounds twice; what is too large for a float is infinite (see
    `plugrad.dtype` for floats of a byte). A float outside of an integer's range, NaN among them, becomes
    what PyTorch makes of one element on x86-64, on every device: the least int32 (int64 for int64 and
    unsigned integers of 32 and 64 bits), whose bits then wrap: 0 in int8. Of complex numbers real
    dtypes get the real part, as in PyTorch.

    Raises:
        DtypeError: there is no such dtype.

    Example:
        >>> Tensor([1.7, -1.7]).cast("int32").tolist()
        [1, -1]
    """
    wanted = element_dtype(dtype)
    if wanted is self.dtype:
        return self
    if is_complex(self.dtype) and not is_complex(wanted) and not is_bool(wanted):
        return self._like(self._graph.real()).cast(wanted)
    is_cut = is_float(self.dtype) and is_int(wanted)
    return self._like(to_integer(self._graph, wanted) if is_cut else self._graph.cast(wanted))


def bitcast(self: Tensor, dtype: DTypeLike) -> Tensor:
    """Return the bits as another dtype; the last axis scales with the element size.

    Where they are equal it is a view: who writes to it writes to this tensor.

    Raises:
        ShapeError: the last axis is no whole number of elements of `dtype`, or there is none, and the
            sizes of elements differ.
        DtypeError: this or `dtype` is bool or complex, or there is no such dtype.

    Example:
        >>> Tensor([1.0]).bitcast("uint8").tolist()
        [0, 0, 128, 63]
        >>> x = Tensor([1.0, -2.0])
        >>> bits = x.bitcast("uint32")
        >>> bits &= 0x7FFFFFFF
        >>> x.tolist()
        [1.0, 2.0]
    """
    wanted = element_dtype(dtype)
    if wanted is self.dtype:
        return self._view(lambda u: u)
    if is_bool(wanted) or is_bool(self.dtype):
        raise DtypeError(
            f"bitcast from {self.dtype.name} to {wanted.name}: bools have no bits of their own. Use cast."
        )
    if is_complex(wanted) or is_complex(self.dtype):
        raise DtypeError(
            f"bitcast from {self.dtype.name} to {wanted.name}: use view_as_real() and view_as_complex()."
        )
    have, want = self.dtype.itemsize, wanted.itemsize
    if have == want:
        if self._storage.has_history:
            return self._like(self._graph.bitcast(wanted))
        return self._view(lambda u: u.bitcast(wanted))
    last: Any = self.shape[-1] if self.ndim else None
    if last is None or (last * have) % want:
        problem = (
            "there is no axis whose size could change. Unsqueeze it first."
            if last is None
            else f"the last axis must be a multiple of {want // have} elements."
        )
        raise ShapeError(
            f"bitcast of shape {show(self.shape)} from {self.dtype.name} to {wanted.name}: {problem}"
        )
    bits = self._graph.bitcast(_UNSIGNED[have])
    out = _split_bits(bits, have // want) if have > want else _join_bits(bits, want // have)
    return self._like(out.bitcast(wanted))


def float(self: Tensor) -> Tensor:
    """Return `cast(float32)`.

    Example:
        >>> Tensor([1, 2]).float().tolist()
        [1.0, 2.0]
    """
    return self.cast(dtypes.float32)


def half(self: Tensor) -> Tensor:
    """Return `cast(float16)`.

    Example:
        >>> Tensor([0.1]).half().item()
        0.0999755859375
    """
    return self.cast(dtypes.float16)


def double(self: Tensor) -> Tensor:
    """Return `cast(float64)`.

    Example:
        >>> Tensor([1, 2]).double().dtype
        dtypes.float64
    """
    return self.cast(dtypes.float64)


def int(self: Tensor) -> Tensor:
    """Return `cast(int32)`.

    Example:
        >>> Tensor([1.9, -1.9]).int().tolist()
        [1, -1]
    """
    return self.cast(dtypes.int32)


def long(self: Tensor) -> Tensor:
    """Return `cast(int64)`.

    Example:
        >>> Tensor([1.5]).long().dtype
        dtypes.int64
    """
    return self.cast(dtypes.int64)


def bool(self: Tensor) -> Tensor:
    """Return `cast(bool)`.

    Example:
        >>> Tensor([0.0, 0.5]).bool().tolist()
        [False, True]
    """
    return self.cast(dtypes.bool)


def bfloat16(self: Tensor) -> Tensor:
    """Return `cast(bfloat16)`.

    Example:
        >>> Tensor([0.1]).bfloat16().item()
        0.10009765625
    """
    return self.cast(dtypes.bfloat16)


def char(self: Tensor) -> Tensor:
    """Return `cast(int8)`.

    Example:
        >>> Tensor([100, 200]).char().tolist()
        [100, -56]
    """
    return self.cast(dtypes.int8)


def byte(self: Tensor) -> Tensor:
    """Return `cast(uint8)`.

    Example:
        >>> Tensor([100, 300]).byte().tolist()
        [100, 44]
    """
    return self.cast(dtypes.uint8)


def short(self: Tensor) -> Tensor:
    """Return `cast(int16)`.

    Example:
        >>> Tensor([1.5]).short().dtype
        dtypes.int16
    """
    return self.cast(dtypes.int16)


def type_as(self: Tensor, other: TensorBase) -> Tensor:
    """Return `cast(other.dtype)`.

    Raises:
        ArgumentError: `other` is no tensor.

    Example:
        >>> Tensor([1, 2]).type_as(Tensor([0.5])).tolist()
        [1.0, 2.0]
    """
    if not isinstance(other, TensorBase):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(f"{other!r} ({type(other).__name__}) is no tensor. Pass one, or use cast.")
    return self.cast(other.dtype)


_UNSIGNED = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


def _split_bits(bits: UOp, parts: builtins.int) -> UOp:
    """Return each unsigned element as `parts` narrower ones, the lowest first, along the last axis."""
    narrow = _UNSIGNED[bits.dtype.itemsize // parts]
    wide = (*bits.shape, parts)
    shifts = (UOp.iota(parts) * (narrow.itemsize * 8)).cast(bits.dtype)
    spread = bits.reshape((*bits.shape, 1)).expand(wide) >> expanded(shifts, wide)
    return spread.cast(narrow).reshape((*bits.shape[:-1], math.prod(wide[-2:])))  # pyright: ignore


def _join_bits(bits: UOp, parts: builtins.int) -> UOp:
    """Join runs of `parts` unsigned elements of the last axis, lowest first, into wider ones."""
    wide = _UNSIGNED[bits.dtype.itemsize * parts]
    count: Any = bits.shape[-1]
    runs = bits.reshape((*bits.shape[:-1], count // parts, parts)).cast(wide)
    shifts = (UOp.iota(parts) * (bits.dtype.itemsize * 8)).cast(wide)
    joined = (runs << expanded(shifts, runs.shape)).reduce_axis(Ops.ADD, (len(runs.shape) - 1,))
    return joined.reshape(runs.shape[:-1])


_THROUGH_LONG = (dtypes.int64, dtypes.uint32)


def to_integer(x: UOp, target: DType) -> UOp:
    """Return floats as integers of `target`, with one answer for every float.

    In range, a cast loses the fraction. Out of range, NaN among them, C calls the cast undefined: processors
    differ, and so do the constants that compilers fold. Here every device gives what PyTorch gives for one
    element on x86-64: the instruction answers the least integer, whose bits wrap to the integer asked for.

    Integers of up to 16 bits, and int32, go through int32; unsigned ones of 8 and 32 bits through int64.
    (Where int32 ends, float32 has no bits left below 256: only float64 tells for uint8; int32 is quicker.)
    """
    wide = x if x.dtype is dtypes.float64 else x.cast(dtypes.float32)
    if target is dtypes.uint64:
        return _to_uint64(wide)
    through_long = target in _THROUGH_LONG or (target is dtypes.uint8 and wide.dtype is dtypes.float64)
    return _clipped_cast(wide, dtypes.int64 if through_long else dtypes.int32).cast(target)


def _clipped_cast(x: UOp, target: DType) -> UOp:
    """Cast to a signed integer, to its least one out of range."""
    limit = 1 << (target.itemsize * 8 - 1)
    # both bounds are exact as floats
    is_held = (x > -limit) & (x < limit)
    return is_held.where(x.cast(target), UOp.const(target, -limit))


def _to_uint64(x: UOp) -> UOp:
    """Cast the upper half of uint64 with 2**63 subtracted, and set its top bit again."""
    half = 1 << 63
    is_upper = ~(x < half) & x.eq(x)
    low = _clipped_cast(is_upper.where(x - half, x), dtypes.int64).cast(dtypes.uint64)
    return low ^ is_upper.where(UOp.const(dtypes.uint64, half), UOp.const(dtypes.uint64, 0))
