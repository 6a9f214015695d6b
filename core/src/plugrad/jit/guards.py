"""Guards of a trace: the Python values that code names, compared again before each replay.

They are found by names: variables, attributes and keys in the code of the function, and of the functions
that these lead to. Namespaces and containers are held and read again, so that one pass by identity covers
all of them; what is another object by then is compared by type and content.
"""

import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain, repeat
from operator import attrgetter, is_
from operator import call as call_it
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from plugrad._frozen import frozen
from plugrad._util import slots_in
from plugrad.tensor import Tensor
from plugrad.uop import UOp

#: A function with its arguments and keyword arguments.
Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

# Equal where they are written the same: 1 is not True, 0.0 is not -0.0, and NaN is NaN.
_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), range, slice})
# `dict.__iter__` would give another order of an OrderedDict
_CONTAINERS: tuple[type[Any], ...] = (list, tuple, OrderedDict, dict, set, frozenset, deque)
_DICTS: tuple[Any, ...] = (OrderedDict, dict)
_NOT_LOOKED_INTO = (*_PLAIN, Tensor, UOp)
# What wraps functions, by the attributes that lead to these.
_WRAPPERS: dict[type[Any], Callable[[Any], tuple[Any, ...]]] = {
    MethodType: attrgetter("__func__", "__self__"),
    partial: attrgetter("func", "args", "keywords"),
    property: attrgetter("fget", "fset"),
    cached_property: attrgetter("func", "attrname"),
    staticmethod: attrgetter("__func__", "__doc__"),
    classmethod: attrgetter("__func__", "__doc__"),
}
# Whose functions and classes name nothing of users.
_LIBRARIES = frozenset({"plugrad", "numpy", "torch"})
# Who has more objects than these has data among them.
_MOST_OBJECTS = 20_000
# Code that names these may name any attribute by a computed text.
_ANY_NAME = frozenset({"getattr", "hasattr", "vars", "__dict__"})
# unlike `getattr` it runs no code of users
_attribute = object.__getattribute__
_MISSING = object()
# A name is gone, or what it leads to changes at this moment.
_CHANGED = (LookupError, AttributeError, TypeError, ValueError, RuntimeError)


@frozen(eq=False)
class _Read:
    """A read of values, which can be done again.

    Attributes:
        again: reads them.
        names: what each of them is called below the object that they are in.
        parts: where expressions read them: an object for each, and what to write around it.
    """

    again: Callable[[], Iterable[Any]]
    names: Sequence[Any]
    parts: Sequence[tuple[str, Any, str]] | None = None


# With what it is called, and the values that it found.
_Guarded = tuple[_Read, str, list[Any]]


