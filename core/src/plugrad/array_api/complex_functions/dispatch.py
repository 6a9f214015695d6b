"""Functions of the namespace, which have another version for complex numbers, or refuse them by name."""

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, TypeVar

from plugrad.array_api.checks import checked
from plugrad.array_api.complex_functions import creation, elementwise, info, manipulation, reductions
from plugrad.array_api.complex_functions.creation import is_about_complex
from plugrad.array_api.complex_functions.operands import is_complex
from plugrad.array_api.complexes.array import Complex, as_pair
from plugrad.array_api.complexes.dtypes import ComplexDType
from plugrad.errors import DtypeError

__all__ = ["VERSIONS", "also_complex"]

F = TypeVar("F", bound=Callable[..., Any])

_MODULES = (elementwise, creation, info, reductions, manipulation)
#: By name, those that are given what is no array yet, and look into it.
_CONVERSIONS = frozenset(function.__name__ for function in creation.CONVERSIONS)
#: What does the same with complex numbers, by the name of the function.
VERSIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {function.__name__: checked(function) for module in _MODULES for function in module.FUNCTIONS}
)


def also_complex(function: F) -> F:
    """Return a function that calls its complex version where an argument is complex.

    Raises:
        DtypeError: by the function: it has none.
    """
    name = function.__name__
    version = VERSIONS.get(name)
    is_meant = _is_made_complex if name in _CONVERSIONS else _is_any_complex

    @wraps(function)
    def either(*args: Any, **keywords: Any) -> Any:
        args, keywords = tuple(map(as_pair, args)), {name: as_pair(x) for name, x in keywords.items()}
        if not is_meant(args, keywords):
            return as_pair(function(*args, **keywords))
        if version is None:
            _refuse(name, (*args, *keywords.values()))
            return function(*args, **keywords)
        return as_pair(version(*args, **keywords))

    return either  # pyright: ignore[reportReturnType]


def _is_any_complex(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return is_complex(args) or (bool(keywords) and is_complex(tuple(keywords.values())))


def _is_made_complex(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return bool(args) and is_about_complex(args[0], keywords.get("dtype"))


def _refuse(name: str, given: tuple[Any, ...]) -> None:
    for x in given:
        if isinstance(x, (Complex, ComplexDType)):
            dtype = x.dtype if isinstance(x, Complex) else x
            raise DtypeError(
                f"{name} of {dtype}: it takes real numbers only. Use real(x), imag(x) or abs(x) first."
            )
