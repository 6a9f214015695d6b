"""Functions with a rule of their own, in the reverse walk."""

from typing import Any

import numpy as np

from plugrad.autodiff import compute_gradient, inputs_of, marked, outputs_of, pull_back, with_rule
from plugrad.dtype import dtypes
from plugrad.uop.uop import UOp


def buffer(shape: tuple[int, ...] = (3,)) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


ONE = UOp.const(dtypes.float32, 1.0)


def test_a_rule_takes_the_place_of_those_of_the_ops() -> None:
    x = buffer()
    (y,) = with_rule([x * 2.0], [x], lambda gradients, function: [gradients[0] * 10.0])
    assert compute_gradient(y, ONE, [x])[x] is ONE.reshape((1,)).expand((3,)) * 10.0


def test_a_rule_runs_once_with_the_gradients_of_all_outputs() -> None:
    x, calls = buffer(), list[Any]()

    def rule(gradients: Any, function: UOp) -> list[UOp]:
        calls.append((gradients, function))
        return [gradients[0] + gradients[1]]

    a, b, _ = with_rule([x + 1.0, x * 2.0, x * 3.0], [x], rule)
    compute_gradient(a * b, ONE, [x])
    ((gradients, function),) = calls
    assert gradients[0] is not None
    assert gradients[1] is not None
    assert gradients[2] is None
    assert outputs_of(function) == (x + 1.0, x * 2.0, x * 3.0)
    assert inputs_of(function) == (x,)


def test_where_a_rule_gives_none_the_other_ways_count(evaluate: Any) -> None:
    x = buffer()
    y = x * 3.0
    (z,) = with_rule([y * y], [y], lambda gradients, function: [None])
    found = compute_gradient(z + x, ONE, [x])
    np.testing.assert_array_equal(evaluate(found[x], {}), np.ones(3, np.float32))
    assert pull_back({z: ONE}, [x]) == {}


def test_a_mark_tells_an_argument_from_the_same_value_elsewhere(evaluate: Any) -> None:
    x = buffer()
    mark = marked(x)
    values = {x: np.array([1.0, 2.0, 3.0], np.float32)}
    by_mark = compute_gradient(mark * x, ONE, [mark])[mark]
    np.testing.assert_array_equal(evaluate(by_mark, values), values[x])
    np.testing.assert_array_equal(evaluate(compute_gradient(mark * x, ONE, [x])[x], values), 2 * values[x])
