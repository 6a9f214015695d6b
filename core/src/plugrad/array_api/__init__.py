"""The functions of the Python array API standard, on tensors.

    import plugrad.array_api as xp

    xp.sum(xp.asarray([1.0, 2.0]))

`Tensor.__array_namespace__()` returns this module. Names, arguments and results are those of the standard,
where they differ from the methods of `Tensor`: `std` divides by n, `meshgrid` starts with "xy", `sort`
returns values only.

Source: Python array API standard 2024.12, data-apis.org/array-api/2024.12.
"""

import math
from inspect import isfunction

from plugrad.array_api import fft, linalg
from plugrad.array_api.arithmetic import (
    abs,
    add,
    conj,
    divide,
    floor_divide,
    imag,
    multiply,
    negative,
    positive,
    pow,
    real,
    reciprocal,
    remainder,
    sign,
    square,
    subtract,
)
from plugrad.array_api.bits import (
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
)
from plugrad.array_api.checks import checked
from plugrad.array_api.choices import clip, maximum, minimum, where
from plugrad.array_api.comparing import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
)
from plugrad.array_api.creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from plugrad.array_api.floats import copysign, isfinite, isinf, isnan, nextafter, signbit
from plugrad.array_api.functions import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    exp,
    expm1,
    hypot,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from plugrad.array_api.info import (
    SUPPORTED_VERSIONS,
    __array_namespace_info__,
    astype,
    can_cast,
    finfo,
    iinfo,
    isdtype,
    result_type,
)
from plugrad.array_api.manipulation import (
    broadcast_arrays,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    matmul,
    matrix_transpose,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    take,
    take_along_axis,
    tensordot,
    tile,
    unstack,
    vecdot,
)
from plugrad.array_api.reductions import (
    all,
    any,
    argmax,
    argmin,
    count_nonzero,
    cumulative_prod,
    cumulative_sum,
    diff,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from plugrad.array_api.rounding import ceil, floor, round, trunc
from plugrad.array_api.searching import (
    argsort,
    nonzero,
    searchsorted,
    sort,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from plugrad.dtype import dtypes

# one check of arguments for all functions, and one question whether they have to do with complex numbers
_TOOLS = (checked, isfunction)
globals().update(
    {name: checked(value) for name, value in globals().items() if isfunction(value) and value not in _TOOLS}
)

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
    "SUPPORTED_VERSIONS",
    "__array_api_version__",
    "__array_namespace_info__",
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bool",
    "broadcast_arrays",
    "broadcast_to",
    "can_cast",
    "ceil",
    "clip",
    "complex64",
    "complex128",
    "concat",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "divide",
    "e",
    "empty",
    "empty_like",
    "equal",
    "exp",
    "expand_dims",
    "expm1",
    "eye",
    "fft",
    "finfo",
    "flip",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "from_dlpack",
    "full",
    "full_like",
    "greater",
    "greater_equal",
    "hypot",
    "iinfo",
    "imag",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "linalg",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "meshgrid",
    "min",
    "minimum",
    "moveaxis",
    "multiply",
    "nan",
    "negative",
    "newaxis",
    "nextafter",
    "nonzero",
    "not_equal",
    "ones",
    "ones_like",
    "permute_dims",
    "pi",
    "positive",
    "pow",
    "prod",
    "real",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "round",
    "searchsorted",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sort",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "tril",
    "triu",
    "trunc",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "var",
    "vecdot",
    "where",
    "zeros",
    "zeros_like",
]
