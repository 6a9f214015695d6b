"""An unpickler of data, which calls only functions that its user admits by name.

Pickles are programs, and `pickle.Unpickler` runs them with objects of this process: whatever it is allowed to
name can be called, and its attributes can be set. Here the machine is a loop of our own over the opcodes that
data need. Names are looked up in a table, what is found there is called with checked kinds of arguments, and
no attribute of any object is read or written. Lengths are checked against the bytes that are left before
anything is allocated.

Source: the documentation of the opcodes in Python's `pickletools`.
"""

import inspect
import pickletools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import Any, BinaryIO, cast

from plugrad.errors import FileFormatError

#: What a pickle may name: "module.name" to what is put in its place. Callables among it may be called.
Admitted = Mapping[str, Any]

# how many levels of containers a value may have, so that whoever walks it does not run out of stack
_MOST_LEVELS = 500

_INTEGERS = {"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4"}
_TEXTS = {
    "STRING",
    "BINSTRING",
    "SHORT_BINSTRING",
    "UNICODE",
    "SHORT_BINUNICODE",
    "BINUNICODE",
    "BINUNICODE8",
}
_BYTES = {"SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"}
_CONSTANTS = {"FLOAT", "BINFLOAT"} | _INTEGERS | _TEXTS | _BYTES
_LITERALS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_LIST": list[Any],
    "EMPTY_TUPLE": tuple[Any, ...],
    "EMPTY_DICT": dict[Any, Any],
    "EMPTY_SET": set[Any],
}
_SHORT_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = frozenset(("PROTO", "FRAME"))


