"""The namespace of element types, and what names them."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

from plugrad.dtype.kinds import dtype_max, dtype_min, is_bool, is_complex, is_float, is_int, is_unsigned
from plugrad.dtype.types import SCALARS, DType
from plugrad.errors import DtypeError
from plugrad.float8 import E4M3, E4M3_FNUZ, E5M2, E5M2_FNUZ, Float8Layout
from plugrad.limits import FLOAT_FORMATS, FloatInfo, IntInfo, float_info

R = TypeVar("R")


def _of_any_name(function: Callable[[DType], R]) -> "Callable[[DType | str | type], R]":
    """Return a function of dtypes that takes what names them as well, as `finfo` does."""

    @wraps(function)
    def named(dtype: "DType | str | type") -> R:
        return function(parse_dtype(dtype))

    return named


class dtypes:
    """All element types.

    `index` is the abstract integer of shapes, ranges and addresses: as wide as it has to be, lowered to
    `int32` or `int64` in codegen; no buffer holds it.

    Example:
        >>> dtypes.half, dtypes.default_float
        (dtypes.float16, dtypes.float32)
    """

    void: ClassVar[DType] = DType("void", 0, "void", -1, None)
    index: ClassVar[DType] = DType("index", 8, "index", 0, None)
    bool: ClassVar[DType] = DType("bool", 1, "bool", 1, "?")
    int8: ClassVar[DType] = DType("int8", 1, "int", 2, "b")
    uint8: ClassVar[DType] = DType("uint8", 1, "uint", 3, "B")
    int16: ClassVar[DType] = DType("int16", 2, "int", 4, "h")
    uint16: ClassVar[DType] = DType("uint16", 2, "uint", 5, "H")
    int32: ClassVar[DType] = DType("int32", 4, "int", 6, "i")
    uint32: ClassVar[DType] = DType("uint32", 4, "uint", 7, "I")
    int64: ClassVar[DType] = DType("int64", 8, "int", 8, "q")
    uint64: ClassVar[DType] = DType("uint64", 8, "uint", 9, "Q")
    fp8e4m3: ClassVar[DType] = DType("fp8e4m3", 1, "float", 10, None)
    fp8e5m2: ClassVar[DType] = DType("fp8e5m2", 1, "float", 10, None)
    fp8e4m3fnuz: ClassVar[DType] = DType("fp8e4m3fnuz", 1, "float", 10, None)
    fp8e5m2fnuz: ClassVar[DType] = DType("fp8e5m2fnuz", 1, "float", 10, None)
    float16: ClassVar[DType] = DType("float16", 2, "float", 11, "e")
    bfloat16: ClassVar[DType] = DType("bfloat16", 2, "float", 12, None)
    float32: ClassVar[DType] = DType("float32", 4, "float", 13, "f")
    float64: ClassVar[DType] = DType("float64", 8, "float", 14, "d")
    complex64: ClassVar[DType] = DType("complex64", 8, "complex", 15, None)
    complex128: ClassVar[DType] = DType("complex128", 16, "complex", 16, None)

    half: ClassVar[DType] = float16
    float: ClassVar[DType] = float32
    double: ClassVar[DType] = float64
    cfloat: ClassVar[DType] = complex64
    cdouble: ClassVar[DType] = complex128
    char: ClassVar[DType] = int8
    short: ClassVar[DType] = int16
    int: ClassVar[DType] = int32
    long: ClassVar[DType] = int64
    uchar: ClassVar[DType] = uint8
    ushort: ClassVar[DType] = uint16
    uint: ClassVar[DType] = uint32
    ulong: ClassVar[DType] = uint64

    default_float: ClassVar[DType] = float32
    default_int: ClassVar[DType] = int32

    min = staticmethod(_of_any_name(dtype_min))
    max = staticmethod(_of_any_name(dtype_max))
    is_float = staticmethod(_of_any_name(is_float))
    is_int = staticmethod(_of_any_name(is_int))
    is_unsigned = staticmethod(_of_any_name(is_unsigned))
    is_bool = staticmethod(_of_any_name(is_bool))

    @staticmethod
    def finfo(dtype: "DType | str | type") -> FloatInfo:
        """Return the limits of a float dtype; of a complex one, those of its parts.

        Raises:
            DtypeError: it is none, or one of a byte.

        Example:
            >>> dtypes.finfo(dtypes.float32).eps
            1.1920928955078125e-07
        """
        part = part_dtype(element_dtype(dtype))
        if part.name not in FLOAT_FORMATS:
            raise DtypeError(f"finfo of {part.name}: pass one of {', '.join(FLOAT_FORMATS)}.")
        return float_info(part)

    @staticmethod
    def iinfo(dtype: "DType | str | type") -> IntInfo:
        """Return the limits of an integer dtype.

        Raises:
            DtypeError: it is none.

        Example:
            >>> dtypes.iinfo(dtypes.int8).min
            -128
        """
        chosen = element_dtype(dtype)
        if not is_int(chosen):
            raise DtypeError(f"iinfo of {chosen.name}: pass an integer dtype.")
        return IntInfo(chosen.itemsize * 8, int(dtype_max(chosen)), int(dtype_min(chosen)), chosen)


STORABLE: tuple[DType, ...] = (
    dtypes.bool,
    dtypes.int8,
    dtypes.uint8,
    dtypes.int16,
    dtypes.uint16,
    dtypes.int32,
    dtypes.uint32,
    dtypes.int64,
    dtypes.uint64,
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
)
#: Floats of a byte: every device stores them, as bits that codegen takes apart.
FLOAT8: dict[DType, Float8Layout] = {
    dtypes.fp8e4m3: E4M3,
    dtypes.fp8e5m2: E5M2,
    dtypes.fp8e4m3fnuz: E4M3_FNUZ,
    dtypes.fp8e5m2fnuz: E5M2_FNUZ,
}
#: Complex numbers, with the dtype of their parts: tensors hold them, kernels see two floats.
COMPLEX: dict[DType, DType] = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}
#: What elements of a tensor may be.
ELEMENTS: tuple[DType, ...] = (*STORABLE, *FLOAT8, *COMPLEX)
SCALARS.update({d.name: d for d in (*ELEMENTS, dtypes.void, dtypes.index)})

_BY_ALIAS: dict[str, DType] = {
    **SCALARS,
    **{k: v for k, v in vars(dtypes).items() if isinstance(v, DType) and not k.startswith("default_")},
}

# what NumPy and PyTorch take Python's types for
_BY_PYTHON: dict[type, DType] = {
    bool: dtypes.bool,
    int: dtypes.int64,
    float: dtypes.float64,
    complex: dtypes.complex128,
}


def part_dtype(dtype: DType) -> DType:
    """Return the dtype of the parts of complex numbers, or the dtype itself.

    Example:
        >>> part_dtype(dtypes.complex128), part_dtype(dtypes.int8)
        (dtypes.float64, dtypes.int8)
    """
    return COMPLEX.get(dtype, dtype)


def complex_dtype(dtype: DType) -> DType:
    """Return the complex dtype that numbers of `dtype` become: complex128 for float64 only.

    Integers become that of the default float.

    Example:
        >>> complex_dtype(dtypes.float64), complex_dtype(dtypes.int32)
        (dtypes.complex128, dtypes.complex64)
    """
    if is_complex(dtype):
        return dtype
    part = dtype if is_float(dtype) else dtypes.default_float
    return dtypes.complex128 if part is dtypes.float64 else dtypes.complex64


def has_infinity(dtype: DType) -> bool:
    """Say whether infinities are among the values of `dtype`.

    Example:
        >>> has_infinity(dtypes.float16), has_infinity(dtypes.fp8e4m3), has_infinity(dtypes.int8)
        (True, False, False)
    """
    return is_float(dtype) and (dtype not in FLOAT8 or FLOAT8[dtype].special == "ieee")


def parse_dtype(value: object) -> DType:
    """Return the dtype that `value` names (`"float32"`, `"half"`), or `value` itself.

    Those of NumPy and PyTorch name the same here, and Python's `bool`, `int`, `float` and `complex` what they
    name there: bool, int64, float64 and complex128.

    Raises:
        DtypeError: no dtype has that name.

    Example:
        >>> parse_dtype("half")
        dtypes.float16
    """
    found = find_dtype(value)
    if found is not None:
        return found
    raise DtypeError(f"{value!r} is not a dtype. Known: {', '.join(d.name for d in ELEMENTS)}.")


def find_dtype(value: object) -> DType | None:
    """Return the dtype that `value` names, as `parse_dtype`, or None if it names none.

    Example:
        >>> find_dtype("half"), find_dtype("whole")
        (dtypes.float16, None)
    """
    if isinstance(value, DType):
        return value
    return _BY_ALIAS.get(value) if isinstance(value, str) else _of_others(value)


def _of_others(value: Any) -> DType | None:
    """Return the dtype of a Python, NumPy or PyTorch type, or None for other objects."""
    if isinstance(value, type):
        if value in _BY_PYTHON:
            return _BY_PYTHON[value]
        # a scalar type of NumPy, such as `np.float32`; also `np.bool`
        return SCALARS.get(value.__name__) if value.__module__ == "numpy" else None
    module: str = type(value).__module__
    if module == "torch":
        return SCALARS.get(str(value).removeprefix("torch."))
    # `np.dtype("float32")`, in the byte order of this machine
    is_of_numpy = module.startswith("numpy") and getattr(value, "isnative", False)
    return SCALARS.get(value.name) if is_of_numpy else None


def element_dtype(value: object) -> DType:
    """Return the dtype that `value` names, which a tensor can hold elements of.

    Raises:
        DtypeError: no dtype has that name, or it is one of the compiler's own (`index`, `void`, vectors).

    Example:
        >>> element_dtype("half")
        dtypes.float16
    """
    dtype = parse_dtype(value)
    if dtype.count > 1 or dtype.kind in ("void", "index"):
        known = ", ".join(d.name for d in ELEMENTS)
        raise DtypeError(f"{dtype!r} is no dtype of elements. Pass one of {known}.")
    return dtype
