"""Of which kind the results of functions are, real or complex, for who checks the types of a program.

A function is written for real numbers; `also_complex` has another one called where an argument is complex.
Each decorator here gives a function back as it is, and says what types both of them have together.
"""

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from plugrad.array_api.complexes.array import Array, Complex
from plugrad.array_api.complexes.dtypes import ComplexDType
from plugrad.array_api.operands import Operand
from plugrad.dtype import ConstType, DType
from plugrad.tensor import Tensor

__all__ = [
    "AsArray",
    "AsType",
    "Filled",
    "ResultType",
    "Unstacked",
    "Where",
    "like",
    "of_both",
    "of_dtype",
    "of_kind",
    "of_kind_of_all",
    "of_kind_or_dtype",
    "of_met_kinds",
    "real_of_both",
    "real_of_kind",
]

P = ParamSpec("P")
T = TypeVar("T")
_AnyOperand = Array | complex
_Reals = float | Sequence["_Reals"]
_Numbers = complex | Sequence["_Numbers"]


class OfKind(Protocol[P]):
    """A function that gives an array of the kind of the one that it takes."""

    @overload
    def __call__(self, x: Tensor, /, *args: P.args, **keywords: P.kwargs) -> Tensor: ...
    @overload
    def __call__(self, x: Complex, /, *args: P.args, **keywords: P.kwargs) -> Complex: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **keywords: P.kwargs) -> Array: ...


class OfKindOrDtype(Protocol[P]):
    """A function that gives an array of the kind of the one that it takes, or of a dtype."""

    @overload
    def __call__(self, x: Tensor, /, *args: P.args, **keywords: P.kwargs) -> Tensor: ...
    @overload
    def __call__(self, x: Complex, /, *args: P.args, **keywords: P.kwargs) -> Complex: ...
    @overload
    def __call__(self, x: Array, /, *args: Any, dtype: ComplexDType, **keywords: Any) -> Complex: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **keywords: P.kwargs) -> Array: ...


class OfDtype(Protocol[P]):
    """A function that makes an array, which is complex where its dtype is."""

    @overload
    def __call__(self, *args: Any, dtype: ComplexDType, **keywords: Any) -> Complex: ...
    @overload
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> Tensor: ...


class Filled(Protocol):
    """`full`."""

    @overload
    def __call__(  # pyright: ignore[reportOverlappingOverload] - the second is for what is not real
        self,
        shape: int | Sequence[int],
        fill_value: ConstType,
        *,
        dtype: DType | None = None,
        device: str | None = None,
    ) -> Tensor: ...
    @overload
    def __call__(
        self,
        shape: int | Sequence[int],
        fill_value: complex,
        *,
        dtype: ComplexDType | None = None,
        device: str | None = None,
    ) -> Complex: ...


class AsArray(Protocol):
    """`asarray`. What another library made is taken for real where no dtype is asked for."""

    @overload
    def __call__(
        self, obj: Any, /, *, dtype: ComplexDType, device: str | None = None, copy: bool | None = None
    ) -> Complex: ...
    @overload
    def __call__(
        self,
        obj: "_Reals | Tensor",
        /,
        *,
        dtype: DType | None = None,
        device: str | None = None,
        copy: bool | None = None,
    ) -> Tensor: ...
    @overload
    def __call__(  # pyright: ignore[reportOverlappingOverload] - the last is for what is none of these
        self, obj: "_Numbers | Complex", /, *, device: str | None = None, copy: bool | None = None
    ) -> Complex: ...
    @overload
    def __call__(
        self,
        obj: Any,
        /,
        *,
        dtype: DType | None = None,
        device: str | None = None,
        copy: bool | None = None,
    ) -> Tensor: ...


class AsType(Protocol):
    """`astype`."""

    @overload
    def __call__(
        self, x: Tensor, dtype: DType, /, *, copy: bool = True, device: str | None = None
    ) -> Tensor: ...
    @overload
    def __call__(
        self, x: Array, dtype: ComplexDType, /, *, copy: bool = True, device: str | None = None
    ) -> Complex: ...


class Where(Protocol):
    """`where`."""

    @overload
    def __call__(self, condition: Tensor, x1: Operand, x2: Operand, /) -> Tensor: ...
    @overload
    def __call__(self, condition: Tensor, x1: Complex, x2: _AnyOperand, /) -> Complex: ...
    @overload
    def __call__(self, condition: Tensor, x1: _AnyOperand, x2: Complex, /) -> Complex: ...
    @overload
    def __call__(self, condition: Tensor, x1: _AnyOperand, x2: _AnyOperand, /) -> Array: ...


