"""What a tensor shares with all views of it: one value or memory, and how a view shows it."""

import weakref
from typing import Any

from plugrad.autodiff.vjp import VJP
from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.engine.capture import current_capture
from plugrad.runtime.buffer import Buffer
from plugrad.schedule.versions import IN_PLACE, VERSIONS, memory_of
from plugrad.tensor.shapes import cut_to, is_static
from plugrad.uop.ops import MOVEMENT, Ops
from plugrad.uop.shape import greatest
from plugrad.uop.uop import UOp

#: Movement ops, and bitcasts, between the value of a cell and what a tensor shows of it: op, sizes, static
#: data (of a bitcast the dtype).
Path = tuple[tuple[Ops, tuple[UOp, ...], Any], ...]

# Movement ops that show each element of their source once, in another order.
_WHOLE = frozenset({Ops.RESHAPE, Ops.PERMUTE, Ops.FLIP, Ops.BITCAST})

# The one cell that may write to each memory. Others that hold the same value have it by its graph.
_owners: "weakref.WeakValueDictionary[Buffer, Cell]" = weakref.WeakValueDictionary()
# The BUFFERs of memory that was written to. A write that waits may be all that is left of who made it; once
# it is done, another BUFFER names the memory.
_written: "weakref.WeakSet[UOp]" = weakref.WeakSet()


class Cell:
    """One value, which tensors show whole or in part; once it is written to, the memory that it lies in.

    Attributes:
        uop: the graph of the value, or the present version of the memory.
        device: where that is, or numbers get memory when they are written to.
        is_memory: the value is memory, which no other cell writes to.
        is_computed: somebody realized, or read, all of the value: how it was computed is forgotten.
        origin: the graph of the value, where the cell became its memory since and somebody still uses it.
        has_history: a gradient will want to know how the value was computed: it stays what it is.
        is_copy: the value is what memory of another cell shows; it need not be copied until that is written.
    """

    __slots__ = (
        "__weakref__",
        "device",
        "has_history",
        "is_computed",
        "is_copy",
        "is_memory",
        "origin",
        "uop",
    )

    def __init__(self, uop: UOp, device: str, has_history: bool = False) -> None:
        self.uop = uop
        self.device = uop.device or device
        self.is_memory = False
        self.is_computed = False
        self.is_copy = False
        self.origin: weakref.ref[UOp] | None = None
        self.has_history = has_history
        is_version = uop.op in VERSIONS
        if (is_version or _version_below(uop).op in VERSIONS) and not (is_version and self.settle()):
            self.uop = uop.contiguous()
            self.is_copy = True

    def settle(self) -> bool:
        """Bring `uop` up to date, and become the memory that the value was realized into; say if it is that.

        Two cells may have come by one value because they have the same graph: the first of them becomes its
        memory, the other goes on being known by the graph.
        """
        if self.has_history:
            return False
        found = storage.resolve(self.uop, self.device)
        if not self.is_memory:
            value = self.uop.src[0] if self.is_copy else self.uop
            if not self._claim(found):
                return False
            self.origin = weakref.ref(value)
        self.uop = found
        return True

    def note_computed(self, path: Path) -> None:
        """Forget how the value was computed, where somebody asked for all of what it is by `path`."""
        if all(op in _WHOLE for op, _, _ in path):
            self.is_computed = True

    def _claim(self, uop: UOp) -> bool:
        """Become the cell of the memory that `uop` shows all of; say whether that could be."""
        base = uop
        while (base.op in _WHOLE or base.op is Ops.SHRINK) and base.op is not Ops.BITCAST:
            base = base.src[0]
        if base.op is not Ops.BUFFER and base.op not in IN_PLACE:
            return False
        buffer = storage.find_buffer(memory_of(base))
        self.is_memory = buffer is None or (base not in _written and _owners.setdefault(buffer, self) is self)
        self.is_copy = self.is_copy and not self.is_memory
        return self.is_memory

    def replace(self, uop: UOp) -> None:
        """Let the value be that of `uop`, which is new memory."""
        self.origin = weakref.ref(self.uop)
        self.uop = uop
        self._claim(uop)

    def write(self, path: Path, value: UOp) -> None:
        """Write `value` into what `path` shows, none of whose elements is shown twice."""
        memory = self.uop
        # bits keep their places: they are written as what the memory holds
        path = tuple([step for step in path if step[0] is not Ops.BITCAST])
        value = value if value.dtype is memory.dtype else value.bitcast(memory.dtype)
        if not self.settle() or self._is_recorded_data():
            new = storage.new_buffer(self.device, tuple(map(greatest, memory.shape)), memory.dtype)
            self._claim(new)
            new = cut_to(new, memory.shape)
            memory = new if all(op in _WHOLE for op, _, _ in path) else _assigned(new, (), memory)
        else:
            memory = self.uop
        if any(op is Ops.PAD for op, _, _ in path):
            self.uop = _assigned(memory, (), _merged(memory, path, value))
        else:
            self.uop = _assigned(memory, path, value)
        _written.add(memory_of(self.uop))

    def _is_recorded_data(self) -> bool:
        """Say whether this is memory whose contents a recorded call took from Python.

        It is not computed again when the call is repeated, so it has to stay what it is.
        """
        capture = current_capture()
        return capture is not None and storage.find_buffer(memory_of(self.uop)) in capture.data


