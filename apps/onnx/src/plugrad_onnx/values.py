"""Define the values that nodes exchange, and convert between them.

A value is a Tensor on a device; a NumPy array on the host, which is what shape arithmetic is made of; a list,
which is a sequence; or None, an optional that is empty. An array of objects holds sizes that depend on
Variables.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import onnx.helper
from onnx import TensorProto

from plugrad import Tensor, UOp, dtypes
from plugrad.dtype import DType
from plugrad_onnx.errors import OnnxError
from plugrad_onnx.sizes import is_symbolic, shown, simplified

Array = npt.NDArray[Any]
ElementType = int  # a number of TensorProto.DataType


@dataclass(frozen=True)
class Narrow:
    """Elements of a type without a dtype here, each held in a wider dtype.

    Attributes:
        data: int8 or uint8 for integers below a byte, float32 for floats.
        element_type: the type in numbers of `TensorProto.DataType`.
    """

    data: Tensor
    element_type: ElementType


Value = Tensor | Array | Narrow | list[Any] | None

#: element types that a Tensor holds
DTYPES: dict[ElementType, DType] = {
    TensorProto.BOOL: dtypes.bool,
    TensorProto.INT8: dtypes.int8,
    TensorProto.UINT8: dtypes.uint8,
    TensorProto.INT16: dtypes.int16,
    TensorProto.UINT16: dtypes.uint16,
    TensorProto.INT32: dtypes.int32,
    TensorProto.UINT32: dtypes.uint32,
    TensorProto.INT64: dtypes.int64,
    TensorProto.UINT64: dtypes.uint64,
    TensorProto.FLOAT16: dtypes.float16,
    TensorProto.BFLOAT16: dtypes.bfloat16,
    TensorProto.FLOAT: dtypes.float32,
    TensorProto.DOUBLE: dtypes.float64,
    TensorProto.COMPLEX64: dtypes.complex64,
    TensorProto.COMPLEX128: dtypes.complex128,
    TensorProto.FLOAT8E4M3FN: dtypes.fp8e4m3,
    TensorProto.FLOAT8E4M3FNUZ: dtypes.fp8e4m3fnuz,
    TensorProto.FLOAT8E5M2: dtypes.fp8e5m2,
    TensorProto.FLOAT8E5M2FNUZ: dtypes.fp8e5m2fnuz,
}
#: element types of `Narrow`, with the dtype that holds their numbers and NumPy's type
NARROW: dict[ElementType, tuple[DType, Any]] = {
    TensorProto.INT4: (dtypes.int8, ml_dtypes.int4),
    TensorProto.UINT4: (dtypes.uint8, ml_dtypes.uint4),
    TensorProto.INT2: (dtypes.int8, ml_dtypes.int2),
    TensorProto.UINT2: (dtypes.uint8, ml_dtypes.uint2),
    TensorProto.FLOAT4E2M1: (dtypes.float32, ml_dtypes.float4_e2m1fn),
    TensorProto.FLOAT8E8M0: (dtypes.float32, ml_dtypes.float8_e8m0fnu),
}
ELEMENT_TYPES: dict[DType, ElementType] = {dtype: number for number, dtype in DTYPES.items()}
# NumPy's extension types, whose bits a Tensor takes over
_BITS: dict[Any, tuple[Any, DType]] = {
    np.dtype(ml_dtypes.bfloat16): (np.uint16, dtypes.bfloat16),
    np.dtype(ml_dtypes.float8_e4m3fn): (np.uint8, dtypes.fp8e4m3),
    np.dtype(ml_dtypes.float8_e4m3fnuz): (np.uint8, dtypes.fp8e4m3fnuz),
    np.dtype(ml_dtypes.float8_e5m2): (np.uint8, dtypes.fp8e5m2),
    np.dtype(ml_dtypes.float8_e5m2fnuz): (np.uint8, dtypes.fp8e5m2fnuz),
}
_NARROW_BY_NUMPY = {np.dtype(kind): number for number, (_, kind) in NARROW.items()}


def type_name(element_type: ElementType) -> str:
    """Return the standard's name of an element type, such as FLOAT16."""
    return str(TensorProto.DataType.Name(element_type))


