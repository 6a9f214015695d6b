"""The dtypes of complex arrays, which are none of the compiler's."""

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes, is_float

__all__ = ["ComplexDType", "complex64", "complex128", "complex_of", "default_complex"]


@frozen(eq=False)
class ComplexDType:
    """What the elements of a complex array are: two floats of type `component`.

    There are two, `complex64` and `complex128`: compare with `is`, or `==`.

    Example:
        >>> complex64.component, complex64.itemsize
        (dtypes.float32, 8)
    """

    name: str
    itemsize: int
    component: DType

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name

    def __copy__(self) -> "ComplexDType":
        return self

    def __deepcopy__(self, memo: object) -> "ComplexDType":
        return self


complex64 = ComplexDType("complex64", 8, dtypes.float32)
complex128 = ComplexDType("complex128", 16, dtypes.float64)


def complex_of(dtype: DType) -> ComplexDType:
    """Return the complex dtype in which numbers of a real one fit: complex128 for float64 only.

    Integers become the default complex dtype, as they become the default float beside real floats.

    Example:
        >>> complex_of(dtypes.float16), complex_of(dtypes.float64)
        (complex64, complex128)
    """
    if not is_float(dtype):
        return default_complex()
    return complex128 if dtype is dtypes.float64 else complex64


def default_complex() -> ComplexDType:
    """Return the dtype of Python's complex numbers: complex128 where the default float is float64.

    Example:
        >>> default_complex()
        complex64
    """
    return complex128 if dtypes.default_float is dtypes.float64 else complex64
