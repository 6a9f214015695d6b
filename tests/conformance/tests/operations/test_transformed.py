"""Every fifth method in a batch, along a direction, and computed again for its gradient."""

from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, context
from plugrad.dtype import is_float
from plugrad.errors import ScheduleError, TransformError
from plugrad.transforms import checkpoint, grad, jvp, vmap
from plugrad_conformance.operations import OPERATIONS, Operation

# all of them take minutes
EACH = 5


def some() -> list[Operation]:
    """Return one case of every fifth method that takes tensors."""
    cases: dict[str, Operation] = {}
    for case in OPERATIONS:
        if case.inputs:
            cases.setdefault(case.name, case)
    return list(cases.values())[::EACH]


#: What writes to memory, or has a shape that depends on the elements, is refused in a batch.
REFUSED = {
    *(case.name for case in OPERATIONS if case.name.startswith("__i")),
    *["assign", "__setitem__", "masked_select", "nonzero", "unique", "bincount", "argwhere"],
} - {"__invert__"}


def several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def weights(shape: Any) -> np.ndarray:
    return np.cos(np.arange(int(np.prod(shape)))).reshape(shape)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", some(), ids=lambda case: case.name)
def test_a_batch_is_what_single_calls_give(case: Operation) -> None:
    call: Any = case.call
    others = [x * np.float32(1.03) if x.dtype == np.float32 else np.roll(x, 1) for x in case.inputs]
    many = [Tensor(np.stack([x, y], -1)) for x, y in zip(case.inputs, others, strict=True)]

    def one(*inputs: Tensor) -> tuple[Any, ...]:
        return several(call(*inputs))

    with context(DEVICE="PYTHON", SPEC=0), np.errstate(all="ignore"):
        if case.name in REFUSED:
            with pytest.raises((TransformError, ScheduleError)):
                vmap(one, in_axes=-1)(*many)
            return
        found = vmap(one, in_axes=-1)(*many)
        singles = [one(*map(Tensor, inputs)) for inputs in (case.inputs, others)]
        for number, batch in enumerate(found):
            expected = np.stack([results[number].numpy() for results in singles])
            assert batch.dtype is singles[0][number].dtype
            np.testing.assert_allclose(batch.numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [case for case in some() if case.differentiated], ids=lambda case: case.name)
def test_forward_mode_and_checkpoints_agree_with_gradients(case: Operation) -> None:
    call: Any = case.call
    arrays = [x.astype(np.float64) if x.dtype.kind == "f" else x for x in case.inputs]
    moving = case.differentiated

    def function(*primals: Tensor) -> tuple[Any, ...]:
        inputs = [Tensor(x) for x in arrays]
        for number, primal in zip(moving, primals, strict=True):
            inputs[number] = primal
        return several(call(*inputs))

    def total(function: Any) -> Any:
        def weighted(*primals: Tensor) -> Tensor:
            values = [y for y in function(*primals) if is_float(y.dtype)]
            start: Any = sum(0 * x.sum() for x in primals)
            return sum([(y * Tensor(weights(y.shape), dtype=y.dtype)).sum() for y in values], start)

        return grad(weighted, tuple(range(len(moving))))

    with context(DEVICE="PYTHON", SPEC=0), np.errstate(all="ignore"):
        primals = [Tensor(arrays[i]) for i in moving]
        tangents = [Tensor(weights(x.shape) + 0.5) for x in primals]
        gradients = [g.numpy() for g in total(function)(*primals)]
        again = [g.numpy() for g in total(checkpoint(function))(*primals)]
        for found, expected in zip(again, gradients, strict=True):
            # sums that share loops with others may add in another order
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)
        moved = jvp(function, primals, tangents)[1]
        along = sum((t.numpy() * weights(t.shape)).sum() for t in moved if is_float(t.dtype))
        expected = sum((g * t.numpy()).sum() for g, t in zip(gradients, tangents, strict=True))
        np.testing.assert_allclose(along, expected, rtol=1e-7, atol=1e-9)
