"""The tensors in arguments and results of functions: trees of lists, tuples and dicts."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from plugrad.autodiff import marked
from plugrad.dtype import is_inexact
from plugrad.errors import TransformError
from plugrad.tensor import Tensor
from plugrad.tensor.graph_access import alive, graph_below, tensor_of
from plugrad.tree import branches, iter_leaves, map_leaves
from plugrad.uop import UOp


def tensors_in(tree: Any) -> list[Tensor]:
    """Return the tensors of a tree, in order.

    Example:
        >>> len(tensors_in([Tensor([1]), {"a": (Tensor([2]), "text")}]))
        2
    """
    return [leaf for leaf in iter_leaves(tree) if isinstance(leaf, Tensor)]


def map_tensors(function: Callable[[Tensor], Any], tree: Any) -> Any:
    """Return a tree with `function(tensor)` for each tensor; everything else stays as it is."""
    return map_leaves(lambda leaf: function(leaf) if isinstance(leaf, Tensor) else leaf, tree)


def only_tensors(tree: Any, what: str) -> list[Tensor]:
    """Return the tensors of a function's result."""
    found = list(iter_leaves(tree))
    for leaf in found:
        if not isinstance(leaf, Tensor):
            raise TransformError(
                f"{what}: the function returned {leaf!r:.80} ({type(leaf).__name__}). Return tensors, alone "
                "or in lists, tuples and dicts."
            )
    if not found:
        raise TransformError(f"{what}: the function returned no tensor. Return at least one.")
    return found


def spread(prefix: Any, tree: Any, what: str) -> list[Any]:
    """Return for each tensor of `tree` the entry of `prefix` above it.

    Raises:
        TransformError: `prefix` branches where `tree` does not.

    Example:
        >>> x = Tensor([1])
        >>> spread((0, None), (x, [x, x]), "vmap")
        [0, None, None]
    """
    if isinstance(prefix, (list, tuple, Mapping)):
        axes, items = branches(cast("Any", prefix)), branches(tree)
        if axes is None or items is None or axes.keys() != items.keys():
            raise TransformError(
                f"{what}: axes {prefix!r} for a tree of another form, {type(tree).__name__}. Give one axis "
                "for all of it, or axes in the same lists, tuples and dicts."
            )
        return [axis for key in items for axis in spread(axes[key], items[key], what)]
    return [prefix] * len(tensors_in(tree))


def mark(x: Tensor) -> Tensor:
    """Return a tensor of floats as an argument distinct from the same tensor elsewhere.

    Realized inside of the function, it and what is computed from it keep their history.
    """
    if not is_inexact(x.dtype):
        return x
    return tensor_of(marked(graph_below(x)), x.device, tracked=True)


def gradients_needed() -> set[UOp]:
    """Return the nodes of all tensors that require a gradient."""
    return {graph_below(t) for t in alive() if t.requires_grad}


def released(uop: UOp, device: str, needed: Iterable[UOp]) -> Tensor:
    """Return the tensor of a result, which requires a gradient if its inputs did."""
    known = frozenset(needed)
    tracked = bool(known) and not known.isdisjoint(uop.toposort())
    return tensor_of(uop, device, tracked)
