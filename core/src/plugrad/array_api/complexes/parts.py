"""What an array of complex numbers is: two tensors, and what can be said of each alike."""

from collections.abc import Callable, Iterator
from typing import Any, Self

from plugrad.array_api.complexes.dtypes import ComplexDType, complex64, complex128
from plugrad.dtype import dtypes
from plugrad.errors import DeviceError, DtypeError, ShapeError
from plugrad.tensor import Tensor
from plugrad.tensor.compound import Compound
from plugrad.tensor.shapes import Shape, show

__all__ = ["ComplexParts"]


class ComplexParts(Compound):
    """A tensor of real parts, and one of imaginary parts: `Complex`, without its operators.

    Raises:
        DtypeError: the parts are no tensors of one of these dtypes.
        ShapeError: they have two shapes.
        DeviceError: they are on two devices.
    """

    __slots__ = ("_imag", "_real")

    _real: Tensor
    _imag: Tensor

    def __init__(self, real: Tensor, imag: Tensor) -> None:
        _check_parts(real, imag)
        self._real, self._imag = real, imag

    # --- what it is ---

    @property
    def real(self) -> Tensor:
        """The real parts: writing to them writes to this array.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).real.tolist()
            [1.0]
        """
        return self._real

    @property
    def imag(self) -> Tensor:
        """The imaginary parts: writing to them writes to this array.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).imag.tolist()
            [2.0]
        """
        return self._imag

    @property
    def dtype(self) -> ComplexDType:
        """The type of the elements.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).dtype
            complex64
        """
        return complex128 if self._real.dtype is dtypes.float64 else complex64

    @property
    def shape(self) -> Shape:
        """The size of each axis.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).shape
            (1,)
        """
        return self._real.shape

    def static_shape(self) -> tuple[int, ...]:
        """Return the shape, all of whose sizes are numbers, as `Tensor.static_shape`.

        Raises:
            ShapeError: a size is symbolic.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).static_shape()
            (1,)
        """
        return self._real.static_shape()

    @property
    def ndim(self) -> int:
        """The number of axes.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).ndim
            1
        """
        return self._real.ndim

    @property
    def size(self) -> Any:
        """The number of elements, as `Tensor.size`.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).size
            1
        """
        return self._real.size

    @property
    def device(self) -> str:
        """The device of both parts.

        Example:
            >>> Complex(Tensor([1.0], device="PYTHON"), Tensor([2.0], device="PYTHON")).device
            'PYTHON'
        """
        return self._real.device

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow into one of the parts."""
        return self._real.requires_grad or self._imag.requires_grad

    @property
    def T(self) -> Self:
        """The transpose of a matrix: all axes in reverse order.

        Example:
            >>> Complex(Tensor([[1.0], [2.0]]), Tensor([[0.0], [1.0]])).T.tolist()
            [[(1+0j), (2+1j)]]
        """
        return self._by_parts(lambda part: part.T)

    @property
    def mT(self) -> Self:
        """The last two axes exchanged.

        Example:
            >>> Complex(Tensor([[1.0], [2.0]]), Tensor([[0.0], [1.0]])).mT.shape
            (1, 2)
        """
        return self._by_parts(lambda part: part.mT)

    def parts(self) -> tuple[Tensor, Tensor]:
        """Return the real and the imaginary parts.

        Example:
            >>> [part.item() for part in Complex(Tensor(1.0), Tensor(2.0)).parts()]
            [1.0, 2.0]
        """
        return self._real, self._imag

    @classmethod
    def of_parts(cls, *parts: Any) -> Self:
        """Return an array of a real and an imaginary part, which are not checked.

        Example:
            >>> Complex.of_parts(Tensor(1.0), Tensor(2.0)).item()
            (1+2j)
        """
        self = object.__new__(cls)
        self._real, self._imag = parts
        return self

    def _by_parts(self, function: Callable[[Tensor], Tensor]) -> Self:
        return self.of_parts(function(self._real), function(self._imag))

    # --- where it is, and in what dtype ---

    def to_device(self, device: str, /, *, stream: None = None) -> Self:
        """Return this array on a device; itself if it is there.

        Raises:
            ArgumentError: a stream is given.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).to_device("PYTHON").device
            'PYTHON'
        """
        return self._same_or(self._by_parts(lambda part: part.to_device(device, stream=stream)))

    def cast(self, dtype: ComplexDType) -> Self:
        """Return this array in a complex dtype; itself if it is of that.

        Raises:
            DtypeError: it is none.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).cast(complex128).dtype
            complex128
        """
        if not isinstance(dtype, ComplexDType):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DtypeError(
                f"{self.dtype} becomes no {dtype!r:.60}: the imaginary parts would be lost. Take real(x) or "
                "imag(x) first."
            )
        return self._same_or(self._by_parts(lambda part: part.cast(dtype.component)))

    def _same_or(self, other: Self) -> Self:
        return self if other.real is self._real and other.imag is self._imag else other

    def realize(self) -> Self:
        """Compute both parts now; return this.

        Example:
            >>> Complex(Tensor([1.0]), Tensor([2.0])).realize().tolist()
            [(1+2j)]
        """
        Tensor.realize(self._real, self._imag)
        return self

    def __repr__(self) -> str:
        return f"<Complex {show(self.shape)} {self.dtype} on {self.device}>"

    # --- its elements ---

    def __len__(self) -> int:
        return len(self._real)

    def __iter__(self) -> Iterator[Self]:
        for index in range(len(self)):
            yield self[index]

    def __getitem__(self, key: Any) -> Self:
        return self._by_parts(lambda part: part[key])


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
