"""Tensors whose gradients come from a rule of their own."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from plugrad.autodiff import inputs_of, with_rule
from plugrad.dtype import is_inexact
from plugrad.errors import DeviceError, DtypeError, ShapeError, TransformError
from plugrad.tensor.base import TensorBase
from plugrad.tensor.shapes import expanded, show
from plugrad.uop import Ops, UOp

T = TypeVar("T", bound=TensorBase)
Backward = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Sequence[Any]]


def with_backward(outputs: Sequence[T], inputs: Sequence[T], backward: Backward) -> list[T]:
    """Return `outputs` with gradients of `inputs` given by `backward`.

    Args:
        outputs: what was computed.
        inputs: what it was computed from.
        backward: takes the gradients of the outputs (zeros where none flows, None for integers and bools),
            the inputs and the outputs; returns the gradient of each input, or None.

    Raises:
        TransformError: later, `backward` gives another number of gradients than there are inputs.
        ShapeError, DtypeError, DeviceError: later, it gives something else than tensors of the inputs'
            shapes, dtypes and devices.

    Example:
        >>> x = Tensor([1.0, 2.0])
        >>> (y,) = with_backward([x * x], [x], lambda gradients, inputs, outputs: [gradients[0] * 10])
        >>> y.sum().gradient(x)[0].tolist()
        [10.0, 10.0]
    """
    # the rule lives as long as the graph, and must not hold tensors
    count, make = len(outputs), type(inputs[0])._make
    devices = [x.device for x in (*outputs, *inputs)]

    def tensors(nodes: Sequence[UOp], first: int) -> list[Any]:
        # tracked: what is realized on the way keeps the history that a second derivative needs
        return [make(u, devices[first + i], is_inexact(u.dtype)) for i, u in enumerate(nodes)]

    def rule(gradients: tuple[UOp | None, ...], function: UOp) -> list[UOp | None]:
        made = [UOp(Ops.OUTPUT, u.dtype, (function,), i) for i, u in enumerate(function.src[:count])]
        given = zip(gradients, made, strict=True)
        arrived = tensors([expanded(u.const_like(0), u.shape) if g is None else g for g, u in given], 0)
        flowing = [g if is_inexact(u.dtype) else None for g, u in zip(arrived, made, strict=True)]
        taken = inputs_of(function)
        found = backward(flowing, tensors(taken, count), tensors(made, 0))
        if len(found) != len(taken):
            raise TransformError(
                f"custom_gradient: the backward function gave {len(found)} gradients for {len(taken)} "
                "inputs. Return one for each, None where there is none."
            )
        what = "custom_gradient: the backward function gave a gradient"
        pairs = enumerate(zip(found, taken, strict=True))
        return [
            None if g is None else node_of_direction(g, u, what, f"input {number}")
            for number, (g, u) in pairs
        ]

    tracked = any([x.requires_grad for x in inputs])
    nodes = with_rule([y._graph for y in outputs], [x._graph for x in inputs], rule)
    return [
        make(u, device, tracked and is_inexact(u.dtype)) for u, device in zip(nodes, devices, strict=False)
    ]


def node_of_direction(direction: Any, of: UOp, what: str, role: str) -> UOp:
    """Return the node of a gradient or tangent of the value `of`.

    Messages call the function `what`, and the value `role`.
    """
    if not isinstance(direction, TensorBase):
        raise DtypeError(
            f"{what} for {role}, {direction!r:.80} ({type(direction).__name__}): pass a tensor or None."
        )
    if not is_inexact(of.dtype) or direction.dtype is not of.dtype:
        raise DtypeError(
            f"{what} of {direction.dtype.name} for {role} of {of.dtype.name}. Pass floats of the same "
            "dtype for floats, and None for integers and bools."
        )
    if direction.shape != of.shape:
        shapes = f"of shape {show(direction.shape)} for {role} of shape {show(of.shape)}"
        raise ShapeError(f"{what} {shapes}. They must be equal.")
    u = direction._graph
    # "": what stands for an example of a batch may have none
    if of.device and u.device and u.device != of.device:
        devices = f"on {direction.device} for {role} on {of.device}"
        raise DeviceError(f"{what} {devices}. Move it: .to({of.device!r}).", device=direction.device)
    return u
