"""Functions in a graph: values whose gradients come from a rule of their own.

A FUNCTION node keeps outputs and inputs together. Gradients do not flow into what computes the outputs: the
node's rule takes the gradients of all outputs and gives those of the inputs. Only gradients see it; what
is scheduled are the outputs themselves.
"""

from collections.abc import Callable, Sequence
from typing import Any

from plugrad.dtype import dtypes
from plugrad.uop import Ops, UOp
from plugrad.uop.ops import FunctionArg

# takes the gradient of each output, of which one at least is not None
FunctionRule = Callable[[tuple[Any, ...], UOp], Sequence[UOp | None]]


def with_rule(outputs: Sequence[UOp], inputs: Sequence[UOp], rule: FunctionRule) -> tuple[UOp, ...]:
    """Return `outputs` as nodes whose gradients `rule` gives to `inputs`.

    Args:
        outputs: values of any dtype and shape.
        inputs: what they were computed from.
        rule: takes the gradient of each output, None where none flows but not all of them, and the FUNCTION;
            returns that of each input in its shape (or shape ()), None where none flows.

    Example:
        >>> x = UOp.new_buffer("PYTHON", (3,), dtypes.float32)
        >>> (y,) = with_rule([x.sqrt()], [x], lambda gradients, function: gradients)
        >>> y.shape
        (3,)
    """
    function = UOp(Ops.FUNCTION, dtypes.void, (*outputs, *inputs), FunctionArg(len(outputs), rule))
    return tuple([UOp(Ops.OUTPUT, u.dtype, (function,), i) for i, u in enumerate(outputs)])


def outputs_of(function: UOp) -> tuple[UOp, ...]:
    """Return the values that a FUNCTION gives."""
    return function.src[: function.arg.outputs]


def inputs_of(function: UOp) -> tuple[UOp, ...]:
    """Return the values that the gradients of a FUNCTION flow to."""
    return function.src[function.arg.outputs :]


class _Identity:
    """The rule of an identity. Each object makes another node of its input."""

    def __call__(self, gradients: tuple[UOp | None, ...], function: UOp) -> Sequence[UOp | None]:
        return gradients


def marked(value: UOp) -> UOp:
    """Return `value` as a unique node. Differentiating by it counts its own uses only.

    Example:
        >>> x = UOp.new_buffer("PYTHON", (3,), dtypes.float32)
        >>> marked(x) is marked(x)
        False
    """
    (out,) = with_rule((value,), (value,), _Identity())
    return out
