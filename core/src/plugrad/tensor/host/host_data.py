"""Data of the host: Python lists to bytes and back, and buffers that hold them."""

import struct
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from plugrad._util import numpy as np
from plugrad.device import Device
from plugrad.dtype import (
    FLOAT8,
    DType,
    complex_dtype,
    dtype_max,
    dtype_min,
    dtypes,
    is_bool,
    is_complex,
    is_float,
    part_dtype,
    round_bfloat16,
)
from plugrad.engine import storage
from plugrad.engine.capture import note_data
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.scalars import check_element, check_fits
from plugrad.tensor.shapes import Dim, as_number, as_shape, check_sizes, show
from plugrad.uop import UOp

HOST = "PYTHON"

_PYTHON_NUMBERS = frozenset((bool, int, float))
_WITH_COMPLEX = _PYTHON_NUMBERS | {complex}
_LARGEST = sys.float_info.max
# as deep as arrays of NumPy and PyTorch go
_MOST_NESTED = 64


def host_buffer(data: bytes, shape: tuple[int, ...], dtype: DType) -> UOp:
    """Return a BUFFER in the host's memory that holds `data`, without a copy."""
    return shared_buffer(memoryview(data), shape, dtype, HOST) or copied_buffer(
        memoryview(data), shape, dtype, HOST
    )


def copied_buffer(data: memoryview, shape: tuple[int, ...], dtype: DType, device: str) -> UOp:
    """Return a BUFFER on `device` that holds a copy of the bytes `data`, made now."""
    uop = storage.new_buffer(device, shape, dtype)
    storage.buffer_of(uop).copyin(data)
    return note_data(uop)


def shared_buffer(data: memoryview, shape: tuple[int, ...], dtype: DType, device: str) -> UOp | None:
    """Return a BUFFER that shares the memory of `data`, None where `device` needs a copy.

    Read-only `data` is never written. Nobody may write to it as long as the BUFFER is used.
    """
    uop = storage.new_buffer(device, shape, dtype)
    if not storage.buffer_of(uop).import_host(data):
        return None
    return note_data(uop) if data.readonly else uop


def computes(device: str) -> bool:
    """Say whether `device` accepts elements at once; storage devices take copies in the graph."""
    return Device[device].can_compute


