"""Functions that are scheduled as units, or whose gradients are computed in another way."""

import functools
from collections.abc import Callable
from itertools import repeat
from typing import Any, ParamSpec, TypeVar

from plugrad.autodiff import recomputed
from plugrad.errors import GradientError, TransformError
from plugrad.tensor import Tensor
from plugrad.tensor.custom_gradient import with_backward
from plugrad.tensor.graph_access import alive, graph_below, nodes_of, tensor_of
from plugrad.tensor.realization import as_memory, boundary
from plugrad.transforms.tree import gradients_needed, map_tensors, only_tensors, tensors_in
from plugrad.tree import HOLE, refill
from plugrad.uop import Ops, UOp

P = ParamSpec("P")
R = TypeVar("R")


def checkpoint(f: Callable[P, R]) -> Callable[P, R]:
    """Return `f` with its intermediate values computed again for the gradient.

    Between the forward and the backward pass only the arguments are kept, and the tensors outside that `f`
    uses, such as parameters. `f` itself runs once: the backward pass repeats its computation with the
    same random numbers (dropout). Worth it around the layers of a deep network, whose activations then
    are in memory for one layer at a time.

    Args:
        f: takes and returns tensors, alone or in lists, tuples and dicts.

    Raises:
        TransformError: at a call, `f` returns something else than tensors, or assigns to memory on the way.

    Example:
        >>> x = Tensor([0.0, 1.0])
        >>> checkpoint(lambda x: (x.exp() * x).exp())(x).sum().gradient(x)[0].tolist()[0]
        1.0
    """

    @functools.wraps(f)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        arguments = tensors_in((args, kwargs))
        known = {u for t in (*alive(), *arguments) for u in nodes_of(t)}
        # numbers are written down anew
        known = {u for u in known if u.op is not Ops.CONST}
        out = f(*args, **kwargs)
        results = only_tensors(out, "checkpoint")
        nodes = recomputed([graph_below(y) for y in results], known)
        made = [tensor_of(u, y.device, y.requires_grad) for u, y in zip(nodes, results, strict=True)]
        return refill(out, Tensor, made)

    return call


def function(f: Callable[P, R]) -> Callable[P, R]:
    """Return `f` as a unit for the scheduler: calls with equal graphs are scheduled once.

    `f` runs in Python at each call, so whatever it does beside its result happens each time: assignments,
    random draws, gradients. Its arguments and results have memory of their own, and so have their gradients.
    What lies between is therefore scheduled apart, and is known at the next call that differs only in the
    memory it reads: of a deep network whose layers are decorated, one layer is scheduled.

    Arguments are the same tensors inside. Results are new ones, but for arguments, parameters, and what lies
    in memory already, which are returned as they are.

    Args:
        f: takes and returns anything; tensors among its results may be in lists, tuples and dicts.

    Example:
        >>> layer = function(lambda x, w: (x @ w).relu())
        >>> x = Tensor.empty(4, 8)
        >>> for _ in range(3):
        ...     x = layer(x, Tensor.empty(8, 8))
        >>> schedule = x.schedule()
        >>> len(schedule), len({item.ast for item in schedule})
        (3, 1)
    """

    @functools.wraps(f)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        arguments = {id(x): x for x in tensors_in((args, kwargs))}
        with as_memory(arguments.values()):
            out = f(*args, **kwargs)
        return map_tensors(lambda y: y if id(y) in arguments else boundary(y), out)

    return call


def custom_gradient(backward: Callable[..., Any]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Return the decorator that gives a function the gradient `backward`.

    Args:
        backward: called with `(gradient, inputs, output)`: the gradient of what the function returned, in its
            form (None for integers and bools), the tensors among the function's arguments as a tuple, and
            what it returned. It returns the gradient of the only input, or a tuple with one for each; None
            where there is none. Made of operations on tensors, it has gradients itself, and second
            derivatives of the function are those of `backward`.

    Raises:
        GradientError: at a call, the function uses a tensor that requires a gradient and is no argument.
        TransformError: at a call, no argument is a tensor, or a result is none; later, `backward` gives
            another number of gradients.
        ShapeError, DtypeError, DeviceError: later, a gradient does not fit its input.

    Example:
        >>> @custom_gradient(lambda gradient, inputs, output: gradient.clamp(-1, 1))
        ... def clipped(x: Tensor) -> Tensor:
        ...     return x * 1
        >>> x = Tensor([1.0, 2.0])
        >>> (clipped(x) * Tensor([0.5, 7.0])).sum().gradient(x)[0].tolist()
        [0.5, 1.0]
    """

    def decorate(f: Callable[..., R]) -> Callable[..., R]:
        @functools.wraps(f)
        def call(*args: Any, **kwargs: Any) -> R:
            inputs = tensors_in((args, kwargs))
            if not inputs:
                raise TransformError(
                    f"{_name(f)} with a gradient of its own was called without tensors. Pass those that it "
                    "is to be differentiated by as arguments."
                )
            needed = gradients_needed()
            out = f(*args, **kwargs)
            results = only_tensors(out, _name(f))
            _check_arguments(f, results, inputs, needed)
            form = refill(out, Tensor, repeat(HOLE))

            def pull(gradients: Any, taken: Any, made: Any) -> Any:
                given = backward(refill(form, Tensor, gradients), tuple(taken), refill(form, Tensor, made))
                return given if isinstance(given, (list, tuple)) else (given,)  # pyright: ignore

            return refill(out, Tensor, with_backward(results, inputs, pull))

        return call

    return decorate


def _check_arguments(f: Any, results: list[Tensor], inputs: list[Tensor], needed: set[UOp]) -> None:
    """Refuse gradients that would get lost without a word."""
    known = {graph_below(x) for x in inputs}
    graph = UOp.sink(*[graph_below(y) for y in results]).toposort(lambda u: u not in known)
    if not needed.isdisjoint(graph):
        raise GradientError(
            f"{_name(f)} has a gradient of its own, and uses a tensor that requires one but is no argument. "
            "Pass it as an argument, or detach() it."
        )


def _name(f: Any) -> str:
    return getattr(f, "__qualname__", "a function")
