"""Define element types: values, promotion, and rounding of Python numbers.

A `DType` is interned data. `dtypes` is the namespace of all of them. Promotion follows the lattice in
`least_upper_dtype`: bool < unsigned and signed integers < floats, by the narrowest type that holds both. Two
different floats of a byte meet in float16, which holds all their values, as float16 and bfloat16 meet in
float32. All pairs that have a type in PyTorch have the same one here. Of those that have none, integers meet
as in NumPy, but uint64 and signed ones in the default float; integers beside a float of a byte become that.

Python numbers, and NumPy's scalars, are weak: they take the dtype of the tensor beside them, unless they are
of a higher kind. A float beside integers or bools gives the default float; an int beside bools gives the
default int, which is int32 here and int64 in PyTorch. A number that an integer dtype cannot hold is refused,
where PyTorch wraps it. Tensors of shape () are as strong as all others, as in the array API standard and not
as in PyTorch.

Complex numbers (`COMPLEX`) are two floats side by side in memory, the real one first. They meet other numbers
in complex128 where one of both is float64 or complex128, else in complex64. They exist in graphs of tensors
only: before scheduling each becomes its two parts, so that no device has to know of them.

Floats of a byte (`FLOAT8`) are for storage: no device computes with them, and each operation is rounded once
from float32 to nearest, ties to even. A number beyond the largest one becomes that number as fp8e4m3,
infinite as fp8e5m2, and NaN as the variants without infinities and -0.0 (`fnuz`).
"""

from plugrad.dtype.elements import (
    COMPLEX,
    ELEMENTS,
    FLOAT8,
    STORABLE,
    complex_dtype,
    dtypes,
    element_dtype,
    find_dtype,
    has_infinity,
    parse_dtype,
    part_dtype,
)
from plugrad.dtype.kinds import (
    dtype_max,
    dtype_min,
    is_bool,
    is_complex,
    is_float,
    is_inexact,
    is_int,
    is_unsigned,
)
from plugrad.dtype.numpy_types import from_numpy, to_numpy
from plugrad.dtype.promotion import from_py, least_upper_dtype, sum_acc_dtype, sum_dtype
from plugrad.dtype.rounding import round_bfloat16, truncate
from plugrad.dtype.types import ConstType, DType, Kind, Number

__all__ = [
    "COMPLEX",
    "ELEMENTS",
    "FLOAT8",
    "STORABLE",
    "ConstType",
    "DType",
    "Kind",
    "Number",
    "complex_dtype",
    "dtype_max",
    "dtype_min",
    "dtypes",
    "element_dtype",
    "find_dtype",
    "from_numpy",
    "from_py",
    "has_infinity",
    "is_bool",
    "is_complex",
    "is_float",
    "is_inexact",
    "is_int",
    "is_unsigned",
    "least_upper_dtype",
    "parse_dtype",
    "part_dtype",
    "round_bfloat16",
    "sum_acc_dtype",
    "sum_dtype",
    "to_numpy",
    "truncate",
]