def dtype_of(element_type: ElementType) -> DType:
    """Return the dtype of tensors with this element type.

    Raises:
        OnnxError: plugrad has none.
    """
    if element_type not in DTYPES:
        raise OnnxError(f"plugrad has no dtype for {type_name(element_type)}. Cast to another type.")
    return DTYPES[element_type]


def from_array(array: Array, *, is_constant: bool = True) -> Tensor | Narrow:
    """Return a NumPy array as a value of the default device.

    One number has no memory, but stands in kernels, unless it is another one in each call.
    """
    if array.dtype in _NARROW_BY_NUMPY:
        number = _NARROW_BY_NUMPY[array.dtype]
        wide = {dtypes.int8: np.int8, dtypes.uint8: np.uint8, dtypes.float32: np.float32}[NARROW[number][0]]
        return Narrow(Tensor(array.astype(wide)), number)
    if array.dtype in _BITS:
        bits, dtype = _BITS[array.dtype]
        return Tensor(np.ascontiguousarray(array).view(bits).reshape(array.shape)).bitcast(dtype)
    if array.dtype.kind == "O":
        return _from_sizes(array)
    if array.dtype.kind not in "biufc":
        raise OnnxError(f"elements of {array.dtype} are no numbers. Tensors hold numbers and bools only.")
    if is_constant and array.size == 1 and array.dtype.kind != "c":
        return Tensor.full(array.shape, array.item(), dtype=array.dtype.name)
    return Tensor(np.ascontiguousarray(array).reshape(array.shape))


def _from_sizes(array: Array) -> Tensor:
    """Return sizes that depend on Variables as a tensor of int64."""
    if array.size == 0:
        return Tensor.zeros(*array.shape, dtype=dtypes.int64)
    parts = [
        Tensor(size).cast(dtypes.int64)
        if isinstance(size, UOp)
        else Tensor.full((), int(size), dtype=dtypes.int64)
        for size in array.reshape(-1)
    ]
    return parts[0].stack(*parts[1:]).reshape(array.shape) if array.shape else parts[0]


def to_array(value: Tensor | Array) -> Array:
    """Return the elements as a NumPy array on the host.

    Raises:
        OnnxError: how many there are depends on a Variable.
    """
    if isinstance(value, np.ndarray):
        return value
    shape_of(value)
    return value.numpy()


def to_ints(value: Tensor | Array | Sequence[int] | int) -> tuple[Any, ...]:
    """Return whole numbers as Python's, from anywhere; sizes of Variables stay nodes."""
    if isinstance(value, Tensor | np.ndarray):
        return tuple(simplified(number) for number in to_array(value).reshape(-1))
    return (value,) if isinstance(value, int) else tuple(simplified(number) for number in value)


def shape_of(x: Tensor, first: int = 0) -> tuple[int, ...]:
    """Return the sizes of the axes from `first` on as numbers.

    Raises:
        OnnxError: one depends on a Variable.
    """
    sizes: Any = tuple(x.shape)[first:]
    if is_symbolic(sizes):
        raise OnnxError(f"sizes have to be numbers, and ({', '.join(map(shown, sizes))}) depend on Variables")
    return sizes


def sizes_of(x: Tensor) -> tuple[Any, ...]:
    """Return the sizes of the axes: numbers, or nodes where they depend on Variables."""
    return tuple(x.shape)


def element_type_of(value: Value) -> ElementType:
    """Return the standard's number of a value's element type."""
    if isinstance(value, Narrow):
        return value.element_type
    if isinstance(value, np.ndarray):
        return _element_type_of_numpy(value.dtype)
    if isinstance(value, Tensor):
        return ELEMENT_TYPES[value.dtype]
    raise OnnxError(f"a {'sequence' if isinstance(value, list) else 'missing optional'} has no element type")


def _element_type_of_numpy(dtype: Any) -> ElementType:
    if dtype.kind == "O":
        return TensorProto.INT64
    try:
        return int(onnx.helper.np_dtype_to_tensor_dtype(dtype))
    except ValueError as error:
        raise OnnxError(
            f"elements of {dtype} are no numbers. Tensors hold numbers and bools only."
        ) from error