def _assigned(shows: UOp, path: Path, value: UOp) -> UOp:
    """Return what `shows` does, with `value` in what `path` shows of it.

    Values of symbolic size are the first elements of memory for as many as there may be.
    """
    memory = shows
    while memory.op in MOVEMENT:
        memory = memory.src[0]
    if memory is shows and not path:
        return memory.assign(value)
    return shown(memory.after(shown(shows, path).assign(value)), path_between(shows, memory))


def _version_below(uop: UOp) -> UOp:
    while (uop := storage.base_of(uop)).op is Ops.DETACH:
        uop = uop.src[0]
    return uop


def cell_showing(uop: UOp) -> tuple[Cell, Path] | None:
    """Return the cell of the memory that `uop` shows, and how it does, if there is such a cell."""
    buffer = storage.find_buffer(memory_of(storage.base_of(uop)))
    cell = None if buffer is None else _owners.get(buffer)
    if cell is None or not cell.settle():
        return None
    view = whole = storage.resolve(uop)
    while whole is not cell.uop:
        if whole.op not in MOVEMENT and whole.op is not Ops.BITCAST:
            return None
        whole = whole.src[0]
    return cell, path_between(view, whole)


def shown(root: UOp, path: Path) -> UOp:
    """Return what `path` shows of `root`."""
    for op, sizes, arg in path:
        root = root.bitcast(arg) if op is Ops.BITCAST else UOp(op, root.dtype, (root, *sizes), arg)
    return root


def path_between(view: UOp, root: UOp) -> Path:
    """Return the path that shows `view`, movement ops and bitcasts on `root`."""
    steps: list[tuple[Ops, tuple[UOp, ...], Any]] = []
    while view is not root:
        is_bitcast = view.op is Ops.BITCAST
        assert is_bitcast or view.op in MOVEMENT, f"a view is made by movement ops, not by {view.op.name}"
        steps.append((view.op, view.src[1:], view.dtype if is_bitcast else view.arg))
        view = view.src[0]
    return tuple(reversed(steps))


def _merged(memory: UOp, path: Path, value: UOp) -> UOp:
    """Return all of `memory` with `value` in what `path` shows.

    The way back through a movement op is the way of its gradient. A step of a slice that sticks out of its
    axis pads it; what is written there falls away.
    """
    views = [memory]
    for step in path:
        views.append(shown(views[-1], (step,)))
    shape = views[-1].shape
    place = UOp.const(dtypes.bool, True).reshape((1,) * len(shape)).expand(shape)
    if not is_static(value.shape):
        # equal sizes may be written in two ways
        value = value.reshape(shape)
    elif value.shape != shape:
        value = value.reshape((1,) * len(shape)).expand(shape)
    for view in reversed(views[1:]):
        (rule, *_) = VJP[view.op]
        assert rule is not None, f"{view.op.name} moves elements"
        value, place = rule(value, view), rule(place, view)
    return place.where(value, memory)
