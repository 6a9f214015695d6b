"""Derivatives of functions along directions: reverse and forward mode, and gradients.

A function here gives the same for the same arguments: what it computes by the values of tensors (`item`) is
taken as constant. The argument by which it is differentiated counts as itself only: the same tensor used
inside without being passed is a constant.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from plugrad.autodiff import pull_back
from plugrad.autodiff.forward import push_forward
from plugrad.dtype import is_float, is_inexact
from plugrad.errors import GradientError, TransformError
from plugrad.tensor import Tensor
from plugrad.tensor.custom_gradient import node_of_direction
from plugrad.tensor.graph_access import graph_below
from plugrad.transforms.tree import gradients_needed, map_tensors, mark, only_tensors, released, tensors_in
from plugrad.tree import iter_leaves, refill
from plugrad.uop import UOp


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return `f(*primals)`, and the function from gradients of the result to those of the primals.

    Args:
        f: takes and returns tensors, alone or in lists, tuples and dicts.
        primals: its arguments.
        has_aux: `f` returns a pair; the second of it is returned behind the function, as it is.

    Returns:
        The result, and a function that takes gradients in the result's form (None where none flows) and
        returns a tuple with the gradients of each primal in its form: zeros where it does not count, None
        for integers and bools.

    Raises:
        TransformError: `f` returns something else than tensors, or no pair with `has_aux`; later, there are
            more or fewer gradients than results.
        GradientError: later, an operation on the way has no derivative.
        ShapeError, DtypeError, DeviceError: later, a gradient does not fit its result.

    Example:
        >>> y, pull = vjp(lambda x: x * x, Tensor([1.0, 3.0]))
        >>> pull(Tensor([1.0, 10.0]))[0].tolist()
        [2.0, 60.0]
    """
    needed = gradients_needed()
    marks = map_tensors(mark, primals)
    inputs = tensors_in(marks)
    nodes = [graph_below(x) for x in inputs]
    out, aux = _with_aux(f(*marks), has_aux, "vjp")
    results = only_tensors(out, "vjp")

    def pull(*gradients: Any) -> tuple[Any, ...]:
        given = _matched(results, gradients, "vjp", "gradient", "result")
        known = needed | {graph_below(g) for g in tensors_in(gradients) if g.requires_grad}
        seeds: dict[UOp, UOp] = {}
        for y, g in zip(results, given, strict=True):
            if g is not None:
                node = graph_below(y)
                seeds[node] = seeds[node] + g if node in seeds else g
        found = pull_back(seeds, [u for u in nodes if is_inexact(u.dtype)])
        made = [
            released(found.get(u, _zeros(u)), x.device, known) if is_inexact(u.dtype) else None
            for u, x in zip(nodes, inputs, strict=True)
        ]
        return refill(marks, Tensor, made)

    y = _released(out, needed)
    return (y, pull, _released(aux, needed)) if has_aux else (y, pull)


def grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return the function that gives the gradient of `f`, which returns one number.

    Args:
        f: takes tensors, alone or in lists, tuples and dicts, and returns a float tensor of one element.
        argnums: by which positional arguments to differentiate; several give a tuple. Each gradient has the
            form of its argument, with None for integers and bools.
        has_aux: `f` returns a pair; the second of it is returned behind the gradient.

    Raises:
        GradientError: at a call, the result is no float tensor of one element, an argument to differentiate
            by holds no floats, or an operation on the way has no derivative.
        TransformError: at a call, there is no such argument, or `f` returns no pair with `has_aux`.

    Example:
        >>> grad(lambda x: (x * x * x).sum())(Tensor([1.0, 2.0])).tolist()
        [3.0, 12.0]
    """

    def gradient(*args: Any, **kwargs: Any) -> Any:
        _, aux, gradients = _gradient(f, argnums, has_aux, args, kwargs, "grad")
        return (gradients, aux) if has_aux else gradients

    return gradient


def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return the function that gives what `f` returns, and the gradient: see `grad`.

    Args:
        f: takes tensors, alone or in lists, tuples and dicts, and returns a float tensor of one element.
        argnums: by which positional arguments to differentiate; several give a tuple.
        has_aux: `f` returns a pair, which is returned as it is before the gradient.

    Raises:
        GradientError: at a call, the result is no float tensor of one element, an argument to differentiate
            by holds no floats, or an operation on the way has no derivative.
        TransformError: at a call, there is no such argument, or `f` returns no pair with `has_aux`.

    Example:
        >>> value, gradient = value_and_grad(lambda x: (x * x).sum())(Tensor([1.0, 2.0]))
        >>> value.item(), gradient.tolist()
        (5.0, [2.0, 4.0])
    """

    def both(*args: Any, **kwargs: Any) -> Any:
        value, aux, gradients = _gradient(f, argnums, has_aux, args, kwargs, "value_and_grad")
        return ((value, aux) if has_aux else value), gradients

    return both


