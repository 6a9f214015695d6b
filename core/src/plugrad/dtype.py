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

import math
import struct
from functools import cache
from typing import Any, ClassVar, Literal

from plugrad._frozen import frozen
from plugrad._util import numpy as np
from plugrad.errors import DtypeError
from plugrad.float8 import E4M3, E4M3_FNUZ, E5M2, E5M2_FNUZ, Float8Layout
from plugrad.limits import FLOAT_FORMATS, FloatInfo, IntInfo, float_info

Kind = Literal["void", "bool", "int", "uint", "float", "complex", "index"]
ConstType = bool | int | float
#: What an element of a tensor may be made of.
Number = ConstType | complex


@frozen(eq=False)
class DType:
    """One element type, or a vector of `count` lanes of it.

    Instances are interned: compare with `is`. `itemsize` is the bytes of one lane, `nbytes` of all.

    Example:
        >>> dtypes.int16.name, dtypes.int16.itemsize, dtypes.int16 is dtypes.short
        ('int16', 2, True)
    """

    name: str
    itemsize: int
    kind: Kind
    priority: int
    fmt: str | None
    count: int = 1

    def __repr__(self) -> str:
        return f"dtypes.{self.name}" + (f".vec({self.count})" if self.count > 1 else "")

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.name, self.count)

    def __copy__(self) -> "DType":
        return self

    def __deepcopy__(self, memo: object) -> "DType":
        return self

    @property
    def nbytes(self) -> int:
        """Bytes of all lanes.

        Example:
            >>> dtypes.float32.vec(4).nbytes
            16
        """
        return self.itemsize * self.count

    def vec(self, count: int) -> "DType":
        """Return the vector type of `count` lanes of this scalar type, itself for one lane.

        Example:
            >>> dtypes.float32.vec(4)
            dtypes.float32.vec(4)
        """
        return _vec(self.scalar(), count)

    def scalar(self) -> "DType":
        """Return the type of one lane.

        Example:
            >>> dtypes.float32.vec(4).scalar() is dtypes.float32
            True
        """
        return _BY_NAME[self.name] if self.count > 1 else self


@cache
def _vec(scalar: DType, count: int) -> DType:
    if count == 1:
        return scalar
    return DType(scalar.name, scalar.itemsize, scalar.kind, scalar.priority, scalar.fmt, count)


def _restore(name: str, count: int) -> DType:
    return _vec(_BY_NAME[name], count)


class _DtypeQueries:
    """What can be asked of a dtype by `dtypes`, as in PyTorch and tinygrad."""

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

    @staticmethod
    def min(dtype: "DType") -> ConstType:
        """Return the lowest value of a dtype, as `dtype_min`."""
        return dtype_min(dtype)

    @staticmethod
    def max(dtype: "DType") -> ConstType:
        """Return the highest value of a dtype, as `dtype_max`."""
        return dtype_max(dtype)

    @staticmethod
    def is_float(dtype: "DType") -> bool:
        """Say whether a dtype holds floats."""
        return is_float(dtype)

    @staticmethod
    def is_int(dtype: "DType") -> bool:
        """Say whether a dtype holds integers."""
        return is_int(dtype)

    @staticmethod
    def is_unsigned(dtype: "DType") -> bool:
        """Say whether a dtype holds integers without a sign."""
        return is_unsigned(dtype)

    @staticmethod
    def is_bool(dtype: "DType") -> bool:
        """Say whether a dtype holds truth values."""
        return is_bool(dtype)


class dtypes(_DtypeQueries):
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
_BY_NAME: dict[str, DType] = {d.name: d for d in (*ELEMENTS, dtypes.void, dtypes.index)}

_BY_ALIAS: dict[str, DType] = {
    **_BY_NAME,
    **{k: v for k, v in vars(dtypes).items() if isinstance(v, DType) and not k.startswith("default_")},
}

# what NumPy and PyTorch take Python's types for
_BY_PYTHON: dict[type, DType] = {
    bool: dtypes.bool,
    int: dtypes.int64,
    float: dtypes.float64,
    complex: dtypes.complex128,
}


