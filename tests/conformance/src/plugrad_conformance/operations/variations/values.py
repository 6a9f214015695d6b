"""The plain case of each method on NaN, infinities, zeros, equals, and extremes.

Methods of single elements meet all special numbers, in all pairs and triples. Methods that move elements are
given nothing else, and have to return the very same. Methods that mix elements meet a few among ordinary
numbers, so that something finite is left over; of stacked matrices, one is NaN and the others are not.

Subnormal numbers are in cases of their own: a device that takes them for 0 says so in
`core/elementwise/subnormals` of the suite for devices, and is wrong here in these only.
"""

# calls and references take whatever inputs there are
# ruff: noqa: E731
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plugrad_conformance.operations.admitted import NO_FLOATS, TO_FLOAT
from plugrad_conformance.operations.operation import Array, Meaning, Operation, reals
from plugrad_conformance.operations.variations.edges import digamma, lgamma
from plugrad_conformance.operations.variations.sweep import moved, rounded


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


def specials(dtype: str) -> Array:
    """Return NaN, infinities, zeros, the outermost normal numbers, and some where functions bend or end.

    Example:
        >>> specials("float32")[:4]
        array([ nan,  inf, -inf,   0.], dtype=float32)
    """
    info = np.finfo(dtype)
    ends = [info.max, -info.max, info.tiny, -info.tiny]
    return np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.0, *ends], dtype)


def subnormals(dtype: str) -> Array:
    """Return numbers below the normal ones, and some others."""
    info = np.finfo(dtype)
    least = info.smallest_subnormal
    return np.array([least, -least, info.tiny / 2, -info.tiny / 3, 0.0, -0.0, 2.0, -2.0], dtype)


#: What three operands are chosen from.
_FEW = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0, -1.5], np.float32)
_ELEMENTWISE = _names(
    "__abs__ __add__ __divmod__ __eq__ __floordiv__ __ge__ __gt__ __iadd__ __ifloordiv__ __imod__ __imul__ "
    "__ipow__ __isub__ __itruediv__ __le__ __lt__ __mod__ __mul__ __ne__ __neg__ __pos__ __pow__ __radd__ "
    "__rdivmod__ __rfloordiv__ __rmod__ __rmul__ __round__ __rpow__ __rsub__ __rtruediv__ __sub__ "
    "__truediv__ abs absolute acos acosh add addcdiv addcmul arccos arccosh arcsin arcsinh arctan arctan2 "
    "arctanh asin asinh atan atan2 atanh ceil celu clamp clamp_max clamp_min clip copysign cos cosh deg2rad "
    "digamma div divide elu eq erf erfc erfinv exp exp2 expm1 fix float_power floor floor_divide floordiv "
    "fmax fmin fmod frac ge gelu greater greater_equal gt hardshrink hardsigmoid hardswish hardtanh "
    "heaviside hypot isclose isfinite isinf isnan isneginf isposinf ldexp le leaky_relu lerp less less_equal "
    "lgamma log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logit "
    "logsigmoid lt masked_fill maximum minimum mish mod mul multiply nan_to_num ne neg negative not_equal "
    "positive pow quick_gelu rad2deg reciprocal relu relu6 remainder round rsqrt selu sgn sigmoid sign "
    "signbit silu sin sinc sinh softplus softshrink softsign sqrt square sub subtract swish tan tanh "
    "tanhshrink threshold true_divide trunc where xlogy"
)
_MOVING = _names(
    "T adjoint alpha_dropout assign atleast_1d atleast_2d atleast_3d block_diag broadcast_to cartesian_prod "
    "cat chunk column_stack combinations concat concatenate contiguous diag diag_embed diagflat diagonal "
    "diagonal_scatter dropout dropout1d dropout2d dropout3d dsplit dstack expand expand_as "
    "fftshift ifftshift "
    "feature_alpha_dropout flatten flip fliplr flipud gather __getitem__ hsplit hstack index_copy index_fill "
    "index_put index_select interpolate mT masked_scatter masked_select max_unpool1d max_unpool2d "
    "max_unpool3d meshgrid moveaxis movedim narrow pad pad_to permute pixel_shuffle pixel_unshuffle ravel "
    "rearrange repeat repeat_interleave reshape reshape_as roll rot90 scatter select select_scatter "
    "__setitem__ shrink shrink_to slice_scatter split squeeze stack swapaxes swapdims t take take_along_axis "
    "take_along_dim tensor_split tile transpose tril triu unbind unflatten unfold unsqueeze view view_as "
    "vsplit vstack"
)
#: Methods of stacked matrices, or of rows, each of which is NaN on its own.
_STACKED = _names(
    "cholesky det eigh fft hfft ifft inv inverse irfft logdet lstsq matrix_norm matrix_power "
    "newton_schulz pinv qr rfft slogdet solve svd"
)
#: Methods in which each result is a sum of all elements.
_OF_ALL = _names("fft2 fftn ifft2 ifftn irfft2 irfftn rfft2 rfftn")
#: Methods where either zero is right: of -0.0 and 0.0, neither is the greater.
_EITHER_ZERO = _names("clamp clamp_max clamp_min clip fmax fmin hardtanh maximum minimum relu relu6 xlogy")
#: Inputs that stay as they are, and why: what is not in the picture; 0 times NaN between what is spread.
_LEFT = {"grid_sample": (1,), **{f"conv_transpose{n}d": (1,) for n in (1, 2, 3)}}
#: Methods without a case here, and why.
EXCUSED = {
    **dict.fromkeys(
        _names("byte char int long short"),
        "casts of floats that no integer holds have a table of their own",
    ),
    "ihfft": "the first element has no part in imaginary parts",
    "multinomial": "draws by chances, which are numbers",
}


