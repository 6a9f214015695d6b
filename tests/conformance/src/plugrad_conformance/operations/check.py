"""Run cases of the table on a device: results, and derivatives by finite differences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plugrad.dtype import is_bool, is_float
from plugrad.tensor import Tensor
from plugrad_conformance.operations.operation import Array, Operation

#: How far results may be from the reference, relative to the larger of it and 1.
ERRORS = {"bfloat16": 1.6e-2, "float16": 2e-3, "float32": 1e-5, "float64": 1e-10}
# of float64, where finite differences are what is compared with
_FIRST, _SECOND = 2e-6, 5e-4
_STEP = 1e-4


@dataclass(frozen=True, slots=True)
class Done:
    """The results of a case on a device, computed at the first request.

    Attributes:
        case: the case.
        results: what the call returned.
        gradients: of the weighted sum of all results, by each differentiated input.
        curvatures: of the weighted sum of the gradients of squared results, by the same. Squared, so that
            what is linear has a second derivative, and its gradient a gradient that is not zero.
    """

    case: Operation
    results: tuple[Tensor, ...]
    gradients: tuple[Tensor, ...]
    curvatures: tuple[Tensor, ...]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Everything that is to be computed."""
        return (*self.results, *self.gradients, *self.curvatures)


def do(case: Operation, device: str | None = None, precision: str = "float64") -> Done:
    """Ask a device for the results of a case and for its derivatives.

    Args:
        case: what to do.
        device: where; by default the default device.
        precision: the dtype in which derivatives are taken.
    """
    results = _several(_called(case.call, [Tensor(x, device=device) for x in case.inputs]))
    if not case.differentiated:
        return Done(case, results, (), ())
    exact = [Tensor(_floats_as(x, precision), device=device) for x in case.inputs]
    targets = [exact[i] for i in case.differentiated]
    values = _several(_called(case.call, exact))
    gradients = _slopes(values, targets)
    if case.order < 2:
        return Done(case, results, tuple(gradients), ())
    squares = [value.square() for value in values if is_float(value.dtype)]
    return Done(case, results, tuple(gradients), tuple(_slopes(_slopes(squares, targets), targets)))


def _slopes(values: Sequence[Tensor], targets: Sequence[Tensor]) -> list[Tensor]:
    """Return the gradients of the weighted sum of `values`; zeros where nothing depends."""
    floats = [value for value in values if is_float(value.dtype)]
    # weights of the precision asked for: a device may have no float64
    terms: list[Any] = [
        (v * Tensor(_weights(v.shape), dtype=targets[0].dtype, device=v.device)).sum() for v in floats
    ]
    # 0 * t: a gradient is asked for although a value does not depend on t, as that of a sum
    total = sum(terms, start=sum((0 * t.sum() for t in targets[1:]), start=0 * targets[0].sum()))
    return total.gradient(*targets)


def _weights(shape: Any) -> Array:
    """Return numbers that tell the elements of a result apart."""
    return np.cos(np.arange(math.prod(shape))).reshape(shape)


def faults(done: Done) -> list[str]:
    """Return the errors of a device's results. Reading them computes them."""
    case = done.case
    with np.errstate(all="ignore"):
        expected = references(case)
        if len(expected) != len(done.results):
            return [f"{case.id}: {len(done.results)} results where {len(expected)} are expected"]
        found = [fault for i, want in enumerate(expected) if (fault := _result_fault(done, i, want))]
        if found or not case.differentiated:
            return found
        found += [
            fault
            for i, tensor in zip(case.differentiated, done.gradients, strict=True)
            if (
                fault := _slope_fault(
                    f"{case.id}: gradient {i}", tensor, gradient_by_differences(case, i), _FIRST
                )
            )
        ]
        found += [
            fault
            for i, tensor in zip(case.differentiated, done.curvatures, strict=bool(done.curvatures))
            if (
                fault := _slope_fault(
                    f"{case.id}: second derivative {i}",
                    tensor,
                    curvature_by_differences(case, i),
                    _SECOND * max(1.0, case.accuracy),
                )
            )
        ]
    return found


