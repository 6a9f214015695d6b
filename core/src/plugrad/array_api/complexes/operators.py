"""Operators of arrays of complex numbers."""

from collections.abc import Callable
from typing import Any, NoReturn, Self

from plugrad.array_api.complexes.operands import bilinear, in_shape_with, met, taken, wide
from plugrad.array_api.complexes.parts import ComplexParts
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.complex_formulas import exponentials, pairs
from plugrad.tensor.complex_formulas.pairs import Pair

__all__ = ["OperatorMixin"]

# a whole exponent up to this is a few products, which are exact where their factors are
_MOST_PRODUCTS = 128


class OperatorMixin(ComplexParts):
    """What is computed elementwise, and products of matrices."""

    __slots__ = ()

    def __add__(self, other: Any) -> Self:
        return self._combined(other, "+", _add, lambda z, c: (z[0] + c, in_shape_with(z[1], c)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Self:
        return self._combined(other, "-", _subtract, lambda z, c: (z[0] - c, in_shape_with(z[1], c)))

    def __rsub__(self, other: Any) -> Self:
        return self._combined(
            other, "-", lambda z, w: _subtract(w, z), lambda z, c: (c - z[0], in_shape_with(-z[1], c))
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
        return self._combined(other, "**", exponentials.power, lambda z, c: exponentials.power(z, wide(c)))

    def __rpow__(self, other: Any) -> Self:
        return self._combined(
            other,
            "**",
            lambda z, w: exponentials.power(w, z),
            lambda z, c: exponentials.power(wide(c), z),
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

    def __matmul__(self, other: Any) -> Self:
        return bilinear(self, self._operand(other, "@"), lambda x, y: x @ y)

    def __rmatmul__(self, other: Any) -> Self:
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

    def __imatmul__(self, other: Any) -> Self:
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

    def _operand(self, other: Any, sign: str) -> Self | Tensor:
        found = taken(other, self)
        if found is None:
            raise DtypeError(
                f"cannot compute {sign} of {other!r:.60} ({type(other).__name__}) and an array of complex "
                "numbers. Pass an array or a number."
            )
        return found

    def _combined(
        self,
        other: Any,
        sign: str,
        of_pairs: Callable[[Pair, Pair], Pair],
        with_real: Callable[[Pair, Tensor], Pair],
    ) -> Self:
        mine, theirs = met(self, self._operand(other, sign))
        if isinstance(theirs, ComplexParts):
            return self.of_parts(*of_pairs(mine.parts(), theirs.parts()))
        return self.of_parts(*with_real(mine.parts(), theirs))

    def _compared(self, other: object, compare: Callable[[Pair, Pair], Tensor]) -> Any:
        found = taken(other, self)
        if found is None:
            return NotImplemented
        mine, theirs = met(self, found)
        return compare(mine.parts(), theirs.parts() if isinstance(theirs, ComplexParts) else wide(theirs))


def _add(z: Pair, w: Pair) -> Pair:
    return z[0] + w[0], z[1] + w[1]


def _subtract(z: Pair, w: Pair) -> Pair:
    return z[0] - w[0], z[1] - w[1]