def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: bool = False
) -> Any:
    """Return `f(*primals)`, and how it changes as the primals move along `tangents`.

    Args:
        f: takes and returns tensors, alone or in lists, tuples and dicts.
        primals: its arguments.
        tangents: their directions, in the same form, shapes and dtypes; None for a tensor that stands still,
            as integers and bools do.
        has_aux: `f` returns a pair; the second of it is returned behind the tangent, as it is.

    Returns:
        The result and its tangent, in the same form: zeros where nothing moves, and for integers and bools.

    Raises:
        ShapeError: a tangent has another shape than its primal.
        DtypeError: it has another dtype, or moves integers.
        DeviceError: it lives on another device.
        GradientError: an operation on the way has no derivative.
        TransformError: forms differ, or `f` returns something else than tensors.

    Example:
        >>> y, moved = jvp(lambda x: x * x, (Tensor([3.0, 4.0]),), (Tensor([1.0, 0.5]),))
        >>> y.tolist(), moved.tolist()
        ([9.0, 16.0], [6.0, 4.0])
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (list, tuple)):
            raise TransformError(
                f"jvp: {name} is {given!r:.80} ({type(given).__name__}). Pass a tuple with one for each "
                "argument of the function."
            )
    moving = _matched(tensors_in(tuple(primals)), tuple(tangents), "jvp", "tangent", "primal")
    y, push, aux = _linearized(f, tuple(primals), has_aux, "jvp")
    return (y, push(moving), aux) if has_aux else (y, push(moving))


def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return `f(*primals)`, and the function from tangents of the primals to that of the result.

    `f` runs once, however many tangents are pushed through it: see `jvp`.

    Args:
        f: takes and returns tensors, alone or in lists, tuples and dicts.
        primals: its arguments.

    Raises:
        TransformError: `f` returns something else than tensors; later, forms differ.
        GradientError: later, an operation on the way has no derivative.
        ShapeError, DtypeError, DeviceError: later, a tangent does not fit its primal.

    Example:
        >>> y, push = linearize(lambda x: x * x, Tensor([3.0, 4.0]))
        >>> push(Tensor([1.0, 0.0])).tolist(), push(Tensor([0.0, 1.0])).tolist()
        ([6.0, 0.0], [0.0, 8.0])
    """
    y, push, _ = _linearized(f, primals, False, "linearize")
    inputs = tensors_in(primals)

    def pushed(*tangents: Any) -> Any:
        also_needed = {graph_below(t) for t in tensors_in(tangents) if t.requires_grad}
        return push(_matched(inputs, tangents, "linearize", "tangent", "primal"), also_needed)

    return y, pushed


def _linearized(
    f: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool, what: str
) -> tuple[Any, Callable[..., Any], Any]:
    needed = gradients_needed()
    marks = map_tensors(mark, primals)
    nodes = [graph_below(x) for x in tensors_in(marks)]
    out, aux = _with_aux(f(*marks), has_aux, what)
    results = only_tensors(out, what)
    values = [graph_below(y) for y in results]

    def push(directions: Sequence[UOp | None], also_needed: AbstractSet[UOp] = frozenset()) -> Any:
        known = needed | also_needed
        moving = {u: t for u, t in zip(nodes, directions, strict=True) if t is not None}
        found = push_forward(values, moving)
        moved = [_zeros(u) if t is None else t for u, t in zip(values, found, strict=True)]
        pairs = zip(results, moved, strict=True)
        return refill(out, Tensor, [released(t, y.device, known) for y, t in pairs])

    return _released(out, needed), push, _released(aux, needed)


