"""Powers: small constant ones are products, those of integers wrap."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from typing import TYPE_CHECKING, Any

from plugrad.dtype import Number, dtypes, is_bool, is_complex, is_float, is_unsigned
from plugrad.errors import DtypeError
from plugrad.tensor.base import TensorBase, promoted
from plugrad.tensor.complex_formulas import exponentials
from plugrad.tensor.complex_formulas.apply import apply, joined, parts_of
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor

# a whole exponent of complex numbers up to this is a few products, which are exact where their factors are
_MOST_PRODUCTS = 128


class PowerMixin(TensorBase):
    """One operand to the power of another."""

    __slots__ = ()

    def pow(self: Tensor, other: Tensor | Number, reverse: bool = False) -> Tensor:
        """Return `self ** other`. Small constant exponents become multiplications.

        Raises:
            DtypeError: integers to a negative constant power (cast to float first).

        Example:
            >>> (Tensor([1.0, 2.0, 3.0]) ** 2).tolist()
            [1.0, 4.0, 9.0]
        """
        dtype = promoted([self, self._operand(other)])
        if is_bool(dtype):
            raise self._refuse("power", "numbers", other)
        if is_complex(dtype):
            return self._complex_pow(other, reverse)
        if (
            not reverse
            and isinstance(other, (int, float))
            and (simple := self._simple_pow(other)) is not None
        ):
            return simple
        x, y = self._operands(other)
        x, y = (y, x) if reverse else (x, y)
        return self._with(x.alu(Ops.POW, y) if is_float(x.dtype) else _integer_pow(x, y), other)

    def _complex_pow(self: Tensor, other: Any, reverse: bool) -> Tensor:
        is_whole = isinstance(other, (int, float)) and float(other).is_integer()
        if is_whole and not reverse and abs(other) <= _MOST_PRODUCTS:
            return apply(lambda z: exponentials.power_of_integer(z, int(other)), self)
        base, exponent = (parts_of(self._with(u, other)) for u in self._operands(other))
        return joined(
            *(exponentials.power(exponent, base) if reverse else exponentials.power(base, exponent))
        )

    def _simple_pow(self: Tensor, exponent: int | float) -> Tensor | None:
        if is_float(self.dtype) and exponent == 0.5:
            return self._like(self._graph.sqrt())
        if exponent != exponent or not float(exponent).is_integer() or abs(exponent) > 8:
            return None
        if exponent < 0 and not is_float(self.dtype):
            if isinstance(exponent, float):
                return None
            raise DtypeError(
                f"{self.dtype.name} to the power of {exponent} is no integer. Cast to a float dtype first, "
                f"or write {float(exponent)}."
            )
        base = self._operands(exponent)[0]
        if not exponent:
            # a number alone would have no gradient, not even 0
            never = UOp.const(dtypes.bool, False).reshape((1,) * self.ndim).expand(self.shape)
            return self._like(never.where(base, base.const_like(1)))
        out = base
        # by squaring, from the bit behind the greatest one on
        for bit in f"{abs(int(exponent)):b}"[1:]:
            out = out * out
            if bit == "1":
                out = out * base
        return self._like(out.reciprocal() if exponent < 0 else out)


def _integer_pow(x: UOp, y: UOp) -> UOp:
    """Return `x ** y` of integers by squaring, bit by bit; wraps like multiplication."""
    out = x.const_like(1)
    for bit in range(x.dtype.itemsize * 8 - (not is_unsigned(x.dtype))):
        chosen = (y & (1 << bit)).ne(0)
        out = chosen.where(out * x, out)
        x = x * x
    return out
