"""Dtypes from and to those of NumPy."""

from functools import cache

from plugrad._util import numpy as np
from plugrad.dtype.elements import COMPLEX, FLOAT8, STORABLE, dtypes
from plugrad.dtype.types import DType
from plugrad.errors import DtypeError


@cache
def to_numpy(dtype: DType) -> "np.dtype[np.generic] | None":
    """Return the NumPy dtype of the lanes, or None where NumPy has none."""
    scalar = dtype.scalar()
    return None if scalar is dtypes.bfloat16 or scalar in FLOAT8 else np.dtype(dtype.name)


def from_numpy(dtype: "np.dtype[np.generic]") -> DType:
    """Return the dtype of NumPy's `dtype` (byte order ignored).

    Raises:
        DtypeError: plugrad has no such type (strings, objects).

    Example:
        >>> from_numpy(np.dtype(np.int16))
        dtypes.int16
    """
    # strings of any length have no byte order to change
    native = dtype.newbyteorder("=") if dtype.kind in "biufc" else None
    for found in (*STORABLE, *COMPLEX):
        # None compares equal to float64: NumPy reads it as its default dtype
        if native is not None and found is not dtypes.bfloat16 and to_numpy(found) == native:
            return found
    known = ", ".join(d.name for d in (*STORABLE, *COMPLEX))
    raise DtypeError(f"NumPy's {dtype} has no plugrad dtype. Cast to one of {known}.")
