"""`@frozen`: what `@dataclass(frozen=True, slots=True)` makes, in a fifth of the time.

`dataclass` writes and compiles six functions for each class. `import plugrad` makes some seventy classes, and
that took a third of its time. Here `__init__` is compiled with the class, `__eq__` and `__hash__` are when
they are first called, and the rest is shared. `fields`, `replace`, `asdict` and `is_dataclass` take such
classes as their own: what `dataclasses` keeps at a class is made when it first asks, so that nobody else has
to wait for its import.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, TypeVar, dataclass_transform, overload

from plugrad._util import dataclasses

T = TypeVar("T")

_MISSING: Any = object()


class _Field:
    """A field, by the names that `dataclasses.Field` has for its parts."""

    __slots__ = ("compare", "default", "default_factory", "repr", "type")

    def __init__(self, default: Any, default_factory: Any, repr: bool, compare: bool) -> None:
        self.default = default
        self.default_factory = default_factory
        self.repr = repr
        self.compare = compare
        self.type: Any = None

    def for_dataclasses(self, name: str) -> Any:
        """Return the field of `dataclasses` that this one stands for."""
        parts = {
            part: value
            for part in ("default", "default_factory")
            if (value := getattr(self, part)) is not _MISSING
        }
        made: Any = dataclasses.field(**parts, repr=self.repr, compare=self.compare)
        made.name, made.type, made._field_type, made.kw_only = name, self.type, _marks()[1], False
        return made


def field(
    *, default: Any = _MISSING, default_factory: Any = _MISSING, repr: bool = True, compare: bool = True
) -> Any:
    """Return the description of a field, as `dataclasses.field` does."""
    return _Field(default, default_factory, repr, compare)


class _Fields:
    """The fields of a class as `dataclasses` keeps them."""

    def __init__(self, known: dict[str, _Field]) -> None:
        self._known = known
        self._made: dict[str, Any] | None = None

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        if self._made is None:
            self._made = {name: one.for_dataclasses(name) for name, one in self._known.items()}
        return self._made


class _Parameters:
    """The parameters of `@dataclass(frozen=True)`, as it keeps them at a class."""

    def __get__(self, instance: object, owner: type) -> Any:
        return _marks()[0]


@cache
def _marks() -> tuple[Any, Any]:
    """Return the marks of the classes of `dataclasses` and of their fields, which have no public names."""
    sample: Any = dataclasses.make_dataclass("Sample", [("field", int)], frozen=True)
    return sample.__dataclass_params__, sample.__dataclass_fields__["field"]._field_type


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, eq: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: Any = None, /, *, eq: bool = True) -> Any:
    """Make a class of annotated fields, whose instances have slots and cannot be changed.

    Args:
        cls: the class. It has no `ClassVar`, `InitVar` or `__post_init__`, and derives from no dataclass.
        eq: compare by value; otherwise an instance is equal to itself only.

    Example:
        >>> @frozen
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1)
        Point(x=1, y=0)
        >>> Point(1) == Point(1, 0)
        True
    """
    return partial(_freeze_class, eq=eq) if cls is None else _freeze_class(cls, eq)


def _freeze_class(cls: Any, eq: bool) -> Any:
    namespace = dict(cls.__dict__)
    own = {name: _field(kind, namespace.pop(name, _MISSING)) for name, kind in cls.__annotations__.items()}
    known: dict[str, _Field] = {**getattr(cls, "__frozen_fields__", {}), **own}
    for name in ("__dict__", "__weakref__"):
        namespace.pop(name, None)
    namespace |= {
        "__slots__": tuple(own),
        "__frozen_fields__": known,
        "__dataclass_fields__": _Fields(known),
        "__dataclass_params__": _Parameters(),
        "__match_args__": tuple(known),
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _state,
        "__setstate__": _restore,
    }
    namespace.setdefault("__repr__", _repr_of_fields)
    if eq:
        namespace.setdefault("__eq__", _equals_first)
        if namespace.get("__hash__") is None:
            namespace["__hash__"] = _hash_first
    # slots belong to a class from its beginning
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    made.__init__ = _compile_init(made, known)
    return made


def _field(kind: Any, default: Any) -> _Field:
    made = default if isinstance(default, _Field) else _Field(default, _MISSING, repr=True, compare=True)
    made.type = kind
    return made


def _compile_init(made: Any, known: dict[str, _Field]) -> Any:
    # a slot sets itself in less time than `object.__setattr__` takes to find it
    values: dict[str, Any] = {f"set_{name}": getattr(made, name).__set__ for name in known}
    values["MISSING"] = _MISSING
    parameters = ["self"]
    lines: list[str] = []
    for name, one in known.items():
        value = name
        if one.default_factory is not _MISSING:
            values[f"make_{name}"] = one.default_factory
            parameters.append(f"{name}=MISSING")
            value = f"make_{name}() if {name} is MISSING else {name}"
        elif one.default is not _MISSING:
            values[f"default_{name}"] = one.default
            parameters.append(f"{name}=default_{name}")
        else:
            parameters.append(name)
        lines.append(f"set_{name}(self, {value})")
    return _compile("__init__", parameters, lines or ["pass"], values)


def _compile(name: str, parameters: Iterable[str], lines: Iterable[str], values: dict[str, Any]) -> Any:
    exec("\n ".join((f"def {name}({', '.join(parameters)}):", *lines)), values)
    return values[name]


def _names(cls: type, *, compared: bool) -> list[str]:
    """Return the names of the fields that are compared, or of those that are shown."""
    known: dict[str, _Field] = getattr(cls, "__frozen_fields__")  # noqa: B009 - of classes made here only
    return [name for name, made in known.items() if (made.compare if compared else made.repr)]


def _equals_first(self: Any, other: object) -> Any:
    """Replace this function by one made for the class, and compare."""
    owner = _owner(self, "__eq__", _equals_first)
    mine, theirs = (
        "".join(f"{side}.{name}, " for name in _names(owner, compared=True)) for side in ("self", "other")
    )
    lines = (
        "if other.__class__ is not self.__class__:",
        "  return NotImplemented",
        f"return ({mine}) == ({theirs})",
    )
    owner.__eq__ = _compile("__eq__", ("self", "other"), lines, {})
    return owner.__eq__(self, other)


def _hash_first(self: Any) -> int:
    """Hash for the first time, as `_equals_first` compares."""
    owner = _owner(self, "__hash__", _hash_first)
    values = "".join(f"self.{name}, " for name in _names(owner, compared=True))
    owner.__hash__ = _compile("__hash__", ("self",), (f"return hash(({values}))",), {})
    return owner.__hash__(self)


def _owner(instance: object, name: str, function: object) -> Any:
    """Return the class in whose place of `name` the given function stands."""
    cls = type(instance)
    return next((kind for kind in cls.__mro__ if kind.__dict__.get(name) is function), cls)


def _repr_of_fields(self: Any) -> str:
    cls: type[Any] = self.__class__
    shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in _names(cls, compared=False)])
    return f"{cls.__qualname__}({shown})"


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__dataclass_fields__]


def _restore(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        object.__setattr__(self, name, value)
