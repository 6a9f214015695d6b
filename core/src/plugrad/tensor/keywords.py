"""The keywords of other libraries: `dim` for `axis`, `keepdims` for `keepdim`, and the like.

Each method has one name for a parameter, which its signature and the documentation show. Programs that were
written for PyTorch, NumPy or tinygrad may use theirs.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

__all__ = ["SYNONYMS", "understands_synonyms"]

T = TypeVar("T")

# what others call a parameter of ours
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "axis": ("dim", "dims", "dimension"),
    "axes": ("dims", "dim", "order"),
    "axis1": ("dim0", "axis0"),
    "axis2": ("dim1",),
    "start_axis": ("start_dim",),
    "end_axis": ("end_dim",),
    "keepdim": ("keepdims",),
    "correction": ("ddof", "unbiased"),
    "diagonal": ("k",),
    "max_": ("max", "a_max"),
    "min_": ("min", "a_min"),
    "negative_slope": ("neg_slope",),
    "repeats": ("reps",),
    "shape": ("size",),
    "shifts": ("shift",),
    "sorted_": ("sorted",),
    "steps": ("num",),
    "stop": ("end",),
    "y": ("Y", "target"),
}
# and what they call one of a single method
_OF_METHODS: Mapping[str, Mapping[str, str]] = {
    "assign": {"x": "value"},
    "dot": {"w": "other"},
    "matrix_norm": {"ord": "p"},
    "norm": {"ord": "p"},
    "pad": {"pad": "padding", "pad_width": "padding", "constant_values": "value"},
    "quantile": {"method": "interpolation"},
    "replace": {"x": "other"},
    "scatter": {"value": "src"},
    "sequential": {"ll": "layers"},
    "shrink": {"arg": "bounds"},
    "split": {"split_size": "sizes", "split_size_or_sections": "sizes"},
}
# parameters that are given one by one, and by name as a sequence
_BY_POSITION = frozenset({"axes", "axis", "repeats", "shape"})
# PyTorch counts the axes of these from 1
_FROM_ONE = {"dim1": "axis1", "dim2": "axis2"}
_COUNTED_FROM_ONE = frozenset({"diag_embed", "diagonal", "trace"})
# and those of these from 0: its second name is our first
_FROM_ZERO = {"axis0": "axis1", "axis1": "axis2"}
_COUNTED_FROM_ZERO = frozenset({"swapaxes", "swapdims"})
# what NumPy's own functions, such as `np.sum(tensor)`, pass on to methods along axes as None, and to others
_NOTHING = ("dtype", "out")
_NOTHING_BESIDES: Mapping[str, tuple[str, ...]] = {
    "argsort": ("kind", "order"),
    "clip": ("out",),
    "round": ("out",),
}
# with `dim` PyTorch gives values and places together: to take it here would be another answer in silence
_VALUES_AND_PLACES = frozenset({"max", "min"})


def understands_synonyms(cls: type[T]) -> type[T]:
    """Let the public methods of a class and its bases take the keywords of `SYNONYMS` besides their own.

    Raises:
        TypeError: by the methods, where a parameter is given under two names.
    """
    for base in cls.__mro__[:-1]:
        members: dict[str, Any] = dict(vars(base))
        for name, member in members.items():
            if name.startswith("_"):
                continue
            # of a class method or a static one, what it wraps
            function = getattr(member, "__func__", member)
            code = getattr(_innermost(function), "__code__", None)
            if code is None:
                continue
            count = code.co_argcount + code.co_kwonlyargcount
            rest = code.co_varnames[count] if code.co_flags & inspect.CO_VARARGS else ""
            own = _synonyms_of(name, (*code.co_varnames[:count], rest))
            if own:
                translated = _translating(function, own, rest)
                if name in _COUNTED_FROM_ZERO:
                    translated = _counting_from_zero(translated)
                setattr(base, name, translated if function is member else type(member)(translated))
    return cls


def _innermost(function: Any) -> Any:
    # `inspect.unwrap` looks for circles as well, at every import
    while (inner := getattr(function, "__wrapped__", None)) is not None:
        function = inner
    return function


def _synonyms_of(name: str, parameters: tuple[str, ...]) -> dict[str, str]:
    """Return what other names a method's parameters have, each with its own; "" for what may only be None."""
    if name in _COUNTED_FROM_ONE:
        return _FROM_ONE
    out = {other: own for own in parameters for other in SYNONYMS.get(own, ()) if other not in parameters}
    out |= {other: own for other, own in _OF_METHODS.get(name, {}).items() if own in parameters}
    if "axis" in parameters:
        out |= {name: "" for name in _NOTHING if name not in parameters}
    out |= dict.fromkeys(_NOTHING_BESIDES.get(name, ()), "")
    if parameters[-1] in _BY_POSITION:
        out[parameters[-1]] = parameters[-1]
    if name in _VALUES_AND_PLACES:
        out = {other: own for other, own in out.items() if own != "axis"}
    return out


def _counting_from_zero(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of two axes that takes `axis0` and `axis1` as well, where that is what they mean."""

    @wraps(function)
    def translated(*args: Any, **keywords: Any) -> Any:
        # behind the tensor and a first axis, `axis1` is the second one
        if "axis0" in keywords or (len(args) > 1 and "axis1" in keywords):
            if "axis2" in keywords:
                raise TypeError(f"{function.__name__}() got axes counted from 0 and 'axis2' as well.")
            keywords = {_FROM_ZERO.get(name, name): value for name, value in keywords.items()}
        return function(*args, **keywords)

    return translated


def _translating(function: Callable[..., Any], own: Mapping[str, str], rest: str) -> Callable[..., Any]:
    """Return a method that takes other names; what it calls `rest` is given by position, as one tuple."""

    @wraps(function)
    def translated(*args: Any, **keywords: Any) -> Any:
        if keywords and not own.keys().isdisjoint(keywords):
            for other in own.keys() & keywords.keys():
                name = own[other]
                if name != other and name in keywords:
                    raise TypeError(f"{function.__name__}() got {name!r} twice, also as {other!r}.")
                value = keywords.pop(other)
                if not name and value is None:
                    continue
                if not name:
                    raise TypeError(f"{function.__name__}() has no parameter {other!r}. Leave it out.")
                if name == rest:
                    args = (*args, value)
                else:
                    keywords[name] = value
        return function(*args, **keywords)

    return translated
