"""The elements of arrays of complex numbers, on the host."""

from typing import TYPE_CHECKING, Any, NoReturn

from plugrad.array_api.complexes.host import array_of, nested
from plugrad.array_api.complexes.parts import ComplexParts
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import show

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["ReadingMixin"]


class ReadingMixin(ComplexParts):
    """The ways from two tensors to numbers, and to other libraries."""

    __slots__ = ()

    def numpy(self) -> "npt.NDArray[Any]":
        """Return the elements as an array of NumPy.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).numpy().dtype.name
            'complex64'
        """
        return array_of(self._real, self._imag)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> "npt.NDArray[Any]":
        """Let NumPy take this array as its own: a copy.

        Raises:
            ArgumentError: `copy=False`.

        Example:
            >>> np.asarray(Complex(Tensor([1.0]), Tensor([2.0]))).tolist()
            [(1+2j)]
        """
        if copy is False:
            raise ArgumentError(f"{self!r} lies in two pieces of memory: as one array it needs a copy.")
        out = self.numpy()
        return out if dtype is None else out.astype(dtype, copy=False)

    # NumPy leaves `array + z` to this class
    __array_ufunc__ = None

    def __dlpack__(self, **keywords: Any) -> Any:
        """Return a DLPack capsule of a copy of the elements, in the host's memory.

        Raises:
            ArgumentError: `copy=False`.

        Example:
            >>> np.from_dlpack(Complex(Tensor([1.0]), Tensor([2.0]))).tolist()
            [(1+2j)]
        """
        if keywords.get("copy") is False:
            raise ArgumentError(f"{self!r} lies in two pieces of memory: DLPack needs a copy.")
        return self.numpy().__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's name of the host."""
        return self._real.__dlpack_device__()

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return `plugrad.array_api`.

        Raises:
            ArgumentError: `api_version` is a version that is not followed.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).__array_namespace__().__name__
            'plugrad.array_api'
        """
        return self._real.__array_namespace__(api_version=api_version)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python's complex numbers; one number for shape ().

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).tolist()
            [(1+2j)]
        """
        Tensor.realize(self._real, self._imag)
        return nested(self._real.tolist(), self._imag.tolist())

    def item(self) -> complex:
        """Return the only element as a Python number.

        Raises:
            ShapeError: there are more or fewer.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).item()
            (1+2j)
        """
        Tensor.realize(self._real, self._imag)
        return complex(self._real.item(), self._imag.item())

    def __complex__(self) -> complex:
        return self.item()

    def __bool__(self) -> bool:
        if self._real.numel() != 1:
            raise ShapeError(
                f"an array of shape {show(self.shape)} is neither true nor false. Use any(x) or all(x)."
            )
        return bool(self.item())

    def _no_number(self) -> NoReturn:
        raise DtypeError(f"{self.dtype} is no real number. Take real(x), imag(x) or abs(x) first.")

    __float__ = __int__ = __index__ = _no_number