def _rows(*rows: str) -> Array:
    """Return the numbers that lines of text name."""
    return np.array([[float(word) for word in row.split()] for row in rows], np.float32)


def _changed(x: Array, elements: dict[tuple[int, ...], float]) -> Array:
    out = x.copy()
    for at, value in elements.items():
        out[at] = value
    return out


# --- references for what those of plain cases leave out ---


def _lerp(a: Any, b: Any, w: Any) -> Any:
    return np.where(np.abs(w) < 0.5, a + (b - a) * w, b + (b - a) * (w - 1))


def _elu(x: Any) -> Any:
    return np.where(x >= 0, x, np.expm1(np.minimum(x, 0)))


def _softshrink(x: Any) -> Any:
    return np.where(np.abs(x) <= 0.5, 0 * x, x - np.copysign(0.5, x))


def _xlogy(x: Any, y: Any) -> Any:
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))


def _ldexp(x: Any, y: Any) -> Any:
    return np.where(((x == 0) | np.isinf(x)) & (y == y), x, x * 2.0**y)


def _erfinv(x: Any) -> Any:
    known = {0.5: 0.4769362762044699, 1.0: np.inf, 0.0: 0.0}
    size = np.vectorize(lambda v: known.get(v, v if v < 1e-30 else np.nan), otypes=[float])(np.abs(x))
    # near 0 it is steeper by half the root of pi
    return np.copysign(np.where(size < 1e-30, size * 0.886226925452758, size), x)


def _interpolated(x: Any) -> Any:
    rows, columns = np.arange(7) * 5 // 7, np.arange(3) * 6 // 3
    return x[:, :, rows[:, None], columns]


