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
        pairs = enumerate(zip(found, taken, strict=True))
        return [None if g is None else _checked(g, u, number) for number, (g, u) in pairs]

    tracked = any([x.requires_grad for x in inputs])
    nodes = with_rule([y._graph for y in outputs], [x._graph for x in inputs], rule)
    return [
        make(u, device, tracked and is_inexact(u.dtype)) for u, device in zip(nodes, devices, strict=False)
    ]


def _checked(gradient: Any, source: UOp, number: int) -> UOp:
    what = "custom_gradient: the backward function gave"
    if not isinstance(gradient, TensorBase):
        raise DtypeError(
            f"{what} {gradient!r:.80} ({type(gradient).__name__}) for input {number}. Return a tensor, or "
            "None for no gradient."
        )
    if not is_inexact(source.dtype):
        raise DtypeError(
            f"{what} a gradient for input {number} of {source.dtype.name}. Only floats have one: return None."
        )
    if gradient.dtype is not source.dtype:
        raise DtypeError(
            f"{what} a gradient of {gradient.dtype.name} for input {number} of {source.dtype.name}. Cast it."
        )
    if gradient.shape != source.shape:
        raise ShapeError(
            f"{what} a gradient of shape {show(gradient.shape)} for input {number} of shape "
            f"{show(source.shape)}. They must be equal."
        )
    # "": what stands for an example of a batch may have none
    if source.device and gradient._graph.device and gradient._graph.device != source.device:
        raise DeviceError(
            f"{what} a gradient on {gradient.device} for input {number} on {source.device}. Move it: "
            f".to({source.device!r}).",
            device=gradient.device,
        )
    return gradient._graph
