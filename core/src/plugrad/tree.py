"""Trees of Python objects: lists, tuples and dicts of leaves, and anything with attributes.

The JIT, the transforms of functions and the state of models walk trees of tensors with these functions.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any, TypeVar, cast

from plugrad._util import slots_in

__all__ = ["HOLE", "branches", "freeze", "iter_leaves", "map_leaves", "named_leaves", "refill"]

T = TypeVar("T")


class _Hole:
    """The place of a leaf in a tree that is kept without its leaves."""


#: Put by `refill` for leaves that are not to be kept alive; another `refill` fills it.
HOLE = _Hole()


def branches(tree: Any) -> dict[Any, Any] | None:
    """Return the items of a list, tuple or dict by key, None for a leaf.

    Example:
        >>> branches(("a", ["b"])), branches("a")
        ({0: 'a', 1: ['b']}, None)
    """
    if isinstance(tree, (list, tuple)):
        return dict(enumerate(cast("list[Any]", tree)))
    if isinstance(tree, Mapping):
        return dict(cast("Mapping[Any, Any]", tree))
    return None


def iter_leaves(tree: Any) -> Iterator[Any]:
    """Yield the leaves of a tree, in order.

    Example:
        >>> list(iter_leaves([1, {"a": (2, "text")}]))
        [1, 2, 'text']
    """
    items = branches(tree)
    if items is None:
        yield tree
        return
    for item in items.values():
        yield from iter_leaves(item)


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """Return a tree of the same form with `function(leaf)` for each leaf.

    Named tuples keep their class, and mappings become dicts.

    Example:
        >>> map_leaves(str, [1, {"a": (2,)}])
        ['1', {'a': ('2',)}]
    """
    if isinstance(tree, (list, tuple)):
        items = [map_leaves(function, item) for item in cast("list[Any]", tree)]
        kind: Any = type(cast("object", tree))
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    if isinstance(tree, Mapping):
        pairs = cast("Mapping[Any, Any]", tree).items()
        return {key: map_leaves(function, item) for key, item in pairs}
    return function(tree)


def refill(tree: Any, kind: type, values: Iterable[Any]) -> Any:
    """Replace each leaf of a class, and each `HOLE`, by the next of `values`.

    Example:
        >>> refill([1, {"a": ("text", HOLE)}], int, [7, 8])
        [7, {'a': ('text', 8)}]
    """
    each = iter(values)
    return map_leaves(lambda leaf: next(each) if isinstance(leaf, (kind, _Hole)) else leaf, tree)


def freeze(function: Callable[[Any], Hashable], tree: Any) -> Hashable:
    """Return a hashable key of a tree's form, with `function(leaf)` for each leaf.

    Example:
        >>> freeze(str, [1, {"a": 2}]) == freeze(str, ["1", {"a": "2"}]) != freeze(str, (1, {"a": 2}))
        True
    """
    if isinstance(tree, (list, tuple)):
        items = cast("list[Any]", tree)
        return type(items), *[freeze(function, item) for item in items]
    if isinstance(tree, dict):
        pairs = cast("dict[Any, Any]", tree)
        return type(pairs), *[(freeze(function, key), freeze(function, item)) for key, item in pairs.items()]
    return function(tree)


def named_leaves(
    root: object, kind: type[T] | tuple[type[T], ...], prefix: str = "", *, below: bool = False
) -> Iterator[tuple[str, T]]:
    """Yield the objects of a class in any object, with their paths.

    Looks into attributes, slots, lists, tuples, deques and dicts, in order, but not into what it yields. What
    contains itself is looked into once on each path. Nothing is called and no property read.

    Args:
        root: the object.
        kind: the class, or several.
        prefix: what paths begin with.
        below: look into `root` also where it is of the class itself.

    Example:
        >>> list(named_leaves({"a": [1, ("text", 2)]}, int))
        [('a.0', 1), ('a.1.1', 2)]
    """
    if isinstance(root, kind) and not below:
        yield prefix, root
        return
    # no recursion: a list in a list, and so on, may have more levels than the stack of Python
    levels = [(prefix, root, _items_and_attributes(root))]
    above = {id(root)}
    while levels:
        path, item, parts = levels[-1]
        found = next(parts, None)
        if found is None:
            above.discard(id(item))
            levels.pop()
            continue
        name, part = found
        where = f"{path}.{name}" if path else str(name)
        if isinstance(part, kind):
            yield where, part
        elif id(part) not in above:
            above.add(id(part))
            levels.append((where, part, _items_and_attributes(part)))


def _items_and_attributes(item: object) -> Iterator[tuple[object, object]]:
    if isinstance(item, (type, ModuleType, FunctionType)):
        return
    yield from _items(item)
    for cls in reversed(type(item).__mro__):
        yield from _in_slots(item, cls)
    if hasattr(item, "__dict__"):
        yield from vars(item).items()


def _items(item: object) -> Iterator[tuple[object, object]]:
    if isinstance(item, Mapping):
        yield from cast("Mapping[object, object]", item).items()
    elif isinstance(item, (list, tuple, deque)):
        yield from enumerate(cast("Iterable[object]", item))


def _in_slots(item: object, cls: type) -> Iterator[tuple[object, object]]:
    # data of our own, such as graphs, have no tensors of models, and very many paths
    if cls.__module__.partition(".")[0] == "plugrad":
        return
    for name in slots_in(cls):
        try:
            yield name, vars(cls)[name].__get__(item)
        except AttributeError:
            # never set
            continue
