"""`Complex`: the array object of the standard, for complex numbers."""

from typing import Any, Self

from plugrad.array_api.complexes.dtypes import ComplexDType, complex64, complex128
from plugrad.dtype import dtypes
from plugrad.errors import DeviceError, DtypeError, ShapeError
from plugrad.tensor import Tensor
from plugrad.tensor.compound import Compound
from plugrad.tensor.shapes import Shape, show

__all__ = ["Complex"]


class Complex(Compound):
    """An array of complex numbers: a tensor of real parts, and one of imaginary parts.

    Both are of one shape, on one device, and of one dtype, float32 (complex64) or float64 (complex128).

    Raises:
        DtypeError: the parts are no tensors of one of these dtypes.
        ShapeError: they have two shapes.
        DeviceError: they are on two devices.

    Example:
        >>> Complex(Tensor([1.0, 2.0]), Tensor([0.0, -1.0])).dtype
        complex64
    """

    __slots__ = ("imag", "real")

    real: Tensor
    imag: Tensor

    def __init__(self, real: Tensor, imag: Tensor) -> None:
        _check_parts(real, imag)
        object.__setattr__(self, "real", real)
        object.__setattr__(self, "imag", imag)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{name} of a complex array cannot be set. Write to its elements: z[...] = value."
        )

    @property
    def dtype(self) -> ComplexDType:
        """The type of the elements.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).dtype
            complex64
        """
        return complex128 if self.real.dtype is dtypes.float64 else complex64

    @property
    def shape(self) -> Shape:
        """The size of each axis.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).shape
            (1,)
        """
        return self.real.shape

    @property
    def ndim(self) -> int:
        """The number of axes.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).ndim
            1
        """
        return self.real.ndim

    @property
    def device(self) -> str:
        """The device of both parts.

        Example:
            >>> Complex(Tensor([1.0], device="PYTHON"), Tensor([2.0], device="PYTHON")).device
            'PYTHON'
        """
        return self.real.device

    def _parts(self) -> tuple[Tensor, Tensor]:
        return self._real, self._imag

    @classmethod
    def _of(cls, *parts: Any) -> Self:
        self = object.__new__(cls)
        self._real, self._imag = parts
        return self


def _check_parts(real: Any, imag: Any) -> None:
    for part in (real, imag):
        if not isinstance(part, Tensor):
            raise DtypeError(f"Complex of {part!r:.60} ({type(part).__name__}): pass two tensors.")
    if real.dtype is not imag.dtype or real.dtype not in (dtypes.float32, dtypes.float64):
        raise DtypeError(
            f"Complex of {real.dtype.name} and {imag.dtype.name}: both parts are of float32, or of float64. "
            "Cast first."
        )
    if real.shape != imag.shape:
        raise ShapeError(f"Complex of shapes {show(real.shape)} and {show(imag.shape)}: they differ.")
    if real.device != imag.device:
        raise DeviceError(
            f"Complex of parts on {real.device} and {imag.device}. Move one: .to(device).", device=imag.device
        )