def is_float(dtype: DType) -> bool:
    """Say whether `dtype` holds floating-point values.

    Example:
        >>> is_float(dtypes.bfloat16), is_float(dtypes.int8)
        (True, False)
    """
    return dtype.kind == "float"


def is_complex(dtype: DType) -> bool:
    """Say whether `dtype` holds complex numbers.

    Example:
        >>> is_complex(dtypes.complex64), is_complex(dtypes.float32)
        (True, False)
    """
    return dtype.kind == "complex"


def is_inexact(dtype: DType) -> bool:
    """Say whether `dtype` holds floats or complex numbers: values that have gradients.

    Example:
        >>> is_inexact(dtypes.complex64), is_inexact(dtypes.float32), is_inexact(dtypes.int32)
        (True, True, False)
    """
    return dtype.kind == "float" or dtype.kind == "complex"


def part_dtype(dtype: DType) -> DType:
    """Return the dtype of real parts: of complex numbers that of each part, of others itself.

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


def is_int(dtype: DType) -> bool:
    """Say whether `dtype` holds integers, signed, unsigned or `index`.

    Example:
        >>> is_int(dtypes.uint8), is_int(dtypes.bool)
        (True, False)
    """
    return dtype.kind in ("int", "uint", "index")


def is_unsigned(dtype: DType) -> bool:
    """Say whether `dtype` holds unsigned integers.

    Example:
        >>> is_unsigned(dtypes.uint8), is_unsigned(dtypes.int8)
        (True, False)
    """
    return dtype.kind == "uint"


def is_bool(dtype: DType) -> bool:
    """Say whether `dtype` holds truth values.

    Example:
        >>> is_bool(dtypes.bool)
        True
    """
    return dtype.kind == "bool"


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
        return _BY_NAME.get(value.__name__) if value.__module__ == "numpy" else None
    module: str = type(value).__module__
    if module == "torch":
        return _BY_NAME.get(str(value).removeprefix("torch."))
    # `np.dtype("float32")`, in the byte order of this machine
    is_of_numpy = module.startswith("numpy") and getattr(value, "isnative", False)
    return _BY_NAME.get(value.name) if is_of_numpy else None


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


def dtype_min(dtype: DType) -> ConstType:
    """Return the lowest value of `dtype` (`-inf` for floats).

    Raises:
        DtypeError: complex numbers have no order.

    Example:
        >>> dtype_min(dtypes.int8), dtype_min(dtypes.float32)
        (-128, -inf)
    """
    if is_float(dtype):
        return -math.inf
    if is_complex(dtype):
        raise _no_order(dtype)
    if is_bool(dtype):
        return False
    if is_unsigned(dtype):
        return 0
    return -(1 << (dtype.itemsize * 8 - 1))


def dtype_max(dtype: DType) -> ConstType:
    """Return the highest value of `dtype` (`inf` for floats).

    Raises:
        DtypeError: complex numbers have no order.

    Example:
        >>> dtype_max(dtypes.int8), dtype_max(dtypes.float32)
        (127, inf)
    """
    if is_float(dtype):
        return math.inf
    if is_complex(dtype):
        raise _no_order(dtype)
    if is_bool(dtype):
        return True
    if is_unsigned(dtype):
        return (1 << (dtype.itemsize * 8)) - 1
    return (1 << (dtype.itemsize * 8 - 1)) - 1


def _no_order(dtype: DType) -> DtypeError:
    return DtypeError(f"{dtype.name} has no lowest and no highest value: complex numbers have no order.")


def from_py(value: object) -> DType:
    """Return the default dtype of a Python scalar.

    Raises:
        DtypeError: `value` is no number.

    Example:
        >>> from_py(2.5)
        dtypes.float32
    """
    if isinstance(value, bool):
        return dtypes.bool
    if isinstance(value, int):
        return dtypes.default_int
    if isinstance(value, float):
        return dtypes.default_float
    if isinstance(value, complex):
        return complex_dtype(dtypes.default_float)
    raise DtypeError(f"cannot make an element of {value!r} ({type(value).__name__}): pass a number.")


# One signed step up for each unsigned type; no integer holds both int64 and uint64, so those meet in float32
# as in the promotion tables of JAX (jax.readthedocs.io, "Type promotion semantics").
_SIGNED_ABOVE = {
    dtypes.uint8: dtypes.int16,
    dtypes.uint16: dtypes.int32,
    dtypes.uint32: dtypes.int64,
    dtypes.uint64: dtypes.default_float,
}


def _join(a: DType, b: DType) -> DType:
    if a is b:
        return a
    if a.priority > b.priority:
        a, b = b, a
    if is_complex(b):
        return dtypes.complex128 if a is dtypes.float64 else b
    if b in FLOAT8 and a in FLOAT8:
        return dtypes.float16
    if is_float(b):
        return dtypes.float32 if (a, b) == (dtypes.float16, dtypes.bfloat16) else b
    if is_bool(a) or a is dtypes.index or a.kind == b.kind:
        return b
    unsigned, signed = (a, b) if is_unsigned(a) else (b, a)
    return signed if signed.itemsize > unsigned.itemsize else _SIGNED_ABOVE[unsigned]


@cache
def least_upper_dtype(*given: DType) -> DType:
    """Return the narrowest dtype that all of `given` promote to, by this module's lattice.

    Example:
        >>> least_upper_dtype(dtypes.int8, dtypes.uint8)
        dtypes.int16
    """
    out = given[0]
    for dtype in given[1:]:
        out = _join(out, dtype)
    return out


def sum_acc_dtype(dtype: DType) -> DType:
    """Return the accumulator dtype of products of matrices and the like: the same kind, 32 bits or more.

    Example:
        >>> sum_acc_dtype(dtypes.int8), sum_acc_dtype(dtypes.float16)
        (dtypes.int32, dtypes.float32)
    """
    if is_unsigned(dtype):
        return least_upper_dtype(dtype, dtypes.uint32)
    if is_int(dtype) or is_bool(dtype):
        return least_upper_dtype(dtype, dtypes.int32)
    return least_upper_dtype(dtype, dtypes.float32)


def sum_dtype(dtype: DType) -> DType:
    """Return the dtype of sums and products: 64 bits for integers and bools, as in NumPy and PyTorch.

    Floats are added up in `sum_acc_dtype`, and the result is rounded to what they were.

    Example:
        >>> sum_dtype(dtypes.int8), sum_dtype(dtypes.uint8), sum_dtype(dtypes.float16)
        (dtypes.int64, dtypes.uint64, dtypes.float32)
    """
    if is_unsigned(dtype):
        return dtypes.uint64
    return dtypes.int64 if is_int(dtype) or is_bool(dtype) else sum_acc_dtype(dtype)


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


def round_bfloat16(value: float) -> float:
    """Round to the nearest bfloat16, ties to even, and return it as a float.

    Example:
        >>> round_bfloat16(0.1)
        0.10009765625
    """
    if math.isnan(value) or math.isinf(value):
        return value
    try:
        bits = int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return math.copysign(math.inf, value)
    # float64 -> float32 -> bfloat16 rounds twice; the sticky bit of the first step keeps ties honest
    single = struct.unpack("<f", struct.pack("<f", value))[0]
    if bits & 0xFFFF == 0x8000 and single != value:
        bits += 1 if abs(value) > abs(single) else -1
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", bits.to_bytes(4, "little"))[0]


def _round_packed(value: float, fmt: str) -> float:
    try:
        return struct.unpack("<" + fmt, struct.pack("<" + fmt, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def truncate(value: ConstType, dtype: DType) -> ConstType:
    """Return `value` as `dtype` holds it: integers wrap, floats round to nearest even.

    Example:
        >>> truncate(257, dtypes.uint8)
        1
    """
    if is_bool(dtype):
        return bool(value)
    if is_float(dtype):
        value = float(value)
        if dtype.scalar() is dtypes.bfloat16:
            return round_bfloat16(value)
        if (layout := FLOAT8.get(dtype.scalar())) is not None:
            return layout.decode(layout.encode(value))
        return value if dtype.scalar() is dtypes.float64 else _round_packed(value, str(dtype.fmt))
    value = int(value)
    if dtype.scalar() is dtypes.index:
        return value
    bits = dtype.itemsize * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if not is_unsigned(dtype) and value >> (bits - 1) else value
