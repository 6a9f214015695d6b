"""Operations of two or three operands: broadcasting, promotion, Python's operators."""

from collections.abc import Callable
from typing import Any, Literal, Self

from plugrad.dtype import ConstType, DType, dtypes, is_bool, is_float, is_int, is_unsigned
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor.base import TensorBase, promoted
from plugrad.tensor.interop import InteropMixin
from plugrad.tensor.shapes import as_number, broadcast_shapes, expanded
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


class ArithmeticMixin(InteropMixin):
    """Arithmetic, comparisons, bits and choices.

    Operands broadcast as in NumPy and meet in one dtype (see `promoted`); Python numbers are weak.
    """

    __slots__ = ()

    # --- how operands meet ---

    def _operands(self, *others: Any, dtype: DType | None = None) -> list[UOp]:
        """Return this and `others` as nodes of one dtype; all but scalars have one shape."""
        given = (self, *map(self._operand, others))
        tensors = [x for x in given if isinstance(x, TensorBase)]
        self._check_device(*tensors[1:])
        dtype = promoted(given) if dtype is None else dtype
        shapes = [t.shape for t in tensors]
        shape = shapes[0] if all(s == shapes[0] for s in shapes) else broadcast_shapes(*shapes)
        nodes: list[UOp] = []
        for x in given:
            if not isinstance(x, TensorBase):
                nodes.append(self._const(x, dtype))
                continue
            # a source of shape () fits any shape as it is
            u = x._graph.cast(dtype)
            nodes.append(u if u.shape == () else expanded(u, shape))
        return nodes

    def _operand(self, x: Any) -> Self | ConstType:
        """Return what was given as an operand: a tensor, a Python number, or a NumPy array or number.

        Raises:
            DtypeError: it is none of these.
        """
        if isinstance(x, type(self)) or type(x) in (bool, int, float):
            return x
        if hasattr(x, "__array__"):
            return x.item() if x.ndim == 0 else self._from_host(x)
        if isinstance(x, (int, float)):
            return x
        raise DtypeError(
            f"cannot compute with {x!r} ({type(x).__name__}) and a tensor. Pass a Tensor or a Python number."
        )

    def _tensor_operand(self, x: Any) -> Self:
        """Return what was given as an operand as a tensor; a number of Python takes the dtype of this one.

        Raises:
            DtypeError: it is none (see `_operand`).
        """
        given = self._operand(x)
        if isinstance(given, TensorBase):
            return given
        return self._make(self._const(given, promoted([self, given])), self._device)

    def _binary(
        self, op: Ops, other: Self | ConstType, *, reverse: bool = False, dtype: DType | None = None
    ) -> Self:
        x, y = self._operands(other, dtype=dtype)
        out = y.alu(op, x) if reverse else x.alu(op, y)
        return self._with(out, other)

    def _with(self, out: UOp, *others: Any) -> Self:
        # a constant takes the device of what it is combined with: that of the graph
        return self._like(out, *[x for x in others if isinstance(x, TensorBase)])

    def _refuse(self, what: str, wanted: str, *others: Any) -> DtypeError:
        names = " and ".join(
            x.dtype.name if isinstance(x, TensorBase) else f"{x!r} ({type(x).__name__})"
            for x in (self, *others)
        )
        return DtypeError(f"{what} of {names}: it takes {wanted}. Cast first: .cast(dtype).")

    # --- arithmetic ---

    def add(self, other: Self | ConstType, reverse: bool = False, *, alpha: ConstType = 1) -> Self:
        """Return `self + other`; for bools, `or`.

        Args:
            other: what is added.
            reverse: which of both comes first, as in tinygrad.
            alpha: what `other` is multiplied by first, as in PyTorch.

        Raises:
            DtypeError: `alpha` is no number.

        Example:
            >>> (Tensor([1, 2]) + 0.5).tolist()
            [1.5, 2.5]
        """
        other = other if alpha == 1 else self._operand(other) * as_number(alpha, "add")
        return self._binary(Ops.ADD, other, reverse=reverse)

    def sub(self, other: Self | ConstType, reverse: bool = False, *, alpha: ConstType = 1) -> Self:
        """Return `self - other`, or `other - self` with `reverse`.

        Args:
            other: what is subtracted.
            reverse: subtract this from `other`.
            alpha: what `other` is multiplied by first, as in PyTorch.

        Raises:
            DtypeError: both are bools, or `alpha` is no number.

        Example:
            >>> Tensor([1, 2]).sub(1).tolist()
            [0, 1]
        """
        other = other if alpha == 1 else self._operand(other) * as_number(alpha, "sub")
        if is_bool(promoted([self, self._operand(other)])):
            raise self._refuse("subtraction", "numbers (use ^ for bools)", other)
        return self._binary(Ops.SUB, other, reverse=reverse)

    def mul(self, other: Self | ConstType, reverse: bool = False) -> Self:
        """Return `self * other`; for bools, `and`.

        Example:
            >>> Tensor([1, 2]).mul(3).tolist()
            [3, 6]
        """
        return self._binary(Ops.MUL, other, reverse=reverse)

    def div(
        self,
        other: Self | ConstType,
        reverse: bool = False,
        *,
        rounding_mode: Literal["trunc", "floor"] | None = None,
    ) -> Self:
        """Return `self / other`: always floats, the default float for two integers.

        Args:
            other: the divisor.
            reverse: divide `other` by this.
            rounding_mode: round down ("floor", as `//`) or towards zero ("trunc", as C); two integers then
                stay integers.

        Raises:
            ArgumentError: there is no such rounding mode.

        Example:
            >>> (Tensor([1, 2]) / 2).tolist()
            [0.5, 1.0]
            >>> Tensor([-7, 7]).div(2, rounding_mode="trunc").tolist()
            [-3, 3]
        """
        if rounding_mode is not None:
            return self._rounded_div(other, reverse, rounding_mode)
        dtype = promoted([self, self._operand(other)])
        return self._binary(
            Ops.FDIV, other, reverse=reverse, dtype=dtype if is_float(dtype) else dtypes.default_float
        )

    def _rounded_div(self, other: Self | ConstType, reverse: bool, mode: str) -> Self:
        if mode not in ("trunc", "floor"):
            raise ArgumentError(f"div: there is no rounding_mode {mode!r}; there are 'trunc' and 'floor'.")
        down = self.floordiv(other, reverse)
        if mode == "floor":
            return down
        if is_float(down.dtype):
            quotient = self.div(other, reverse)
            return quotient._like(quotient._graph.trunc())
        if is_unsigned(down.dtype):
            return down
        # up by one where something is left of a negative quotient; by zero everything is left
        operands = [self._like(u) for u in self._operands(other, dtype=down.dtype)]
        number, divisor = reversed(operands) if reverse else operands
        left = (number - down * divisor) != 0
        return (left & (divisor != 0) & ((number < 0) != (divisor < 0))).where(down + 1, down)

    def floordiv(self, other: Self | ConstType, reverse: bool = False) -> Self:
        """Return `self // other`, rounded down as in Python; integers stay integers.

        Of floats it is the whole number next to `(self - self % other) / other`, and `self / other` for a
        divisor of zero. Integer division by zero gives whatever the device gives.

        Example:
            >>> (Tensor([-7.0, 7.0]) // 2).tolist()
            [-4.0, 3.0]
        """
        dtype = self._number_dtype("//", other)
        if is_float(dtype):
            x, y = self._operands(other)
            x, y = (y, x) if reverse else (x, y)
            wide = dtypes.float32 if dtype.itemsize < 4 else dtype
            return self._with(_float_quotient(x.cast(wide), y.cast(wide)).cast(dtype), other)
        return self._binary(Ops.FLOORDIV, other, reverse=reverse)

    def mod(self, other: Self | ConstType, reverse: bool = False) -> Self:
        """Return `self % other`, with the sign of the divisor as in Python.

        Exact for floats too, except that a negative remainder of a positive divisor (or the reverse) is moved
        by one divisor, which rounds. A remainder of zero has the divisor's sign; by zero it is NaN.

        Example:
            >>> (Tensor([-7, 7]) % 3).tolist()
            [2, 1]
        """
        dtype = self._number_dtype("%", other)
        if not is_float(dtype):
            return self._binary(Ops.FLOORMOD, other, reverse=reverse)
        x, y = self._operands(other)
        x, y = (y, x) if reverse else (x, y)
        return self._with(_float_remainder(x, y), other)

    def _number_dtype(self, what: str, other: Any) -> DType:
        dtype = promoted([self, self._operand(other)])
        if is_bool(dtype):
            raise self._refuse(what, "numbers", other)
        return dtype

    def pow(self, other: Self | ConstType, reverse: bool = False) -> Self:
        """Return `self ** other`. Small constant exponents become multiplications.

        Raises:
            DtypeError: integers to a negative constant power (cast to float first).

        Example:
            >>> (Tensor([1.0, 2.0, 3.0]) ** 2).tolist()
            [1.0, 4.0, 9.0]
        """
        if is_bool(promoted([self, self._operand(other)])):
            raise self._refuse("power", "numbers", other)
        if (
            not reverse
            and isinstance(other, (int, float))
            # a number alone would have no gradient, not even 0
            and not (other == 0 and self.requires_grad)
            and (simple := self._simple_pow(other)) is not None
        ):
            return simple
        x, y = self._operands(other)
        x, y = (y, x) if reverse else (x, y)
        return self._with(x.alu(Ops.POW, y) if is_float(x.dtype) else _integer_pow(x, y), other)

    def _simple_pow(self, exponent: int | float) -> Self | None:
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
        out = base.const_like(1)
        for bit in f"{abs(int(exponent)):b}" if exponent else "":
            out = out * out if out.op is not Ops.CONST else out
            if bit == "1":
                out = base if out.op is Ops.CONST else out * base
        if not exponent:
            out = out.reshape((1,) * self.ndim).expand(self.shape)
        return self._like(out.reciprocal() if exponent < 0 else out)

    # --- comparisons ---

    def eq(self, other: Self | ConstType) -> Self:
        """Return where both are equal.

        Example:
            >>> Tensor([1, 2]).eq(2).tolist()
            [False, True]
        """
        return self._binary(Ops.CMPEQ, other)

    def ne(self, other: Self | ConstType) -> Self:
        """Return where they differ; NaN differs from everything.

        Example:
            >>> Tensor([1, 2]).ne(2).tolist()
            [True, False]
        """
        return self._binary(Ops.CMPNE, other)

    def _compare(self, other: Any, compare: Callable[[UOp, UOp], UOp]) -> Self:
        x, y = self._operands(other)
        return self._with(compare(x, y), other)

    # --- choices ---

    def where(self, x: Self | ConstType, y: Self | ConstType) -> Self:
        """Return `x` where this bool tensor holds, else `y`; all three broadcast.

        Raises:
            DtypeError: this tensor is not bool.

        Example:
            >>> Tensor([True, False]).where(1, 0).tolist()
            [1, 0]
        """
        if not is_bool(self.dtype):
            raise self._refuse("where", "a bool condition")
        x, y = self._operand(x), self._operand(y)
        values = [v for v in (x, y) if isinstance(v, TensorBase)]
        shape = broadcast_shapes(self.shape, *[v.shape for v in values], what="where")
        self._check_device(*values)
        dtype = promoted([x, y])
        nodes: list[UOp] = []
        for v in (x, y):
            u = v._graph.cast(dtype) if isinstance(v, TensorBase) else self._const(v, dtype)
            nodes.append(u if u.shape == () else expanded(u, shape))
        cond = self._graph if self.shape == () else expanded(self._graph, shape)
        out = self._with(cond.where(*nodes), x, y)
        return out

    def masked_fill(self, mask: Self, value: Self | ConstType) -> Self:
        """Return `value` where `mask` holds, else this.

        Example:
            >>> Tensor([1, 2]).masked_fill(Tensor([True, False]), 0).tolist()
            [0, 2]
        """
        return mask.where(value, self)

    def maximum(self, other: Self | ConstType) -> Self:
        """Return the greater of both; NaN if either is.

        Example:
            >>> Tensor([1, 5]).maximum(3).tolist()
            [3, 5]
        """
        return self._compare(other, lambda x, y: x.maximum(y))

    def minimum(self, other: Self | ConstType) -> Self:
        """Return the lesser of both; NaN if either is.

        Example:
            >>> Tensor([1, 5]).minimum(3).tolist()
            [1, 3]
        """
        return self._compare(other, lambda x, y: x.minimum(y))

    def clamp(self, min_: Self | ConstType | None = None, max_: Self | ConstType | None = None) -> Self:
        """Return this with values below `min_` or above `max_` replaced by those limits; NaN if one is.

        Raises:
            DtypeError: both limits are missing.

        Example:
            >>> Tensor([-1, 2, 5]).clamp(0, 3).tolist()
            [0, 2, 3]
        """
        if min_ is None and max_ is None:
            raise DtypeError("clamp without a limit changes nothing. Pass min_, max_ or both.")
        out = self
        # choices, not MAX: at the limit itself the whole gradient passes
        if min_ is not None:
            x, limit = out._operands(min_)
            out = out._with(_beyond(x < limit, limit).where(limit, x), min_)
        if max_ is not None:
            x, limit = out._operands(max_)
            out = out._with(_beyond(x > limit, limit).where(limit, x), max_)
        return out

    def clip(self, min_: Self | ConstType | None = None, max_: Self | ConstType | None = None) -> Self:
        """Return `clamp(min_, max_)`.

        Example:
            >>> Tensor([-1, 2, 5]).clip(0, 3).tolist()
            [0, 2, 3]
        """
        return self.clamp(min_, max_)

    # --- bits ---

    def bitwise_and(self, other: Self | ConstType) -> Self:
        """Return the bits set in both; for bools, `and`.

        Example:
            >>> Tensor([6]).bitwise_and(3).tolist()
            [2]
        """
        return self._bits(Ops.AND, other)

    def bitwise_or(self, other: Self | ConstType) -> Self:
        """Return the bits set in either; for bools, `or`.

        Example:
            >>> Tensor([6]).bitwise_or(3).tolist()
            [7]
        """
        return self._bits(Ops.OR, other)

    def bitwise_xor(self, other: Self | ConstType) -> Self:
        """Return the bits set in one of both; for bools, `!=`.

        Example:
            >>> Tensor([6]).bitwise_xor(3).tolist()
            [5]
        """
        return self._bits(Ops.XOR, other)

    def bitwise_not(self) -> Self:
        """Return all bits flipped; for bools, `not`.

        Raises:
            DtypeError: this tensor holds floats.

        Example:
            >>> Tensor([0, -1]).bitwise_not().tolist()
            [-1, 0]
        """
        if is_float(self.dtype):
            raise self._refuse("~", "integers or bools")
        return self._like(~self._graph)

    def logical_not(self) -> Self:
        """Return where elements are zero.

        Example:
            >>> Tensor([0, 5]).logical_not().tolist()
            [True, False]
        """
        return self._like(~self._graph.cast(dtypes.bool))

    def lshift(self, other: Self | ConstType) -> Self:
        """Return `self << other`; bits shifted out are lost, so the dtype's width or more gives 0.

        Raises:
            DtypeError: an operand is no integer.

        Example:
            >>> Tensor([1, 3]).lshift(2).tolist()
            [4, 12]
        """
        x, y = self._shift_operands("<<", other)
        return self._with(_shifted(y, lambda amount: x << amount, x.const_like(0)), other)

    def rshift(self, other: Self | ConstType) -> Self:
        """Return `self >> other`, which keeps the sign; the dtype's width or more gives 0 or -1.

        Raises:
            DtypeError: an operand is no integer.

        Example:
            >>> Tensor([8, -8]).rshift(2).tolist()
            [2, -2]
        """
        x, y = self._shift_operands(">>", other)
        beyond = x.const_like(0) if is_unsigned(x.dtype) else x >> (x.dtype.itemsize * 8 - 1)
        return self._with(_shifted(y, lambda amount: x >> amount, beyond), other)

    def _bits(self, op: Ops, other: Any) -> Self:
        if is_float(promoted([self, self._operand(other)])):
            raise self._refuse("bitwise operation", "integers or bools", other)
        return self._binary(op, other)

    def _shift_operands(self, what: str, other: Any) -> list[UOp]:
        if not is_int(promoted([self, self._operand(other)])):
            raise self._refuse(what, "integers", other)
        return self._operands(other)

    # --- Python's operators ---

    def __add__(self, other: Self | ConstType) -> Self:
        return self.add(other)

    def __radd__(self, other: ConstType) -> Self:
        return self.add(other, reverse=True)

    def __sub__(self, other: Self | ConstType) -> Self:
        return self.sub(other)

    def __rsub__(self, other: ConstType) -> Self:
        return self.sub(other, reverse=True)

    def __mul__(self, other: Self | ConstType) -> Self:
        return self.mul(other)

    def __rmul__(self, other: ConstType) -> Self:
        return self.mul(other, reverse=True)

    def __truediv__(self, other: Self | ConstType) -> Self:
        return self.div(other)

    def __rtruediv__(self, other: ConstType) -> Self:
        return self.div(other, reverse=True)

    def __floordiv__(self, other: Self | ConstType) -> Self:
        return self.floordiv(other)

    def __rfloordiv__(self, other: ConstType) -> Self:
        return self.floordiv(other, reverse=True)

    def __mod__(self, other: Self | ConstType) -> Self:
        return self.mod(other)

    def __rmod__(self, other: ConstType) -> Self:
        return self.mod(other, reverse=True)

    def __divmod__(self, other: Self | ConstType) -> tuple[Self, Self]:
        return self.floordiv(other), self.mod(other)

    def __rdivmod__(self, other: ConstType) -> tuple[Self, Self]:
        return self.floordiv(other, reverse=True), self.mod(other, reverse=True)

    def __pow__(self, other: Self | ConstType) -> Self:
        return self.pow(other)

    def __rpow__(self, other: ConstType) -> Self:
        return self.pow(other, reverse=True)

    def __and__(self, other: Self | ConstType) -> Self:
        return self.bitwise_and(other)

    def __rand__(self, other: ConstType) -> Self:
        return self.bitwise_and(other)

    def __or__(self, other: Self | ConstType) -> Self:
        return self.bitwise_or(other)

    def __ror__(self, other: ConstType) -> Self:
        return self.bitwise_or(other)

    def __xor__(self, other: Self | ConstType) -> Self:
        return self.bitwise_xor(other)

    def __rxor__(self, other: ConstType) -> Self:
        return self.bitwise_xor(other)

    def __invert__(self) -> Self:
        return self.bitwise_not()

    def __lshift__(self, other: Self | ConstType) -> Self:
        return self.lshift(other)

    def __rlshift__(self, other: ConstType) -> Self:
        return self._like(self._const(other, promoted([self, other]))).lshift(self)

    def __rshift__(self, other: Self | ConstType) -> Self:
        return self.rshift(other)

    def __rrshift__(self, other: ConstType) -> Self:
        return self._like(self._const(other, promoted([self, other]))).rshift(self)

    def __lt__(self, other: Self | ConstType) -> Self:
        return self._compare(other, lambda x, y: x < y)

    def __gt__(self, other: Self | ConstType) -> Self:
        return self._compare(other, lambda x, y: x > y)

    def __le__(self, other: Self | ConstType) -> Self:
        return self._compare(other, lambda x, y: x <= y)

    def __ge__(self, other: Self | ConstType) -> Self:
        return self._compare(other, lambda x, y: x >= y)

    # what is no number at all is not equal as a whole, as in PyTorch: `t == None` is False
    def __eq__(self, other: Self | ConstType) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not _may_be_numbers(other):
            return NotImplemented
        return self.eq(other)

    def __ne__(self, other: Self | ConstType) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not _may_be_numbers(other):
            return NotImplemented
        return self.ne(other)

    # tensors are keys by identity
    __hash__ = object.__hash__


