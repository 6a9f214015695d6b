"""Tangents: linear in those of the inputs, and nothing of the reverse walk is left in them."""

from typing import Any

import numpy as np
import pytest

from plugrad.autodiff import recomputed, with_rule
from plugrad.autodiff.forward import push_forward
from plugrad.dtype import dtypes
from plugrad.errors import GradientError
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def buffer(shape: tuple[int, ...] = (3,)) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def test_a_tangent_is_the_derivative_along_a_direction(evaluate: Any) -> None:
    x, t = buffer(), buffer()
    values = {x: np.array([1.0, 2.0, 3.0], np.float32), t: np.array([1.0, 0.0, 2.0], np.float32)}
    (moved,) = push_forward([x * x], {x: t})
    assert moved is not None
    np.testing.assert_allclose(evaluate(moved, values), 2 * values[x] * values[t])


def test_only_the_inputs_are_left_in_a_tangent() -> None:
    x, t = buffer(), buffer()
    (y,) = recomputed([(x.sin() * x).exp2()], {x})
    (moved,) = push_forward([y], {x: t})
    assert moved is not None
    assert {u for u in moved.toposort() if u.op is Ops.BUFFER} == {x, t}


def test_what_does_not_depend_on_an_input_stands_still() -> None:
    x, other = buffer(), buffer()
    assert push_forward([other * 2.0, x.cast(dtypes.int32), x.detach()], {x: buffer()}) == [None] * 3


def test_a_rule_that_is_not_linear_has_no_tangent() -> None:
    x = buffer()
    (y,) = with_rule([x * 2.0], [x], lambda gradients, function: [gradients[0] * gradients[0]])
    with pytest.raises(GradientError, match="not linear in the gradient"):
        push_forward([y], {x: buffer()})