class _Named:
    """An admitted name in a pickle, to be called or handed on."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value


# stands on the stack where the items of a container begin
_MARK = object()


def load_data(stream: BinaryIO, admitted: Admitted, load_persistent: Callable[[Any], Any]) -> Any:
    """Return the value of the pickle at the position of `stream`, and move behind it.

    Args:
        stream: open for reading; `read` never returns more than there is.
        admitted: what it may name.
        load_persistent: turns its persistent ids into values.

    Raises:
        FileFormatError: it is damaged, names or does something else, or what it calls does not take the
            arguments.

    Example:
        >>> load_data(io.BytesIO(pickle.dumps({"a": (1, 2.5)})), {}, str)
        {'a': (1, 2.5)}
    """
    machine = _Machine(admitted, load_persistent)
    try:
        for opcode, argument, _ in pickletools.genops(stream):
            if opcode.name == "STOP":
                return machine.result()
            machine.step(opcode.name, argument)
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"the pickle is damaged: {error!r:.200}.") from error
    raise FileFormatError("the pickle ends before its last opcode.")


class _Machine:
    """A stack, a memo, and the opcodes that change them."""

    def __init__(self, admitted: Admitted, load_persistent: Callable[[Any], Any]) -> None:
        self._admitted = admitted
        self._load_persistent = load_persistent
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def result(self) -> Any:
        """Return the only value on the stack."""
        if len(self._stack) != 1:
            raise FileFormatError(f"the pickle leaves {len(self._stack)} values, not one.")
        value = _value(self._pop())
        _check_levels(value)
        return value

    def step(self, name: str, argument: Any) -> None:
        """Execute one opcode."""
        if name in _CONSTANTS:
            self._stack.append(argument)
        elif name in _LITERALS:
            self._stack.append(_LITERALS[name])
        elif name in _EMPTY:
            self._stack.append(_EMPTY[name]())
        elif name in _SHORT_TUPLES:
            self._stack.append(self._take(_SHORT_TUPLES[name]))
        elif name in _OF_ITEMS:
            self._stack.append(_OF_ITEMS[name](self._pop_items()))
        elif name not in _IGNORED:
            action = getattr(self, f"_do_{name.lower()}", None)
            if action is None:
                raise FileFormatError(f"the pickle uses the opcode {name}, which plain data do not need.")
            action(argument)

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise FileFormatError("the pickle is damaged: a container begins where a value should be.")
        return value

    def _pop_items(self) -> list[Any]:
        items: list[Any] = []
        while (item := self._stack.pop()) is not _MARK:
            items.append(_value(item))
        return items[::-1]

    def _top(self, kind: type) -> Any:
        top = self._stack[-1]
        if not isinstance(top, kind):
            raise FileFormatError(f"the pickle fills a {type(top).__name__} as if it were a {kind.__name__}.")
        return top

    # --- the stack and the memo ---

    def _do_mark(self, _: None) -> None:
        self._stack.append(_MARK)

    def _do_pop(self, _: None) -> None:
        self._stack.pop()

    def _do_pop_mark(self, _: None) -> None:
        self._pop_items()

    def _do_dup(self, _: None) -> None:
        self._stack.append(self._stack[-1])

    def _do_put(self, index: int) -> None:
        self._memo[index] = self._stack[-1]

    _do_binput = _do_long_binput = _do_put

    def _do_memoize(self, _: None) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def _do_get(self, index: int) -> None:
        self._stack.append(self._memo[index])

    _do_binget = _do_long_binget = _do_get

    # --- containers ---

    def _do_append(self, _: None) -> None:
        item = _value(self._pop())
        self._top(list).append(item)

    def _do_appends(self, _: None) -> None:
        items = self._pop_items()
        self._top(list).extend(items)

    def _take(self, count: int) -> tuple[Any, ...]:
        items = [_value(self._pop()) for _ in range(count)]
        return tuple(items[::-1])

    def _do_dict(self, _: None) -> None:
        items = self._pop_items()
        self._stack.append({})
        self._fill(items)

    def _do_setitem(self, _: None) -> None:
        self._fill(list(self._take(2)))

    def _do_setitems(self, _: None) -> None:
        self._fill(self._pop_items())

    def _fill(self, items: list[Any]) -> None:
        target = self._top(dict)
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[plain_key(key)] = value

    def _do_additems(self, _: None) -> None:
        items = self._pop_items()
        self._top(set).update(map(plain_key, items))

    # --- names and calls ---

    def _do_global(self, name: str) -> None:
        module, _, rest = name.partition(" ")
        self._name(module, rest)

    def _do_stack_global(self, _: None) -> None:
        module, name = self._take(2)
        self._name(module, name)

    def _name(self, module: Any, name: Any) -> None:
        full = f"{module}.{name}"
        if full not in self._admitted:
            raise FileFormatError(
                f"the pickle names {full:.100}, which is no part of tensors or plain data: refused, for it "
                "could run anything. Save a state_dict() of tensors, numbers, texts and containers of them."
            )
        self._stack.append(_Named(full, self._admitted[full]))

    def _do_reduce(self, _: None) -> None:
        arguments, function = _value(self._pop()), self._pop()
        if not isinstance(function, _Named) or not callable(function.value):
            raise FileFormatError(f"the pickle calls {function!r:.100}, which is no function.")
        if type(arguments) is not tuple:
            raise FileFormatError(f"the pickle calls {function.name} with {arguments!r:.100}, no tuple.")
        self._stack.append(checked_call(function.name, function.value, cast("tuple[Any, ...]", arguments)))

    _do_newobj = _do_reduce

    def _do_build(self, _: None) -> None:
        """Skip the attributes of a dict with attributes, such as the versions in a state_dict."""
        self._pop()
        self._top(OrderedDict)

    def _do_binpersid(self, _: None) -> None:
        self._stack.append(self._load_persistent(_value(self._pop())))

    def _do_persid(self, identity: str) -> None:
        self._stack.append(self._load_persistent(identity))


def checked_call(name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call an admitted function with the arguments of a pickle, if it takes them."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise FileFormatError(f"the pickle calls {name} wrongly: {error}.") from error
    return function(*arguments)


def _value(item: Any) -> Any:
    return item.value if isinstance(item, _Named) else item


def plain_key(key: Any) -> Any:
    """Return `key` if hashing it is harmless: a scalar, or a tuple of scalars."""
    parts: tuple[Any, ...] = (key,)
    if isinstance(key, tuple):
        parts = cast("tuple[Any, ...]", key)
    strange = [part for part in parts if part is not None and not isinstance(part, (str, bytes, int, float))]
    if strange:
        kind = type(strange[0]).__name__
        raise FileFormatError(f"the pickle has a {kind} as a key or in one, neither text nor number.")
    return cast("Any", key)


def _check_levels(value: Any) -> None:
    """Refuse values that contain themselves or functions, or that are nested too deeply."""
    levels: dict[int, int] = {}
    stack: list[tuple[Any, bool]] = [(value, False)]
    open_now: set[int] = set()
    while stack:
        item, is_done = stack.pop()
        parts = _parts(item)
        if parts is None:
            if isinstance(item, (FunctionType, MethodType, type)):
                raise FileFormatError(f"the pickle holds the function {item.__name__}, which is no data.")
            continue
        if is_done:
            open_now.discard(id(item))
            levels[id(item)] = 1 + max((levels.get(id(part), 0) for part in parts), default=0)
            if levels[id(item)] > _MOST_LEVELS:
                raise FileFormatError(f"the pickle nests containers deeper than {_MOST_LEVELS} levels.")
        elif id(item) in open_now:
            raise FileFormatError("the pickle holds a container that contains itself.")
        elif id(item) not in levels:
            open_now.add(id(item))
            stack.append((item, True))
            stack.extend((part, False) for part in parts)


def _parts(item: Any) -> list[Any] | None:
    if isinstance(item, dict):
        return list(item.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return list(item) if isinstance(item, (list, tuple)) else None  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _ordered_dict(pairs: Any = ()) -> OrderedDict[Any, Any]:
    return OrderedDict((plain_key(key), value) for key, value in _listed(pairs))


def _set(items: Any = ()) -> set[Any]:
    return set(map(plain_key, _listed(items)))


def _frozenset(items: Any = ()) -> frozenset[Any]:
    return frozenset(map(plain_key, _listed(items)))


def _listed(items: Any) -> Any:
    if not isinstance(items, (list, tuple)):
        raise FileFormatError(f"the pickle fills a container from {items!r:.100}, which is no list.")
    return cast("list[Any]", items)


def _latin1_bytes(text: Any = "", encoding: Any = "latin1") -> bytes:
    """Return bytes that were written as a text, a character for each."""
    if isinstance(text, (bytes, bytearray)):
        return bytes(text)
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise FileFormatError(f"the pickle makes bytes of {text!r:.100} by {encoding!r:.100}.")
    return text.encode("latin-1")


def _bytearray(*arguments: Any) -> bytearray:
    return bytearray(_latin1_bytes(*arguments))


_OF_ITEMS: dict[str, Callable[[list[Any]], Any]] = {"LIST": list, "TUPLE": tuple, "FROZENSET": _frozenset}
#: Containers that protocols 0 to 3 have no opcodes for, and bytes as they write them.
PLAIN: Admitted = {
    "collections.OrderedDict": _ordered_dict,
    "_codecs.encode": _latin1_bytes,
    **{f"{module}.set": _set for module in ("builtins", "__builtin__")},
    **{f"{module}.frozenset": _frozenset for module in ("builtins", "__builtin__")},
    **{f"{module}.bytes": _latin1_bytes for module in ("builtins", "__builtin__")},
    **{f"{module}.bytearray": _bytearray for module in ("builtins", "__builtin__")},
}
