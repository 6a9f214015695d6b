"""Render C-like languages in which comparisons of vectors give masks.

They have no vectors of bool. Truth of vectors is kept as a mask, a signed vector of 0 and -1, in
the width of the lanes that were compared, and narrowed or widened only where lanes of another width meet it.
"""

from abc import abstractmethod
from collections.abc import Sequence

from plugrad.dtype import DType, is_bool
from plugrad.renderer.cstyle import OPERATORS
from plugrad.renderer.exact import ExactRenderer
from plugrad.renderer.scope import Scope
from plugrad.uop import COMPARE, Ops, UOp

_SHIFTS = frozenset({Ops.SHL, Ops.SHR})
_MASKED = frozenset({Ops.AND, Ops.OR, Ops.XOR, Ops.ADD, Ops.MUL, Ops.MAX, Ops.WHERE, *COMPARE})


class MaskScope(Scope):
    """The state of one kernel, with the width of each mask in it."""

    def __init__(self, uops: Sequence[UOp]) -> None:
        super().__init__(uops)
        self._mask_bits: dict[UOp, int] = {}

    def mask_bits(self, u: UOp) -> int:
        """Return the width of the lanes in which the vector of bool `u` is kept."""
        known = self._mask_bits.get(u)
        if known is None:
            known = self._mask_bits[u] = self._natural_bits(u)
        return known

    def _natural_bits(self, u: UOp) -> int:
        if u.op in (Ops.DEFINE_ACC, Ops.ACCUMULATE):
            return self.mask_bits(u.src[0])
        if (u.op in COMPARE and not is_bool(u.src[0].dtype)) or u.op is Ops.CAST:
            return u.src[0].dtype.itemsize * 8
        if u.op in _MASKED:
            sources = [s for s in u.src if is_mask(s) and s.op is not Ops.CONST]
            return max((self.mask_bits(s) for s in sources), default=8)
        return 8


