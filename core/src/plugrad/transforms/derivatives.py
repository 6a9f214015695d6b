"""Derivatives of functions, as functions.

A function here gives the same for the same arguments: what it computes by the values of tensors (`item`) is
taken as constant. The argument by which it is differentiated counts as itself only: the same tensor used
inside without being passed is a constant.
"""

from collections.abc import Callable, Sequence
from typing import Any

from plugrad.autodiff import pull_back, push_forward
from plugrad.dtype import is_float
from plugrad.errors import DtypeError, GradientError, ShapeError, TransformError
from plugrad.tensor import Tensor
from plugrad.tensor.graphs import graph_below, tensor_of
from plugrad.transforms.batching import vmap
from plugrad.transforms.tracing import gradients_needed, mark, released
from plugrad.transforms.tree import leaves_of, mapped, only_tensors, rebuilt
from plugrad.uop.uop import UOp

__all__ = ["grad", "hessian", "jacobian", "jvp", "vjp"]


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., tuple[Any, ...]]]:
    """Return `f(*primals)`, and the function from gradients of the result to those of the primals.

    Args:
        f: takes and returns tensors, alone or in lists, tuples and dicts.
        primals: its arguments.

    Returns:
        The result, and a function that takes gradients in the result's form and returns a tuple with the
        gradients of each primal in its form: zeros where it does not count, None for integers and bools.

    Raises:
        TransformError: `f` returns something else than tensors.
        GradientError: later, an operation on the way has no derivative.

    Example:
        >>> y, pull = vjp(lambda x: x * x, Tensor([1.0, 3.0]))
        >>> pull(Tensor([1.0, 10.0]))[0].tolist()
        [2.0, 60.0]
    """
    needed = gradients_needed()
    marks = mapped(mark, primals)
    inputs = leaves_of(marks)
    nodes = [graph_below(x) for x in inputs]
    out = f(*marks)
    results = only_tensors(out, "vjp")

    def pull(*gradients: Any) -> tuple[Any, ...]:
        given = _cotangents(results, gradients)
        known = needed | {graph_below(g) for g in leaves_of(gradients) if g.requires_grad}
        seeds: dict[UOp, UOp] = {}
        for y, g in zip(results, given, strict=True):
            if g is not None:
                node = graph_below(y)
                seeds[node] = seeds[node] + g if node in seeds else g
        found = pull_back(seeds, [u for u in nodes if is_float(u.dtype)])
        made = [
            released(found.get(u, _zeros(u)), x.device, known) if is_float(u.dtype) else None
            for u, x in zip(nodes, inputs, strict=True)
        ]
        return rebuilt(marks, iter(made))

    values = [released(graph_below(y), y.device, needed) for y in results]
    return rebuilt(out, iter(values)), pull


def grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return the function that gives the gradient of `f`, which returns one number.

    Args:
        f: takes tensors, alone or in lists, tuples and dicts, and returns a float tensor of one element.
        argnums: by which arguments to differentiate; several give a tuple.
        has_aux: `f` returns a pair; the second of it is returned behind the gradient.

    Raises:
        GradientError: at a call, the result is no float tensor of one element, or an operation on the way has
            no derivative.

    Example:
        >>> grad(lambda x: (x * x * x).sum())(Tensor([1.0, 2.0])).tolist()
        [3.0, 12.0]
    """

    def gradient(*args: Any) -> Any:
        extra: list[Any] = []

        def chosen(*primals: Any) -> Any:
            out = f(*_put(args, argnums, primals))
            if has_aux:
                out, aux = out
                extra.append(aux)
            if not isinstance(out, Tensor) or not is_float(out.dtype) or out.numel() != 1:
                raise GradientError(
                    f"grad: the function returned {out!r:.80}. It has to return a float tensor of one "
                    "element: reduce it with .sum() or .mean(), or use jacobian()."
                )
            return out

        out, pull = vjp(chosen, *[args[n] for n in _numbers(argnums, args)])
        found = pull(_ones(out))
        gradients = found[0] if isinstance(argnums, int) else found
        return (gradients, extra[0]) if has_aux else gradients

    return gradient


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Return `f(*primals)`, and how it changes as the primals move along `tangents`.

    Args:
        f: takes and returns tensors, alone or in lists, tuples and dicts.
        primals: its arguments.
        tangents: their directions, in the same form, shapes and dtypes; None for a tensor that stands still,
            as integers and bools do.

    Returns:
        The result and its tangent, in the same form: zeros where nothing moves, and for integers and bools.

    Raises:
        ShapeError: a tangent has another shape than its primal.
        DtypeError: it has another dtype, or moves integers.
        GradientError: an operation on the way has no derivative.
        TransformError: forms differ, or `f` returns something else than tensors.

    Example:
        >>> y, moved = jvp(lambda x: x * x, (Tensor([3.0, 4.0]),), (Tensor([1.0, 0.5]),))
        >>> y.tolist(), moved.tolist()
        ([9.0, 16.0], [6.0, 4.0])
    """
    needed = gradients_needed()
    marks = mapped(mark, tuple(primals))
    inputs = leaves_of(marks)
    directions = _tangents(tuple(primals), tuple(tangents))
    out = f(*marks)
    results = only_tensors(out, "jvp")
    moving = {graph_below(x): t for x, t in zip(inputs, directions, strict=True) if t is not None}
    found = push_forward([graph_below(y) for y in results], moving)
    moved = [_zeros(graph_below(y)) if t is None else t for y, t in zip(results, found, strict=True)]
    pairs = list(zip(results, moved, strict=True))
    return (
        rebuilt(out, iter([released(graph_below(y), y.device, needed) for y, _ in pairs])),
        rebuilt(out, iter([released(t, y.device, needed) for y, t in pairs])),
    )


