"""`Complex`: the array object of the standard, for complex numbers."""

from typing import Any

from plugrad._util import numpy as np
from plugrad.array_api.complexes.dtypes import complex_of
from plugrad.array_api.complexes.operands import taken, wide
from plugrad.array_api.complexes.operators import OperatorMixin
from plugrad.array_api.complexes.reading import ReadingMixin
from plugrad.dtype import is_complex
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor

__all__ = ["Array", "Complex", "as_complex"]


class Complex(OperatorMixin, ReadingMixin):
    """An array of complex numbers: a tensor of real parts, and one of imaginary parts.

    Both are of one shape, on one device, and of one dtype, float32 (complex64) or float64 (complex128).
    Operators take arrays, tensors, and numbers of Python and NumPy; they broadcast, and meet in the dtype
    that the array API standard says. Beside a real number both parts are computed alone, so that no infinity
    becomes NaN by a product with an imaginary part of 0.

    Raises:
        DtypeError: the parts are no tensors of one of these dtypes.
        ShapeError: they have two shapes.
        DeviceError: they are on two devices.

    Example:
        >>> z = Complex(Tensor([1.0, 2.0]), Tensor([0.0, -1.0]))
        >>> (z * 2j).tolist()
        [2j, (2+4j)]
    """

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        is_list = issubclass(type(value), (list, tuple))
        given: Any = taken(np.asarray(value) if is_list else value, self)
        if given is None:
            raise DtypeError(
                f"cannot write {value!r:.60} ({type(value).__name__}) into {self!r}. Pass an array or a "
                "number."
            )
        if not isinstance(value, (Tensor, Complex)):
            # what comes from the host is of no dtype yet
            given = given.cast(self.dtype if isinstance(given, Complex) else self._real.dtype)
        self._real[key], self._imag[key] = given.parts() if isinstance(given, Complex) else (given, 0.0)


#: what functions of the namespace take and give
Array = Tensor | Complex


def as_complex(x: Array) -> Complex:
    """Return an array as one of complex numbers, of the component that its dtype fits in.

    Example:
        >>> as_complex(Tensor([1.0])).tolist()
        [(1+0j)]
    """
    if isinstance(x, Complex):
        return x
    # a value of its own: nobody writes to `x` by writing to it
    return Complex.of_parts(*wide(+x.cast(complex_of(x.dtype).component)))


def as_pair(value: Any) -> Any:
    """Return a complex tensor as the pair of real ones that the functions of the namespace compute with."""
    if isinstance(value, Tensor) and is_complex(value.dtype):
        return Complex(value.real, value.imag)
    return value
