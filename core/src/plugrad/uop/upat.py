"""Patterns over nodes: what a rule looks for.

A `UPat` says what it knows of a node and leaves the rest open. Names bind the nodes they match; the same
name twice means the same node twice. Operators build patterns as they build nodes, and commutative ones
match either order.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from plugrad.dtype import ConstType, DType
from plugrad.uop.ops import COMMUTATIVE, Ops

ANY_ARG: Any = object()
Sources = Literal["any", "fixed", "commutative", "prefix", "each"]


class UPat:
    """A pattern for one node and, through its sources, the graph below it.

    Args:
        op: the op, several of them, or None for any.
        dtype: one dtype or several (vectors of them match too), or None for any.
        src: a tuple matches sources in order; a list matches them in any order; one pattern (which binds
            nothing) matches every source; None matches any sources.
        arg: the exact `arg`; anything when left out.
        name: binds the node for the rule's function.
        prefix: a tuple `src` matches the first sources, more may follow.

    Example:
        >>> UPat(Ops.ADD, src=(UPat.var("x"), UPat.cvar("c")))
        UPat(ADD, (x, CONST:c))
    """

    __slots__ = ("alternatives", "arg", "dtypes", "name", "ops", "sources", "src")

    def __init__(
        self,
        op: "Ops | Iterable[Ops] | None" = None,
        dtype: "DType | Iterable[DType] | None" = None,
        src: "tuple[UPat, ...] | list[UPat] | UPat | None" = None,
        arg: Any = ANY_ARG,
        name: str | None = None,
        *,
        prefix: bool = False,
    ) -> None:
        self.ops = None if op is None else frozenset((op,)) if isinstance(op, Ops) else frozenset(op)
        dtype = (dtype,) if isinstance(dtype, DType) else dtype
        self.dtypes = None if dtype is None else frozenset(dtype)
        self.arg = arg
        self.name = name
        self.alternatives: tuple[UPat, ...] = ()
        self.sources: Sources = "any"
        self.src: tuple[UPat, ...] = ()
        if isinstance(src, UPat):
            self.sources, self.src = "each", (src,)
        elif src is not None:
            self.sources = "prefix" if prefix else "commutative" if isinstance(src, list) else "fixed"
            self.src = tuple(src)

    @staticmethod
    def var(name: str | None = None, dtype: "DType | Iterable[DType] | None" = None) -> "UPat":
        """Return a pattern for any node, bound to `name`."""
        return UPat(dtype=dtype, name=name)

    @staticmethod
    def cvar(name: str | None = None, dtype: "DType | Iterable[DType] | None" = None) -> "UPat":
        """Return a pattern for any CONST, bound to `name`."""
        return UPat(Ops.CONST, dtype=dtype, name=name)

    @staticmethod
    def const(value: ConstType, dtype: "DType | Iterable[DType] | None" = None) -> "UPat":
        """Return a pattern for the CONST that equals `value`, of any dtype unless given."""
        return UPat(Ops.CONST, dtype=dtype, arg=value)

    @staticmethod
    def any(*alternatives: "UPat") -> "UPat":
        """Return a pattern that matches where one of `alternatives` does; they bind the same names."""
        out = UPat()
        out.alternatives = alternatives
        return out

    def named(self, name: str) -> "UPat":
        """Return this pattern, binding its node to `name`."""
        out = UPat(self.ops, self.dtypes, None, self.arg, name)
        out.alternatives, out.sources, out.src = self.alternatives, self.sources, self.src
        return out

    def names(self) -> list[str]:
        """Return the names that a match binds, repeated ones as often as they stand."""
        found = [] if self.name is None else [self.name]
        for pattern in () if self.sources == "each" else self.src or self.alternatives:
            found += pattern.names()
        return found

    def alu(self, op: Ops, *others: "UPat | ConstType") -> "UPat":
        """Return the pattern of the elementwise `op` of what this and `others` match."""
        src = [self, *map(_pattern, others)]
        return UPat(op, src=src if op in COMMUTATIVE else tuple(src))

    def cast(self, dtype: "DType | Iterable[DType] | None" = None, name: str | None = None) -> "UPat":
        """Return the pattern of a CAST of this."""
        return UPat(Ops.CAST, dtype, (self,), name=name)

    def where(self, x: "UPat | ConstType", y: "UPat | ConstType") -> "UPat":
        """Return the pattern of a WHERE with this condition."""
        return UPat(Ops.WHERE, src=(self, _pattern(x), _pattern(y)))

    def __add__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.ADD, other)

    def __radd__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.ADD, other)

    def __sub__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.SUB, other)

    def __mul__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.MUL, other)

    def __rmul__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.MUL, other)

    def __truediv__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.FDIV, other)

    def __floordiv__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.FLOORDIV, other)

    def __mod__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.FLOORMOD, other)

    def __lt__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.CMPLT, other)

    def __and__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.AND, other)

    def __or__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.OR, other)

    def __xor__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.XOR, other)

    def __lshift__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.SHL, other)

    def __rshift__(self, other: "UPat | ConstType") -> "UPat":
        return self.alu(Ops.SHR, other)

    def __neg__(self) -> "UPat":
        return self.alu(Ops.NEG)

    def eq(self, other: "UPat | ConstType") -> "UPat":
        """Return the pattern of an equality."""
        return self.alu(Ops.CMPEQ, other)

    def ne(self, other: "UPat | ConstType") -> "UPat":
        """Return the pattern of an inequality."""
        return self.alu(Ops.CMPNE, other)

    def maximum(self, other: "UPat | ConstType") -> "UPat":
        """Return the pattern of a MAX."""
        return self.alu(Ops.MAX, other)

    def __repr__(self) -> str:
        if self.alternatives:
            return "any(" + ", ".join(map(repr, self.alternatives)) + ")"
        if self.ops is None and not self.src:
            return self.name or "_"
        ops = "|".join(sorted(o.name for o in self.ops)) if self.ops else "_"
        arg = "" if self.arg is ANY_ARG else f"={self.arg!r}"
        head = ops + arg + (f":{self.name}" if self.name else "")
        return f"UPat({head}, {self.src})" if self.src else head


def _pattern(operand: "UPat | ConstType") -> UPat:
    return operand if isinstance(operand, UPat) else UPat.const(operand)


def pvars(names: str, dtype: "DType | Sequence[DType] | None" = None) -> tuple[UPat, ...]:
    """Return one pattern variable for each name in `names`.

    Example:
        >>> x, y = pvars("x y")
    """
    return tuple(UPat.var(name, dtype) for name in names.split())


def pconsts(names: str) -> tuple[UPat, ...]:
    """Return one pattern for constants for each name in `names`."""
    return tuple(UPat.cvar(name) for name in names.split())