class MaskRenderer(ExactRenderer):
    """Renders C with wide vectors.

    A language adds its own loads, stores and conversions; in them, `as_mask` gives the mask that a vector of
    bool is.
    """

    @abstractmethod
    def mask_type(self, scope: Scope, bits: int, count: int) -> str:
        """Return the type of a mask: signed integers of `bits`."""

    @abstractmethod
    def resize_mask(self, scope: Scope, mask: str, own: int, bits: int, count: int) -> str:
        """Return a mask of lanes of `own` bits in lanes of `bits`."""

    @abstractmethod
    def select(self, scope: Scope, dtype: DType, mask: str, chosen: str, other: str) -> str:
        """Return the lanes of `chosen` where the mask holds, else those of `other`.

        The mask is as wide as the dtype.
        """

    @abstractmethod
    def fill_mask(self, scope: Scope, bits: int, lanes: Sequence[str]) -> str:
        """Return the mask with these lanes, each "0" or "-1" or an expression of that."""

    def open_scope(self, uops: Sequence[UOp]) -> Scope:
        """Return the state for one kernel."""
        return MaskScope(uops)

    def as_mask(self, scope: Scope, u: UOp, bits: int) -> str:
        """Return the vector of bool `u` as a mask of lanes of `bits`."""
        count = u.dtype.count
        if u.op is Ops.CONST:
            return self.fill_mask(scope, bits, ["-1" if u.arg else "0"] * count)
        if u.op is Ops.VECTORIZE and len(set(u.src)) == 1:
            # one truth for all lanes takes their width at once
            return self.fill_mask(scope, bits, [f"-({scope.names[u.src[0]]})"] * count)
        own = mask_bits(scope, u)
        return scope.names[u] if own == bits else self.resize_mask(scope, scope.names[u], own, bits, count)

    def value_type(self, scope: Scope, u: UOp) -> str:
        """Return the type of the variable that holds `u`: of bools, a mask."""
        if is_mask(u):
            return self.mask_type(scope, mask_bits(scope, u), u.dtype.count)
        return self.type_name(scope, u.dtype)

    def gated_alternative(self, scope: Scope, u: UOp) -> str:
        """Return the value of a gated LOAD where its gate is false."""
        return self.as_mask(scope, u.src[1], 8) if is_mask(u) else scope.names[u.src[1]]

    def write_accumulator(self, scope: Scope, u: UOp) -> None:
        """Declare a register that changes."""
        scope.declare(u, "acc", self.value_type(scope, u), self._in_form_of(scope, u, u.src[0]))

    def write_accumulate(self, scope: Scope, u: UOp) -> None:
        """Change a register; its later users read it by the same name."""
        scope.names[u] = scope.names[u.src[0]]
        # an ACCUMULATE has no dtype: the register says in which form it keeps truth
        scope.line(f"{scope.names[u]} = {self._in_form_of(scope, u.src[0], u.src[1])};")

    def expression(self, scope: Scope, u: UOp) -> str:
        """Return the expression of a node; masks are told apart from numbers here."""
        if not is_bool(u.dtype):
            return super().expression(scope, u)
        if u.op is Ops.GEP:
            lanes = [f"({self.lane(scope.names[u.src[0]], lane)} != 0)" for lane in u.arg]
            return lanes[0] if u.dtype.count == 1 else self.vector(scope, u.dtype, lanes)
        return self._mask_alu(scope, u) if is_mask(u) and u.op in _MASKED else super().expression(scope, u)

    def vector(self, scope: Scope, dtype: DType, parts: Sequence[str]) -> str:
        """Return a vector of scalar expressions; truth as a mask of bytes."""
        if is_bool(dtype):
            return self.fill_mask(scope, 8, [f"-({part})" for part in parts])
        return super().vector(scope, dtype, parts)

    def alu(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the expression of an ALU node that gives numbers, or one truth."""
        if u.op is Ops.WHERE and is_mask(u.src[0]):
            mask = self.as_mask(scope, u.src[0], u.dtype.itemsize * 8)
            return self.select(scope, u.dtype, mask, args[1], args[2])
        if u.op in _SHIFTS and u.dtype.count > 1:
            args = [args[0], self.convert(scope, u.src[1].dtype, u.dtype, args[1])]
        return super().alu(scope, u, args)

    def cast(self, scope: Scope, u: UOp, value: str) -> str:
        """Return the value in another dtype."""
        if is_mask(u.src[0]) and not is_bool(u.dtype):
            return self.cast_mask(scope, u)
        return super().cast(scope, u, value)

    def cast_mask(self, scope: Scope, u: UOp) -> str:
        """Return 1 where the mask that the CAST `u` reads holds, and 0 elsewhere."""
        mask = self.as_mask(scope, u.src[0], u.dtype.itemsize * 8)
        one, zero = (self.const(scope, u.dtype, value) for value in (1, 0))
        return self.select(scope, u.dtype, mask, one, zero)

    def _in_form_of(self, scope: Scope, u: UOp, source: UOp) -> str:
        return self.as_mask(scope, source, mask_bits(scope, u)) if is_mask(u) else scope.names[source]

    def _mask_alu(self, scope: Scope, u: UOp) -> str:
        """Return logic on masks, or the comparison that makes one."""
        bits = mask_bits(scope, u)
        if u.op in COMPARE and not is_bool(u.src[0].dtype):
            return f"({scope.names[u.src[0]]} {OPERATORS[u.op]} {scope.names[u.src[1]]})"
        if u.op is Ops.WHERE and u.src[0].dtype.count == 1:
            chosen, other = (self.as_mask(scope, s, bits) for s in u.src[1:])
            return f"({scope.names[u.src[0]]} ? {chosen} : {other})"
        args = [self.as_mask(scope, s, bits) for s in u.src]
        match u.op:
            case Ops.WHERE:
                return f"(({args[0]} & {args[1]}) | (~{args[0]} & {args[2]}))"
            case Ops.CMPLT:
                return f"(~{args[0]} & {args[1]})"
            case Ops.CMPEQ:
                return f"(~({args[0]} ^ {args[1]}))"
            case Ops.AND | Ops.MUL:
                return f"({args[0]} & {args[1]})"
            case Ops.OR | Ops.ADD | Ops.MAX:
                return f"({args[0]} | {args[1]})"
            case _:
                return f"({args[0]} ^ {args[1]})"


def is_mask(u: UOp) -> bool:
    """Say whether `u` is a vector of bool."""
    return is_bool(u.dtype) and u.dtype.count > 1


def mask_bits(scope: Scope, u: UOp) -> int:
    """Return the width of the lanes in which the vector of bool `u` is kept."""
    assert isinstance(scope, MaskScope), "MaskRenderer opens its own scopes"
    return scope.mask_bits(u)
