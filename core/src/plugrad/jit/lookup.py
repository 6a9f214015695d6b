"""Look for what the names in the code of a jitted function stand for."""

import sys
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from operator import getitem, length_hint
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from plugrad._util import slots_in
from plugrad.jit.names import PLAIN, Call, Names, Path, Read
from plugrad.tensor import Tensor
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

__all__ = ["names_of"]

# unlike `getitem` it adds nothing to a dict that makes what is missing
_get: Read = dict[Any, Any].get
# unlike `getattr` it runs no `__getattr__`
_attribute: Read = object.__getattribute__
# From one object to the next that is looked into; objects between them, such as a `__dict__`, are passed.
_Way = tuple[tuple[Read, Any], ...]

# What is looked into in search of tensors, at most: who has more than these has data among them.
_MOST_OBJECTS = 20_000
# Whose functions and classes name no tensors of users. Objects of classes of Python's library may.
_LIBRARIES = frozenset({"plugrad", "numpy", "torch"})
_NOT_OF_USERS = _LIBRARIES | sys.stdlib_module_names
# Those with tensors among them may have more of them by the next call.
_GROWING = frozenset({list, dict, deque})
_VARIABLES = frozenset({Ops.BIND, Ops.DEFINE_VAR})
_NOT_LOOKED_INTO = (*PLAIN, bytes, UOp, Tensor)


def names_of(call: Call, tensors: Iterable[Tensor]) -> Names:
    """Return the names that lead from `call` to some of `tensors`, and to whatever else its code names.

    Plain values are numbers, texts, None, bound variables, and how long a list or dict with tensors is. Each
    object on the way is looked into once, by the shortest way; what is found has all names that these have.
    """
    wanted = set(map(id, tensors))
    search = _Search(call)
    for item in search.held:
        for way, child in _ways_from(item, search.words):
            if id(child) in wanted:
                search.tensors.append((id(item), way, child))
            elif type(child) in PLAIN or (type(child) is UOp and child.op in _VARIABLES):
                search.note(item, way, child)
            elif not issubclass(type(child), _NOT_LOOKED_INTO):
                if type(child).__weakrefoffset__:
                    search.note(item, way, weakref.ref(child))
                if id(child) not in search.above:
                    search.above[id(child)] = id(item), way
                    search.held.append(child)
        if len(search.held) > _MOST_OBJECTS:
            break
    return search.names()


class _Search:
    """What was found so far.

    Attributes:
        held: the objects that are looked into, in order, the call first.
        above: from each of them to the one above it, and the way between them.
        words: the names in the code of all functions.
        tensors: the tensors, each with the object that it was found in, and how.
    """

    def __init__(self, call: Call) -> None:
        self.held: list[Any] = [call]
        self.above: dict[int, tuple[int, _Way]] = {}
        self.words: set[str] = set()
        self.tensors: list[tuple[int, _Way, Tensor]] = []
        self._noted: list[tuple[int, _Way, Any, bool]] = []
        self._numbers: dict[tuple[int, Read, Any], int] = {}
        self._places: dict[int, tuple[int, Path]] = {}

    def note(self, item: object, way: _Way, value: Any) -> None:
        """Take note of a plain value in `item`, or of a reference to an object, unless it is data."""
        _, key = way[-1]
        # the code of layers is not looked into; that of other functions may come later
        is_named = type(item) is FunctionType or _is_layer(type(item))
        if (is_named or isinstance(key, str)) and len(self._noted) < _MOST_OBJECTS:
            self._noted.append((id(item), way, value, is_named))

    def names(self) -> Names:
        """Return what was found, as a tree."""
        tensors = [(*self._place(item, way)[:3], weakref.ref(t)) for item, way, t in self.tensors]
        with_tensors = dict(self._places)
        values: list[tuple[int, Read, Any, Any, Path]] = []
        objects: list[tuple[int, Read, Any, Any, Path]] = []
        for item in self.held:
            if type(item) in _GROWING and id(item) in with_tensors:
                number, path = with_tensors[id(item)]
                values.append((number, length_hint, 0, len(item), (*path, length_hint)))
        for item, way, value, is_named in self._noted:
            if is_named or way[-1][1] in self.words:
                number, read, key, path = self._place(item, way)
                found = number, read, key, value, path
                (objects if isinstance(value, weakref.ref) else values).append(found)
        return Names(tuple(self._numbers), tuple(tensors), tuple(values), tuple(objects))

    def _place(self, item: int, way: _Way) -> tuple[int, Read, Any, Path]:
        """Return where the last step of a way begins, by number, that step, and the path to its end."""
        *steps, (read, key) = way
        number, path = self._go(self._place_of(item), steps)
        return number, read, key, (*path, key)

    def _place_of(self, item: int) -> tuple[int, Path]:
        """Return the number of an object that was looked into, and the path to it."""
        below: list[int] = []
        while item not in self._places and item in self.above:
            below.append(item)
            item = self.above[item][0]
        place = self._places.setdefault(item, (0, ()))
        for child in reversed(below):
            place = self._places[child] = self._go(place, self.above[child][1])
        return place

    def _go(self, place: tuple[int, Path], steps: Iterable[tuple[Read, Any]]) -> tuple[int, Path]:
        number, path = place
        for read, key in steps:
            number = self._numbers.setdefault((number, read, key), len(self._numbers) + 1)
            path = *path, key
        return number, path


