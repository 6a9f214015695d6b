"""The functions of the Python array API standard, on tensors.

    import plugrad.array_api as xp

    xp.sum(xp.asarray([1.0, 2.0]))

`Tensor.__array_namespace__()` returns this module. Names, arguments and results are those of the standard,
where they differ from the methods of `Tensor`: `std` divides by n, `meshgrid` starts with "xy", `sort`
returns values only.

Source: Python array API standard 2024.12, data-apis.org/array-api/2024.12.
"""

# ruff: noqa: F403 - the modules say in their `__all__` what is a name of the standard
import math

from plugrad.array_api import creation, elementwise, fft, info, linalg, manipulation, reductions, searching
from plugrad.array_api.creation import *
from plugrad.array_api.elementwise import *
from plugrad.array_api.info import *
from plugrad.array_api.manipulation import *
from plugrad.array_api.methods import describe_all
from plugrad.array_api.reductions import *
from plugrad.array_api.searching import *
from plugrad.dtype import dtypes

e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi

bool = dtypes.bool
int8 = dtypes.int8
int16 = dtypes.int16
int32 = dtypes.int32
int64 = dtypes.int64
uint8 = dtypes.uint8
uint16 = dtypes.uint16
uint32 = dtypes.uint32
uint64 = dtypes.uint64
float32 = dtypes.float32
float64 = dtypes.float64
complex64 = dtypes.complex64
complex128 = dtypes.complex128

__array_api_version__ = "2024.12"

__all__ = [
    "__array_api_version__",
    "bool",
    "complex64",
    "complex128",
    "e",
    "fft",
    "float32",
    "float64",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "linalg",
    "nan",
    "newaxis",
    "pi",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
__all__ += creation.__all__
__all__ += elementwise.__all__
__all__ += info.__all__
__all__ += manipulation.__all__
__all__ += reductions.__all__
__all__ += searching.__all__

describe_all(globals())