_REFERENCES: dict[str, Meaning] = {
    "lerp": _lerp,
    "celu": _elu,
    "elu": _elu,
    "softshrink": _softshrink,
    "xlogy": _xlogy,
    "ldexp": _ldexp,
    "hardswish": lambda x: x * (np.minimum(np.maximum(x + 3, 0), 6) / 6),
    "lgamma": np.vectorize(lgamma, otypes=[float]),
    "digamma": np.vectorize(digamma, otypes=[float]),
    "erfinv": _erfinv,
    "interpolate": _interpolated,
    # the angle of the greatest float overflows
    "sinc": lambda x: np.where(np.abs(x) > 1.1e38, np.nan, np.sinc(x)),
    # the least of what comes most often, where all NaNs are one
    "mode": lambda x: np.array([np.nan, 0.0, -np.inf]),
    # each NaN is its own
    "unique_consecutive": lambda x: (np.array([1, np.nan, np.nan, 0, np.inf, -np.inf]), [1, 1, 1, 2, 2, 1]),
    "assign": lambda x, y: np.broadcast_to(y, x.shape),
}


#: Inputs of methods for which elements among others say little.
_INPUTS: dict[str, tuple[Array, ...]] = {
    "mode": (_rows("1 0 inf", "nan 1 -inf", "inf 2 3", "nan -0 nan"),),
    "unique_consecutive": (_rows("1 nan nan -0", "0 inf inf -inf"),),
    # of chances, one is NaN and one is 0
    "ctc_loss": (
        _changed(reals(4, 2, 3), {(0, 0, 0): np.nan, (1, 1, 2): -np.inf}),
        np.array([[1, 1], [2, 1]], np.int32),
    ),
}


# --- cases ---


def derived(plain: dict[str, Operation], written: Iterable[Operation]) -> Iterator[Operation]:
    """Yield cases of special values.

    Args:
        plain: the plain case of each method.
        written: all cases that are written out; methods that mix elements have none here if one has NaN.
    """
    met = {case.name for case in written if has_nan(case)}
    for name, case in plain.items():
        if name in NO_FLOATS or name in EXCUSED:
            continue
        if name in _ELEMENTWISE:
            yield _of_elements(case, "float32", specials("float32"), "special numbers")
            yield _of_elements(case, "float32", subnormals("float32"), "subnormal numbers")
            if name in TO_FLOAT:
                yield _of_elements(case, "float64", specials("float64"), "special numbers of float64")
        elif name in _MOVING:
            yield _moving(case)
        elif name in _STACKED:
            yield _stacked(case)
        elif name not in met:
            yield _mixing(case)
    yield from _cast()


def has_nan(case: Operation) -> bool:
    """Say whether NaN is among the inputs of a case.

    Example:
        >>> has_nan(Operation("neg", "NaN", lambda x: -x, lambda x: -x, (np.array([np.nan]),)))
        True
    """
    return any(x.dtype.kind == "f" and bool(np.isnan(x).any()) for x in case.inputs)


def _derive_case(case: Operation, variation: str, inputs: Sequence[Array], **changes: Any) -> Operation:
    meaning = _REFERENCES.get(case.name, case.reference)
    given: dict[str, Any] = {"reference": meaning, "order": 0, **changes}
    return replace(case, variation=variation, inputs=tuple(inputs), **given)


def _of_elements(case: Operation, dtype: str, numbers: Array, variation: str) -> Operation:
    """Return a case of all pairs or triples of some numbers."""
    elements = moved(case)
    if len(elements) > 2:
        numbers = _FEW.astype(dtype)
    grids = iter(np.meshgrid(*[numbers] * len(elements), indexing="ij"))
    size = len(numbers) ** len(elements)
    inputs = [
        next(grids).reshape(-1) if i in elements else np.resize(np.array([True, False, True]), size)
        for i in range(len(case.inputs))
    ]
    return _derive_case(case, variation, inputs, signed=case.name not in _EITHER_ZERO)


def _moving(case: Operation) -> Operation:
    """Return a case whose elements are all special, and have to stay the very same."""
    numbers = specials("float32")[[0, 1, 2, 3, 4, 8, 10, 11, 12, 13]]
    elements = moved(case)
    inputs = [np.resize(numbers, x.shape) if i in elements else x for i, x in enumerate(case.inputs)]
    return _derive_case(case, "special numbers", inputs, accuracy=0.0, signed=True)