def flatten(data: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Return the shape of nested lists, tuples and ranges, and their elements in row-major order."""
    shape: list[int] = []
    level: list[Any] = [data]
    while level and _is_nested(level[0]):
        if len(shape) == _MOST_NESTED:
            raise ShapeError(f"lists are nested more than {_MOST_NESTED} deep, or hold themselves. Reshape.")
        sizes = {len(item) if _is_nested(item) else -1 for item in level}
        if len(sizes) > 1:
            found = ", ".join("a number" if n < 0 else str(n) for n in sorted(sizes))
            raise ShapeError(
                f"lists at depth {len(shape)} have lengths {found}: a tensor has no ragged edge. Pad the "
                "shorter ones."
            )
        shape.append(sizes.pop())
        level = [element for item in level for element in item]
    if any(map(_is_nested, level)):
        raise ShapeError(f"lists at depth {len(shape)} stand beside numbers. Give all the same depth.")
    if not _WITH_COMPLEX.issuperset(map(type, level)):
        level = [x.item() if isinstance(x, (np.generic, np.ndarray)) and not x.ndim else x for x in level]
        _check_numbers(level)
    return tuple(shape), level


def _check_numbers(values: Iterable[Any]) -> None:
    for value in values:
        if not isinstance(value, (bool, int, float, complex)):
            raise DtypeError(
                f"cannot make an element of {value!r:.200} ({type(value).__name__}). Pass numbers; join "
                "tensors with Tensor.stack."
            )


def _is_nested(item: Any) -> bool:
    return isinstance(item, (list, tuple, range))


def infer_dtype(values: Sequence[Any]) -> DType:
    """Return the dtype of Python numbers.

    That is bool, the default int (int64 if a number needs it), the default float, or its complex dtype.
    """
    kinds = set(map(type, values))
    if kinds <= {bool}:
        return dtypes.bool if values else dtypes.default_float
    _check_numbers(values)
    if any(issubclass(kind, complex) for kind in kinds):
        return complex_dtype(dtypes.default_float)
    if any(issubclass(kind, float) for kind in kinds):
        return dtypes.default_float
    low, high = dtype_min(dtypes.default_int), dtype_max(dtypes.default_int)
    return dtypes.default_int if low <= min(values) and max(values) <= high else dtypes.int64


def as_count(value: Any) -> Dim:
    """Return the number of something, such as samples; a node where it is symbolic."""
    return check_sizes(as_shape(((value,),)))[0]


def as_size(value: Any) -> int:
    """Return the number of something, that is known."""
    size = as_count(value)
    if not isinstance(size, int):
        raise ShapeError(f"{show((size,))[1:-2]} is symbolic. Pass a number.")
    return size


def finite(value: Any) -> int | float:
    """Return the Python number that `value` is."""
    number = as_number(value)
    if not -_LARGEST <= number <= _LARGEST:
        text = f"an integer of {number.bit_length()} bits" if isinstance(number, int) else str(number)
        raise ArgumentError(f"{text} is not among the finite floats. Pass a number that is.")
    return int(number) if isinstance(number, int) else float(number)


def pack(values: Sequence[Any], dtype: DType) -> bytes:
    """Return Python numbers as the bytes of `dtype`."""
    if is_complex(dtype):
        numbers = [check_element(value, dtype) for value in values]
        return pack([part for z in numbers for part in (z.real, z.imag)], part_dtype(dtype))
    if dtype is dtypes.bfloat16:
        singles = struct.pack(
            f"={len(values)}f", *[round_bfloat16(float(check_fits(v, dtype))) for v in values]
        )
        return b"".join(singles[at + 2 : at + 4] for at in range(0, len(singles), 4))
    if (layout := FLOAT8.get(dtype)) is not None:
        return bytes([layout.encode(float(check_fits(v, dtype))) for v in values])
    if is_bool(dtype):
        if not _PYTHON_NUMBERS.issuperset(map(type, values)):
            values = [check_fits(value, dtype) for value in values]
        return bytes(map(bool, values))
    try:
        return struct.pack(f"={len(values)}{dtype.fmt}", *values)
    except (struct.error, OverflowError):
        # something does not fit as it is: say what, or round it
        checked: list[Any] = [check_fits(value, dtype) for value in values]
    if is_float(dtype):
        checked = [_saturate(float(value), dtype) for value in checked]
    return struct.pack(f"={len(values)}{dtype.fmt}", *checked)


def _saturate(value: float, dtype: DType) -> float:
    try:
        struct.pack(f"={dtype.fmt}", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value


def unpack(data: memoryview, dtype: DType) -> list[Any]:
    """Return the bytes of `dtype` as Python numbers."""
    if is_bool(dtype):
        return [byte != 0 for byte in data]
    if is_complex(dtype):
        parts = unpack(data, part_dtype(dtype))
        return [complex(real, imag) for real, imag in zip(parts[::2], parts[1::2], strict=True)]
    if dtype is dtypes.bfloat16:
        raw = bytes(data)
        wide = b"".join(b"\0\0" + raw[at : at + 2] for at in range(0, len(raw), 2))
        return list(struct.unpack(f"<{len(raw) // 2}f", wide))
    if (layout := FLOAT8.get(dtype)) is not None:
        return [layout.decode(code) for code in data]
    return list(struct.unpack(f"={len(data) // dtype.itemsize}{dtype.fmt}", data))


def nest(values: list[Any], shape: Sequence[int]) -> Any:
    """Return a flat list as nested lists of `shape`; the element itself for shape ()."""
    if not shape:
        return values[0]
    for depth in range(len(shape) - 1, 0, -1):
        size, count = shape[depth], 1
        for dim in shape[:depth]:
            count *= dim
        values = [values[i * size : (i + 1) * size] for i in range(count)]
    return values


def empty_lists(shape: Iterable[int]) -> Any:
    """Return the nested lists of a shape without elements."""
    head, *rest = shape
    return [empty_lists(rest) for _ in range(head)]
