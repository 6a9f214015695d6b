import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.tensor_oracle import evaluate, value_of

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def x() -> UOp:
    return UOp.new_buffer("PYTHON", (2, 3), dtypes.float32)


def test_movement_is_that_of_numpy(x: UOp) -> None:
    u = x.permute((1, 0)).pad(((1, 0), (0, 2))).flip((0,)).shrink(((0, 4), (1, 3))).reshape((2, 4))
    expected = np.pad(VALUES.T, ((1, 0), (0, 2)))[::-1][:, 1:3].reshape(2, 4)
    np.testing.assert_array_equal(value_of(u, {x: VALUES}), expected)
    row = x.shrink(((0, 1), (0, 3))).expand((4, 3))
    np.testing.assert_array_equal(value_of(row, {x: VALUES}), np.broadcast_to(VALUES[:1], (4, 3)))


@pytest.mark.parametrize(("op", "function"), [(Ops.ADD, np.sum), (Ops.MUL, np.prod), (Ops.MAX, np.max)])
def test_reductions_keep_their_axes(x: UOp, op: Ops, function: object) -> None:
    out = value_of(x.reduce_axis(op, (1,)), {x: VALUES})
    np.testing.assert_array_equal(out, function(VALUES, axis=1, keepdims=True))  # type: ignore[operator]


def test_scalars_take_part_in_any_shape_and_dtypes_are_kept(x: UOp) -> None:
    out = value_of((x * 2.0 + 1.0).cast(dtypes.bfloat16).exp2().cast(dtypes.int32), {x: VALUES})
    assert out.dtype == np.int32
    np.testing.assert_array_equal(out, 2 ** (2 * VALUES + 1))


def test_variables_have_the_values_they_are_bound_to_or_given(x: UOp) -> None:
    n = UOp.variable("n", 1, 3)
    for u, variables in ((n.bind(2), {}), (n, {"n": 2})):
        out = value_of(x.shrink(((0, 2), (0, u))).reduce_axis(Ops.ADD, (1,)), {x: VALUES}, variables)
        np.testing.assert_array_equal(out, VALUES[:, :2].sum(1, keepdims=True))
        assert value_of(UOp.iota(u), variables=variables).tolist() == [0, 1]


def test_an_assign_is_a_new_version_and_memory_has_the_last_one(x: UOp) -> None:
    first = x.assign(x + 1.0)
    second = first.assign(first * 10.0)
    found = evaluate([x + 0.0, first, second], {x: VALUES})
    np.testing.assert_array_equal(found.values[x + 0.0], VALUES)
    np.testing.assert_array_equal(found.values[first], VALUES + 1)
    np.testing.assert_array_equal(found.memory[x], (VALUES + 1) * 10)


def test_an_assign_to_a_view_writes_only_there(x: UOp) -> None:
    part = x.permute((1, 0)).shrink(((1, 3), (0, 1)))
    changed = x.after(part.assign(UOp.const(dtypes.float32, -1.0).reshape((1, 1)).expand((2, 1))))
    expected = VALUES.copy()
    expected[0, 1:] = -1
    found = evaluate([changed, part], {x: VALUES})
    np.testing.assert_array_equal(found.values[changed], expected)
    np.testing.assert_array_equal(found.values[part], VALUES[:1, 1:].T)


def test_long_chains_need_no_recursion(x: UOp) -> None:
    u = x
    for _ in range(3000):
        u = u + 1.0
    np.testing.assert_array_equal(value_of(u, {x: VALUES}), VALUES + 3000)