def _stacked(case: Operation) -> Operation:
    """Return a case in which the first of two matrices holds NaN."""
    inputs = [np.repeat(x[1:], 2, 0) for x in case.inputs]

    def reference(*arrays: Any) -> Any:
        # of the second matrix, twice: what NumPy says of NaN differs by method and version
        meaning: Any = case.reference
        results = meaning(*[np.repeat(x[1:], 2, 0) for x in arrays])
        several = results if isinstance(results, tuple) else (results,)
        found = [np.array(x) for x in several]
        for x in found:
            # zeros above a triangle are none of the matrix's
            x[0] = np.where((x[0] == 0) & (case.name == "cholesky"), 0, np.nan)
        return tuple(found)

    inputs[0][(0,) * inputs[0].ndim] = np.nan
    return _derive_case(case, "a matrix of NaN", inputs, reference=reference)


def _mixing(case: Operation) -> Operation:
    """Return a case with a few special elements among ordinary ones."""
    if case.name in _INPUTS:
        return _derive_case(case, "special numbers", _INPUTS[case.name])
    elements = [i for i in moved(case) if i not in _LEFT.get(case.name, ())]
    inputs = list(case.inputs)
    for number, i in enumerate(elements):
        inputs[i] = _sprinkled(case.inputs[i], is_first=number == 0, last=np.nan if number == 1 else np.inf)
    if case.name in _OF_ALL:
        everywhere: Callable[..., Any] = lambda *xs: np.full_like(_called(case.reference, xs), np.nan)
        return _derive_case(case, "special numbers", inputs, reference=everywhere)
    return _derive_case(case, "special numbers", inputs)


_CASTS: dict[str, tuple[str, Meaning, Meaning]] = {
    "half": ("float16", lambda x: x.half(), lambda x: x.astype(np.float16)),
    "float": ("float32", lambda x: x.float(), lambda x: x.astype(np.float32)),
    "double": ("float64", lambda x: x.double(), lambda x: x.astype(np.float64)),
    "astype": ("float16", lambda x: x.astype("float16"), lambda x: x.astype(np.float16)),
    "type_as": ("bool", lambda x: x.type_as(x == x), lambda x: x.astype(bool)),
    "bool": ("bool", lambda x: x.bool(), lambda x: x.astype(bool)),
    # NumPy does not know bfloat16
    "bfloat16": ("float32", lambda x: x.bfloat16().float(), lambda x: rounded(x, "bfloat16")),
    "bitcast": ("int32", lambda x: x.bitcast("int32"), lambda x: x.astype(np.float32).view(np.int32)),
}


def _cast() -> Iterator[Operation]:
    # the last that float16 rounds to a number, the first that it does not, and what becomes subnormal there
    ends = np.array([65519, 65520, -70000, 3e-5, -6e-8, 2e-8], np.float32)
    for name, (dtype, call, meaning) in _CASTS.items():
        for variation, x in (
            ("special numbers", np.concatenate([specials("float32"), ends])),
            ("subnormal numbers", subnormals("float32")),
        ):
            yield Operation(name, variation, call, meaning, (x,), dtype, accuracy=0.0, signed=True)


def _called(function: Any, operands: Sequence[Any]) -> Any:
    return function(*operands)


def _sprinkled(x: Array, is_first: bool, last: float) -> Array:
    flat = x.astype(np.float32).reshape(-1).copy()
    count = len(flat)
    flat[count // 2 :: 7 if is_first else 5] = -0.0
    if not is_first:
        flat[count - 1] = last
        return flat.reshape(x.shape)
    flat[count // 3 :: 11] = 0.0
    flat[count * 2 // 3] = np.inf
    flat[0] = np.nan
    return flat.reshape(x.shape)
