"""NumPy arrays as BUFFERs and back, without the tensor package."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrad.dtype import from_numpy
from plugrad.engine import storage
from plugrad.uop import UOp
from plugrad_conformance.testing.tensor_oracle import value_of

Array = NDArray[Any]


def put(array: Any, device: str = "PYTHON") -> UOp:
    """Return a BUFFER on `device` that holds `array` (float64 becomes float32, int64 int32).

    Example:
        >>> get(put([1, 2]))
        array([1, 2], dtype=int32)
    """
    values = np.asarray(array)
    narrow = {"f": np.float32, "i": np.int32}.get(values.dtype.kind, values.dtype)
    values = np.ascontiguousarray(values, narrow)
    uop = storage.new_buffer(device, values.shape, from_numpy(values.dtype))
    storage.buffer_of(uop).ensure_allocated().copyin(memoryview(values.tobytes()))
    return uop


def get(uop: UOp) -> Array:
    """Return the current value of a realized value or a view of memory."""
    return value_of(storage.resolve(uop))
