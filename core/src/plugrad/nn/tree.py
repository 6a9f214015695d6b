"""The tensors of any tree of objects, each with the path that leads to it."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import cast

from plugrad._util import slots_in
from plugrad.tensor import Tensor

__all__ = ["named_tensors"]

_Parts = Iterator[tuple[object, object]]


def named_tensors(model: object, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors in attributes, slots, lists, tuples, deques and dicts, in order, by their paths.

    Of an array of complex numbers 0 is the real part, and 1 the imaginary one. What contains itself is looked
    into once on each path. Nothing is called and no property read.

    Example:
        >>> [name for name, _ in named_tensors({"a": [Tensor([1.0]), (Tensor([2.0]),)]})]
        ['a.0', 'a.1.0']
    """
    if isinstance(model, Tensor):
        yield prefix, model
        return
    # no recursion: a list in a list, and so on, may have more levels than the stack of Python
    levels: list[tuple[str, object, _Parts]] = [(prefix, model, _parts(model))]
    above = {id(model)}
    while levels:
        path, item, parts = levels[-1]
        found = next(parts, None)
        if found is None:
            above.discard(id(item))
            levels.pop()
            continue
        name, part = found
        where = f"{path}.{name}" if path else str(name)
        if isinstance(part, Tensor):
            yield where, part
        elif id(part) not in above:
            above.add(id(part))
            levels.append((where, part, _parts(part)))


def _parts(item: object) -> _Parts:
    if isinstance(item, (type, ModuleType, FunctionType)):
        return
    yield from _items(item)
    for cls in reversed(type(item).__mro__):
        yield from _in_slots(item, cls)
    if hasattr(item, "__dict__"):
        yield from vars(item).items()


def _items(item: object) -> _Parts:
    if isinstance(item, Mapping):
        yield from cast("Mapping[object, object]", item).items()
    elif isinstance(item, (list, tuple, deque)):
        yield from enumerate(cast("Iterable[object]", item))


def _in_slots(item: object, cls: type) -> _Parts:
    # data of our own, such as graphs, have no tensors of models, and very many paths
    if cls.__module__.partition(".")[0] == "plugrad":
        return
    for name in slots_in(cls):
        try:
            yield name, vars(cls)[name].__get__(item)
        except AttributeError:
            # never set
            continue
