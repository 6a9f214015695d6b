"""What functions of the namespace are given: arrays where these are asked for, or an error that says so.

The annotations of a function say what it takes, so that there is one check for all.
"""

import inspect
import types
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, get_args, get_origin

from plugrad.array_api.complexes import Complex, as_pair
from plugrad.dtype import DType
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import as_flag

__all__ = ["checked"]

F = TypeVar("F", bound=Callable[..., Any])


def checked(function: F) -> F:
    """Return a function that refuses what is no array, no number or no flag where it takes one.

    Raises:
        DtypeError: by the function: an argument is none of those.
        ArgumentError: by the function: a flag is neither True nor False.

    Example:
        >>> checked(lambda x: x)(1)
        1
    """
    parameters = list(inspect.signature(function).parameters.values())
    checks = {p.name: check for p in parameters if (check := _check_of(p)) is not None}
    if not checks:
        return function
    names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")

    @wraps(function)
    def careful(*args: Any, **keywords: Any) -> Any:
        args, keywords = tuple(map(as_pair, args)), {name: as_pair(x) for name, x in keywords.items()}
        given = {rest: args} if rest else dict(zip(names, args, strict=False))
        for name, value in (given | keywords).items():
            if name in checks:
                checks[name](value, f"{function.__name__}: {name}")
        return function(*args, **keywords)

    return careful  # pyright: ignore[reportReturnType]


def _check_of(parameter: inspect.Parameter) -> Callable[[Any, str], object] | None:
    kind: Any = parameter.annotation
    if isinstance(parameter.default, bool):
        return as_flag
    is_several = parameter.kind is parameter.VAR_POSITIONAL
    if get_origin(kind) is Sequence:
        is_several, kind = True, get_args(kind)[0]
    kinds: tuple[Any, ...] = get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if not {Tensor, Complex}.intersection(kinds) or not set(kinds) <= _NAMES.keys():
        return None
    return lambda value, what: (_all_of if is_several else _one_of)(value, kinds, what)


_NAMES: dict[Any, str] = {
    Tensor: "array",
    Complex: "array",
    DType: "dtype",
    float: "number",
    int: "number",
    bool: "number",
    types.NoneType: "None",
}


def _one_of(value: object, kinds: tuple[Any, ...], what: str) -> None:
    if not isinstance(value, kinds):
        names = " nor ".join(dict.fromkeys(_NAMES[kind] for kind in kinds))
        raise DtypeError(f"{what}={value!r:.60} ({type(value).__name__}) is no {names}. Use asarray(...).")


def _all_of(value: Any, kinds: tuple[Any, ...], what: str) -> None:
    if not issubclass(type(value), (list, tuple)):
        raise DtypeError(f"{what}={value!r:.60} ({type(value).__name__}) is no list of arrays. Pass one.")
    for item in value:
        _one_of(item, kinds, what)
