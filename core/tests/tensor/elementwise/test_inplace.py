import operator

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.errors import DtypeError, ShapeError, ViewError

OPERATORS = [
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
    operator.iand,
    operator.ior,
    operator.ixor,
    operator.ilshift,
    operator.irshift,
]


@pytest.mark.parametrize("update", OPERATORS)
@pytest.mark.parametrize("other", [3, np.array([1, 2, 3], np.int32)])
def test_a_view_and_its_tensor_show_the_update(update, other):
    array = np.array([[7, 8, 9], [4, 5, 6]], np.int32)
    tensor = Tensor(array)
    view, row = tensor[0], array[0]
    update(row, other)
    assert update(view, Tensor(other) if isinstance(other, np.ndarray) else other) is view
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_true_division_updates_floats():
    x = Tensor([1.0, 3.0])
    y = x
    y /= 2
    assert x.tolist() == [0.5, 1.5]


def test_an_element_is_updated_through_its_index():
    x = Tensor([1, 2, 3])
    x[1] += 5
    assert x.tolist() == [1, 7, 3]


def test_what_shares_only_the_graph_is_left_alone():
    t = Tensor([1, 2])
    a, b = t * 4, t * 4
    a += 1
    assert (a.tolist(), b.tolist()) == ([5, 9], [4, 8])


@pytest.mark.parametrize(
    "same", [lambda x: x.roll(2), lambda x: x.roll(0, 0), lambda x: +x, lambda x: x.nan_to_num()]
)
def test_values_that_equal_what_they_are_computed_from_are_values(same):
    x = Tensor([1, 2])
    y = same(x)
    y += 1
    assert (x.tolist(), y.tolist()) == ([1, 2], [2, 3])


@pytest.mark.parametrize("widths", [((0, 0),), ((-1, 0),)])
@pytest.mark.parametrize("mode", ["constant", "reflect", "circular"])
def test_padding_by_nothing_or_less_gives_a_value(widths, mode):
    x = Tensor([1, 2, 3])
    y = x.pad(widths, mode)
    y += 1
    assert x.tolist() == [1, 2, 3]


def test_a_sum_of_losses_keeps_its_gradient():
    w = Tensor([2.0], requires_grad=True)
    total = Tensor(0.0)
    for _ in range(3):
        total += (w * w).sum()
    assert total.gradient(w)[0].tolist() == [12.0]


def test_a_value_with_a_gradient_is_not_overwritten():
    w = Tensor([2.0], requires_grad=True)
    y = before = w * w
    y += 1
    assert (before.item(), y.item()) == (4.0, 5.0)
    assert y.sum().gradient(w)[0].tolist() == [4.0]


def test_a_parameter_is_stepped_in_place():
    w = same = Tensor([2.0], requires_grad=True)
    (w * w).sum().backward()
    w -= 0.25 * w.grad
    assert same is w
    assert w.tolist() == [1.0]
    assert w.requires_grad


def test_results_that_do_not_fit_are_refused_and_change_nothing():
    x = Tensor([1, 2])
    with pytest.raises(DtypeError):
        x += 0.5
    with pytest.raises(ShapeError):
        x += Tensor([[1, 2], [3, 4]])
    y = x.reshape(1, 2).expand(3, 2)
    with pytest.raises(ViewError):
        y += 1
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("name", ["__iadd__", "__itruediv__", "__ilshift__", "__imatmul__"])
def test_operators_that_write_have_their_names(name: str) -> None:
    assert getattr(Tensor, name).__name__ == name
