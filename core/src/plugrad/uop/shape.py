"""The shape and the device of tensor-level nodes, from those of their sources."""

from typing import TYPE_CHECKING, Any

from plugrad.dtype import dtypes
from plugrad.errors import ShapeError
from plugrad.uop.fold import evaluate
from plugrad.uop.node.sizes import SymbolicShape, permuted_shape, reduced_shape, shape_of_sizes
from plugrad.uop.node.terms import terms_of
from plugrad.uop.ops import ELEMENTWISE, Ops

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plugrad.uop.uop import UOp

    Shape = tuple[int | UOp, ...]

#: The shape and the device of a node. None as shape: it has none (kernel level). None as device: any will do.
Placement = tuple["Shape | None", str | None]

_SAME_AS_FIRST = frozenset(
    {
        Ops.CONTIGUOUS,
        Ops.FOURIER,
        Ops.FACTOR,
        Ops.DETACH,
        Ops.COPY,
        Ops.ASSIGN,
        Ops.AFTER,
        Ops.LATER,
        Ops.DISPATCH,
        Ops.FLIP,
    }
)


def dims_of(nodes: "tuple[UOp, ...]") -> "Shape":
    """Return dimension nodes as a shape."""
    const = Ops.CONST
    for u in nodes:
        if u.op is not const:
            return SymbolicShape([u.arg if u.op is const else u for u in nodes])
    return tuple([u.arg for u in nodes])


def output_of(u: "UOp") -> "UOp":
    """Return the value that an OUTPUT stands for."""
    number: int = u.arg
    return u.src[0].src[number]


def pairs_of(u: "UOp") -> "tuple[tuple[int | UOp, int | UOp], ...]":
    """Return the `(begin, end)` pairs of a PAD or SHRINK."""
    flat = dims_of(u.src[1:])
    return tuple(zip(flat[::2], flat[1::2], strict=True))


def placement_of(u: "UOp") -> Placement:
    """Return the shape and device of `u` from those of its sources."""
    rule = _SHAPES.get(u.op)
    return None if rule is None else rule(u), _device_of(u)


def common_placement(a: Placement, b: "Placement | None") -> "Placement | None":
    """Return the placement of elementwise operations on two; None where it is not easily told."""
    if a == b or b == _OF_NUMBERS:
        return a
    return b if a == _OF_NUMBERS else None


def add_sizes(*sizes: "int | UOp") -> "int | UOp":
    """Return the sum of sizes in one form; an int where all variables cancel.

    Not by bounds: those of a bound variable are its value of today, and the next value has the same kernels.
    """
    total: Any = sum(sizes)
    if isinstance(total, int):
        return total
    terms, constant = terms_of(total)
    varying = [term * factor if factor != 1 else term for term, factor in sorted(terms.items(), key=_order)]
    if not varying:
        return constant
    out: Any = sum(varying[1:], varying[0])
    return out + constant if constant else out


def greatest(size: "int | UOp") -> int:
    """Return the greatest value that a size has, whatever its variables are bound to today.

    Example:
        >>> greatest(UOp.variable("n", 1, 8).bind(3) * 2)
        16
    """
    return size if isinstance(size, int) else int(_unbound(size).vmax)


def least(size: "int | UOp") -> int:
    """Return the least value that a size has, whatever its variables are bound to today."""
    return size if isinstance(size, int) else int(_unbound(size).vmin)


def size_at(size: "int | UOp", values: "Mapping[str, int]") -> int:
    """Return a size with variables at `values`, whatever they are bound to.

    Example:
        >>> size_at(UOp.variable("n", 1, 8).bind(3) * 2, {"n": 5})
        10
    """
    if isinstance(size, int):
        return size
    done: dict[UOp, Any] = {}
    for u in size.toposort():
        if u.op is Ops.DEFINE_VAR:
            done[u] = values[u.arg[0]]
        elif u.op is Ops.BIND or u.op is Ops.CAST:
            done[u] = done[u.src[0]]
        else:
            done[u] = evaluate(u.op, u.dtype, tuple([done[s] for s in u.src])) if u.src else u.arg
    return done[size]