def _gradient(
    f: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    what: str,
) -> tuple[Any, Any, Any]:
    def one_number(*primals: Any) -> Any:
        out, aux = _with_aux(f(*chosen(args, argnums, primals, what), **kwargs), has_aux, what)
        if not isinstance(out, Tensor) or not is_float(out.dtype) or out.numel() != 1:
            raise GradientError(
                f"{what}: the function returned {out!r:.80}. It has to return a float tensor of one "
                "element: reduce it with .sum() or .mean(), or use jacobian()."
            )
        return out, aux

    primals = [args[n] for n in numbers(argnums, args, what)]
    for primal in primals:
        if not any(is_inexact(x.dtype) for x in tensors_in(primal)):
            raise GradientError(
                f"{what}: the argument {primal!r:.80} holds no float tensors, so there is no gradient by it. "
                "Pass Tensor(...) of a float dtype, or leave it out of argnums."
            )
    value, pull, aux = vjp(one_number, *primals, has_aux=True)
    found = pull(value.ones_like())
    return value, aux, found[0] if isinstance(argnums, int) else found


def _with_aux(returned: Any, has_aux: bool, what: str) -> tuple[Any, Any]:
    if not has_aux:
        return returned, None
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:  # pyright: ignore[reportUnknownArgumentType]
        raise TransformError(
            f"{what}: has_aux=True, and the function returned {returned!r:.80}, which is no pair. Return "
            "(result, anything)."
        )
    pair: Any = returned  # pyright: ignore[reportUnknownVariableType]
    return pair[0], pair[1]


def _released(tree: Any, needed: set[UOp]) -> Any:
    return map_tensors(lambda y: released(graph_below(y), y.device, needed), tree)


def numbers(argnums: int | Sequence[int], args: Sequence[Any], what: str) -> list[int]:
    """Return the numbers of the arguments that are meant, counted from the front.

    Raises:
        TransformError: there is no such argument, or one is named twice.
    """
    given: Any = list(argnums) if isinstance(argnums, (tuple, list)) else [argnums]
    for n in given:
        if not isinstance(n, int) or isinstance(n, bool) or not -len(args) <= n < len(args):
            raise TransformError(
                f"{what}: argnums={argnums!r} for a call with {len(args)} arguments. Pass numbers of "
                "positional ones."
            )
    found = [n % len(args) for n in given]
    if len(set(found)) != len(found) or not found:
        raise TransformError(f"{what}: argnums={argnums!r} names an argument twice, or none. Name each once.")
    return found


def chosen(args: Sequence[Any], argnums: int | Sequence[int], primals: Sequence[Any], what: str) -> list[Any]:
    """Return `args` with `primals` in the places that `argnums` names."""
    out = list(args)
    for n, primal in zip(numbers(argnums, args, what), primals, strict=True):
        out[n] = primal
    return out


def _matched(tensors: Sequence[Tensor], tree: Any, what: str, role: str, of: str) -> list[UOp | None]:
    """Return the gradient or tangent of each tensor, None where there is none."""
    leaves = list(iter_leaves(tree))
    if len(leaves) != len(tensors):
        raise TransformError(
            f"{what}: {len(leaves)} {role}s for {len(tensors)} {of}s. Pass one for each, in the same form, "
            "None for nothing."
        )
    return [
        None if given is None else node_of_direction(given, graph_below(x), f"{what}: a {role}", f"a {of}")
        for given, x in zip(leaves, tensors, strict=True)
    ]


def _zeros(u: UOp) -> UOp:
    return u.const_like(0).spread(u.shape)
