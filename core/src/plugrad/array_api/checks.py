"""Argument checks of the namespace: arrays, numbers, flags and choices.

The annotations of a function say what it takes, so that there is one check for all. A function that only
calls the method of its name has no docstring: it gets that of the method.
"""

import inspect
import types
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Literal, TypeVar, get_args, get_origin

from plugrad.array_api.methods import described
from plugrad.dtype import DType, element_dtype, is_complex
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import as_flag, check_choice

F = TypeVar("F", bound=Callable[..., Any])

# Source: Python array API standard 2024.12: functions whose arrays are of real, or integer, numbers only.
_OF_REAL_NUMBERS = """
    arange argmax argmin argsort atan2 bitwise_and bitwise_invert bitwise_left_shift bitwise_or
    bitwise_right_shift bitwise_xor ceil clip copysign floor floor_divide greater greater_equal hypot
    iinfo less less_equal logaddexp logical_and logical_not logical_or logical_xor max maximum min
    minimum nextafter remainder searchsorted signbit sort std trunc var
"""


def check_all(namespace: dict[str, Any]) -> None:
    """Wrap the functions in a module's `__all__` by their checks, and describe them."""
    for name in namespace["__all__"]:
        if inspect.isfunction(function := namespace[name]):
            function.__doc__ = function.__doc__ or described(getattr(Tensor, name), name)
            namespace[name] = checked(function)


def checked(function: F) -> F:
    """Wrap a function so that it refuses arguments of wrong kinds.

    Functions of real numbers also refuse complex ones.

    Raises:
        DtypeError: by the function: an argument is none of those, or complex.
        ArgumentError: by the function: a flag is neither True nor False, or a choice is none of those.

    Example:
        >>> checked(lambda x: x)(1)
        1
    """
    parameters = list(inspect.signature(function).parameters.values())
    is_of_reals = function.__name__ in _OF_REAL_NUMBERS.split()
    checks = {p.name: check for p in parameters if (check := _check_for(p, is_of_reals)) is not None}
    if not checks and not is_of_reals:
        return function
    names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")

    @wraps(function)
    def careful(*args: Any, **keywords: Any) -> Any:
        if is_of_reals:
            _refuse_complex(function.__name__, (*args, *keywords.values()))
        given = {rest: args} if rest else dict(zip(names, args, strict=False))
        for name, value in (given | keywords).items():
            if name in checks:
                checks[name](value, f"{function.__name__}: {name}")
        return function(*args, **keywords)

    return careful  # pyright: ignore[reportReturnType]


def _refuse_complex(name: str, given: tuple[Any, ...]) -> None:
    for x in given:
        dtype = x.dtype if isinstance(x, Tensor) else x
        if isinstance(dtype, DType) and is_complex(dtype):
            raise DtypeError(
                f"{name} of {dtype.name}: it takes real numbers only. Use real(x), imag(x) or abs(x) first."
            )


def check_keeps_imaginary(x: Tensor, dtype: DType, what: str) -> None:
    """Refuse to make real numbers of complex ones.

    Raises:
        DtypeError: `x` is complex, and `dtype` is not.
    """
    if is_complex(x.dtype) and not is_complex(element_dtype(dtype)):
        raise DtypeError(
            f"{what} of {x.dtype.name} as {dtype!r:.60}: the imaginary parts would be lost. Take real(x)."
        )


def _check_for(parameter: inspect.Parameter, is_of_reals: bool) -> Callable[[Any, str], object] | None:
    kind: Any = parameter.annotation
    if isinstance(parameter.default, bool):
        return as_flag
    if get_origin(kind) is Literal:
        return lambda value, what: check_choice(value, get_args(kind), what)
    is_several = parameter.kind is parameter.VAR_POSITIONAL
    if get_origin(kind) is Sequence:
        is_several, kind = True, get_args(kind)[0]
    kinds: tuple[Any, ...] = get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    kinds = tuple([each for each in kinds if not (is_of_reals and each is complex)])
    if Tensor not in kinds or not set(kinds) <= _NAMES.keys():
        return None
    return lambda value, what: (_check_all if is_several else _check_one)(value, kinds, what)


_NAMES: dict[Any, str] = {
    Tensor: "array",
    DType: "dtype",
    float: "number",
    int: "number",
    bool: "number",
    complex: "number",
    types.NoneType: "None",
}


def _check_one(value: object, kinds: tuple[Any, ...], what: str) -> None:
    if not isinstance(value, kinds):
        names = " nor ".join(dict.fromkeys(_NAMES[kind] for kind in kinds))
        raise DtypeError(f"{what}={value!r:.60} ({type(value).__name__}) is no {names}. Use asarray(...).")


def _check_all(value: Any, kinds: tuple[Any, ...], what: str) -> None:
    if not issubclass(type(value), (list, tuple)):
        raise DtypeError(f"{what}={value!r:.60} ({type(value).__name__}) is no list of arrays. Pass one.")
    for item in value:
        _check_one(item, kinds, what)
