"""What is computed again: other nodes than the first time, behind the gradient."""

import pytest

from plugrad.autodiff import compute_gradient, recomputed
from plugrad.dtype import dtypes
from plugrad.errors import TransformError
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

ONE = UOp.const(dtypes.float32, 1.0)


def buffer(shape: tuple[int, ...] = (3,)) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def test_the_gradient_shares_no_computation_with_the_first_pass() -> None:
    x, w = buffer(), buffer()
    inner = (x * w).exp2()
    (y,) = recomputed([inner.sin()], {x, w})
    gradient = compute_gradient(y, buffer(), [x])[x]
    assert inner not in gradient.toposort()
    assert {u.src[0] for u in gradient.toposort() if u.op is Ops.LATER} == {x, w}


def test_values_that_are_known_are_kept() -> None:
    x = buffer()
    kept = x.exp2()
    (y,) = recomputed([(kept * kept).sin()], {kept})
    assert kept in compute_gradient(y, buffer(), [x])[x].toposort()


def test_state_of_random_numbers_is_read_again() -> None:
    x, state = buffer(), UOp.new_buffer("PYTHON", (3,), dtypes.uint64)
    mask = state.threefry(state) < 5
    (y,) = recomputed([mask.where(x * x, 0.0)], {x})
    gradient = compute_gradient(y, buffer(), [x])[x]
    assert mask not in gradient.toposort()
    assert state in gradient.toposort()


def test_the_same_output_twice_adds_up() -> None:
    x = buffer()
    a, b = recomputed([x * x, x * x], {x})
    assert compute_gradient(a + b, ONE, [x])[x].shape == (3,)


def test_an_output_that_is_an_input_passes_its_gradient_on() -> None:
    x = buffer()
    (y,) = recomputed([x], {x})
    assert compute_gradient(y, ONE, [x])[x].op is Ops.CONTIGUOUS


def test_assigns_on_the_way_are_refused() -> None:
    x = buffer()
    with pytest.raises(TransformError, match="may not assign"):
        recomputed([buffer().assign(x * 2.0)], {x})
