"""The results of a replay: tensors of the memory that it filled."""

from typing import Any

from plugrad import events
from plugrad.engine import storage
from plugrad.jit.inputs import Inputs
from plugrad.jit.trace import Shared, Trace
from plugrad.jit.unnamed import UnnamedStorage
from plugrad.observe.tensors import announce_tensor
from plugrad.runtime.buffer import Buffer
from plugrad.tensor import Tensor
from plugrad.tree import refill
from plugrad.uop import UOp

__all__ = ["results", "tensor_of_new"]


def results(trace: Trace, inputs: Inputs, places: dict[UOp, UOp]) -> Any:
    """Return the results and set the gradients of a call, with memory by `places`."""
    views = [places.get(view) or view.substitute(places) for view in trace.outputs]
    for memory in trace.severed:
        storage.sever(places.get(memory, memory))
    for left in trace.gradients:
        owner = inputs.tensors[left.argument] if left.owner is None else left.owner()
        if owner is not None:
            number = left.output
            owner.grad = None if number is None else _tensor(views[number], trace.shared[number], places)
    pairs = zip(trace.same, views, trace.shared, strict=False)
    returned = [_tensor(view, shared, places) if same is None else same() for same, view, shared in pairs]
    return refill(trace.template, Tensor, returned)


def _tensor(view: UOp, shared: Shared | None, places: dict[UOp, UOp]) -> Tensor:
    """Return memory as a tensor, without the questions that `Tensor(...)` asks of what users pass."""
    # a view of memory names its device
    if shared is None:
        return Tensor._make(view, "")
    shown = None if shared.storage is None else shared.storage()
    if shown is None:
        out = Tensor._part(*storage.storage_at(view, ""), "")
    else:
        # sizes and places of a slice may be variables
        path = tuple(
            [(op, tuple([u.substitute(places) for u in sizes]), arg) for op, sizes, arg in shared.path]
        )
        out = Tensor._part(shown, path, shared.device)
    # results have no gradient, also where they show a parameter
    out._is_detached = not shared.is_made
    return out


def tensor_of_new(memory: Buffer, like: UOp) -> Tensor:
    """Return a tensor of new memory, which nobody else uses: `Tensor._part`, said shorter."""
    self = object.__new__(Tensor)
    self._storage = kept = UnnamedStorage(memory, like)
    self._path = ()
    # until somebody asks what it shows
    self._root = self._node = like
    self._device = memory.device
    self._is_computed = self._is_detached = self._is_tracked = False
    self._is_leaf = self._grad = None
    self._live.add(self)
    if events.active:
        announce_tensor(kept.uop)
    return self
