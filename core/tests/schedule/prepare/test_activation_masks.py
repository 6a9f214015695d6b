import numpy as np
import pytest

from plugrad import Tensor
from plugrad.dtype import dtypes
from plugrad.engine.plan import make_plan
from plugrad.schedule.prepare.activation_masks import read_masks_of_results
from plugrad.uop import Ops, UOp

EDGES = [-np.inf, -7.0, -1.0, -1e-45, -0.0, 0.0, 1e-45, 0.5, 1.0, 6.0, 7.0, np.inf, np.nan]


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def relu(x: UOp) -> UOp:
    return (x <= 0).where(x.const_like(0), x)


def changed(*values: UOp) -> tuple[UOp, ...]:
    return read_masks_of_results(UOp.sink(*values)).src


def sums() -> UOp:
    return buffer(4, 3).reduce_axis(Ops.ADD, (1,)) + buffer(4, 1)


def test_a_gradient_asks_the_result_of_a_relu_of_sums() -> None:
    x, g = sums(), buffer(4, 1)
    y = relu(x)
    assert changed(y, (x <= 0).where(0.0, g)) == (y, (y <= 0).where(0.0, g))


def test_both_limits_are_asked_of_the_result() -> None:
    x, g = sums(), buffer(4, 1)
    y = (x <= -1).where(x.const_like(-1), (x >= 2).where(x.const_like(2), x))
    gradient = (x >= 2).where(0.0, (x <= -1).where(0.0, g))
    assert changed(y, gradient)[1] is (y >= 2).where(0.0, (y <= -1).where(0.0, g))


def test_a_leaky_relu_is_asked_where_it_keeps_the_sign() -> None:
    x, g = sums(), buffer(4, 1)
    y, risen = (x > 0.0).where(x, x * 0.1), (x > 0.0).where(x, x * -0.1)
    assert changed(y, (x > 0.0).where(g, 0.0))[1] is (y > 0.0).where(g, 0.0)
    assert changed(risen, (x > 0.0).where(g, 0.0)) == (risen, (x > 0.0).where(g, 0.0))


def test_activations_of_each_layer_are_asked() -> None:
    x, g = sums(), buffer(4, 1)
    y = relu(x)
    deeper = relu((y * buffer(4, 3)).reduce_axis(Ops.ADD, (1,)))
    gradient = (deeper.src[2] <= 0).where(0.0, g) + (x <= 0).where(0.0, g)
    assert changed(deeper, gradient) == (deeper, (deeper <= 0).where(0.0, g) + (y <= 0).where(0.0, g))


def test_sums_lie_behind_any_number_of_operations() -> None:
    x, g = sums(), buffer(4, 1)
    for _ in range(3000):
        x = x + buffer(4, 1)
    y = relu(x)
    assert changed(y, (x <= 0).where(0.0, g)) == (y, (y <= 0).where(0.0, g))


@pytest.mark.parametrize("other", [lambda x: x * 2, lambda x: x.src[0] * 2])
def test_arguments_that_something_else_reads_stay(other) -> None:
    x, g = sums(), buffer(4, 1)
    values = relu(x), (x <= 0).where(0.0, g), other(x)
    assert changed(*values) == values


def test_arguments_without_sums_and_limits_that_hide_each_other_stay() -> None:
    x, g = buffer(4, 1) + 1, buffer(4, 1)
    values = relu(x), (x <= 0).where(0.0, g)
    assert changed(*values) == values
    x = sums()
    crossed = (x <= 2).where(x.const_like(2), (x >= -1).where(x.const_like(-1), x))
    values = crossed, (x >= -1).where(0.0, g)
    assert changed(*values) == values


@pytest.mark.parametrize(
    "activation", [Tensor.relu, Tensor.relu6, Tensor.hardtanh, lambda x: x.leaky_relu(0.0), Tensor.leaky_relu]
)
def test_gradients_are_those_of_the_argument_at_every_edge(activation) -> None:
    def gradient(x: Tensor) -> list[float]:
        return activation(x).sum().gradient(x)[0].tolist()

    x = Tensor(EDGES, requires_grad=True)
    parts = Tensor([[each, 0.0] for each in EDGES], requires_grad=True)
    of_sums = activation(parts.sum(1)).sum().gradient(parts)[0][:, 0]
    np.testing.assert_array_equal(of_sums.numpy(), np.float32(gradient(x)))


def test_what_sums_make_has_no_memory_in_a_step_of_training() -> None:
    x, w = Tensor.empty(4, 8), Tensor.empty(8, 16)
    w.requires_grad = True
    y = (x @ w).relu()
    (grad,) = (y * Tensor.empty(4, 16)).sum().gradient(w)
    plan = make_plan([y.uop, grad.uop], None)
    # the activation ends the kernel of the product
    assert [call.root.base.op for call in plan.calls] == [Ops.WHERE, Ops.REDUCE_AXIS]
