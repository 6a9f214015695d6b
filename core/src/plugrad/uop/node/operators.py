"""Python's operators on nodes, and the elementwise operations that have a name."""

from typing import TYPE_CHECKING

from plugrad.dtype import ConstType, DType, Number, dtypes, is_bool, is_float
from plugrad.errors import DtypeError
from plugrad.uop.ops import Ops

if TYPE_CHECKING:
    from plugrad.uop.uop import UOp

    Operand = UOp | ConstType


class OperatorMixin:
    """Sugar over `alu`. `==` stays identity (nodes are dict keys): `eq` and `ne` build comparisons."""

    __slots__ = ()

    if TYPE_CHECKING:
        op: Ops
        dtype: DType
        src: "tuple[UOp, ...]"

        def alu(self, op: Ops, *others: "UOp") -> "UOp": ...  # noqa: D102
        def const_like(self, value: Number) -> "UOp": ...  # noqa: D102

    # arrays of NumPy would take a node for an element
    __array_ufunc__ = None

    def _node(self, other: "Operand") -> "UOp":
        if not isinstance(other, (bool, int, float)):
            if type(other) is not type(self):
                raise DtypeError(
                    f"cannot compute with a node and {other!r:.60} ({type(other).__name__}). Pass a node or "
                    "a number of Python."
                )
            return other
        if isinstance(other, float) and not is_float(self.dtype) and not other.is_integer():
            raise DtypeError(f"{other} is not a {self.dtype.name}: cast the node to a float dtype first.")
        return self.const_like(other)

    def _binary_operator(self, op: Ops, other: "Operand") -> "UOp":
        """Return `op` of this and `other`; NotImplemented beside a Tensor, which knows nodes."""
        if type(other) is type(self):
            return self.alu(op, other)  # pyright: ignore[reportArgumentType] - it is a node
        if isinstance(other, (type(self), bool, int, float)):
            return self.alu(op, self._node(other))
        return NotImplemented

    def __add__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.ADD, other)

    def __radd__(self, other: "Operand") -> "UOp":
        return self._node(other).alu(Ops.ADD, self._self())

    def __sub__(self, other: "Operand") -> "UOp":
        if self.dtype.scalar() is dtypes.index and isinstance(other, (type(self), bool, int, float)):
            return self.alu(Ops.ADD, -self._node(other))
        return self._binary_operator(Ops.SUB, other)

    def __rsub__(self, other: "Operand") -> "UOp":
        return self._node(other) - self._self()

    def __mul__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.MUL, other)

    def __rmul__(self, other: "Operand") -> "UOp":
        return self._node(other).alu(Ops.MUL, self._self())

    def __truediv__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.FDIV, other)

    def __rtruediv__(self, other: "Operand") -> "UOp":
        return self._node(other).alu(Ops.FDIV, self._self())

    def __floordiv__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.FLOORDIV, other)

    def __rfloordiv__(self, other: "Operand") -> "UOp":
        return self._node(other).alu(Ops.FLOORDIV, self._self())

    def __mod__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.FLOORMOD, other)

    def __rmod__(self, other: "Operand") -> "UOp":
        return self._node(other).alu(Ops.FLOORMOD, self._self())

    def __pow__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.POW, other)

    def __rpow__(self, other: "Operand") -> "UOp":
        return self._node(other).alu(Ops.POW, self._self())

    def __neg__(self) -> "UOp":
        if self.dtype.scalar() is dtypes.index:
            return self.alu(Ops.MUL, self.const_like(-1))
        return self.alu(Ops.NEG)

    def __invert__(self) -> "UOp":
        return self.alu(Ops.XOR, self.const_like(True if is_bool(self.dtype) else -1))

    def __and__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.AND, other)

    def __or__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.OR, other)

    def __xor__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.XOR, other)

    def __rand__(self, other: "Operand") -> "UOp":
        return self._node(other).alu(Ops.AND, self._self())

    def __ror__(self, other: "Operand") -> "UOp":
        return self._node(other).alu(Ops.OR, self._self())

    def __rxor__(self, other: "Operand") -> "UOp":
        return self._node(other).alu(Ops.XOR, self._self())

    def __lshift__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.SHL, other)

    def __rshift__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.SHR, other)

    def __lt__(self, other: "Operand") -> "UOp":
        return self._binary_operator(Ops.CMPLT, other)

    def __gt__(self, other: "Operand") -> "UOp":
        if not isinstance(other, (type(self), bool, int, float)):
            return NotImplemented
        return self._node(other).alu(Ops.CMPLT, self._self())

    def __le__(self, other: "Operand") -> "UOp":
        # for integers not (y < x) is exact; with NaN both x <= y and y < x are false, so floats ask twice
        if is_float(self.dtype):
            return (self < other) | self.eq(other)
        above = self.__gt__(other)
        return above if above is NotImplemented else ~above

    def __ge__(self, other: "Operand") -> "UOp":
        if is_float(self.dtype):
            return (self > other) | self.eq(other)
        below = self.__lt__(other)
        return below if below is NotImplemented else ~below

    def eq(self, other: "Operand") -> "UOp":
        """Return the node of `self == other`."""
        return self.alu(Ops.CMPEQ, self._node(other))

    def ne(self, other: "Operand") -> "UOp":
        """Return the node of `self != other`."""
        return self.alu(Ops.CMPNE, self._node(other))

    def where(self, x: "Operand", y: "Operand") -> "UOp":
        """Return `x` where this bool node holds, else `y`; one is a node."""
        if isinstance(x, (bool, int, float)):
            if isinstance(y, (bool, int, float)):
                raise DtypeError(f"where({x}, {y}): give one of them as a node, its dtype decides.")
            return self.alu(Ops.WHERE, y.const_like(x), y)
        return self.alu(Ops.WHERE, x, x._node(y))

    def maximum(self, other: "Operand") -> "UOp":
        """Return the elementwise greater value; NaN if either is."""
        return self.alu(Ops.MAX, self._node(other))

    def minimum(self, other: "Operand") -> "UOp":
        """Return the elementwise lesser value; NaN if either is."""
        node = self._node(other)
        if is_float(self.dtype) or self.dtype.scalar() is dtypes.index:
            return -((-self).maximum(-node))
        # two's complement integers have no -lowest; the complement reverses their order
        return ~((~self).maximum(~node))

    def reciprocal(self) -> "UOp":
        """Return `1 / self`."""
        return self.alu(Ops.RECIP)

    def exp(self) -> "UOp":
        """Return `e ** self`."""
        return self.alu(Ops.EXP)

    def exp2(self) -> "UOp":
        """Return `2 ** self`."""
        return self.alu(Ops.EXP2)

    def log2(self) -> "UOp":
        """Return the base-2 logarithm."""
        return self.alu(Ops.LOG2)

    def sin(self) -> "UOp":
        """Return the sine of radians."""
        return self.alu(Ops.SIN)

    def cos(self) -> "UOp":
        """Return the cosine of radians."""
        return self.alu(Ops.COS)

    def sqrt(self) -> "UOp":
        """Return the square root."""
        return self.alu(Ops.SQRT)

    def fmod(self, other: "Operand") -> "UOp":
        """Return the exact remainder of float division, with the sign of `self`."""
        return self.alu(Ops.FMOD, self._node(other))

    def trunc(self) -> "UOp":
        """Return the value without its fraction."""
        return self.alu(Ops.TRUNC)

    def threefry(self, key: "UOp") -> "UOp":
        """Return 64 random bits of the counter `self` under `key` (both uint64)."""
        return self.alu(Ops.THREEFRY, key)

    def mulacc(self, factor: "UOp", addend: "UOp") -> "UOp":
        """Return `self * factor + addend`, rounded once or twice."""
        return self.alu(Ops.MULACC, factor, addend)

    def _self(self) -> "UOp":
        return self  # pyright: ignore[reportReturnType] - the only class that mixes this in is UOp
