"""All derivatives of a function at once, from a batch of directions."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from plugrad.dtype import is_float
from plugrad.errors import GradientError
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import fixed_shape
from plugrad.transforms.batching import vmap
from plugrad.transforms.derivatives import chosen, linearize, numbers, vjp
from plugrad.transforms.tree import tensors_in
from plugrad.tree import refill


def jacobian(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return the function that gives all derivatives of `f`: (*result, *argument) for each chosen argument.

    The rows come from one batch of reverse passes, so memory grows with the number of elements of the result;
    where the arguments have fewer, use `jacfwd`. `jacrev` is another name of this.

    Args:
        f: takes and returns float tensors, alone or in lists, tuples and dicts. For trees, each tensor of the
            result's tree becomes a tree of the argument's form.
        argnums: by which positional arguments to differentiate; several give a tuple.
        has_aux: `f` returns a pair; the second of it is returned behind the derivatives.

    Raises:
        GradientError: at a call, a result or an argument is no float tensor.
        ShapeError: a result has a symbolic size.
        TransformError: there is no such argument, or `f` returns no pair with `has_aux`.

    Example:
        >>> jacobian(lambda x: x * x)(Tensor([1.0, 2.0])).tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """

    def derivatives(*args: Any, **kwargs: Any) -> Any:
        primals = _primals(args, argnums, "jacobian")
        of_primals = _of_chosen(f, args, kwargs, argnums, "jacobian")
        y, pull, *extra = vjp(of_primals, *primals, has_aux=has_aux)
        results = _float_tensors(y, "jacobian", "the result")
        inputs = tensors_in(primals)

        def rows(number: int) -> Any:
            result = results[number]
            shape = fixed_shape(result.shape, "jacobian")

            def row(direction: Tensor) -> Any:
                flowing = [direction if i == number else None for i in range(len(results))]
                return tuple(tensors_in(pull(refill(y, Tensor, flowing))))

            unit = _units(result, shape)
            found = [g.reshape(*shape, *x.shape) for g, x in zip(vmap(row)(unit), inputs, strict=True)]
            return _formed(primals, argnums, found)

        made = refill(y, Tensor, [rows(number) for number in range(len(results))])
        return (made, *extra) if has_aux else made

    return derivatives


#: The name that PyTorch and JAX have for reverse mode.
jacrev = jacobian


def jacfwd(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return the function that gives all derivatives of `f`, as `jacobian` does, in forward mode.

    The columns come from one batch of tangents, so memory grows with the number of elements of the arguments.

    Args:
        f: takes and returns float tensors, alone or in lists, tuples and dicts.
        argnums: by which positional arguments to differentiate; several give a tuple.

    Raises:
        GradientError: at a call, a result or an argument is no float tensor.
        ShapeError: an argument has a symbolic size.
        TransformError: there is no such argument.

    Example:
        >>> jacfwd(lambda x: x.sum() * x)(Tensor([1.0, 2.0])).tolist()
        [[4.0, 1.0], [2.0, 5.0]]
    """

    def derivatives(*args: Any, **kwargs: Any) -> Any:
        primals = _primals(args, argnums, "jacfwd")
        y, push = linearize(_of_chosen(f, args, kwargs, argnums, "jacfwd"), *primals)
        results = _float_tensors(y, "jacfwd", "the result")
        inputs = tensors_in(primals)

        def columns(number: int) -> list[Tensor]:
            x = inputs[number]
            shape = fixed_shape(x.shape, "jacfwd")

            def column(direction: Tensor) -> Any:
                moving = [direction if i == number else None for i in range(len(inputs))]
                return tuple(tensors_in(push(*refill(primals, Tensor, moving))))

            found = vmap(column, out_axes=-1)(_units(x, shape))
            return [t.reshape(*r.shape, *shape) for t, r in zip(found, results, strict=True)]

        # by argument, then by result
        made = [columns(number) for number in range(len(inputs))]
        return refill(y, Tensor, [_formed(primals, argnums, found) for found in zip(*made, strict=True)])

    return derivatives


def hessian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return the function that gives the second derivatives of `f`: (*result, *argument, *argument).

    Where only their product with a vector is needed, `jvp(grad(f), (x,), (v,))` gives it without them.

    Args:
        f: takes and returns float tensors, alone or in lists, tuples and dicts.
        argnums: by which positional arguments to differentiate; several give a tuple of tuples.

    Raises:
        GradientError: at a call, a result or an argument is no float tensor.
        ShapeError: a result or an argument has a symbolic size.
        TransformError: there is no such argument.

    Example:
        >>> hessian(lambda x: (x * x * x).sum())(Tensor([1.0, 2.0])).tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    return jacobian(jacobian(f, argnums), argnums)


def _of_chosen(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: Any, argnums: int | Sequence[int], what: str
) -> Callable[..., Any]:
    return lambda *primals: f(*chosen(args, argnums, primals, what), **kwargs)


def _primals(args: tuple[Any, ...], argnums: int | Sequence[int], what: str) -> tuple[Any, ...]:
    primals = tuple([args[n] for n in numbers(argnums, args, what)])
    for primal in primals:
        _float_tensors(primal, what, "an argument")
    return primals


def _float_tensors(tree: Any, what: str, role: str) -> list[Tensor]:
    tensors = tensors_in(tree)
    found: list[Any] = [*tensors] or [tree]
    for leaf in found:
        if not isinstance(leaf, Tensor) or not is_float(leaf.dtype):
            raise GradientError(
                f"{what}: {role} is {leaf!r:.80}, no float tensor. Cast it to a float dtype first."
            )
    return tensors


def _units(like: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return each unit vector in the space of `like`: (elements, *shape)."""
    count = math.prod(shape)
    return Tensor.eye(count, dtype=like.dtype, device=like.device).reshape(count, *shape)


def _formed(primals: tuple[Any, ...], argnums: int | Sequence[int], found: Sequence[Tensor]) -> Any:
    made = refill(primals, Tensor, found)
    return made[0] if isinstance(argnums, int) else made