class Guards:
    """Values that names led to after a call.

    Attributes:
        problem: the name of what cannot be read again; empty where everything can.
    """

    def __init__(self, call: Call, used: Iterable[Tensor]) -> None:
        self._used = frozenset(map(id, used))
        words: set[str] = set()
        known = -1
        while known < len(words):
            # a function that was found late may name attributes of what was found early
            known = len(words)
            self._search(call, words)
        others = [(read.again, values) for read, _, values in self._named if read.parts is None]
        self._reads = [read for read, _ in others]
        self._expected = list(chain.from_iterable(values for _, values in others))
        self._lengths = [len(container) for container, _ in self._sized]

    @cached_property
    def _is_same(self) -> Callable[[], bool]:
        """Say whether all that expressions read is the same object, and lengths are, when called.

        One expression takes half of the time of reading all values and comparing these. To compile it takes
        10 us for each, so it is when guards are first compared.
        """
        known: dict[str, Any] = {}
        terms = [f"len(container{n}) == {length}" for n, length in enumerate(self._lengths)]
        known.update({f"container{n}": container for n, (container, _) in enumerate(self._sized)})
        for read, _, values in self._named:
            for (before, item, after), value in zip(read.parts or (), values, strict=False):
                # many values are read from one namespace
                known[name := f"object{id(item)}"] = item
                known[f"value{len(terms)}"] = value
                terms.append(f"{before}{name}{after} is value{len(terms)}")
        return eval(f"lambda: {' and '.join(terms) or True}", known)

    def hold(self, call: Call) -> bool:
        """Say whether all names lead to equal values."""
        try:
            is_same = self._is_same()
            if is_same and self._reads:
                is_same = all(map(is_, chain.from_iterable(map(call_it, self._reads)), self._expected))
            if not is_same:
                return not self.difference(call)
            return not (self._bits or self._passed) or not self._difference_in_objects(call)
        except _CHANGED:
            return False

    def difference(self, call: Call) -> str:
        """Return the name whose value differs by now, or an empty text."""
        for (container, label), length in zip(self._sized, self._lengths, strict=True):
            if len(container) != length:
                return f"the length of {label}"
        for read, label, values in self._named:
            try:
                for name, found, value in zip(read.names, read.again(), values, strict=True):
                    if found is not value and not self._is_equal(found, value):
                        return _join(label, name)
            except _CHANGED:
                return label
        return self._difference_in_objects(call)

    def _difference_in_objects(self, call: Call) -> str:
        if self._passed and list(map(id, _objects_in(call[1:]))) != list(map(id, self._passed)):
            return "an argument"
        return next((label for value, bits, label in self._bits if _bits(value) != bits), "")

    def _search(self, call: Call, words: set[str]) -> None:
        self.problem = ""
        self._named: list[_Guarded] = []
        self._sized: list[tuple[Any, str]] = []
        self._bits: list[tuple[Any, Hashable, str]] = []
        self._contents: dict[int, tuple[Any, ...]] = {}
        passed = list(_objects_in(call[1:]))
        # the signature tells other arguments apart by what they are
        self._passed = passed if any([type(item).__eq__ is not object.__eq__ for item in passed]) else []
        held = [(call[0], ""), *[(item, type(item).__name__) for item in passed]]
        seen = {id(item) for item, _ in held}
        objects: list[Any] = []
        for item, label in held:
            cls = _class_of(item)
            if not is_library(cls.__module__):
                objects.append(item)
                if id(cls) not in seen:
                    seen.add(id(cls))
                    held.append((cls, cls.__name__))
            for read in self._look_into(item, label, words):
                for name, value in zip(read.names, self._note(read, label), strict=True):
                    if id(value) not in seen and not issubclass(type(value), _NOT_LOOKED_INTO):
                        seen.add(id(value))
                        held.append((value, _join(label, name)))
            if len(held) > _MOST_OBJECTS:
                self.problem = label
                break
        parts = [("type(", item, ")") for item in objects]
        self._note(_Read(partial(map, type, objects), [""] * len(objects), parts), "the class of an object")

    def _note(self, read: _Read, label: str) -> list[Any]:
        values = list(read.again())
        self._named.append((read, label, values))
        return values

    def _look_into(self, item: Any, label: str, words: set[str]) -> Iterator[_Read]:
        """Yield the reads of attributes and items of an object, running none of its code."""
        cls = _class_of(item)
        if wrapped := _WRAPPERS.get(cls):
            yield _Read(partial(wrapped, item), [""] * len(wrapped(item)))
        elif cls is FunctionType:
            if not is_library(item.__module__):
                yield from _from_function(item, words)
        elif issubclass(cls, ModuleType):
            if not is_library(_attribute(item, "__dict__").get("__name__")):
                yield from _from_namespace(vars(item), words)
        elif issubclass(cls, type):
            if not is_library(item.__module__):
                own = type.__getattribute__(item, "__dict__")
                yield from _from_namespace(
                    own, [name for name in own if name in words or _is_code(name, own)]
                )
                yield _Read(partial(attrgetter("__bases__"), item), [""] * len(item.__bases__))
        elif is_iterator(cls):
            self.problem = label
        else:
            if issubclass(cls, _CONTAINERS):
                yield from self._from_container(item, label)
            elif (bits := _bits(item)) is not None:
                self._bits.append((item, bits, label))
                return
            yield from self._from_object(item, label, cls, words)

    def _from_container(self, item: Any, label: str) -> Iterator[_Read]:
        self._contents[id(item)] = content = _content(item)
        kind = _kind_of(item)
        if kind in _DICTS:
            keys = content[: len(item)]
            yield _Read(partial(kind.__iter__, item), [""] * len(keys))
            yield _Read(partial(kind.values, item), [f"[{key!r:.40}]" for key in keys])
        else:
            yield _Read(partial(kind.__iter__, item), [f"[{place}]" for place in range(len(content))])
        if kind not in (tuple, frozenset):
            self._sized.append((item, label))

    def _from_object(self, item: Any, label: str, cls: type[Any], words: set[str]) -> Iterator[_Read]:
        is_user = not is_library(cls.__module__)
        if cls.__dictoffset__:
            own = _attribute(item, "__dict__")
            if is_library(cls.__module__, of_python=False) and not is_layer(cls):
                yield from _from_namespace(own, ("__wrapped__",))
            elif is_layer(cls) or not _ANY_NAME.isdisjoint(words):
                # another attribute would be named as well
                self._sized.append((own, label))
                skipped = host_records(cls) - words
                yield from _from_namespace(own, tuple(name for name in own if name not in skipped))
            else:
                yield from _from_namespace(own, words)
                inherited = words.intersection(chain.from_iterable(map(vars, cls.__mro__)))
                if is_user and (absent := inherited.difference(own)):
                    names = tuple(absent)
                    yield _Read(partial(map, own.get, names, repeat(_MISSING)), names)
        if is_user:
            names = [name for base in cls.__mro__ for name in slots_in(base) if _is_set(item, name)]
            if names:
                yield _Read(partial(map, partial(_attribute, item), names), names)

    def _is_equal(self, found: Any, value: Any) -> bool:
        cls = _class_of(found)
        if cls is not type(value):
            return False
        if cls in _PLAIN:
            return repr(found) == repr(value)
        if cls is MethodType:
            return found.__func__ is value.__func__ and found.__self__ is value.__self__
        if cls is Tensor:
            # the values of others do not matter
            return id(value) not in self._used and _form(found) == _form(value)
        if cls in _CONTAINERS:
            content, before = _content(found), self._contents[id(value)]
            pairs = zip(content, before, strict=False)
            return len(content) == len(before) and all([a is b or self._is_equal(a, b) for a, b in pairs])
        return any([value is array and _bits(found) == bits for array, bits, _ in self._bits])