def _result_fault(done: Done, i: int, want: Array) -> str | None:
    got, case = done.results[i], done.case
    what = f"{case.id}: result {i}"
    if i == 0:
        dtype = case.dtype or case.inputs[0].dtype.name
        if got.dtype.name != dtype:
            return f"{what} is {got.dtype.name} where {dtype} is expected"
    elif (is_float(got.dtype), is_bool(got.dtype)) != (want.dtype.kind == "f", want.dtype.kind == "b"):
        return f"{what} is {got.dtype.name} where {want.dtype} is expected"
    if got.shape != want.shape:
        return f"{what} has shape {got.shape} where {want.shape} is expected"
    if not is_float(got.dtype):
        return _unlike(what, got.numpy(), want, 0.0)
    return _unlike(what, got.numpy(), want, ERRORS[got.dtype.name] * case.accuracy, case.signed)


def _slope_fault(what: str, got: Tensor, want: Array, error: float) -> str | None:
    wide = got.dtype.name == "float64"
    return _unlike(what, got.numpy(), want, error if wide else max(error, 2e-4))


def _unlike(what: str, got: Array, want: Array, error: float, signed: bool = False) -> str | None:
    if got.dtype.kind in "biu":
        wrong = got.astype(want.dtype) != want
    else:
        with np.errstate(over="ignore"):
            # beyond the range of the dtype lies infinity
            want = want.astype(got.dtype).astype(np.float64)
        wide = got.astype(np.float64)
        scale = np.maximum(1.0, np.abs(want))
        near = np.isfinite(want) & (np.abs(wide - want) <= error * scale)
        wrong = ~(near | (wide == want) | (np.isnan(wide) & np.isnan(want)))
        wrong |= signed & (wide == 0) & (want == 0) & (np.signbit(wide) != np.signbit(want))
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    count = f"{int(wrong.sum())} of {got.size} differ"
    return f"{what} is {got[at]!r} at {at} where {want[at]!r} is expected ({count})"


# --- the reference, and its derivatives ---


def references(case: Operation, inputs: Sequence[Array] | None = None) -> tuple[Array, ...]:
    """Return the expected results of a case, for its own inputs or for others."""
    inputs = [wide(x) for x in case.inputs] if inputs is None else inputs
    return tuple(np.asarray(x) for x in _several(_called(case.reference, list(inputs))))


def _total(case: Operation, inputs: Sequence[Array], power: int = 1) -> float:
    values = references(case, inputs)
    return float(sum(np.sum(v**power * _weights(v.shape)) for v in values if v.dtype.kind == "f"))


def _total_near(
    case: Operation, inputs: Sequence[Array], moves: Sequence[tuple[int, Array]], power: int = 1
) -> float:
    changed = list(inputs)
    for i, by in moves:
        changed[i] = changed[i] + by
    return _total(case, changed, power)


def _units(x: Array, step: float) -> list[Array]:
    units: list[Array] = []
    for at in np.ndindex(*x.shape):
        unit = np.zeros(x.shape)
        unit[at] = step
        units.append(unit)
    return units


def gradient_by_differences(case: Operation, i: int) -> Array:
    """Return the gradient by input `i`, from differences of fourth order."""
    inputs = [wide(x) for x in case.inputs]
    slopes = [
        (
            8 * (_total_near(case, inputs, [(i, u)]) - _total_near(case, inputs, [(i, -u)]))
            - (_total_near(case, inputs, [(i, 2 * u)]) - _total_near(case, inputs, [(i, -2 * u)]))
        )
        / (12 * _STEP)
        for u in _units(inputs[i], _STEP)
    ]
    return np.array(slopes).reshape(inputs[i].shape)


def curvature_by_differences(case: Operation, i: int) -> Array:
    """Return the gradient by input `i` of the weighted sum of gradients of squares."""
    inputs = [wide(x) for x in case.inputs]
    along = [(j, _STEP * 10 * _weights(inputs[j].shape)) for j in case.differentiated]
    back = [(j, -by) for j, by in along]
    step = _STEP * 10
    slopes = [
        (
            _total_near(case, inputs, [*along, (i, u)], 2)
            - _total_near(case, inputs, [*back, (i, u)], 2)
            - _total_near(case, inputs, [*along, (i, -u)], 2)
            + _total_near(case, inputs, [*back, (i, -u)], 2)
        )
        / (4 * step * step)
        for u in _units(inputs[i], step)
    ]
    return np.array(slopes).reshape(inputs[i].shape)


def wide(x: Array) -> Array:
    """Return `x` with floats as float64."""
    return _floats_as(x, "float64")


def _floats_as(x: Array, dtype: str) -> Array:
    return x.astype(dtype) if x.dtype.kind == "f" else x


def _called(function: Any, operands: Sequence[Any]) -> Any:
    return function(*operands)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if issubclass(type(value), (tuple, list)) else (value,)
