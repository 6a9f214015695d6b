"""The inputs of one call: their memory, and the signature that keys captures."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from plugrad.device import Device
from plugrad.engine import storage
from plugrad.engine.memory import name_of
from plugrad.engine.schedule_cache import canonicalize
from plugrad.errors import JitError
from plugrad.jit.leaves import Leaves
from plugrad.jit.unnamed import UnnamedStorage
from plugrad.runtime.buffer import Buffer
from plugrad.tensor import Tensor
from plugrad.tensor.realization import computed_memory
from plugrad.uop import Ops, UOp

_NO_VALUES: Mapping[str, int] = {}


class Inputs:
    """The arguments of one call.

    Attributes:
        signature: equal for calls that one capture can serve.
        tensors: the tensor arguments, in order.
        memories: the memory that they show, each once, in order of first use.
        variables: the bound variables among the arguments, then those in shapes.
        values: their values by name.
    """

    __slots__ = ("_shown", "memories", "signature", "tensors", "values", "variables")

    def __init__(
        self,
        signature: Hashable,
        tensors: Sequence[Tensor],
        shown: "list[UOp | tuple[UnnamedStorage, Buffer]]",
        memories: list[Buffer],
        variables: Sequence[UOp],
        values: Mapping[str, int],
    ) -> None:
        self.signature = signature
        self.tensors = tensors
        self.memories = memories
        self.variables = variables
        self.values = values
        self._shown = shown

    @property
    def views(self) -> list[UOp]:
        """Return the graph that each tensor shows: a BUFFER, or movement ops on one."""
        self._shown[:] = views = [each if isinstance(each, UOp) else _name_of(*each) for each in self._shown]
        return views

    @property
    def buffers(self) -> list[UOp]:
        """Return the BUFFERs below the views, in the order of `memories`."""
        found: dict[Buffer, UOp] = {base.place: base for base in map(storage.viewed, self.views)}
        return [found[memory] for memory in self.memories]


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
    has_others = bool(kwargs)
    for each in args:
        if type(each) is not Tensor:
            has_others = True
    if has_others:
        leaves = Leaves()
        rest = leaves.collect((args, kwargs))
        tensors, given = leaves.tensors, leaves.variables
    # else the usual case, said faster; so is the one below
    shown: list[UOp | tuple[UnnamedStorage, Buffer]] = []
    memories: list[Buffer] = []
    form: list[Hashable] = [rest, Tensor.training]
    shows_parts = False
    for tensor in tensors:
        kept = tensor._storage
        if type(kept) is UnnamedStorage and (memory := kept.memory) is not None:
            shown.append((kept, memory))
            view = kept.like
        else:
            view = kept.uop
            # `Storage.present`, said shorter
            memory = view.place if view.op is Ops.BUFFER else None
            if tensor._path or not kept.is_memory or memory is None or memory.known_name() is not view:
                view = _view_of(tensor)
                memory = storage.buffer_of(storage.viewed(view))
            shown.append(view)
        memories.append(memory)
        if view.op is Ops.BUFFER:
            _, device, shape = view.arg
            form += (tensor._is_leaf or tensor._is_tracked, tensor._grad is None, view.dtype, device, shape)
        else:
            form += (tensor._is_leaf or tensor._is_tracked, tensor._grad is None)
            shows_parts = True
    if len({*memories}) < len(memories):
        numbers = {memory: number for number, memory in enumerate(dict.fromkeys(memories))}
        form.append(tuple(map(numbers.__getitem__, memories)))
        memories = list(numbers)
    inputs = Inputs(tuple(form), tensors, shown, memories, (), _NO_VALUES)
    if not (given or shows_parts):
        return inputs
    graph = canonicalize([*inputs.views, *given])
    for bind in graph.renamed():
        raise JitError(
            f"the variable {bind.src[0].arg[0]} is bound to {bind.unbind()[1]} and to another value in "
            "the arguments of a jitted function. A replay gives each variable one value: use two "
            "variables."
        )
    inputs.signature = (*form, graph.sink)
    inputs.variables = [node for node in graph.nodes if node.op is Ops.BIND]
    inputs.values = graph.values
    return inputs


def check_devices(inputs: Inputs) -> None:
    """Raise JitError for inputs in memory that no kernel can read."""
    for buffer in inputs.buffers:
        if not Device[buffer.arg.device].can_compute:
            raise JitError(
                f"an argument of a jitted function lies on {buffer.arg.device}, which does not compute. "
                "Move it first: .to(device)."
            )


def _name_of(kept: UnnamedStorage, memory: Buffer) -> UOp:
    """Return the BUFFER of memory that had none when it was passed."""
    # named now, unless another thread did, and wrote to it since
    return name_of(memory, kept.uop if kept.memory is memory else kept.like)


def _view_of(tensor: Tensor) -> UOp:
    """Return the memory that `tensor` shows, giving it some if it has none."""
    view = tensor.uop
    if not (tensor._storage.is_memory and storage.is_view(view)):
        view = computed_memory(tensor)
    return view
