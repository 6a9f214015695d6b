"""The reverse walk: what it visits, what it adds up, what it refuses."""

from typing import Any

import numpy as np
import pytest

from plugrad.autodiff.gradient import compute_gradient
from plugrad.dtype import DType, dtypes
from plugrad.errors import GradientError
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def buffer(shape: tuple[int, ...] = (3,), dtype: DType = dtypes.float32) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtype)


def one(dtype: DType = dtypes.float32) -> UOp:
    return UOp.const(dtype, 1.0)


def test_gradient_of_a_node_by_itself_is_the_seed() -> None:
    x, seed = buffer(), buffer()
    assert compute_gradient(x, seed, [x]) == {x: seed}


def test_a_scalar_seed_fills_the_shape_of_the_root() -> None:
    x = buffer()
    assert compute_gradient(x, one(), [x])[x] is one().reshape((1,)).expand((3,))


def test_nodes_beside_the_way_are_not_visited() -> None:
    x, y = buffer(), buffer()
    # EXP2 has a rule, the hidden THREEFRY has none: a walk through y would raise
    hidden = y.bitcast(dtypes.uint32).alu(Ops.THREEFRY, y.bitcast(dtypes.uint32)).cast(dtypes.float32)
    gradient = compute_gradient(x * hidden, one(), [x])[x]
    assert hidden in gradient.toposort()


def test_a_target_between_root_and_another_target_counts_for_both(evaluate: Any) -> None:
    x = buffer()
    y = x * 3.0
    found = compute_gradient(y * y + x, one(), [y, x])
    values = {x: np.array([1.0, 2.0, 3.0], np.float32)}
    np.testing.assert_allclose(evaluate(found[y], values), [6.0, 12.0, 18.0])
    np.testing.assert_allclose(evaluate(found[x], values), [19.0, 37.0, 55.0])


def test_gradients_of_all_ways_add_up() -> None:
    x = buffer()
    gradient = compute_gradient(x + x, one(), [x])[x]
    seed = one().reshape((1,)).expand((3,))
    assert gradient is seed + seed


def test_a_target_given_twice_comes_once() -> None:
    x = buffer()
    assert list(compute_gradient(x * 2.0, one(), [x, x])) == [x]


def test_depth_is_limited_by_memory_only() -> None:
    x = node = buffer()
    for _ in range(20_000):
        node = node.sin()
    assert compute_gradient(node, one(), [x])[x].shape == (3,)


def test_shared_nodes_do_not_multiply_the_work() -> None:
    x = node = buffer()
    for _ in range(200):
        node = node + node
    assert len(compute_gradient(node, one(), [x])[x].toposort()) < 1000


def test_a_symbolic_shape_has_a_gradient() -> None:
    n = UOp.variable("n", 1, 8)
    x = buffer((8,)).shrink([(0, n)])
    root = (x * x).reduce_axis(Ops.ADD, (0,)).reshape(())
    assert compute_gradient(root, one(), [x])[x].shape == x.shape
    base = x.src[0]
    assert compute_gradient(root, one(), [base])[base].shape == (8,)


@pytest.mark.parametrize(
    "cut",
    [
        lambda x: x.detach() * 2.0,
        lambda x: x.cast(dtypes.int32).cast(dtypes.float32),
        lambda x: (x < 1.0).where(x.const_like(1.0), x.const_like(2.0)) + buffer(),
        lambda x: x.bitcast(dtypes.int32).bitcast(dtypes.float32),
        lambda x: x.assign(buffer()),
    ],
    ids=["detach", "integers", "comparison", "bitcast", "overwritten"],
)
def test_a_target_that_does_not_reach_the_root_is_named(cut: Any) -> None:
    x = buffer()
    with pytest.raises(GradientError, match=rf"the target BUFFER {x.arg.ident} \(3,\) float32 on PYTHON"):
        compute_gradient(cut(x), one(), [x])


def test_a_target_below_another_use_only_is_unreachable() -> None:
    x, y = buffer(), buffer()
    with pytest.raises(GradientError, match=f"does not depend on the target BUFFER {y.arg.ident}"):
        compute_gradient(x * y.detach(), one(), [x, y])


def test_integers_have_no_gradient() -> None:
    x, i = buffer(), buffer(dtype=dtypes.int32)
    with pytest.raises(GradientError, match=r"the target BUFFER \d+ \(3,\) int32 on PYTHON holds no floats"):
        compute_gradient(x, one(), [i])
    with pytest.raises(GradientError, match="the root ADD"):
        compute_gradient(i + i, one(dtypes.int32), [x])


def test_an_op_without_derivative_is_named() -> None:
    x = buffer()
    with pytest.raises(GradientError, match="FLOORMOD has no derivative"):
        compute_gradient(x % 2.0, one(), [x])