def _unbound(size: "UOp") -> "UOp":
    bound = [u for u in size.toposort() if u.op is Ops.BIND]
    return size.substitute({u: u.src[0] for u in bound}) if bound else size


def _order(item: "tuple[UOp, int]") -> Any:
    return _structure(item[0])


def _structure(term: "UOp") -> Any:
    """Return a key for the atoms of a term, equal for bound and unbound variables."""
    if term.op is Ops.BIND:
        return _structure(term.src[0])
    return term.op.name, str(term.arg), tuple(map(_structure, term.src))


def _shape(u: "UOp") -> "Shape | None":
    return u._placement[0]  # pyright: ignore[reportPrivateUsage] - sources come first


def _elementwise_shape(u: "UOp") -> "Shape | None":
    out: Any = ()
    for s in u.src:
        shape = s._placement[0]  # pyright: ignore[reportPrivateUsage] - sources come first
        if shape is None:
            return None
        if shape == () or shape == out:
            continue
        if out != ():
            raise ShapeError(
                f"{u.op.name} of shapes {out} and {shape}: sources of one node have one shape. "
                "Reshape and expand them to a common shape first."
            )
        out = shape
    return out


def _permuted_shape(u: "UOp") -> "Shape | None":
    first = _shape(u.src[0])
    return None if first is None else permuted_shape(first, u.arg)


def _reduced_shape(u: "UOp") -> "Shape | None":
    first = _shape(u.src[0])
    return None if first is None else reduced_shape(first, u.arg[1])


def _padded_shape(u: "UOp") -> "Shape | None":
    first = _shape(u.src[0])
    if first is None:
        return None
    padded = [add_sizes(size, b, e) for size, (b, e) in zip(first, pairs_of(u), strict=True)]
    return shape_of_sizes(padded)


def _shrunk_shape(u: "UOp") -> "Shape | None":
    if _shape(u.src[0]) is None:
        return None
    return shape_of_sizes([add_sizes(end, -begin) for begin, end in pairs_of(u)])


# by table: as a chain of comparisons, finding the rule took more time than applying it
_SHAPES: "dict[Ops, Callable[[UOp], Shape | None]]" = {
    **dict.fromkeys(ELEMENTWISE, _elementwise_shape),
    **dict.fromkeys(_SAME_AS_FIRST, lambda u: _shape(u.src[0])),
    **dict.fromkeys((Ops.CONST, Ops.DEFINE_VAR, Ops.BIND, Ops.RANGE, Ops.SPECIAL), lambda u: ()),
    **dict.fromkeys((Ops.RESHAPE, Ops.EXPAND), lambda u: dims_of(u.src[1:])),
    Ops.BUFFER: lambda u: u.arg.shape,
    Ops.OUTPUT: lambda u: _shape(output_of(u)),
    Ops.IOTA: lambda u: dims_of(u.src),
    Ops.PERMUTE: _permuted_shape,
    Ops.REDUCE_AXIS: _reduced_shape,
    Ops.PAD: _padded_shape,
    Ops.SHRINK: _shrunk_shape,
}


# of all others it is that of the first source that has one
_DEVICES: "dict[Ops, Callable[[UOp], str | None]]" = {
    Ops.BUFFER: lambda u: u.arg.device,
    Ops.COPY: lambda u: str(u.arg),
    Ops.OUTPUT: lambda u: _device(output_of(u)),
    Ops.DISPATCH: lambda u: None if u.dtype is _INDEX else _device(u.src[0]),
}
_INDEX = dtypes.index
_OF_NUMBERS: Placement = ((), None)


def _device_of(u: "UOp") -> str | None:
    rule = _DEVICES.get(u.op)
    if rule is not None:
        return rule(u)
    if u.dtype is _INDEX:
        return None
    for s in u.src:
        if (device := s._placement[1]) is not None:  # pyright: ignore[reportPrivateUsage]
            return device
    return None


def _device(u: "UOp") -> str | None:
    return u._placement[1]  # pyright: ignore[reportPrivateUsage] - sources come first
