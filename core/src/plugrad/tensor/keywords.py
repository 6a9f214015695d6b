"""Keywords of other libraries: `dim` for `axis`, `keepdims` for `keepdim`, and the like.

A method that takes them has `**names` in its signature, typed by a dictionary of this module, and begins with

    if names:
        axis, keepdim = renamed(self.sum, names, axis=axis, keepdim=keepdim)

A parameter that has no default, and may be given by another name, has the default `REQUIRED`.
"""

# ruff: noqa: UP013 - a line for a dictionary that none is made of

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypedDict

from plugrad._util import inspect


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


# the default of a parameter without one; `renamed` refuses it
REQUIRED: Final[Any] = _Required()

# other libraries' names of parameters, and the names here: of several, a method has one
OWN_NAMES: Mapping[str, tuple[str, ...]] = {
    "Y": ("y",),
    "a_max": ("max_",),
    "a_min": ("min_",),
    "arg": ("bounds",),
    "constant_values": ("value",),
    "ddof": ("correction",),
    "dim": ("axis", "axes"),
    "dim1": ("axis1",),
    "dim2": ("axis2",),
    "dimension": ("axis",),
    "dims": ("axis", "axes"),
    "end": ("stop",),
    "end_dim": ("end_axis",),
    "k": ("diagonal",),
    "keepdims": ("keepdim",),
    "ll": ("layers",),
    "max": ("max_",),
    "method": ("interpolation",),
    "min": ("min_",),
    "neg_slope": ("negative_slope",),
    "num": ("steps",),
    "ord": ("p",),
    "order": ("axes",),
    "pad": ("padding",),
    "pad_width": ("padding",),
    "reps": ("repeats",),
    "shift": ("shifts",),
    "size": ("shape",),
    "sorted": ("sorted_",),
    "split_size": ("sizes",),
    "split_size_or_sections": ("sizes",),
    "start_dim": ("start_axis",),
    "target": ("y",),
    "unbiased": ("correction",),
    "value": ("src",),
    "w": ("other",),
    "x": ("value", "other"),
}
# NumPy's functions, such as `np.sum(tensor)`, pass these on to methods as None
_PASSED_AS_NONE = frozenset({"dtype", "kind", "order", "out"})
# exchanged axes are counted from 0 by PyTorch, and from 1 by NumPy
_AXES_FROM_0: Mapping[str, str] = {"axis0": "axis1", "axis1": "axis2", "dim0": "axis1", "dim1": "axis2"}
_DIMS_FROM_0: Mapping[str, str] = {"dim0": "axis1", "dim1": "axis2"}


def renamed(method: Callable[..., Any], names: Mapping[str, Any], **own: Any) -> tuple[Any, ...]:
    """Return the values of a method's own parameters, some of them given by other names.

    Raises:
        TypeError: a name is unknown, a parameter is given twice, or a required one is missing.

    Example:
        >>> from plugrad import Tensor
        >>> renamed(Tensor.sum, {"dim": 1}, axis=None, keepdim=False)
        (1, False)
    """
    title = method.__name__
    parameters = _parameters(getattr(method, "__func__", method))
    for other, value in names.items():
        name = next((name for name in OWN_NAMES.get(other, (other,)) if name in own), "")
        if not name and value is None and other in _PASSED_AS_NONE:
            continue
        if not name:
            raise TypeError(f"{title}() got an unexpected keyword argument {other!r}.")
        parameter = parameters[name]
        is_rest = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        if own[name] if is_rest else own[name] is not parameter.default:
            raise TypeError(f"{title}() got {name!r} twice, also as {other!r}.")
        own[name] = (value,) if is_rest else value
    if missing := [name for name, value in own.items() if value is REQUIRED]:
        raise TypeError(f"{title}() is missing {' and '.join(map(repr, missing))}.")
    return tuple(own.values())


def exchanged(
    method: Callable[..., Any], names: Mapping[str, Any], axis1: Any, axis2: Any
) -> tuple[Any, ...]:
    """Return two axes numbered from 1, or from 0 as `axis0`, `axis1` or `dim0`, `dim1`.

    Raises:
        TypeError: as by `renamed`; or axes are counted from 0 and from 1.
    """
    is_given = axis1 is not None and axis1 is not REQUIRED
    # behind a first axis, `axis1` is the second one
    counts_from_0 = "axis0" in names or (is_given and "axis1" in names)
    if counts_from_0 and "axis2" in names:
        raise TypeError(f"{method.__name__}() got axes counted from 0 and 'axis2' as well.")
    table = _AXES_FROM_0 if counts_from_0 else _DIMS_FROM_0
    own = {table.get(name, name): value for name, value in names.items()}
    if len(own) < len(names):
        raise TypeError(f"{method.__name__}() got an axis twice, as {' and '.join(map(repr, names))}.")
    return renamed(method, own, axis1=axis1, axis2=axis2)


@lru_cache(maxsize=512)
def _parameters(function: Callable[..., Any]) -> "Mapping[str, inspect.Parameter]":
    return inspect.signature(function).parameters


class AxisNames(TypedDict, total=False):
    dim: int | Sequence[int] | None
    dims: int | Sequence[int] | None
    dimension: int | Sequence[int] | None


class FlipNames(AxisNames, total=False):
    axis: int | Sequence[int]


class KeepdimNames(TypedDict, total=False):
    keepdims: bool


class ExtremeNames(KeepdimNames, total=False):
    dim: int  # also asks for positions, as in PyTorch


class ReduceNames(AxisNames, KeepdimNames, total=False):
    pass


class SpreadNames(ReduceNames, total=False):
    ddof: float
    unbiased: bool


class NormNames(ReduceNames, total=False):
    ord: Any


class InterpolationNames(ReduceNames, total=False):
    method: str


class OrderNames(AxisNames, total=False):
    sorted: bool


class PartNames(AxisNames, total=False):
    split_size: Any
    split_size_or_sections: Any


class ShiftNames(AxisNames, total=False):
    shift: Any


class RepeatAxisNames(AxisNames, total=False):
    reps: Any


class ScatterNames(AxisNames, total=False):
    value: Any


class SpanNames(AxisNames, total=False):
    end: int | None


class AxesNames(TypedDict, total=False):
    dim: Any
    dims: Any
    order: Any


class PermuteNames(AxesNames, total=False):
    axes: Sequence[int]


DiagonalNames = TypedDict("DiagonalNames", {"dim1": int, "dim2": int}, total=False)
ExchangeNames = TypedDict(
    "ExchangeNames", {"axis0": int, "axis1": int, "axis2": int, "dim0": int, "dim1": int}, total=False
)
TriangleNames = TypedDict("TriangleNames", {"k": int}, total=False)
FlattenNames = TypedDict("FlattenNames", {"start_dim": int, "end_dim": int}, total=False)
RepeatNames = TypedDict("RepeatNames", {"reps": Any, "repeats": Any}, total=False)
ClampNames = TypedDict("ClampNames", {"min": Any, "a_min": Any, "max": Any, "a_max": Any}, total=False)
PadNames = TypedDict("PadNames", {"pad": Any, "pad_width": Any, "constant_values": Any}, total=False)
TargetNames = TypedDict("TargetNames", {"Y": Any, "target": Any}, total=False)
SizeNames = TypedDict("SizeNames", {"size": Any}, total=False)
ShapeNames = TypedDict("ShapeNames", {"size": Any, "shape": Any}, total=False)
EndNames = TypedDict("EndNames", {"end": Any}, total=False)
StepNames = TypedDict("StepNames", {"end": Any, "num": int}, total=False)
