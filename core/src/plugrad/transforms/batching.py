"""`vmap`: a function of one example, for many of them at once."""

from collections.abc import Callable
from typing import Any, Literal

from plugrad.autodiff import placeholder
from plugrad.autodiff.batch import Batch
from plugrad.dtype import dtypes
from plugrad.errors import ShapeError, TransformError
from plugrad.tensor import Tensor
from plugrad.tensor.create.random import Draw, current_draw, drawing_by, stream
from plugrad.tensor.graph_access import alive, gradient_in, graph_below, tensor_of
from plugrad.tensor.host.display import describe
from plugrad.tensor.shapes import Dim, is_one_of, one_axis, product, show
from plugrad.transforms.tree import only_tensors, spread, tensors_in
from plugrad.tree import refill
from plugrad.uop import UOp


def vmap(
    f: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    randomness: Literal["different", "same"] = "different",
    in_dims: Any = None,
    out_dims: Any = None,
) -> Callable[..., Any]:
    """Return the function that applies `f` to all examples along an axis at once.

    `f` runs once, on tensors without that axis whose values are not known yet, so it can neither read
    elements (`item`) nor assign to memory what depends on them. What it computes for one example becomes a
    graph for all; whatever does not depend on the example is computed once. Tensors that `f` uses without
    being passed are the same for all examples.

    Args:
        f: takes and returns tensors, alone or in lists, tuples and dicts. Keyword arguments are the same for
            all examples.
        in_axes: the examples' axis of each argument: one number for all arguments, or a tuple with an entry
            for each: a number, None for an argument that is the same for all examples, or lists, tuples and
            dicts of these in the argument's form.
        out_axes: where the results have that axis: one number for all, or a tree in the result's form; None
            for a result that is the same for all examples.
        randomness: "different": each example draws its own random numbers; the first draw in `f` gives
            example `i` what the `i`-th of as many calls in a row would draw. "same": all get the same.
        in_dims: PyTorch's name of `in_axes`.
        out_dims: and of `out_axes`.

    Raises:
        ShapeError: at a call, arguments disagree on the number of examples.
        AxisError: an argument has no such axis.
        TransformError: no argument has examples, the forms of axes and arguments differ, `f` assigns what
            depends on an example or leaves it in a `.grad`, or a result with `out_axes=None` depends on it.
        ScheduleError: `f` reads elements that depend on an example.

    Example:
        >>> dot = vmap(lambda x, y: (x * y).sum(), in_axes=(0, None))
        >>> dot(Tensor([[1, 2], [3, 4]]), Tensor([1, 10])).tolist()
        [21, 43]
    """
    if not is_one_of(randomness, ("different", "same")):
        raise TransformError(f'vmap: randomness={randomness!r:.60} is neither "different" nor "same".')
    in_axes = in_axes if in_dims is None else in_dims
    out_axes = out_axes if out_dims is None else out_dims

    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves = tensors_in(args)
        axes = spread(in_axes, args, "vmap")
        values = [
            None if axis is None else graph_below(x.movedim(one_axis(axis, x.ndim, "vmap: in_axes"), 0))
            for x, axis in zip(leaves, axes, strict=True)
        ]
        size = _size(values)
        examples: dict[UOp, UOp] = {}
        ones = [x if v is None else _example(x, v, examples) for x, v in zip(leaves, values, strict=True)]
        before = {id(t): gradient_in(t) for t in alive()}
        with drawing_by(_draws(size, examples) if randomness == "different" else current_draw()):
            out = f(*refill(args, Tensor, ones), **kwargs)
        results = only_tensors(out, "vmap")
        batch = Batch(size, examples)
        _check_left(batch, before, ones)
        places = spread(out_axes, out, "vmap")
        made = [_result(batch, y, place) for y, place in zip(results, places, strict=True)]
        return refill(out, Tensor, made)

    return batched


def _size(values: list[UOp | None]) -> int | UOp:
    sizes = list(dict.fromkeys(v.shape[0] for v in values if v is not None))
    if not sizes:
        raise TransformError(
            "vmap: no argument has examples. Give at least one tensor an axis in in_axes, or call the "
            "function itself."
        )
    if len(sizes) > 1:
        counts = " and ".join(show((size,))[1:-2] for size in sizes)
        raise ShapeError(f"vmap: arguments have {counts} examples. They must have equally many.")
    return sizes[0]


def _example(x: Tensor, values: UOp, examples: dict[UOp, UOp]) -> Tensor:
    """Return the tensor that stands for any one of the examples `values` of `x`."""
    one = placeholder(values.shape[1:], values.dtype, values.device or x.device)
    examples[one] = values
    return tensor_of(one, x.device, x.requires_grad)


def _draws(size: Dim, examples: dict[UOp, UOp]) -> Draw:
    """Return a source of random bits for all examples and for any one."""
    outer = current_draw()

    def draw(count: Dim, device: str) -> UOp:
        one = placeholder((count,), dtypes.uint64, device)
        with drawing_by(outer):
            examples[one] = stream.draw(product((size, count)), device).reshape((size, count))
        return one

    return draw


def _check_left(batch: Batch, before: dict[int, Tensor | None], ones: list[Tensor]) -> None:
    """Refuse gradients that depend on an example and were left in tensors outside."""
    own = {id(t) for t in ones}
    for t in alive():
        grad = gradient_in(t)
        if grad is None or grad is before.get(id(t)) or id(t) in own:
            continue
        if batch.depends(graph_below(grad)):
            t.grad = before.get(id(t))
            raise TransformError(
                f"vmap: backward() inside of the function left a gradient of one example in {describe(t)}. "
                "Use gradient(), or pass the tensor as an argument and use grad()."
            )


def _result(batch: Batch, y: Tensor, place: Any) -> Tensor:
    if place is None:
        if batch.depends(graph_below(y)):
            raise TransformError(
                f"vmap: out_axes is None for a result of shape {show(y.shape)} that depends on the example. "
                "Give it an axis."
            )
        return y
    place = one_axis(place, y.ndim + 1, "vmap: out_axes")
    (values,) = batch.apply((graph_below(y),))
    return tensor_of(values, y.device, y.requires_grad).movedim(0, place)
