"""By which names a jitted function finds the tensors outside that it uses.

A replay does not run the function. That a name stands for another tensor by now is found by going the way
again that led from the function to the one that was used: variables that its code names, attributes, items.
"""

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from operator import getitem
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from plugrad._frozen import frozen
from plugrad._util import slots_in
from plugrad.tensor import Tensor

__all__ = ["Call", "Names", "names_of"]

#: A function with its arguments and keyword arguments.
Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
# Gets one object from another and a key. All are functions of C: the way is gone at each replay.
_Read = Callable[[Any, Any], Any]
# unlike `getitem` it adds nothing to a dict that makes what is missing
_get: _Read = dict[Any, Any].get
# From one object to the next that is looked into; objects between them, such as a `__dict__`, are passed.
_Way = tuple[tuple[_Read, Any], ...]

# What is looked into in search of tensors, at most: who has more than these has data among them.
_MOST_OBJECTS = 20_000
# Whose functions and classes name no tensors of users. Objects of classes of Python's library may.
_LIBRARIES = frozenset({"plugrad", "numpy", "torch"})
_NOT_OF_USERS = _LIBRARIES | sys.stdlib_module_names
_NOT_LOOKED_INTO = (int, float, complex, str, bytes, type(None), Tensor)


@frozen
class Names:
    """Ways from a call to tensors, as a tree. Objects have numbers; that of the call is 0.

    Attributes:
        steps: for each object from number 1 on, the number of the one that it is got from, and how.
        ends: for each tensor, the same, and the tensor.
    """

    steps: tuple[tuple[int, _Read, Any], ...]
    ends: "tuple[tuple[int, _Read, Any, weakref.ref[Tensor]], ...]"

    def still_lead(self, call: Call) -> bool:
        """Say whether they lead from `call` to the tensors that they led to."""
        objects: list[Any] = [call]
        try:
            for number, read, key in self.steps:
                objects.append(read(objects[number], key))
            return all([read(objects[number], key) is tensor() for number, read, key, tensor in self.ends])
        except (LookupError, AttributeError, TypeError, ValueError):
            # something on the way has other attributes, items or none
            return False


def names_of(call: Call, tensors: Iterable[Tensor]) -> Names:
    """Return the names that lead from `call` to some of `tensors`.

    Each object on the way is looked into once, by the shortest way; a tensor has all names that these have.
    """
    wanted = set(map(id, tensors))
    # from each object to the one above it, and the way between them
    above: dict[int, tuple[int, _Way]] = {}
    found: list[tuple[int, _Way, Tensor]] = []
    held: list[Any] = [call]
    words: set[str] = set()
    for item in held:
        for way, child in _ways_from(item, words):
            if id(child) in wanted:
                found.append((id(item), way, child))
            elif not isinstance(child, _NOT_LOOKED_INTO) and id(child) not in above:
                above[id(child)] = id(item), way
                held.append(child)
        if len(held) > _MOST_OBJECTS:
            break
    return _tree(id(call), above, found)


def _tree(root: int, above: dict[int, tuple[int, _Way]], found: list[tuple[int, _Way, Tensor]]) -> Names:
    numbers: dict[tuple[int, _Read, Any], int] = {}
    ends: list[tuple[int, _Read, Any, weakref.ref[Tensor]]] = []
    for item, last, tensor in found:
        ways = [last]
        while item != root:
            item, way = above[item]
            ways.append(way)
        *steps, (read, key) = [step for way in reversed(ways) for step in way]
        number = 0
        for step in steps:
            number = numbers.setdefault((number, *step), len(numbers) + 1)
        ends.append((number, read, key, weakref.ref(tensor)))
    return Names(tuple(numbers), tuple(ends))


def _ways_from(item: object, words: set[str]) -> Iterator[tuple[_Way, Any]]:
    """Give the objects next to one, and the ways to them.

    `words` are the names in the code of all functions so far; those of this one are added.
    """
    if isinstance(item, FunctionType):
        if not _is_foreign(item):
            yield from _from_function(item, words)
    elif isinstance(item, MethodType):
        yield from _attributes(item, ("__func__", "__self__"))
    elif isinstance(item, partial):
        yield from _attributes(cast("object", item), ("func", "args", "keywords"))
    elif isinstance(item, ModuleType):
        if not _is_foreign(item):
            yield from _variables(item, "__dict__", words)
    elif isinstance(item, type):
        if not _is_foreign(item):
            yield from _variables(item, "__dict__", tuple(vars(item)))
            yield from _attributes(item, ("__bases__",))
    elif isinstance(item, dict):
        items = tuple(islice(cast("dict[Any, Any]", item).items(), _MOST_OBJECTS))
        yield from ((((_get, key),), value) for key, value in items)
    elif isinstance(item, (list, tuple, deque)):
        values = tuple(islice(cast("Iterable[Any]", item), _MOST_OBJECTS))
        yield from ((((getitem, place),), value) for place, value in enumerate(values))
    else:
        yield from _from_object(item)


def _from_function(function: FunctionType, words: set[str]) -> Iterator[tuple[_Way, Any]]:
    named = _words_in(function.__code__)
    words |= named
    yield from _variables(function, "__globals__", named)
    for place, cell in enumerate(function.__closure__ or ()):
        try:
            way = (getattr, "__closure__"), (getitem, place), (getattr, "cell_contents")
            yield way, cell.cell_contents
        except ValueError:
            # nothing was assigned to it so far
            continue
    yield from _attributes(function, ("__defaults__", "__kwdefaults__"))


def _from_object(item: object) -> Iterator[tuple[_Way, Any]]:
    cls: type = type(item)
    if hasattr(item, "__dict__"):
        is_model = not _is_foreign(cls, _LIBRARIES) or cls.__module__.startswith("plugrad.nn")
        # of what wraps a function only that
        yield from _variables(item, "__dict__", tuple(vars(item)) if is_model else ("__wrapped__",))
    if not _is_foreign(cls):
        yield from _attributes(item, (name for base in cls.__mro__ for name in slots_in(base)))
        yield ((getattr, "__class__"),), cls


def _variables(item: object, where: str, names: Iterable[str]) -> Iterator[tuple[_Way, Any]]:
    variables = getattr(item, where)
    read = _get if isinstance(variables, dict) else getitem
    for name in names:
        if name in variables:
            yield ((getattr, where), (read, name)), variables[name]


def _attributes(item: object, names: Iterable[str]) -> Iterator[tuple[_Way, Any]]:
    for name in names:
        value = getattr(item, name, None)
        if value is not None:
            yield ((getattr, name),), value


def _words_in(code: CodeType) -> set[str]:
    words = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            words |= _words_in(constant)
    return words


def _is_foreign(item: Any, to: frozenset[str] = _NOT_OF_USERS) -> bool:
    name = item.__name__ if isinstance(item, ModuleType) else item.__module__
    return isinstance(name, str) and name.partition(".")[0] in to
