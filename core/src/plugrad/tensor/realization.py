"""Memory of tensors: computing values and placing them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

from plugrad.autodiff import with_rule
from plugrad.dtype import is_inexact
from plugrad.engine import realize as engine
from plugrad.engine import storage
from plugrad.engine.schedule_table import ScheduleList
from plugrad.schedule.versions import VERSIONS
from plugrad.tensor.argument_checks import check_tensors
from plugrad.tensor.base import Tensor
from plugrad.tensor.shapes import is_static
from plugrad.uop import Ops, UOp

# what `Tensor.realize(*tensors)` is called on where there are none
_NOTHING: Any = None
# what a value shows that has memory, or gets it in any case
_IN_MEMORY = VERSIONS | {Ops.COPY}


def realize(self: Tensor = _NOTHING, *others: Tensor) -> Tensor:
    """Compute this tensor (and `others`, in one schedule) and keep it in memory; return it.

    `Tensor.realize(*tensors)` does nothing where there are none.

    Raises:
        DtypeError: one of them is no tensor.

    Example:
        >>> t = (Tensor([1, 2]) + 1).realize()
        >>> t.uop.op
        Ops.BUFFER
    """
    if self is _NOTHING:
        return self
    if others:
        check_tensors(others)
    tensors = (self, *others)
    engine.realize([_source_of(_graph_to_compute(t)) for t in tensors], self._device)
    for t in tensors:
        t._is_computed = True
        t._storage.note_computed(t._path)
        # forgets how it was made, unless a gradient will want to know
        t._shown()
    return self


def schedule(self: Tensor, *others: Tensor) -> ScheduleList:
    """Return the steps that `realize` would run, each with its `ast` and buffers `bufs`.

    Printed, they are a table.

    Raises:
        DtypeError: one of them is no tensor.

    Example:
        >>> x = Tensor([1, 2]).realize()
        >>> len(((x + 1) * 2).schedule())
        1
    """
    check_tensors(others)
    return engine.schedule([_graph_to_compute(t) for t in (self, *others)], self._device)


def kernelize(self: Tensor, *others: Tensor) -> Tensor:
    """Replace the graphs of these tensors by their kernels, without running them.

    Raises:
        DtypeError: one of them is no tensor.

    Example:
        >>> (Tensor([1, 2]) + 1).kernelize().tolist()
        [2, 3]
    """
    check_tensors(others)
    tensors = (self, *others)
    for t in tensors:
        _plan_memory(t)
    found = engine.kernelize([t._storage.uop for t in tensors], self._device)
    for shows in {t._storage for t in tensors}:
        if shows.uop in found:
            shows.replace(found[shows.uop])
    return self


def _graph_to_compute(x: Tensor) -> UOp:
    """Return the graph to compute, placing numbers without a device on this one."""
    if x._is_tracked and not x._storage.is_memory:
        return x._history()
    u = x.uop
    if u.device is None and is_static(x.shape):
        if not x._path:
            _plan_memory(x)
            return x.uop
        # a part of many numbers is computed alone
        u = x._node = storage.new_memory(x._device, x.shape, x.dtype).assign(u)
    return u


def _plan_memory(x: Tensor) -> None:
    """Give the value memory of its own, to be written once it is computed."""
    shows = x._storage
    if shows.uop.device is None and is_static(shows.uop.shape) and not shows.settle():
        shows.move()


def computed_memory(x: Tensor) -> UOp:
    """Compute this tensor and return its memory, writable unless it is tracked."""
    if x._storage.has_history:
        return x.realize().uop
    if x._path and not any(t is not x and t._storage is x._storage for t in x._live):
        # nobody else will see what it writes: a part of a value is computed alone
        x._hold(x._shown(), x._device)
    _plan_memory(x)
    shows = x._storage
    engine.realize([shows.uop], x._device)
    if not shows.settle() and is_static(shows.uop.shape):
        # another tensor has come by the same memory, because it has the same graph
        shows.move()
        engine.realize([shows.uop], x._device)
    # numbers of symbolic shape live in kernels: without memory, their value would be part of these
    return x.uop if storage.is_view(x.uop) else x.contiguous().realize().uop


def contiguous(self: Tensor) -> Tensor:
    """Return the same values in row-major memory of their own; gradients flow through.

    Example:
        >>> x = Tensor([1, 2])
        >>> y = x.clone()
        >>> _ = y.assign([3, 4])
        >>> x.tolist()
        [1, 2]
        >>> Tensor([[1, 2], [3, 4]]).T.contiguous().tolist()
        [[1, 3], [2, 4]]
    """
    u = self._graph
    if u.device is None and not self._is_tracked and is_static(self.shape):
        return self._like(storage.new_memory(self._device, self.shape, self.dtype).assign(u))
    return self._like(u.contiguous())


def contiguous_backward(self: Tensor) -> Tensor:
    """Return the same tensor, whose gradient is made contiguous.

    That is how to keep what comes before from being computed together with what comes after, in the
    backward pass; values are the same without it.

    Example:
        >>> x = Tensor([1.0, 2.0])
        >>> (x * 3).contiguous_backward().sum().gradient(x)[0].tolist()
        [3.0, 3.0]
    """
    if not is_inexact(self.dtype):
        return self
    (out,) = with_rule((self._graph,), (self._graph,), _gradient_in_memory)
    return self._like(out)


def boundary(x: Tensor) -> Tensor:
    """Return the same values in memory of their own, and so their gradient.

    What is memory already, a number, or a parameter stays as it is.

    Example:
        >>> x = Tensor([1.0, 2.0])
        >>> boundary(x) is x, len((boundary(x + 1).flip(0) * 2).schedule())
        (True, 2)
    """
    return x if x._is_leaf or _is_bounded(x) else x._like(_bounded(x._graph))


@contextmanager
def as_memory(tensors: Iterable[Tensor]) -> Generator[None]:
    """Let tensors that are not computed stand for memory of their own inside the block.

    They stay the same tensors, and are what they were before afterwards.
    """
    marked: list[tuple[Tensor, UOp, UOp]] = []
    for x in tensors:
        # a view shows what others show as well
        if not x._path and not _is_bounded(x):
            before, x._node = x._node, _bounded(x._node)
            marked.append((x, before, x._node))
    try:
        yield
    finally:
        for x, before, inside in marked:
            # who wrote to it shows something else
            if x._node is inside:
                x._node = before


def _bounded(u: UOp) -> UOp:
    value = u.contiguous()
    return with_rule((value,), (value,), _gradient_in_memory)[0] if is_inexact(u.dtype) else value


def _is_bounded(x: Tensor) -> bool:
    """Say whether a tensor shows memory, numbers, or what `boundary` gave."""
    u = storage.viewed(x.uop)
    is_marked = u.op is Ops.OUTPUT and u.src[0].arg.rule is _gradient_in_memory
    return is_marked or u.device is None or u.op in _IN_MEMORY


def _gradient_in_memory(gradients: tuple[UOp], function: UOp) -> tuple[UOp]:
    return (gradients[0].contiguous(),)


def _source_of(u: UOp) -> UOp:
    while u.op is Ops.BITCAST:
        u = u.src[0]
    return u
