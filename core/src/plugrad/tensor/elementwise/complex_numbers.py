"""Complex numbers and their parts; the parts are values, not views."""

from __future__ import annotations

from plugrad.dtype import COMPLEX, is_complex
from plugrad.errors import DtypeError, ShapeError
from plugrad.schedule.prepare.lower_complex import join_parts, split_parts
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import Tensor
from plugrad.tensor.complex_formulas.pairs import parts_of
from plugrad.tensor.elementwise.operands import operand_nodes
from plugrad.tensor.shapes import show


def complex(cls: type[Tensor], real: Tensor, imag: Tensor) -> Tensor:
    """Return the complex numbers of these real and imaginary parts, which broadcast.

    Raises:
        DtypeError: the parts are no tensors, or not both of float32, or of float64.

    Example:
        >>> Tensor.complex(Tensor([1.0]), Tensor([2.0])).tolist()
        [(1+2j)]
    """
    require_tensors(real=real, imag=imag)
    if real.dtype is not imag.dtype or real.dtype not in COMPLEX.values():
        raise DtypeError(
            f"complex of {real.dtype.name} and {imag.dtype.name}: both parts are of float32, or of "
            "float64. Cast first."
        )
    x, y = operand_nodes(real, imag)
    return real._like(x.with_imag(y), imag)


def polar(cls: type[Tensor], abs: Tensor, angle: Tensor) -> Tensor:
    """Return the complex numbers of these lengths and angles, which broadcast.

    Raises:
        DtypeError: these are no tensors, or not both of float32, or of float64.

    Example:
        >>> Tensor.polar(Tensor([2.0]), Tensor([0.0])).tolist()
        [(2+0j)]
    """
    require_tensors(abs=abs, angle=angle)
    return cls.complex(abs * angle.cos(), abs * angle.sin())


@property
def real(self: Tensor) -> Tensor:
    """The real part; real numbers as they are.

    Example:
        >>> Tensor([1 + 2j]).real.tolist()
        [1.0]
    """
    return self._like(self._graph.real()) if is_complex(self.dtype) else self


@property
def imag(self: Tensor) -> Tensor:
    """The imaginary part; 0 for real numbers, as in NumPy.

    Example:
        >>> Tensor([1 + 2j]).imag.tolist()
        [2.0]
    """
    return self._like(self._graph.imag()) if is_complex(self.dtype) else self.zeros_like()


def conj(self: Tensor) -> Tensor:
    """Return the complex conjugate; real numbers as they are.

    Example:
        >>> Tensor([1 + 2j]).conj().tolist()
        [(1-2j)]
    """
    return self._like(self._graph.conj())


def angle(self: Tensor) -> Tensor:
    """Return the angle from the positive real axis, in [-pi, pi].

    Example:
        >>> Tensor([1j, 2.0]).angle().tolist()
        [1.5707963705062866, 0.0]
    """
    real, imag = parts_of(self) if is_complex(self.dtype) else (self, self.zeros_like())
    return imag.atan2(real)


def view_as_real(self: Tensor) -> Tensor:
    """Return both parts of complex numbers along a new last axis.

    Raises:
        DtypeError: the numbers are real.

    Example:
        >>> Tensor([1 + 2j]).view_as_real().tolist()
        [[1.0, 2.0]]
    """
    if not is_complex(self.dtype):
        raise DtypeError(f"view_as_real of {self.dtype.name}: it takes complex numbers.")
    return self._like(join_parts(self._graph.real(), self._graph.imag()))


def view_as_complex(self: Tensor) -> Tensor:
    """Return complex numbers whose parts lie along the last axis, of size 2.

    Raises:
        DtypeError: the parts are neither of float32 nor of float64.
        ShapeError: the last axis is of another size.

    Example:
        >>> Tensor([[1.0, 2.0]]).view_as_complex().tolist()
        [(1+2j)]
    """
    if self.dtype not in COMPLEX.values():
        raise DtypeError(
            f"view_as_complex of {self.dtype.name}: parts are of float32 or float64. Cast first."
        )
    if not self.ndim or self.shape[-1] != 2:
        raise ShapeError(f"view_as_complex of shape {show(self.shape)}: the last axis has to be of size 2.")
    real, imag = split_parts(self._graph)
    return self._like(real.with_imag(imag))


@property
def mH(self: Tensor) -> Tensor:
    """The conjugate with the last two axes exchanged.

    Example:
        >>> Tensor([[1j, 2.0]]).mH.tolist()
        [[-1j], [(2-0j)]]
    """
    return self.conj().mT


@property
def H(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix.

    Example:
        >>> Tensor([[1j, 2.0]]).H.tolist()
        [[-1j], [(2-0j)]]
    """
    return self.conj().T
