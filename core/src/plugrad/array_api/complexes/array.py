"""`Complex`: the array object of the standard, for complex numbers."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, Self

from plugrad._util import numpy as np
from plugrad.array_api.complexes import exponentials, pairs
from plugrad.array_api.complexes.dtypes import ComplexDType, complex64, complex128, complex_of
from plugrad.array_api.complexes.host import array_of, holds_complex, nested, pair_of_array
from plugrad.array_api.complexes.pairs import Pair
from plugrad.dtype import dtypes, least_upper_dtype
from plugrad.errors import ArgumentError, DeviceError, DtypeError, ShapeError
from plugrad.tensor import Tensor
from plugrad.tensor.compound import Compound
from plugrad.tensor.shapes import Shape, show

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Array", "Complex", "as_complex", "bilinear", "met"]

# a whole exponent up to this is a few products, which are exact where their factors are
_MOST_PRODUCTS = 128


class Complex(Compound):
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

    # --- its elements on the host ---

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

    def __repr__(self) -> str:
        return f"<Complex {show(self.shape)} {self.dtype} on {self.device}>"

    def __len__(self) -> int:
        return len(self._real)

    def __iter__(self) -> Iterator[Self]:
        for index in range(len(self)):
            yield self[index]

    def __getitem__(self, key: Any) -> Self:
        return self._by_parts(lambda part: part[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        is_list = issubclass(type(value), (list, tuple))
        taken: Any = _taken(np.asarray(value) if is_list else value, self)
        if taken is None:
            raise DtypeError(
                f"cannot write {value!r:.60} ({type(value).__name__}) into {self!r}. Pass an array or a "
                "number."
            )
        if not isinstance(value, (Tensor, Complex)):
            # what comes from the host is of no dtype yet
            taken = taken.cast(self.dtype if isinstance(taken, Complex) else self._real.dtype)
        self._real[key], self._imag[key] = taken.parts() if isinstance(taken, Complex) else (taken, 0.0)

    # --- operators ---

    def __add__(self, other: Any) -> Self:
        return self._combined(other, "+", _add, lambda z, c: (z[0] + c, _as_wide(z[1], c)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Self:
        return self._combined(other, "-", _subtract, lambda z, c: (z[0] - c, _as_wide(z[1], c)))

    def __rsub__(self, other: Any) -> Self:
        return self._combined(
            other, "-", lambda z, w: _subtract(w, z), lambda z, c: (c - z[0], _as_wide(-z[1], c))
        )

    def __mul__(self, other: Any) -> Self:
        return self._combined(other, "*", pairs.multiplied, lambda z, c: (z[0] * c, z[1] * c))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Self:
        return self._combined(other, "/", pairs.divided, lambda z, c: (z[0] / c, z[1] / c))

    def __rtruediv__(self, other: Any) -> Self:
        return self._combined(other, "/", lambda z, w: pairs.divided(w, z), pairs.inverted)

    def __pow__(self, other: Any) -> Self:
        if isinstance(other, (int, float)) and abs(other) <= _MOST_PRODUCTS and other == int(other):
            return +self._multiplied_by_itself(int(other))
        return self._combined(other, "**", exponentials.power, lambda z, c: exponentials.power(z, _wide(c)))

    def __rpow__(self, other: Any) -> Self:
        return self._combined(
            other,
            "**",
            lambda z, w: exponentials.power(w, z),
            lambda z, c: exponentials.power(_wide(c), z),
        )

    def _multiplied_by_itself(self, times: int) -> Self:
        """Return a whole power, by as many products as it has bits."""
        out, square = (self._real.ones_like(), self._imag.zeros_like()), self.parts()
        for bit in range(abs(times).bit_length()):
            if bit:
                square = pairs.multiplied(square, square)
            if abs(times) >> bit & 1:
                is_first = abs(times) & ((1 << bit) - 1) == 0
                out = square if is_first else pairs.multiplied(out, square)
        return self.of_parts(*(pairs.inverted(out, out[0].ones_like()) if times < 0 else out))

    def __matmul__(self, other: Any) -> "Complex":
        return bilinear(self, self._operand(other, "@"), lambda x, y: x @ y)

    def __rmatmul__(self, other: Any) -> "Complex":
        return bilinear(self._operand(other, "@"), self, lambda x, y: x @ y)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, lambda z, w: (z[0] == w[0]) & (z[1] == w[1]))

    def __ne__(self, other: object) -> Any:
        return self._compared(other, lambda z, w: (z[0] != w[0]) | (z[1] != w[1]))

    # arrays are keys by identity, as tensors are
    __hash__ = object.__hash__

    def __neg__(self) -> Self:
        return self._by_parts(lambda part: -part)

    def __pos__(self) -> Self:
        return self._by_parts(lambda part: +part)

    def __abs__(self) -> Tensor:
        return self._real.hypot(self._imag)

    def _refused(self, other: object = None) -> NoReturn:
        raise DtypeError(
            f"{self.dtype} is no operand of //, %, <, <=, >, >=, &, |, ^, ~, << and >>: complex numbers have "
            "neither an order nor bits. Use real(x), imag(x) or abs(x)."
        )

    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = _refused
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = _refused
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refused

    def __iadd__(self, other: Any) -> Self:
        return self._updated(self + other, other)

    def __isub__(self, other: Any) -> Self:
        return self._updated(self - other, other)

    def __imul__(self, other: Any) -> Self:
        return self._updated(self * other, other)

    def __itruediv__(self, other: Any) -> Self:
        return self._updated(self / other, other)

    def __ipow__(self, other: Any) -> Self:
        return self._updated(self**other, other)

    def __imatmul__(self, other: Any) -> "Complex":
        return self._updated(self @ other, other)

    def _updated(self, result: Any, other: Any) -> Any:
        """Write the result of an operator into this array; where a gradient is asked for, return it."""
        is_asked = getattr(other, "requires_grad", False) and result.requires_grad
        if is_asked or any(part._is_tracked for part in self.parts()):  # pyright: ignore[reportPrivateUsage]
            return result
        if result.dtype is not self.dtype:
            raise DtypeError(f"{result.dtype} is not written into an array of {self.dtype}. Cast it first.")
        real, imag = result.parts()
        self._real.assign(real)
        self._imag.assign(imag)
        return self

    # --- operands ---

    def _operand(self, other: Any, sign: str) -> "Complex | Tensor":
        taken = _taken(other, self)
        if taken is None:
            raise DtypeError(
                f"cannot compute {sign} of {other!r:.60} ({type(other).__name__}) and an array of complex "
                "numbers. Pass an array or a number."
            )
        return taken

    def _combined(
        self,
        other: Any,
        sign: str,
        of_pairs: Callable[[Pair, Pair], Pair],
        with_real: Callable[[Pair, Tensor], Pair],
    ) -> Self:
        mine, theirs = met(self, self._operand(other, sign))
        if isinstance(theirs, Complex):
            return self.of_parts(*of_pairs(mine.parts(), theirs.parts()))
        return self.of_parts(*with_real(mine.parts(), theirs))

    def _compared(self, other: object, compare: Callable[[Pair, Pair], Tensor]) -> Any:
        taken = _taken(other, self)
        if taken is None:
            return NotImplemented
        mine, theirs = met(self, taken)
        return compare(mine.parts(), theirs.parts() if isinstance(theirs, Complex) else _wide(theirs))


#: what functions of the namespace take and give
Array = Tensor | Complex


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


def as_complex(x: Array) -> Complex:
    """Return an array as one of complex numbers, of the component that its dtype fits in.

    Example:
        >>> as_complex(Tensor([1.0])).tolist()
        [(1+0j)]
    """
    if isinstance(x, Complex):
        return x
    # a value of its own: nobody writes to `x` by writing to it
    return Complex.of_parts(*_wide(+x.cast(complex_of(x.dtype).component)))


def bilinear(x: Array, y: Array, product: Callable[[Tensor, Tensor], Tensor]) -> Complex:
    """Return a product that is linear in both of its factors, of arrays of which one is complex at least.

    Example:
        >>> x = Complex(Tensor([1.0, 2.0]), Tensor([0.0, 1.0]))
        >>> bilinear(x, x, lambda one, other: one @ other).item()
        (4+4j)
    """
    if not isinstance(x, Complex):
        right, left = met(as_complex(y), x)
        c, d = right.parts()
        return Complex.of_parts(product(left, c), product(left, d))
    left, right = met(x, y)
    a, b = left.parts()
    if not isinstance(right, Complex):
        return Complex.of_parts(product(a, right), product(b, right))
    c, d = right.parts()
    return Complex.of_parts(product(a, c) - product(b, d), product(a, d) + product(b, c))


def met(x: Complex, y: Array) -> tuple[Complex, Any]:
    """Return two operands with parts of one dtype.

    Example:
        >>> z = Complex(Tensor([1.0]), Tensor([2.0]))
        >>> [operand.dtype for operand in met(z, Tensor([1.0], dtype="float64"))]
        [complex128, dtypes.float64]
    """
    theirs = y.real.dtype if isinstance(y, Complex) else y.dtype
    component = least_upper_dtype(x.real.dtype, theirs)
    dtype = complex128 if component is dtypes.float64 else complex64
    return x.cast(dtype), y.cast(dtype) if isinstance(y, Complex) else y.cast(component)


def _taken(x: Any, beside: Complex) -> Array | None:
    """Return an operand as an array; numbers have the dtype of the array `beside`. None for what is none."""
    if isinstance(x, (Complex, Tensor)):
        return x
    component = beside.real.dtype
    if hasattr(x, "__array__") and not isinstance(x, type):
        if getattr(x, "ndim", None) != 0:
            return (
                Complex.of_parts(*pair_of_array(x, beside.device))
                if holds_complex(x)
                else Tensor(x, device=beside.device)
            )
        x = x.item()
    if isinstance(x, complex):
        real, imag = (Tensor(part, dtype=component, device=beside.device) for part in (x.real, x.imag))
        return Complex.of_parts(real, imag)
    return Tensor(x, dtype=component, device=beside.device) if isinstance(x, (int, float)) else None


def _add(z: Pair, w: Pair) -> Pair:
    return z[0] + w[0], z[1] + w[1]


def _subtract(z: Pair, w: Pair) -> Pair:
    return z[0] - w[0], z[1] - w[1]


def _as_wide(x: Tensor, other: Tensor) -> Tensor:
    """Return the values of `x` in the shape that it has with `other`; adding 0 would lose the sign of -0."""
    return x * other.ones_like()


def _wide(x: Tensor) -> Pair:
    return x, x.zeros_like()
