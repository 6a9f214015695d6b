from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import AxisError, DtypeError, GradientError, ShapeError

X = np.arange(120, dtype=np.int32).reshape(4, 5, 6)
AT, ON, MASK = (
    np.array([[0, -1, 2], [3, 1, 1]]),
    np.array([1, -4, 4]),
    np.array([True, False, True, True]),
)
ALL = slice(None)

INDICES: list[Any] = [
    AT, (ALL, ON), (AT, ON), (0, ALL, ON), (ALL, 0, ON), (ON % 4, ALL, ON), (..., ON),
    (None, ON % 4, None),
    (slice(None, None, -1), ON, slice(1, None, 2)), X % 7 == 0, MASK, (MASK, ON), (MASK, ALL, 0), np.array(2),
    (ALL, X[0] % 2 == 0), ([0, 1], [1, 2]), (AT[:1].T, ON), (ON[:1], ..., ON), [], X < 0,
]  # fmt: skip


def given(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(given(item) for item in index)
    return Tensor(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("number", range(len(INDICES)))
def test_reading_and_writing_are_those_of_numpy(number: int) -> None:
    index = INDICES[number]
    expected = X[index]
    out = Tensor(X)[given(index)]
    assert out.shape == expected.shape
    np.testing.assert_array_equal(out.numpy(), expected)
    values = np.arange(expected.size, dtype=np.int32).reshape(expected.shape) + 1000
    ours, theirs = Tensor(X), X.copy()
    ours[given(index)] = Tensor(values)
    theirs[index] = values
    np.testing.assert_array_equal(ours.numpy(), theirs)


def test_numbers_and_rows_broadcast_into_what_is_named() -> None:
    for index, value in ((AT, -5), (X % 2 == 0, -5), ((ALL, ON), np.arange(6, dtype=np.int32))):
        ours, theirs = Tensor(X), X.copy()
        ours[given(index)] = Tensor(value) if isinstance(value, np.ndarray) else value
        theirs[index] = value
        np.testing.assert_array_equal(ours.numpy(), theirs)


def test_many_writes_are_sorted_first() -> None:
    rng = np.random.default_rng(0)
    index, values = rng.integers(0, 5000, 1000), np.arange(1000, dtype=np.int32)
    ours, theirs = Tensor(np.zeros(5000, np.int32)), np.zeros(5000, np.int32)
    ours[Tensor(index)] = Tensor(values)
    theirs[index] = values
    np.testing.assert_array_equal(ours.numpy(), theirs)


def test_positions_out_of_range_read_zero_and_write_nothing() -> None:
    t = Tensor([1, 2, 3])
    assert t[Tensor([3, -4, 2])].tolist() == [0, 0, 3]
    t[Tensor([3, -4, 2])] = 9
    assert t.tolist() == [1, 2, 9]
    square = Tensor([[1, 2], [3, 4]])
    assert square[Tensor([0, 1]), Tensor([2, 1])].tolist() == [0, 4]


def test_a_write_into_a_view_shows_in_the_whole_and_reads_first() -> None:
    t = Tensor([1, 2, 3, 4]).realize()
    before = t * 10
    part = t[1:]
    part[Tensor([0, 2])] = part[Tensor([2, 0])]
    part.realize()
    assert t.tolist() == [1, 4, 3, 2]
    assert before.tolist() == [10, 20, 30, 40]


def test_gradients_flow_to_what_was_named() -> None:
    x = np.random.default_rng(1).standard_normal((4, 5)).astype(np.float32)
    t, u = Tensor(x), torch.tensor(x, requires_grad=True)
    index = np.array([0, 2, 2])
    ours = t[Tensor(index)].square().sum() + t[Tensor(x > 0)].exp().sum() + t[1, Tensor(index)].sum()
    theirs = u[index].square().sum() + u[torch.tensor(x > 0)].exp().sum() + u[1, index].sum()
    (expected,) = torch.autograd.grad(theirs, u)
    np.testing.assert_allclose(ours.gradient(t)[0].numpy(), expected.numpy(), rtol=1e-5)


def test_wrong_indices_are_refused() -> None:
    t = Tensor(X)
    with pytest.raises(DtypeError, match="cannot index axis 0 with a tensor of float32"):
        _ = t[Tensor([1.0])]
    with pytest.raises(ShapeError, match=r"a mask of shape \(2,\) for axes of shape \(4,\)"):
        _ = t[Tensor([True, False])]
    with pytest.raises(AxisError, match="index 9 is out of range for axis 1 of size 5"):
        _ = t[Tensor([0]), 9]
    with pytest.raises(AxisError, match="4 indices for a tensor with 3 axes"):
        _ = t[Tensor([0]), 0, 0, 0]
    with pytest.raises(ShapeError, match=r"index: shapes \(2,\) and \(3,\) do not broadcast"):
        _ = t[Tensor([0, 1]), Tensor([0, 1, 2])]
    with pytest.raises(DtypeError, match="cannot index axis 1 with True"):
        _ = t[Tensor([0]), True]
    with pytest.raises(ShapeError, match=r"cannot assign shape \(4,\) to \(2, 5, 6\)"):
        t[Tensor([0, 1])] = Tensor([1, 2, 3, 4])
    w = Tensor([1.0, 2.0], requires_grad=True) * 2
    with pytest.raises(GradientError, match="its gradient is tracked"):
        w[Tensor([0])] = 1.0