class Unstacked(Protocol):
    """`unstack`."""

    @overload
    def __call__(self, x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]: ...
    @overload
    def __call__(self, x: Complex, /, *, axis: int = 0) -> tuple[Complex, ...]: ...


class ResultType(Protocol):
    """`result_type`."""

    @overload
    def __call__(self, *arrays_and_dtypes: Tensor | DType | ConstType) -> DType: ...
    @overload
    def __call__(
        self, *arrays_and_dtypes: Array | DType | ComplexDType | complex
    ) -> DType | ComplexDType: ...


class OfMetKinds(Protocol):
    """A function of two operands, which is complex where one of them is."""

    @overload
    def __call__(self, x1: Operand, x2: Operand, /) -> Tensor: ...
    @overload
    def __call__(self, x1: Complex, x2: _AnyOperand, /) -> Complex: ...
    @overload
    def __call__(self, x1: _AnyOperand, x2: Complex, /) -> Complex: ...
    @overload
    def __call__(self, x1: _AnyOperand, x2: _AnyOperand, /) -> Array: ...


class OfBoth(Protocol[P]):
    """A product of two arrays, which is complex where one of them is."""

    @overload
    def __call__(self, x1: Tensor, x2: Tensor, /, *args: P.args, **keywords: P.kwargs) -> Tensor: ...
    @overload
    def __call__(self, x1: Complex, x2: Array, /, *args: P.args, **keywords: P.kwargs) -> Complex: ...
    @overload
    def __call__(self, x1: Array, x2: Complex, /, *args: P.args, **keywords: P.kwargs) -> Complex: ...
    @overload
    def __call__(self, x1: Array, x2: Array, /, *args: P.args, **keywords: P.kwargs) -> Array: ...


class OfKindOfAll(Protocol[P]):
    """A function of several arrays, which is real where all of them are."""

    @overload
    def __call__(self, arrays: Sequence[Tensor], /, *args: P.args, **keywords: P.kwargs) -> Tensor: ...
    @overload
    def __call__(self, arrays: Sequence[Complex], /, *args: P.args, **keywords: P.kwargs) -> Complex: ...
    @overload
    def __call__(self, arrays: Sequence[Array], /, *args: P.args, **keywords: P.kwargs) -> Array: ...


def of_kind(function: Callable[Concatenate[Tensor, P], Tensor]) -> OfKind[P]:
    """Say that a function gives an array of the kind of the one that it takes."""
    return _as_it_is(function)


def of_kind_or_dtype(function: Callable[Concatenate[Tensor, P], Tensor]) -> OfKindOrDtype[P]:
    """Say that a function gives an array of the kind of the one that it takes, or of a dtype."""
    return _as_it_is(function)


def of_dtype(function: Callable[P, Tensor]) -> OfDtype[P]:
    """Say that a function makes an array, which is complex where its dtype is."""
    return _as_it_is(function)


def like(protocol: type[T]) -> Callable[[Callable[..., Any]], T]:
    """Say that a function takes and gives what `protocol` says, which is about this function alone."""
    return _as_it_is


def real_of_kind(function: Callable[Concatenate[Tensor, P], T]) -> Callable[Concatenate[Array, P], T]:
    """Say that a function of an array of either kind gives the same type, such as real numbers or bools."""
    return _as_it_is(function)


def of_met_kinds(function: Callable[[Operand, Operand], Tensor]) -> OfMetKinds:
    """Say that a function of two operands is complex where one of them is."""
    return _as_it_is(function)


def real_of_both(
    function: Callable[[Operand, Operand], Tensor],
) -> Callable[[_AnyOperand, _AnyOperand], Tensor]:
    """Say that a function of two operands of either kind gives real numbers or bools."""
    return _as_it_is(function)


def of_both(function: Callable[Concatenate[Tensor, Tensor, P], Tensor]) -> OfBoth[P]:
    """Say that a product is complex where one of its factors is."""
    return _as_it_is(function)


def of_kind_of_all(function: Callable[Concatenate[Sequence[Tensor], P], Tensor]) -> OfKindOfAll[P]:
    """Say that a function of several arrays gives one of their kind."""
    return _as_it_is(function)


def _as_it_is(function: Any) -> Any:
    return function