def _ways_from(item: Any, words: set[str]) -> Iterator[tuple[_Way, Any]]:
    """Give the objects next to one, and the ways to them. No code of the object's class is run.

    `words` are the names in the code of all functions so far; those of this one are added.
    """
    # `isinstance` would believe what the object says of its class
    cls = _class_of(item)
    if issubclass(cls, FunctionType):
        if not _is_foreign(item.__module__):
            yield from _from_function(item, words)
    elif issubclass(cls, MethodType):
        yield from _attributes(item, ("__func__", "__self__"))
    elif issubclass(cls, partial):
        yield from _attributes(item, ("func", "args", "keywords"))
    elif issubclass(cls, ModuleType):
        if not _is_foreign(_attribute(item, "__dict__").get("__name__")):
            yield from _variables(item, "__dict__", words)
    elif issubclass(cls, type):
        if not _is_foreign(item.__module__):
            yield from _variables(item, "__dict__", tuple(_attribute(item, "__dict__")))
            yield from _attributes(item, ("__bases__",))
    elif issubclass(cls, dict):
        items = tuple(islice(cast("dict[Any, Any]", item).items(), _MOST_OBJECTS))
        yield from ((((_get, key),), value) for key, value in items)
    elif issubclass(cls, (list, tuple, deque)):
        values = tuple(islice(cast("Iterable[Any]", item), _MOST_OBJECTS))
        yield from ((((getitem, place),), value) for place, value in enumerate(values))
    else:
        yield from _from_object(item, cls)


def _from_function(function: FunctionType, words: set[str]) -> Iterator[tuple[_Way, Any]]:
    named = _words_in(function.__code__)
    words |= named
    yield from _variables(function, "__globals__", named)
    for place, cell in enumerate(function.__closure__ or ()):
        try:
            way = (_attribute, "__closure__"), (getitem, place), (_attribute, "cell_contents")
            yield way, cell.cell_contents
        except ValueError:
            # nothing was assigned to it so far
            continue
    yield from _attributes(function, ("__defaults__", "__kwdefaults__"))


def _from_object(item: object, cls: type[Any]) -> Iterator[tuple[_Way, Any]]:
    if cls.__dictoffset__:
        own = _attribute(item, "__dict__")
        is_looked_into = not _is_foreign(cls.__module__, _LIBRARIES) or _is_layer(cls)
        # of what wraps a function only that
        yield from _variables(item, "__dict__", tuple(own) if is_looked_into else ("__wrapped__",))
        if not _is_foreign(cls.__module__):
            yield from _not_shadowed(own, cls)
    if not _is_foreign(cls.__module__):
        yield from _attributes(item, (name for base in cls.__mro__ for name in slots_in(base)))
        yield ((_class_of, None),), cls


def _not_shadowed(own: dict[str, Any], cls: type[Any]) -> Iterator[tuple[_Way, Any]]:
    """Give None for the values of its class that an object has no own ones of, so far."""
    for base in cls.__mro__:
        for name, value in vars(base).items():
            if name not in own and (type(value) in PLAIN or isinstance(value, Tensor)):
                yield ((_attribute, "__dict__"), (_get, name)), None


def _variables(item: object, where: str, names: Iterable[str]) -> Iterator[tuple[_Way, Any]]:
    variables = _attribute(item, where)
    read = _get if isinstance(variables, dict) else getitem
    for name in names:
        if name in variables:
            yield ((_attribute, where), (read, name)), variables[name]


def _attributes(item: object, names: Iterable[str]) -> Iterator[tuple[_Way, Any]]:
    for name in names:
        try:
            value = _attribute(item, name)
        except AttributeError:
            # a slot that was never set
            continue
        if value is not None:
            yield ((_attribute, name),), value


def _class_of(item: object, _: None = None) -> type[Any]:
    return type(item)


def _words_in(code: CodeType) -> set[str]:
    words = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            words |= _words_in(constant)
        elif isinstance(constant, str):
            # it may be a key
            words.add(constant)
    return words


def _is_layer(cls: type[Any]) -> bool:
    return str(cls.__module__).startswith("plugrad.nn.")


def _is_foreign(module: object, to: frozenset[str] = _NOT_OF_USERS) -> bool:
    if not isinstance(module, str):
        return False
    root = module.partition(".")[0]
    return root in to or root.startswith("plugrad_")
