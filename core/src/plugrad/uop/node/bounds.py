"""Interval bounds of a node's values, from those of its sources.

Floats are unbounded unless constant: rounding and NaN leave nothing cheap to say.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from plugrad.dtype import ConstType, dtype_max, dtype_min, dtypes, is_bool, is_float
from plugrad.uop.fold import divide_towards_zero
from plugrad.uop.ops import Ops

if TYPE_CHECKING:
    from plugrad.uop.uop import UOp

Interval = tuple[Any, Any]

# Addresses and sizes: no tensor has more elements than a 64-bit offset can name.
INDEX_MIN, INDEX_MAX = -(1 << 62), 1 << 62


def whole(u: "UOp") -> Interval:
    """Return the interval of everything that `u`'s dtype holds."""
    if u.dtype.scalar() is dtypes.index:
        return INDEX_MIN, INDEX_MAX
    if u.dtype.kind in ("float", "complex"):
        # NaN may be among them, also where a format has no infinities; complex numbers have no order to end
        return -math.inf, math.inf
    return dtype_min(u.dtype), dtype_max(u.dtype)


def bounds_of(u: "UOp") -> "tuple[ConstType, ConstType]":
    """Return an interval that holds every value of `u`, from its sources' intervals."""
    if u.dtype.kind == "complex":
        return whole(u)
    if u.op is Ops.CONST:
        # NaN compares with nothing: an interval cannot hold it
        return (u.arg, u.arg) if u.arg == u.arg else whole(u)
    if u.dtype.kind in ("void", "float"):
        return whole(u) if u.dtype.kind == "float" else (0, 0)
    rule: Any = _RULES.get(u.op)
    if rule is None:
        return whole(u)
    lowest, highest = rule(u, *[s._bounds for s in u.src])  # pyright: ignore[reportPrivateUsage]
    if is_bool(u.dtype):
        return bool(lowest), bool(highest)
    full = whole(u)
    # arithmetic of fixed width wraps: an interval that leaves the type says nothing
    return (lowest, highest) if full[0] <= lowest and highest <= full[1] else full


def _mul(u: "UOp", a: Interval, b: Interval) -> Interval:
    products = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return min(products), max(products)


def _quotient(divide: Callable[[int, int], int]) -> "Callable[[UOp, Interval, Interval], Interval]":
    """Return the rule of a division: its extremes are those of the operands' ends."""

    def rule(u: "UOp", a: Interval, b: Interval) -> Interval:
        if b[0] <= 0 <= b[1]:
            return whole(u)
        quotients = [divide(x, y) for x in a for y in b]
        return min(quotients), max(quotients)

    return rule


def _floormod(u: "UOp", a: Interval, b: Interval) -> Interval:
    if b[0] == b[1] and b[0] != 0 and a[0] // b[0] == a[1] // b[0]:
        return min(a[0] % b[0], a[1] % b[0]), max(a[0] % b[0], a[1] % b[0])
    if b[0] > 0:
        return 0, (min(b[1] - 1, a[1]) if a[0] >= 0 else b[1] - 1)
    return (b[0] + 1, 0) if b[1] < 0 else whole(u)


def _cmod(u: "UOp", a: Interval, b: Interval) -> Interval:
    if b[0] <= 0 <= b[1]:
        return whole(u)
    most = max(abs(b[0]), abs(b[1])) - 1
    return (-min(most, -a[0]) if a[0] < 0 else 0), (min(most, a[1]) if a[1] > 0 else 0)


def _less(u: "UOp", a: Interval, b: Interval) -> Interval:
    if any(is_float(s.dtype) for s in u.src):
        constants = u.src[0].op is u.src[1].op is Ops.CONST
        return constants and a[1] < b[0], a[0] < b[1]
    return a[1] < b[0], a[0] < b[1]


def _differs(u: "UOp", a: Interval, b: Interval) -> Interval:
    if any(is_float(s.dtype) for s in u.src):
        return False, True
    return a[1] < b[0] or b[1] < a[0], not (a[0] == a[1] == b[0] == b[1])


def _equals(u: "UOp", a: Interval, b: Interval) -> Interval:
    lowest, highest = _differs(u, a, b)
    return not highest, not lowest


