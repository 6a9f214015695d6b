"""The plain case of each method again, in every dtype that the method takes.

A float of two or eight bytes is a case of its own; so are two floats of a byte. Integers and bools share one.

Inputs are rounded to numbers that all floats of two bytes have. References are computed in float64, of
integers in int64, from these very numbers, and rounded once to the dtype of the result. float64 lies flipped
in memory, and float16 transposed, so that each method meets elements that are not in order.
"""

# calls and references take whatever inputs there are
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Callable, Container, Iterable, Iterator, Sequence, Set
from typing import Any

import numpy as np

from plugrad.dtype import is_bool, is_float, parse_dtype, to_numpy, truncate
from plugrad_conformance.operations.admitted import (
    BITWISE,
    BYTES,
    FLOATS,
    INTEGERS,
    NO_FLOATS,
    NO_INTEGERS,
    TO_FLOAT,
    admits,
    result_dtype,
)
from plugrad_conformance.operations.operation import Array, Operation


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _keep_integer_dtype(change: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a change of integers that keeps their dtype."""
    return lambda x: change(x.astype(np.int64)).astype(x.dtype)


#: Methods whose integers are made fit for them.
_DOMAINS: dict[str, Callable[[Array], Array]] = {
    **dict.fromkeys(("__pow__", "__ipow__", "pow"), _keep_integer_dtype(lambda x: np.abs(x) % 7)),
    **dict.fromkeys(("lgamma", "digamma"), _keep_integer_dtype(lambda x: np.abs(x) + 1)),
    **dict.fromkeys(("normalize", "xlogy"), _keep_integer_dtype(lambda x: np.maximum(x, 1))),
    "erfinv": np.zeros_like,
}
# what their references are for, or their matrices, is lost in two values
_WITHOUT_BOOLS = _names("cholesky eigh inverse logdet mode unique_consecutive")
# many kernels for each dtype, which differ in one cast: two dtypes stand for all
_LONG = _names("eigh lstsq matrix_norm pinv svd")
# a sum of two that cancel, each rounded before
_ACCURACIES = {"addbmm": 4.0}
# Python knows no value at poles, which are numbers of fp8e5m2
_POLES = _names("lgamma")
# composed of operations that each round: floats of a byte are far from what is rounded once
_ROUNDED_OFTEN = _names(
    "addbmm addcdiv addcmul addmm addmv addr baddbmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d corrcoef cosine_embedding_loss cosine_similarity cross diff fft2 fftn glu histc ifft2 "
    "ifftn irfft2 irfftn leaky_relu lerp linear matrix_power mse_loss newton_schulz nll_loss normalize "
    "pairwise_distance rfft2 rfftn sequential smooth_l1_loss sparse_categorical_crossentropy "
    "triplet_margin_loss"
)
#: Methods without a case here, and why.
EXCUSED = dict.fromkeys(
    _names("astype bfloat16 bitcast bool byte cast char double float half int long short type_as"),
    "casts have a table of their own, of all pairs of dtypes",
)


# --- which cases, and which of their inputs ---


def plain_cases(cases: Iterable[Operation], without: Container[str] = EXCUSED) -> dict[str, Operation]:
    """Return one case of each method, of floats and with derivatives if possible."""
    found: dict[str, Operation] = {}
    for case in cases:
        if case.inputs and case.name not in without and _rank(case) > _rank(found.get(case.name)):
            found[case.name] = case
    return found


def _rank(case: Operation | None) -> int:
    if case is None:
        return -1
    return any(x.dtype.kind == "f" for x in case.inputs) + bool(case.differentiated)


def moved(case: Operation) -> tuple[int, ...]:
    """Select the inputs that are elements, not indices or masks."""
    kinds = [x.dtype.kind for x in case.inputs]
    elements = "f" if "f" in kinds else "iu" if {"i", "u"} & {*kinds} else "b"
    return tuple(i for i, kind in enumerate(kinds) if kind in elements)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _called(function: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
    return _several(function(*operands))


def _unexpected(case: Operation, dtype: str, found: Any, expected: str) -> str:
    lists = "if that is meant, name it in a list of plugrad_conformance.operations.admitted"
    return f"{case.id} in {dtype} is {found.dtype.name}, not {expected}; {lists}"


# --- floats ---


def rounded(x: Array, dtype: str) -> Array:
    """Return the numbers of `dtype` nearest to `x`, in float64."""
    kind = parse_dtype(dtype)
    flat = [truncate(float(value), kind) for value in x.ravel()]
    return np.array(flat, np.float64).reshape(x.shape)


def in_float(case: Operation, dtype: str) -> Operation:
    """Return a case in another float dtype."""
    elements = moved(case)
    narrow = dtype.startswith("fp8")
    stored = np.dtype(np.float32 if to_numpy(parse_dtype(dtype)) is None else dtype)
    turn: Callable[[Any], Any] = _LAYOUTS.get(dtype, lambda x: x)
    grid = dtype if narrow else "bfloat16"
    # float16 has an infinity where bfloat16 has 1e10
    with np.errstate(over="ignore"):
        inputs = tuple(
            turn(rounded(x, grid)).astype(stored) if i in elements else x for i, x in enumerate(case.inputs)
        )
    result = result_dtype(case.name, dtype, case.dtype or "")

    def call(*tensors: Any) -> Any:
        made = [turn(x.cast(dtype).contiguous()) if i in elements else x for i, x in enumerate(tensors)]
        found = _called(case.call, made)
        assert found[0].dtype.name == result, _unexpected(case, dtype, found[0], result)
        # NumPy has no floats of a byte, and an error of a unit of theirs is large
        return tuple(x.float() if x.dtype.name == dtype else x for x in found) if narrow else found

    def reference(*arrays: Any) -> Any:
        made = [turn(x) if i in elements else x for i, x in enumerate(arrays)]
        found = [np.asarray(x) for x in _called(case.reference, made)]
        if not narrow or result.startswith("float"):
            return tuple(found)
        return tuple(rounded(x, dtype) if x.dtype.kind == "f" else x for x in found)

    given_back = "float32" if narrow and result == dtype else result
    accuracy = case.accuracy * _ACCURACIES.get(case.name, 1.0)
    return Operation(
        case.name,
        f"{case.variation} in {dtype}",
        call,
        reference,
        inputs,
        given_back,
        accuracy=accuracy,
        stored=(dtype,),
    )


def _flipped(x: Any) -> Any:
    axes = tuple(range(x.ndim))
    return (np.flip(x, axes) if isinstance(x, np.ndarray) else x.flip(axes)) if axes else x


def _transposed(x: Any) -> Any:
    axes = tuple(range(x.ndim))[::-1]
    return (x.transpose(axes) if isinstance(x, np.ndarray) else x.permute(axes)) if axes else x


_LAYOUTS: dict[str, Callable[[Any], Any]] = {"float16": _transposed, "float64": _flipped}


# --- integers ---


def whole_numbers(x: Array, dtype: str) -> Array:
    """Return integers in the order of the elements of `x`, equal where these are."""
    if x.dtype.kind == "f":
        # elements of cases are not nearer than an eighth
        x = np.round(np.clip(np.nan_to_num(x.astype(np.float64), nan=3), -12, 12) * 8)
    values = x.astype(np.int64)
    if dtype == "bool":
        # of matrices, what is large
        return 2 * values > values.max(initial=0)
    if dtype.startswith("u"):
        values -= min(values.min(initial=0), 0)
    return values.astype(dtype)


def in_integers(case: Operation, in_rows: bool) -> Operation:
    """Return a case in all integer dtypes that the method takes.

    Args:
        case: the plain case.
        in_rows: whether the results of all dtypes lie flat behind each other. One kernel computes them then,
            which is quick where each element is on its own, and slow where kernels have loops within loops.
    """
    elements = moved(case)
    kinds = [
        dtype
        for dtype in (("int8", "uint64") if case.name in _LONG else INTEGERS)
        if admits(case.name, dtype) and (dtype != "bool" or case.name not in _WITHOUT_BOOLS)
    ]
    fit = _DOMAINS.get(case.name, lambda x: x)
    inputs = [
        fit(whole_numbers(x, dtype)) if i in elements else x
        for dtype in kinds
        for i, x in enumerate(case.inputs)
    ]
    results = [result_dtype(case.name, dtype, case.dtype or "") for dtype in kinds]
    count = len(case.inputs)

    def call(*tensors: Any) -> Any:
        found: list[tuple[Any, ...]] = []
        for place, (dtype, result) in enumerate(zip(kinds, results, strict=True)):
            made = _called(case.call, tensors[place * count : (place + 1) * count])
            assert made[0].dtype.name == result, _unexpected(case, dtype, made[0], result)
            found.append((made[0], *(x.cast("int64") if is_bool(x.dtype) else x for x in made[1:])))
        if not in_rows:
            return tuple(x for made in found for x in made)
        return tuple(_join_tensors(parts) for parts in zip(*found, strict=True))

    def reference(*arrays: Any) -> Any:
        found: list[tuple[Any, ...]] = []
        for place, result in enumerate(results):
            wide = [
                _as_wide(x, case.name) if i in elements else x
                for i, x in enumerate(arrays[place * count : (place + 1) * count])
            ]
            first, *others = _called(case.reference, wide)
            found.append((np.asarray(first).astype(result), *others))
        if not in_rows:
            return tuple(x for made in found for x in made)
        return tuple(_join_arrays(parts) for parts in zip(*found, strict=True))

    row = "float32" if results[0].startswith("float") else "int64"
    carrier = row if in_rows else results[0]
    return Operation(
        case.name,
        f"{case.variation} in integers",
        call,
        reference,
        tuple(inputs),
        carrier,
        accuracy=case.accuracy,
        # float64 of `float_power`, wherever results lie
        stored=tuple(dict.fromkeys(results)),
    )


def _as_wide(x: Array, name: str) -> Array:
    if name in TO_FLOAT:
        return x.astype(np.float64)
    # the complement of a truth value is not that of a number, nor are differences
    return x if x.dtype == np.bool_ and name in BITWISE | {"diff"} else x.astype(np.int64)


def _join_tensors(parts: Sequence[Any]) -> Any:
    """Return tensors of one kind in one row."""
    rows = [x.reshape(-1).cast("float32" if is_float(x.dtype) else "int64") for x in parts]
    return rows[0].cat(*rows[1:])


def _join_arrays(parts: Sequence[Any]) -> Array:
    rows = [np.asarray(x).reshape(-1) for x in parts]
    return np.concatenate([x if x.dtype.kind == "f" else x.astype(np.int64) for x in rows])


# --- all of them ---


def swept(cases: Sequence[Operation], one_by_one: Set[str]) -> Iterator[Operation]:
    """Yield written cases in other dtypes.

    Args:
        cases: what to choose plain ones from.
        one_by_one: the methods that compute or move each element on its own.
    """
    for name, case in plain_cases(cases).items():
        if name not in NO_FLOATS:
            bytes_ = BYTES if name in one_by_one - _POLES else BYTES[:1]
            narrow = () if name in _ROUNDED_OFTEN else bytes_
            yield from (in_float(case, dtype) for dtype in (*FLOATS, *narrow))
        if name not in NO_INTEGERS:
            yield in_integers(case, name in one_by_one)
