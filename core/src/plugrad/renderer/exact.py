"""Render C-like languages with defined results: integers wrap, and nothing divides by zero.

Bools are bytes in memory, and 16-bit floats may be kept as their bits, converted at each cast. What C leaves
undefined is written around: overflow of signed integers, division by 0 and -1, floats beyond small integers.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from plugrad.dtype import STORABLE, ConstType, DType, dtypes, is_bool, is_float
from plugrad.errors import DtypeError
from plugrad.renderer.cstyle import OPERATORS, CStyleRenderer
from plugrad.renderer.facts import half_bits, is_safe_divisor, may_overflow
from plugrad.renderer.scope import Scope
from plugrad.target import Capabilities, Target
from plugrad.uop import Ops, UOp

_DIVISIONS = frozenset({Ops.CDIV, Ops.CMOD})
# what may leave the range of a signed integer
_OVERFLOWING = frozenset({Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.MULACC})
_UNSIGNED: Mapping[int, DType] = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


class ExactRenderer(CStyleRenderer):
    """Renders C in which all arithmetic is defined.

    Args:
        capabilities: what the target can do.
        as_bits: the floats that are kept as their bits.
    """

    integers_wrap: ClassVar[bool] = False
    """Whether the compiler is told that signed integers wrap."""
    inline: ClassVar[str] = "static inline"
    """What stands before a function of the preamble."""

    def __init__(self, capabilities: Capabilities, as_bits: frozenset[DType] = frozenset()) -> None:
        super().__init__(capabilities)
        self.as_bits = as_bits

    @abstractmethod
    def float_of_bits(self, scope: Scope, dtype: DType) -> str:
        """Return the function from the bits of floats or vectors `dtype` to float32."""

    @abstractmethod
    def bits_of_float(self, scope: Scope, dtype: DType) -> str:
        """Return the function from float32 to the bits of floats or vectors `dtype`."""

    @abstractmethod
    def reinterpret(self, scope: Scope, u: UOp, value: str) -> str:
        """Return the BITCAST `u` of a scalar, which is a float before or afterwards."""

    def division(self, scope: Scope, operator: str, dtype: DType) -> str:
        """Define / or % without C's undefined cases; return the function's name.

        Division by 0 gives 0, and the lowest number by -1 wraps.
        """
        scalar, name = self.type_names[dtype], f"{'div' if operator == '/' else 'mod'}_{dtype.name}"
        lines = [f"{self.inline} {scalar} {name}({scalar} a, {scalar} b) {{", "  if (b == 0) return 0;"]
        if dtype.kind == "int":
            negated = f"({scalar})(0 - ({self.type_names[_UNSIGNED[dtype.itemsize]]})a)"
            lines.append(f"  if (b == -1) return {negated if operator == '/' else '0'};")
        return scope.define(name, "\n".join((*lines, f"  return ({scalar})(a {operator} b);", "}")))

    def matrix_function(self, scope: Scope, u: UOp) -> str:
        """Return the function of `u`, a matrix instruction or the load of a fragment."""
        raise NotImplementedError(f"{type(self).__name__} has no matrix instructions ({u.arg})")

    def write_matrix(self, scope: Scope, u: UOp) -> None:
        """Call a matrix instruction, or the load of a fragment, in its place."""
        call = f"{self.matrix_function(scope, u)}({', '.join(scope.names[s] for s in u.src)})"
        scope.declare(u, "tile", self.type_name(scope, u.dtype), call)

    # --- types and constants ---

    def scalar_type(self, dtype: DType) -> str:
        """Return the type of one lane."""
        scalar = dtype.scalar()
        return self.type_names[dtypes.uint16 if scalar in self.as_bits else scalar]

    def type_name(self, scope: Scope, dtype: DType) -> str:
        """Return the type of a value; a vector's bools are bytes, as in memory."""
        return self.scalar_type(dtype) if dtype.count == 1 else f"{self.storage_type(dtype)}{dtype.count}"

    def storage_type(self, dtype: DType) -> str:
        """Return the type of a buffer's elements: a bool is a byte."""
        return self.type_names[dtypes.uint8] if is_bool(dtype) else self.scalar_type(dtype)

    def literal(self, dtype: DType, value: ConstType) -> str:
        """Return a scalar constant; of floats that are kept as bits, the bits."""
        return str(half_bits(dtype, float(value))) if dtype in self.as_bits else super().literal(dtype, value)

    # --- memory ---

    def load(self, scope: Scope, u: UOp, pointer: str) -> str:
        """Return the value at `pointer`, which is aligned to its element only."""
        return f"(*{pointer} != 0)" if u.dtype is dtypes.bool else super().load(scope, u, pointer)

    # --- expressions ---

    def expression(self, scope: Scope, u: UOp) -> str:
        """Return the expression of a node; a vector's bools are bytes, as in memory."""
        if u.op is Ops.GEP and u.dtype is dtypes.bool:
            return f"({self.lane(scope.names[u.src[0]], u.arg[0])} != 0)"
        return super().expression(scope, u)

    def alu(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the expression of an ALU node on rendered sources."""
        if u.op in _DIVISIONS and not is_safe_divisor(u.src[1]):
            return f"{self.division(scope, OPERATORS[u.op], u.dtype)}({', '.join(args)})"
        may_be_undefined = not self.integers_wrap and u.dtype.count == 1 and u.op in _OVERFLOWING
        if may_be_undefined and may_overflow(u, scope.addresses):
            unsigned = self.type_names[dtypes.uint64 if u.dtype.itemsize == 8 else dtypes.uint32]
            wrapped = super().alu(scope, u, [f"({unsigned}){arg}" for arg in args])
            return f"(({self.type_names[u.dtype]}){wrapped})" if u.dtype.itemsize >= 4 else wrapped
        return super().alu(scope, u, args)

    # --- conversions ---

    def cast(self, scope: Scope, u: UOp, value: str) -> str:
        """Return the value in another dtype."""
        source, to = u.src[0].dtype, u.dtype
        if source is to:
            return value
        if is_bool(to):
            return self.truth(scope, source, value)
        if source.scalar() in self.as_bits:
            value = f"{self.float_of_bits(scope, source)}({value})"
            source = dtypes.float32.vec(to.count)
        if to.scalar() in self.as_bits:
            # codegen has rounded what float does not hold
            kind = source.scalar()
            is_exact = kind is dtypes.float32 or kind.itemsize < 4
            assert is_exact, f"{source} becomes float32 before it becomes {to}"
            number = self.convert(scope, source, dtypes.float32.vec(to.count), value)
            return f"{self.bits_of_float(scope, to)}({number})"
        if is_float(source) and not is_float(to) and to.itemsize < 4:
            # C leaves a float outside the range undefined: int32 on the way makes small types wrap
            wide = dtypes.int32.vec(to.count)
            value, source = self.convert(scope, source, wide, value), wide
        return self.convert(scope, source, to, value)

    def bitcast(self, scope: Scope, u: UOp, value: str) -> str:
        """Return the bits in another dtype of the same size."""
        source, to = u.src[0].dtype, u.dtype
        if is_bool(to):
            return f"({value} != 0)"
        if self.storage_type(source) == self.storage_type(to):
            return value
        if any(is_float(dtype) and dtype not in self.as_bits for dtype in (source, to)):
            return self.reinterpret(scope, u, value)
        return f"(({self.scalar_type(to)}){value})"

    def truth(self, scope: Scope, source: DType, value: str) -> str:
        """Return where a number is not 0, whatever its sign."""
        return f"(({value} & 0x7fff) != 0)" if source.scalar() in self.as_bits else f"({value} != 0)"

    def convert(self, scope: Scope, source: DType, to: DType, value: str) -> str:
        """Return a number in another dtype; neither is kept as bits."""
        return value if source is to else f"(({self.type_name(scope, to)}){value})"


def refuse_absent_dtypes(uops: Sequence[UOp], capabilities: Capabilities, target: Target) -> None:
    """Raise DtypeError if the device lacks a dtype of a kernel."""
    used = {u.dtype.scalar() for u in uops} & frozenset(STORABLE)
    if absent := used - capabilities.storage_dtypes:
        names = ", ".join(sorted(dtype.name for dtype in absent))
        raise DtypeError(
            f"{target.name} ({target.get('device')}) has no {names}. Cast to another dtype, or move the "
            "tensor to a device that has it."
        )
