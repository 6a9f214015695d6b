"""Take the integers out of a kernel's graph, and put others in.

Graphs that differ in sizes and positions alone have one skeleton.
"""

import math
import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes, is_bool, is_float
from plugrad.uop.ops import COMPARE, AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

Number = int | float
#: (op, dtype, arg, sources). A source is the place of a node, or the dtype of a number.
Node = tuple[Ops, DType, Any, "tuple[int | DType, ...]"]
#: A number, an expression of variables, or a part of a name.
Filling = Number | UOp | str


class Hole(Enum):
    """The kinds of numbers in a kernel's graph."""

    INDEX = auto()  # in index arithmetic, or the size of a loop
    VALUE = auto()  # among values, such as the number of elements in a mean
    NUMEL = auto()  # the size of a buffer
    LOWEST = auto()  # of a variable
    HIGHEST = auto()  # of a variable
    NAME = auto()  # in the name of the kernel

    __hash__ = object.__hash__


@frozen
class Skeleton:
    """A kernel's graph without numbers; a key.

    Attributes:
        nodes: its nodes, sources first.
        holes: the kind of each number, in the order in which `fill` takes them.
    """

    nodes: tuple[Node, ...]
    holes: tuple[Hole, ...]


# By other operations a constant is more than a factor: x**2 is a product, and x**n is not.
_LINEAR = COMPARE | {Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.FLOORDIV, Ops.FLOORMOD, Ops.MAX}
# Others are steps that an optimisation has given to registers or lanes already, or that run in order.
_LOOPS = frozenset({AxisType.LOOP, AxisType.REDUCE})
_OF_POWERS = 0.5  # the mantissa of powers of two
_IS_SIZE = re.compile("[1-9][0-9]*").fullmatch


def skeleton_of(ast: UOp) -> tuple[Skeleton, tuple[Number, ...]]:
    """Return a kernel's skeleton and its numbers, of which `fill` makes the kernel again.

    Each use of a constant is a number of its own: two that are equal today may differ tomorrow.
    """
    nodes: list[Node] = []
    found: list[tuple[Hole, Number]] = []
    places: dict[UOp, int] = {}
    for u in ast.toposort():
        if u.op is Ops.CONST:
            continue
        op, src = _by_whole_numbers(u)
        sources: list[int | DType] = []
        for s in src:
            if (kind := _kind_of(s, u)) is not None:
                sources.append(s.dtype)
                found.append((kind, s.arg))
                continue
            if s not in places:
                # a constant that stays; as a node, since -0.0 == 0.0
                places[s] = len(nodes)
                nodes.append((s.op, s.dtype, s, ()))
            sources.append(places[s])
        arg, numbers = _without_numbers(u)
        found += numbers
        places[u] = len(nodes)
        nodes.append((op, u.dtype, arg, tuple(sources)))
    return Skeleton(tuple(nodes), tuple([kind for kind, _ in found])), tuple([number for _, number in found])


def fill(skeleton: Skeleton, fillings: Sequence[Filling]) -> UOp:
    """Return the kernel of a skeleton and its numbers, or of expressions in their place."""
    following = iter(fillings)
    made: list[UOp] = []
    for op, dtype, arg, sources in skeleton.nodes:
        if op is Ops.CONST:
            made.append(arg)
            continue
        src = tuple([made[s] if isinstance(s, int) else _constant(s, next(following)) for s in sources])
        made.append(UOp(op, dtype, src, _with_numbers(op, arg, following)))
    return made[-1]


def _without_numbers(u: UOp) -> tuple[Any, list[tuple[Hole, Number]]]:
    """Return the argument of a node without its numbers, and these."""
    match u.op:
        case Ops.PARAM:
            slot, numel = u.arg
            return slot, [(Hole.NUMEL, numel)]
        case Ops.DEFINE_VAR:
            name, lowest, highest = u.arg
            return name, [(Hole.LOWEST, lowest), (Hole.HIGHEST, highest)]
        case Ops.SINK:
            parts: list[str] = u.arg.name.split("_")
            sizes = [int(part) if _IS_SIZE(part) else None for part in parts]
            words = [part if size is None else None for part, size in zip(parts, sizes, strict=True)]
            return (tuple(words), u.arg.opts), [(Hole.NAME, size) for size in sizes if size is not None]
        case _:
            return u.arg, []


def _with_numbers(op: Ops, arg: Any, following: Iterator[Filling]) -> Any:
    match op:
        case Ops.PARAM:
            return arg, next(following)
        case Ops.DEFINE_VAR:
            return arg, next(following), next(following)
        case Ops.SINK:
            words, opts = arg
            return KernelInfo(
                "_".join([str(next(following)) if word is None else word for word in words]), opts
            )
        case _:
            return arg


def _by_whole_numbers(u: UOp) -> tuple[Ops, tuple[UOp, ...]]:
    """Return op and sources, x / 4 for x * 0.25.

    `simplify` makes products of quotients by powers of two.
    """
    if u.op is Ops.MUL and u.src[1].op is Ops.CONST and is_float(u.dtype):
        mantissa, exponent = math.frexp(u.src[1].arg)
        if mantissa == _OF_POWERS and exponent < 1:
            return Ops.FDIV, (u.src[0], u.const_like(2.0 ** (1 - exponent)))
    return u.op, u.src


def _kind_of(u: UOp, user: UOp) -> Hole | None:
    """Return the kind of number that source `u` of `user` is, or None."""
    if u.op is not Ops.CONST or is_bool(u.dtype):
        return None
    if u.dtype is dtypes.index:
        return Hole.INDEX if user.op is not Ops.RANGE or user.arg.kind in _LOOPS else None
    is_whole = not is_float(u.dtype) or u.arg.is_integer()
    return Hole.VALUE if user.op in _LINEAR and is_whole and u.arg else None


def _constant(dtype: DType, filling: Filling) -> UOp:
    assert not isinstance(filling, str), "names are no constants"
    if isinstance(filling, UOp):
        return filling if dtype is dtypes.index else filling.cast(dtype)
    return UOp.const(dtype, filling)