def jacobian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return the function that gives all derivatives of `f`: (*result, *argument) for each chosen argument.

    The rows come from one batch, so memory grows with the number of elements of the result.

    Args:
        f: takes tensors and returns a float tensor.
        argnums: by which arguments to differentiate; several give a tuple.

    Raises:
        GradientError: at a call, the result or an argument is no float tensor.

    Example:
        >>> jacobian(lambda x: x * x)(Tensor([1.0, 2.0])).tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """

    def derivatives(*args: Any) -> Any:
        chosen = [args[n] for n in _numbers(argnums, args)]
        for x in chosen:
            _check_float(x, "an argument")
        y, pull = vjp(lambda *primals: f(*_put(args, argnums, primals)), *chosen)
        _check_float(y, "the result")
        shape = y.static_shape("jacobian")
        rows = Tensor.eye(y.numel(), dtype=y.dtype, device=y.device).reshape(y.numel(), *shape)
        found = [g.reshape(*shape, *x.shape) for g, x in zip(vmap(pull)(rows), chosen, strict=True)]
        return found[0] if isinstance(argnums, int) else tuple(found)

    return derivatives


def hessian(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return the function that gives the second derivatives of `f`: (*result, *argument, *argument).

    Args:
        f: takes tensors and returns a float tensor.
        argnum: by which argument to differentiate.

    Raises:
        GradientError: at a call, the result or the argument is no float tensor.

    Example:
        >>> hessian(lambda x: (x * x * x).sum())(Tensor([1.0, 2.0])).tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    return jacobian(jacobian(f, argnum), argnum)


def _numbers(argnums: int | Sequence[int], args: Sequence[Any]) -> list[int]:
    numbers = [argnums] if isinstance(argnums, int) else list(argnums)
    for n in numbers:
        if not -len(args) <= n < len(args):
            raise TransformError(
                f"argnums={argnums} for a call with {len(args)} arguments. Pass numbers of positional ones."
            )
    return [n % len(args) for n in numbers]


def _put(args: Sequence[Any], argnums: int | Sequence[int], primals: Sequence[Any]) -> list[Any]:
    out = list(args)
    for n, primal in zip(_numbers(argnums, args), primals, strict=True):
        out[n] = primal
    return out


def _check_float(x: Any, what: str) -> None:
    if not isinstance(x, Tensor) or not is_float(x.dtype):
        raise GradientError(
            f"jacobian: {what} is {x!r:.80}, no float tensor. Cast it to a float dtype first."
        )


def _zeros(u: UOp) -> UOp:
    return u.const_like(0).reshape((1,) * len(u.shape)).expand(u.shape)


def _ones(x: Tensor) -> Tensor:
    u = graph_below(x)
    return tensor_of(u.const_like(1.0).reshape((1,) * len(u.shape)).expand(u.shape), x.device)


def _cotangents(results: Sequence[Tensor], gradients: Sequence[Any]) -> list[UOp | None]:
    given = _leaves_or_none(gradients)
    if len(given) != len(results):
        raise TransformError(
            f"vjp: {len(given)} gradients for {len(results)} results. Pass one for each, in the same form."
        )
    return [_fitting(g, y, "gradient", "result") for g, y in zip(given, results, strict=True)]


def _tangents(primals: Any, tangents: Any) -> list[UOp | None]:
    moving, given = leaves_of(primals), _leaves_or_none(tangents)
    if len(moving) != len(given):
        raise TransformError(
            f"jvp: {len(given)} tangents for {len(moving)} primals. Pass one for each, in the same form, "
            "None where it stands still."
        )
    return [_fitting(t, x, "tangent", "primal") for t, x in zip(given, moving, strict=True)]


def _leaves_or_none(tree: Any) -> list[Tensor | None]:
    if tree is None or isinstance(tree, Tensor):
        return [tree]
    if isinstance(tree, dict):
        tree = list(tree.values())  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    if not isinstance(tree, (list, tuple)):
        raise TransformError(f"{tree!r:.80} ({type(tree).__name__}) is no tensor. Pass tensors, or None.")
    return [leaf for item in tree for leaf in _leaves_or_none(item)]  # pyright: ignore[reportUnknownVariableType]


def _fitting(direction: Tensor | None, of: Tensor, what: str, role: str) -> UOp | None:
    if direction is None:
        return None
    if not is_float(of.dtype) or direction.dtype is not of.dtype:
        raise DtypeError(
            f"a {what} of {direction.dtype.name} for a {role} of {of.dtype.name}. Pass floats of the same "
            "dtype for floats, and None for integers and bools."
        )
    if direction.shape != of.shape:
        raise ShapeError(
            f"a {what} of shape {direction.shape} for a {role} of shape {of.shape}. They must be equal."
        )
    return graph_below(direction)