def _float_remainder(x: UOp, y: UOp) -> UOp:
    """Return the remainder with the sign of `y`."""
    rest = x.fmod(y)
    other_side = (y < 0.0).where(rest > 0.0, rest < 0.0)
    # a zero of either sign, with the derivatives of the remainder
    zero = (y < 0.0).where(-(rest.detach() - rest), rest - rest.detach())
    return other_side.where(rest + y, rest.eq(0.0).where(zero, rest))


def _float_quotient(x: UOp, y: UOp) -> UOp:
    """Return the quotient rounded down, from the remainder: `x / y` may round up to a whole number itself."""
    rest, ratio = x.fmod(y), x / y
    # a whole number but for its rounding
    quotient = (x - rest) / y
    whole = quotient.trunc()
    whole = (quotient - whole > 0.5).where(whole + 1.0, (quotient - whole < -0.5).where(whole - 1.0, whole))
    whole = whole.eq(0.0).where(ratio * 0.0, whole)  # a zero with the sign of the ratio
    other_side = (y < 0.0).where(rest > 0.0, rest < 0.0)
    return y.eq(0.0).where(ratio, other_side.where(whole - 1.0, whole))


def _may_be_numbers(x: object) -> bool:
    return isinstance(x, (TensorBase, int, float, list, tuple)) or hasattr(x, "__array__")


def _integer_pow(x: UOp, y: UOp) -> UOp:
    """Return `x ** y` of integers by squaring, bit by bit; wraps like multiplication."""
    out = x.const_like(1)
    for bit in range(x.dtype.itemsize * 8 - (not is_unsigned(x.dtype))):
        chosen = (y & (1 << bit)).ne(0)
        out = chosen.where(out * x, out)
        x = x * x
    return out


def _shifted(y: UOp, shift: Callable[[UOp], UOp], beyond: UOp) -> UOp:
    """Return `shift(y)` where the amount `y` is less than the width, else `beyond`."""
    width = y.dtype.itemsize * 8
    if y.op is Ops.CONST and 0 <= y.arg < width:
        return shift(y)
    inside = y < width if is_unsigned(y.dtype) else (y < width) & (y >= 0)
    return inside.where(shift(inside.where(y, y.const_like(0))), beyond)


def _beyond(is_beyond: UOp, limit: UOp) -> UOp:
    """Return where a limit stands for the value: where that is beyond it, and where the limit is NaN."""
    return is_beyond | limit.ne(limit) if is_float(limit.dtype) else is_beyond
