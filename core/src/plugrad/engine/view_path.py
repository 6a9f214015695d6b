"""Paths from memory to views of it, and writes through them."""

from typing import Any

from plugrad.autodiff.vjp import VJP
from plugrad.dtype import dtypes
from plugrad.uop import MOVEMENT, Ops, UOp

#: Movement ops, and bitcasts, between a value and what a view shows of it: op, sizes, static data (of a
#: bitcast the dtype).
ViewPath = tuple[tuple[Ops, tuple[UOp, ...], Any], ...]

# Movement ops that show each element of their source once, in another order.
WHOLE = frozenset({Ops.RESHAPE, Ops.PERMUTE, Ops.FLIP, Ops.BITCAST})


def shown(root: UOp, path: ViewPath) -> UOp:
    """Return the view of `root` by `path`."""
    for op, sizes, arg in path:
        root = root.bitcast(arg) if op is Ops.BITCAST else UOp(op, root.dtype, (root, *sizes), arg)
    return root


def path_between(view: UOp, root: UOp) -> ViewPath:
    """Return the path that shows `view`, movement ops and bitcasts on `root`."""
    path: ViewPath = ()
    while view is not root:
        is_bitcast = view.op is Ops.BITCAST
        assert is_bitcast or view.op in MOVEMENT, f"a view is made by movement ops, not by {view.op.name}"
        path = ((view.op, view.src[1:], view.dtype if is_bitcast else view.arg), *path)
        view = view.src[0]
    return path


def shows_all(path: ViewPath) -> bool:
    """Say whether `path` shows each element once."""
    return all(op in WHOLE for op, _, _ in path)


def written_through(shows: UOp, path: ViewPath, value: UOp) -> UOp:
    """Return `shows` after a write of `value` into its part `path`.

    Values of symbolic size are the first elements of memory for as many as there may be.
    """
    if any(op is Ops.PAD for op, _, _ in path):
        path, value = (), _merged(shows, path, value)
    memory = shows
    while memory.op in MOVEMENT:
        memory = memory.src[0]
    if memory is shows and not path:
        return memory.assign(value)
    return shown(memory.after(shown(shows, path).assign(value)), path_between(shows, memory))


def _merged(memory: UOp, path: ViewPath, value: UOp) -> UOp:
    """Return all of `memory` with `value` in what `path` shows.

    The way back through a movement op is the way of its gradient. A step of a slice that sticks out of its
    axis pads it; what is written there falls away.
    """
    views = [memory]
    for step in path:
        views.append(shown(views[-1], (step,)))
    shape = views[-1].shape
    place = UOp.const(dtypes.bool, True).spread(shape)
    # equal symbolic sizes may be written in two ways
    has_sizes = all(isinstance(size, int) for size in value.shape)
    value = value.spread(shape) if has_sizes else value.reshape(shape)
    for view in reversed(views[1:]):
        (rule, *_) = VJP[view.op]
        assert rule is not None, f"{view.op.name} moves elements"
        value, place = rule(value, view), rule(place, view)
    return place.where(value, memory)