def _and(u: "UOp", a: Interval, b: Interval) -> Interval:
    if is_bool(u.dtype):
        return a[0] and b[0], a[1] and b[1]
    if a[0] >= 0 or b[0] >= 0:
        return 0, min(x[1] for x in (a, b) if x[0] >= 0)
    return whole(u)


def _or(u: "UOp", a: Interval, b: Interval) -> Interval:
    if is_bool(u.dtype):
        return a[0] or b[0], a[1] or b[1]
    if a[0] >= 0 and b[0] >= 0:
        return max(a[0], b[0]), (1 << max(a[1].bit_length(), b[1].bit_length())) - 1
    return whole(u)


def _xor(u: "UOp", a: Interval, b: Interval) -> Interval:
    if is_bool(u.dtype):
        fixed = a[0] == a[1] and b[0] == b[1]
        return (a[0] != b[0], a[0] != b[0]) if fixed else (False, True)
    if a[0] >= 0 and b[0] >= 0:
        return 0, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1
    if b == (-1, -1):
        return ~a[1], ~a[0]
    return whole(u)


def _shift(u: "UOp", a: Interval, b: Interval) -> Interval:
    count = b[0]
    if count != b[1] or not 0 <= count < 64:
        return whole(u)
    return (a[0] << count, a[1] << count) if u.op is Ops.SHL else (a[0] >> count, a[1] >> count)


def _where(u: "UOp", c: Interval, a: Interval, b: Interval) -> Interval:
    if c[0]:
        return a
    if not c[1]:
        return b
    cond, x, y = u.src
    if cond.op is Ops.CMPLT and cond.src[1].op is Ops.CONST and not is_float(u.dtype):
        # what is compared keeps to its side
        limit = cond.src[1].arg
        a = (a[0], min(a[1], limit - 1)) if x is cond.src[0] else a
        b = (max(b[0], limit), b[1]) if y is cond.src[0] else b
    return min(a[0], b[0]), max(a[1], b[1])


def _cast(u: "UOp", a: Interval) -> Interval:
    if is_float(u.src[0].dtype):
        return whole(u)
    full = whole(u)
    return a if full[0] <= a[0] and a[1] <= full[1] else full


def _range(u: "UOp", *size: Interval) -> Interval:
    return 0, max(size[0][1] - 1, 0)


def _union(u: "UOp", *lanes: Interval) -> Interval:
    return min(x[0] for x in lanes), max(x[1] for x in lanes)


# by number of arguments, which types the parameters of lambdas
_Rule = (
    Callable[[Any], Interval]
    | Callable[[Any, Any], Interval]
    | Callable[[Any, Any, Any], Interval]
    | Callable[[Any, Any, Any, Any], Interval]
)

_RULES: dict[Ops, _Rule] = {
    Ops.ADD: lambda u, a, b: (a[0] + b[0], a[1] + b[1]),
    Ops.SUB: lambda u, a, b: (a[0] - b[1], a[1] - b[0]),
    Ops.MUL: _mul,
    Ops.FLOORDIV: _quotient(lambda x, y: x // y),
    Ops.FLOORMOD: _floormod,
    Ops.CDIV: _quotient(divide_towards_zero),
    Ops.CMOD: _cmod,
    Ops.MAX: lambda u, a, b: (max(a[0], b[0]), max(a[1], b[1])),
    Ops.CMPLT: _less,
    Ops.CMPNE: _differs,
    Ops.CMPEQ: _equals,
    Ops.AND: _and,
    Ops.OR: _or,
    Ops.XOR: _xor,
    Ops.SHL: _shift,
    Ops.SHR: _shift,
    Ops.WHERE: _where,
    Ops.CAST: _cast,
    Ops.NEG: lambda u, a: (-a[1], -a[0]),
    Ops.RANGE: _range,
    Ops.SPECIAL: _range,
    Ops.IOTA: _range,
    Ops.DEFINE_VAR: lambda u: u.arg[1:],
    Ops.BIND: lambda u, variable, value: value,
    Ops.VECTORIZE: _union,
    Ops.GEP: lambda u, a: a,
}
