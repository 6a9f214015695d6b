"""Arguments and results of functions as trees of lists, tuples and dicts, of tensors at last."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from plugrad.errors import TransformError
from plugrad.tensor import Tensor

__all__ = ["form_of", "leaves_of", "mapped", "only_tensors", "rebuilt", "spread"]


class _Leaf:
    """The place of a tensor in a tree that is kept without its tensors."""


_LEAF = _Leaf()


def form_of(tree: Any) -> Any:
    """Return a tree without its tensors, for `rebuilt`.

    Example:
        >>> rebuilt(form_of([Tensor([1]), 2]), iter("x"))
        ['x', 2]
    """
    return mapped(lambda _: _LEAF, tree)


def leaves_of(tree: Any) -> list[Tensor]:
    """Return the tensors of a tree, in order.

    Example:
        >>> len(leaves_of([Tensor([1]), {"a": (Tensor([2]), "text")}]))
        2
    """
    out: list[Tensor] = []
    mapped(out.append, tree)
    return out


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """Return a tree with what `function` gives for each tensor; everything else stays as it is."""
    if isinstance(tree, (Tensor, _Leaf)):
        return function(tree)
    if isinstance(tree, (list, tuple)):
        items = [mapped(function, item) for item in cast("list[Any]", tree)]
        kind: Any = type(cast("object", tree))
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    if isinstance(tree, Mapping):
        pairs = cast("Mapping[Any, Any]", tree).items()
        return {key: mapped(function, item) for key, item in pairs}
    return tree


def rebuilt(tree: Any, tensors: Iterator[Any]) -> Any:
    """Return a tree, or the form of one, in which each tensor is the next one of `tensors`."""
    return mapped(lambda _: next(tensors), tree)


def only_tensors(tree: Any, what: str) -> list[Tensor]:
    """Return the tensors of what a function returned.

    Raises:
        TransformError: there is none, or something else is among them.
    """
    for leaf in _others(tree):
        raise TransformError(
            f"{what}: the function returned {leaf!r:.80} ({type(leaf).__name__}). Return tensors, alone or "
            "in lists, tuples and dicts."
        )
    found = leaves_of(tree)
    if not found:
        raise TransformError(f"{what}: the function returned no tensor. Return at least one.")
    return found


def _others(tree: Any) -> Iterator[Any]:
    if isinstance(tree, (list, tuple)):
        for item in cast("list[Any]", tree):
            yield from _others(item)
    elif isinstance(tree, Mapping):
        for item in cast("Mapping[Any, Any]", tree).values():
            yield from _others(item)
    elif not isinstance(tree, Tensor):
        yield tree


def spread(prefix: Any, tree: Any, what: str) -> list[Any]:
    """Return the entry of `prefix` for each tensor of `tree`: one for all below it, or a tree of entries.

    Raises:
        TransformError: `prefix` branches where `tree` does not.

    Example:
        >>> x = Tensor([1])
        >>> spread((0, None), (x, [x, x]), "vmap")
        [0, None, None]
    """
    if isinstance(prefix, (list, tuple, Mapping)):
        parts = _children(cast("Any", prefix))
        branches = _children(tree)
        if parts is None or branches is None or parts.keys() != branches.keys():
            raise TransformError(
                f"{what}: axes {prefix!r} for a tree of another form, {type(tree).__name__}. Give one axis "
                "for all of it, or axes in the same lists, tuples and dicts."
            )
        return [axis for key in branches for axis in spread(parts[key], branches[key], what)]
    return [prefix] * len(leaves_of(tree))


def _children(tree: Any) -> dict[Any, Any] | None:
    if isinstance(tree, (list, tuple)):
        return dict(enumerate(cast("list[Any]", tree)))
    if isinstance(tree, Mapping):
        return dict(cast("Mapping[Any, Any]", tree))
    return None
