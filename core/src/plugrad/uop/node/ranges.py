"""The loops around the computation of a node."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from plugrad.uop.ops import Ops

if TYPE_CHECKING:
    from plugrad.uop.uop import UOp

_OPENING_OR_ENDING = frozenset({Ops.RANGE, Ops.REDUCE, Ops.STORE})


def open_ranges(u: "UOp") -> "frozenset[UOp]":
    """Return the RANGEs around `u`, those below it without the ended ones."""
    if u.op not in _OPENING_OR_ENDING:
        return _union(u.src)
    if u.op is Ops.RANGE:
        return frozenset((u, *_union(u.src)))
    return _union(u.src).difference(u.src[2 if u.op is Ops.STORE else u.arg[1] :])


def find_ranges(nodes: "Iterable[UOp]") -> None:
    """Find the RANGEs around all of `nodes`, sources first.

    Each of them does so when asked, which takes longer.
    """
    keep = object.__setattr__
    for u in nodes:
        if u._ranges is None:  # pyright: ignore[reportPrivateUsage]
            keep(u, "_ranges", open_ranges(u) if u.op in _OPENING_OR_ENDING else _union(u.src))


def _union(src: "tuple[UOp, ...]") -> "frozenset[UOp]":
    out: frozenset[UOp] = frozenset()
    for s in src:
        # most sources share their set, or one has all of another's: only what is new costs a union
        more = s._ranges  # pyright: ignore[reportPrivateUsage]
        if more is out:
            continue
        if out <= more:
            out = more
        elif not more <= out:
            out = out | more
    return out
