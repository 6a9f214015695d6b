"""The inputs of one call: their memory, and the signature that keys captures."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from plugrad.device import Device
from plugrad.engine import storage
from plugrad.engine.schedule_cache import canonicalize
from plugrad.errors import JitError
from plugrad.jit.leaves import Leaves
from plugrad.tensor import Tensor
from plugrad.tensor.realization import computed_memory
from plugrad.uop import Ops, UOp

_TENSORS_ALONE = {Tensor}


# made at each call: not frozen, which would double the time that takes
@dataclass(slots=True, eq=False)
class Inputs:
    """The arguments of one call.

    Attributes:
        signature: equal for calls that one capture can serve.
        tensors: the tensor arguments, in order.
        views: what each of them shows: a BUFFER, or movement ops on one.
        buffers: the BUFFERs below the views, each once, in order of first use.
        variables: the bound variables among the arguments, then those in shapes.
        values: their values by name.
    """

    signature: Hashable
    tensors: Sequence[Tensor]
    views: list[UOp]
    buffers: list[UOp]
    variables: list[UOp]
    values: dict[str, int]


def read_inputs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Inputs:
    """Return the inputs of a call, with its tensor arguments realized.

    Arguments in the same memory share a BUFFER here, so calls `f(x, x)` and `f(x, y)` have different
    signatures.

    Raises:
        JitError: an argument cannot be part of a signature.
    """
    rest: Hashable = None
    tensors: Sequence[Tensor] = args
    given: list[UOp] = []
    if kwargs or {*map(type, args)} != _TENSORS_ALONE:
        leaves = Leaves()
        rest = leaves.collect((args, kwargs))
        tensors, given = leaves.tensors, leaves.variables
    # else the usual case, said faster; so is the one below
    views: list[UOp] = []
    form: list[Hashable] = [rest, Tensor.training]
    numbers: dict[UOp, int] = {}
    shows_parts = False
    for tensor in tensors:
        kept = tensor._storage
        view = kept.uop
        # `Storage.present`, said shorter
        memory = view.place if view.op is Ops.BUFFER else None
        if tensor._path or not kept.is_memory or memory is None or memory.known_name() is not view:
            view = _view_of(tensor)
        views.append(view)
        has_gradient, no_grad = tensor._is_leaf or tensor._is_tracked, tensor._grad is None
        if view.op is Ops.BUFFER:
            number, (_, device, shape) = numbers.setdefault(view, len(numbers)), view.arg
            form += (has_gradient, no_grad, view.dtype, device, shape, number)
        else:
            form += (has_gradient, no_grad)
            shows_parts = True
    if not (given or shows_parts):
        return Inputs(tuple(form), tensors, views, list(numbers), [], {})
    graph = canonicalize([*views, *given])
    for bind in graph.renamed():
        raise JitError(
            f"the variable {bind.src[0].arg[0]} is bound to {bind.unbind()[1]} and to another value in "
            "the arguments of a jitted function. A replay gives each variable one value: use two "
            "variables."
        )
    variables = [node for node in graph.nodes if node.op is Ops.BIND]
    buffers = list(graph.buffers.values())
    return Inputs((*form, graph.sink), tensors, views, buffers, variables, graph.values)


def check_devices(inputs: Inputs) -> None:
    """Refuse inputs in memory that no kernel can read.

    Raises:
        JitError: one lies on a device that does not compute.
    """
    for buffer in inputs.buffers:
        if not Device[buffer.arg.device].can_compute:
            raise JitError(
                f"an argument of a jitted function lies on {buffer.arg.device}, which does not compute. "
                "Move it first: .to(device)."
            )


def _view_of(tensor: Tensor) -> UOp:
    """Return the memory that `tensor` shows, giving it some if it has none."""
    view = tensor.uop
    if not (tensor._storage.is_memory and storage.is_view(view)):
        view = computed_memory(tensor)
    storage.buffer_of(storage.viewed(view))  # nothing can be recorded of what has none
    return view