def _class_of(value: object) -> Any:
    return type(value)


def _objects_in(value: Any) -> Iterator[Any]:
    """Yield the mutable objects in the containers that a call passes."""
    cls = _class_of(value)
    if issubclass(cls, (list, tuple, dict)):
        items: Iterable[Any] = value.values() if issubclass(cls, dict) else value
        yield from chain.from_iterable(map(_objects_in, items))
    elif not issubclass(cls, _NOT_LOOKED_INTO) and not _is_constant(cls):
        yield value


def _is_constant(cls: type[Any]) -> bool:
    parameters = getattr(cls, "__dataclass_params__", None)
    has_own_comparison = cls.__eq__ is not object.__eq__ and cls not in _WRAPPERS
    return has_own_comparison and (is_library(cls.__module__) or getattr(parameters, "frozen", False))


def _from_function(function: FunctionType, words: set[str]) -> Iterator[_Read]:
    named = words_in(function.__code__)
    words |= named
    yield from _from_namespace(function.__globals__, named)
    pairs = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    cells = {name: cell for name, cell in pairs if _is_filled(cell)}
    if cells:
        again = partial(map, attrgetter("cell_contents"), tuple(cells.values()))
        yield _Read(again, [*cells], [("", cell, ".cell_contents") for cell in cells.values()])
    if function.__defaults__ or function.__kwdefaults__:
        yield _Read(partial(attrgetter("__defaults__", "__kwdefaults__"), function), ("", ""))
    if "__wrapped__" in vars(function):
        yield from _from_namespace(vars(function), ("__wrapped__",))


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None or True
    except ValueError:
        return False


def _from_namespace(names_of: Any, names: Iterable[str]) -> Iterator[_Read]:
    if present := [name for name in names if name in names_of]:
        parts = [("", names_of, f"[{name!r}]") for name in present]
        yield _Read(partial(map, names_of.__getitem__, present), present, parts)


def _is_set(item: Any, name: str) -> bool:
    try:
        _attribute(item, name)
    except AttributeError:
        return False
    return True


def _is_code(name: str, members: Any) -> bool:
    """Say whether Python itself calls a member of a class, by no name."""
    return name.startswith("__") and name.endswith("__") and isinstance(members[name], FunctionType)


def _kind_of(container: Any) -> Any:
    return next(kind for kind in _CONTAINERS if isinstance(container, kind))


def _content(container: Any) -> Any:
    """Return the keys and items, running no code of a subclass."""
    kind = _kind_of(container)
    items = tuple(kind.__iter__(container))
    return (*items, *kind.values(container)) if kind in _DICTS else items


def _bits(value: Any) -> Hashable:
    """Return the contents of an array or a NumPy scalar; None: the object is neither."""
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        return None
    return view.format, view.shape, view.tobytes()


def _form(tensor: Tensor) -> Hashable:
    return tensor.shape, tensor.dtype, tensor.device, tensor.requires_grad


def _join(label: str, name: Any) -> str:
    if not name or not label:
        return label or str(name)
    return f"{label}{name}" if str(name).startswith("[") else f"{label}.{name}"


def words_in(code: CodeType) -> set[str]:
    """Return the names in a function's code, and its texts that may be keys."""
    words = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            words |= words_in(constant)
        elif isinstance(constant, str):
            words.add(constant)
    return words


def is_layer(cls: type[Any]) -> bool:
    """Say whether a class is a plugrad layer or optimizer, which read all attributes."""
    return str(cls.__module__).startswith("plugrad.nn.")


def host_records(cls: type[Any]) -> frozenset[str]:
    """Return the attributes of a plugrad layer or optimizer that its own computing never reads.

    Such as the number behind a learning rate, which computing reads from memory.
    """
    return getattr(cls, "HOST_RECORDS", frozenset[str]()) if is_layer(cls) else frozenset[str]()


def is_library(module: object, *, of_python: bool = True) -> bool:
    """Say whether a module belongs to plugrad, a library or Python's own."""
    if not isinstance(module, str):
        return False
    root = module.partition(".")[0]
    return (
        root in _LIBRARIES or root.startswith("plugrad_") or (of_python and root in sys.stdlib_module_names)
    )


def is_iterator(cls: type[Any]) -> bool:
    """Say whether objects of a class yield values once, differing each time."""
    return cls.__module__ in ("builtins", "itertools") and hasattr(cls, "__next__")
