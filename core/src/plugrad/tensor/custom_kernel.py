"""Kernels written in Python as nodes: loops, loads and stores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from plugrad._util import LazyModule
from plugrad.engine import storage
from plugrad.errors import ArgumentError
from plugrad.schedule.versions import outputs_of_kernel
from plugrad.tensor.argument_checks import check_tensors
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.custom_gradient import Backward, with_backward
from plugrad.tensor.shapes import fixed_shape
from plugrad.uop import Axis, AxisType, KernelInfo, Ops, UOp

if TYPE_CHECKING:
    from plugrad.uop import spec
else:
    # few programs have kernels of their own
    spec = LazyModule("plugrad.uop.spec")

KernelFunction = Callable[..., "UOp | Sequence[UOp]"]


def custom_kernel(
    function: KernelFunction, *outs_and_ins: Tensor, gradient: Backward | None = None
) -> tuple[Tensor, ...]:
    """Return the outputs of a kernel written in Python.

    `function` takes a PARAM for each tensor, the memory of its elements in row-major order, and returns
    one STORE or several. It is written with `UOp.range(size, number)`, a loop; `param.index(i).load()`;
    `param.index(i).store(value, *ranges)`, which ends the loops; and `value.reduce(Ops.ADD, *ranges)`.
    Each device optimises the loops as it does those of its own kernels.

    The tensors that it stores to are outputs: their shape, dtype and device are those of the results, and
    what they held is there to be loaded. They stay what they are; results have memory of their own.

    Args:
        function: the kernel.
        outs_and_ins: outputs and inputs, in the order in which `function` takes them.
        gradient: takes the gradients of the results, the inputs and the results; returns the gradient of
            each input (see `plugrad.transforms.custom_gradient`). Without it, none flows.

    Raises:
        ArgumentError: `function` returns no stores, a loop does not end, or a load waits for a store.
        VerifyError: a node has no place in a kernel; the message names it.
        DtypeError: one of `outs_and_ins` is no tensor.
        DeviceError: the tensors lie on several devices.
        ShapeError: a shape is symbolic.

    Example:
        >>> def add(out, a, b):
        ...     i = UOp.range(3, 0)
        ...     return out.index(i).store(a.index(i).load() + b.index(i).load(), i)
        >>> x, y = Tensor([1.0, 2.0, 3.0]), Tensor([4.0, 5.0, 6.0])
        >>> Tensor.custom_kernel(add, Tensor.empty(3), x, y)[0].tolist()
        [5.0, 7.0, 9.0]
    """
    check_tensors(outs_and_ins, "custom_kernel")
    if not outs_and_ins:
        raise ArgumentError("custom_kernel: there are no tensors. Pass the outputs, then the inputs.")
    first = outs_and_ins[0]
    first._check_device(*outs_and_ins[1:])
    counts = [math.prod(fixed_shape(t.shape, "custom_kernel")) for t in outs_and_ins]
    params = [UOp(Ops.PARAM, t.dtype, (), (slot, counts[slot])) for slot, t in enumerate(outs_and_ins)]
    kernel = _kernel(function, params)
    written = {store.src[0].src[0] for store in kernel.src}
    slots: list[int] = sorted(range(len(params)), key=lambda slot: params[slot] not in written)
    moved = {params[slot]: params[slot].replace(arg=(i, params[slot].arg[1])) for i, slot in enumerate(slots)}
    kernel = kernel.substitute(moved)
    given = [outs_and_ins[slot] for slot in slots]
    loaded = {u.src[0].src[0].arg[0] for u in kernel.toposort() if u.op is Ops.LOAD}
    outs, ins = given[: len(written)], given[len(written) :]
    operands = [_output(t, first._device, slot in loaded) for slot, t in enumerate(outs)]
    operands += [_input(t, first._device) for t in ins]
    made = outputs_of_kernel(UOp(Ops.KERNEL, src=tuple(operands), arg=kernel))
    results = [first._make(u, first._device) for u in made]
    return tuple(results if gradient is None else with_backward(results, ins, gradient))


def _kernel(function: KernelFunction, params: Sequence[UOp]) -> UOp:
    """Return the kernel of `function`: a SINK of STOREs, with its reduce loops marked."""
    made: Any = function(*params)
    name = str(getattr(function, "__name__", "kernel")).strip("<>")
    stores: list[Any] = [made]
    if isinstance(made, (tuple, list)):
        stores = list(cast("Sequence[Any]", made))
    elif isinstance(made, UOp) and made.op is Ops.SINK:
        stores = list(made.src)
    if not stores or any(not isinstance(s, UOp) or s.op is not Ops.STORE for s in stores):
        raise ArgumentError(
            f"custom_kernel: {name} returned {made!r:.200}, which is no STORE. Return "
            "out.index(i).store(value, i), or several of them as a tuple."
        )
    sink = UOp.sink(*stores, arg=KernelInfo(name if name.isascii() else "kernel"))
    if open_ranges := sink.ranges:
        raise ArgumentError(
            f"custom_kernel: {name} never ends {', '.join(r.render() for r in open_ranges)}. Name each loop "
            "in the store that it is around, or in the reduce() over it."
        )
    if any(u.op is Ops.AFTER for u in sink.toposort()):
        raise ArgumentError(
            f"custom_kernel: {name} loads memory after something else. A load sees what was there before the "
            "kernel; for what a store leaves, write another kernel."
        )
    reduced = {r for u in sink.toposort() if u.op is Ops.REDUCE for r in u.src[u.arg[1] :]}
    sink = sink.substitute({r: r.replace(arg=Axis(r.arg.ident, AxisType.REDUCE)) for r in reduced})
    spec.verify(sink, spec.kernel_spec)
    return sink


def _output(t: TensorBase, device: str, keeps: bool) -> UOp:
    """Return new memory like a tensor, with the same elements where the kernel loads them."""
    memory = storage.new_buffer(device, fixed_shape(t.shape, "custom_kernel"), t.dtype)
    return memory.assign(t._graph) if keeps else memory


def _input(t: TensorBase, device: str) -> UOp:
    """Return the row-major memory of a tensor, computing it first where necessary."""
    u = t._graph
    while u.op is Ops.RESHAPE or u.op is Ops.DETACH:
        u = u.src[0]
    if u.op is Ops.BUFFER:
        return u
    memory = storage.new_buffer(device, fixed_shape(t.shape, "custom_kernel"), t.dtype)
    return memory.assign(t._graph)
