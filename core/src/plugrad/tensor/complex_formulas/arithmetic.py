"""Arithmetic of complex operands beside real ones, and quotients.

Beside a real operand, whose imaginary part is None, both parts are computed alone: no product with an
imaginary part of 0 makes an infinity NaN.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from plugrad.tensor.complex_formulas.pairs import Pair
from plugrad.tensor.complex_formulas.quotients import divided, inverted
from plugrad.uop.ops import Ops

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


#: A real part, and an imaginary part or None.
Operand = tuple[Any, "Tensor | None"]


def _sum(z: Operand, w: Operand) -> Pair:
    return z[0] + w[0], _given(z[1], w[1])


def _difference(z: Operand, w: Operand) -> Pair:
    return z[0] - w[0], _given(z[1], None if w[1] is None else -w[1])


def _product(z: Operand, w: Operand) -> Pair:
    real, other = (z[0], w) if z[1] is None else (w[0], z)
    return real * other[0], real * _given(other[1])


def _quotient(z: Operand, w: Operand) -> Pair:
    (a, b), (c, d) = z, w
    if d is None:
        return a / c, _given(b) / c
    return inverted((c, d), a) if b is None else divided((a, b), (c, d))


def _given(*parts: "Tensor | None") -> Any:
    return next(part for part in parts if part is not None)


#: By op, for operands of which one is real; FDIV also for two complex ones.
MIXED: Mapping[Ops, Callable[[Any, Any], Pair]] = {
    Ops.ADD: _sum,
    Ops.SUB: _difference,
    Ops.MUL: _product,
    Ops.FDIV: _quotient,
}
