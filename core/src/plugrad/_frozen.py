"""`@frozen`: what `@dataclass(frozen=True, slots=True)` makes, in a tenth of the time.

`dataclass` writes and compiles six functions for each class. `import plugrad` makes some seventy classes, and
that took a third of its time. Here `__init__` is one piece of code for all classes of as many fields,
`__eq__` and `__hash__` are compiled when first called, and the rest is shared. `fields`, `replace`, `asdict`
and `is_dataclass` take such classes as their own: what `dataclasses` keeps at a class is made when it first
asks, so that nobody else has to wait for its import.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from types import CellType, CodeType, FunctionType
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

    @property
    def is_optional(self) -> bool:
        """Whether `__init__` may be called without a value."""
        return self.default is not _MISSING or self.default_factory is not _MISSING

    def setter(self, assign: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """Return the function that `__init__` calls with an instance and its argument."""
        if (make := self.default_factory) is _MISSING:
            return assign
        return lambda instance, value: assign(instance, make() if value is _MISSING else value)

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
    """Return the marks of classes and fields of `dataclasses`, which have no public names."""
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
    # filled when there is a class, which sets its slots; to give it `__init__` later takes longer
    setters = [CellType() for _ in known]
    namespace |= {"__init__": _init(known, setters), "__qualname__": cls.__qualname__}
    # slots belong to a class from its beginning
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    for setter, (name, one) in zip(setters, known.items(), strict=True):
        # a slot sets itself in less time than `object.__setattr__` takes to find it
        setter.cell_contents = one.setter(getattr(made, name).__set__)
    return made


def _field(kind: Any, default: Any) -> _Field:
    made = default if isinstance(default, _Field) else _Field(default, _MISSING, repr=True, compare=True)
    made.type = kind
    return made


def _init(known: Mapping[str, _Field], setters: Sequence[CellType]) -> Any:
    """Return an `__init__` that gives each argument to the setter of its field."""
    code = _code_of_init(len(known)).replace(co_varnames=("self", *known))
    optional = [one.is_optional for one in known.values()]
    if optional != sorted(optional):
        raise TypeError(f"a field without a default follows one with a default: {', '.join(known)}")
    # one that is made has the default that stands for none
    defaults = tuple([one.default for one in known.values() if one.is_optional])
    return FunctionType(code, {}, "__init__", defaults, tuple(setters))


@cache
def _code_of_init(fields: int) -> CodeType:
    """Return the code of an `__init__` of so many fields, whose setters are free variables.

    Classes differ by the names of its parameters only, and it takes long to compile.
    """
    # free variables are in the order of their names
    setters = [f"set{number:03}" for number in range(fields)]
    lines = [f"{setter}(self, of_{setter})" for setter in setters] or ["pass"]
    parameters = ["self", *[f"of_{setter}" for setter in setters]]
    inner = "\n  ".join([f"def __init__({', '.join(parameters)}):", *lines])
    return _compile("outer", setters, (inner, "return __init__"), {})(*setters).__code__


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
