from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, Variable
from plugrad.errors import AxisError, ShapeError

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("source", "destination"), [(0, 2), (-1, 0), ((0, 1), (-1, 0)), ([0, 2], [1, 0]), ((), ()), (1, 1)]
)
def test_axes_are_moved_as_in_numpy(source: Any, destination: Any) -> None:
    expected = np.moveaxis(X, source, destination)
    np.testing.assert_array_equal(Tensor(X).movedim(source, destination).numpy(), expected)
    np.testing.assert_array_equal(Tensor(X).moveaxis(source, destination).numpy(), expected)


def test_axes_that_cannot_be_moved_are_refused() -> None:
    with pytest.raises(AxisError, match="movedim: axis 3 is out of range"):
        Tensor(X).movedim(3, 0)
    with pytest.raises(ShapeError, match=r"movedim: axes \(0, 1\) to places \(0,\)"):
        Tensor(X).movedim((0, 1), 0)
    with pytest.raises(ShapeError, match="each once"):
        Tensor(X).movedim((0, 0), (0, 1))


def test_two_axes_are_exchanged() -> None:
    np.testing.assert_array_equal(Tensor(X).swapaxes(0, -1).numpy(), X.swapaxes(0, -1))


@pytest.mark.parametrize("k", [-5, -1, 0, 1, 2, 3, 4, 7])
@pytest.mark.parametrize("axes", [(0, 1), (2, 0), (-1, 1)])
def test_planes_are_turned_as_in_numpy(k: int, axes: tuple[int, int]) -> None:
    np.testing.assert_array_equal(Tensor(X).rot90(k, axes).numpy(), np.rot90(X, k, axes))


def test_planes_need_two_axes() -> None:
    with pytest.raises(ShapeError, match=r"axes \(1, -2\) span no plane"):
        Tensor(X).rot90(1, (1, -2))


@pytest.mark.parametrize(
    ("shifts", "axis"),
    [
        (1, None),
        (-5, None),
        (1, 0),
        (2, -1),
        (-9, 2),
        ((1, 2), (0, 2)),
        (1, (0, 1)),
        ((1, 1), (2, 2)),
        (0, 1),
    ],
)
def test_rolling_is_that_of_numpy(shifts: Any, axis: Any) -> None:
    np.testing.assert_array_equal(Tensor(X).roll(shifts, axis).numpy(), np.roll(X, shifts, axis))


def test_rolls_that_cannot_be_are_refused_and_empty_ones_stay() -> None:
    assert Tensor.zeros(0, 3).roll(1, 0).shape == (0, 3)
    assert Tensor(2.0).roll(3).item() == 2.0
    with pytest.raises(ShapeError, match=r"roll: shifts \(1, 2\) without axes"):
        Tensor(X).roll((1, 2))
    with pytest.raises(ShapeError, match="roll: 2 shifts for 1 axes"):
        Tensor(X).roll((1, 2), 0)
    with pytest.raises(AxisError, match="roll: axis 5"):
        Tensor(X).roll(1, 5)


def test_a_rolled_gradient_rolls_back() -> None:
    t = Tensor(X)
    (grad,) = (t.roll(1, 2) * Tensor(X)).sum().gradient(t)
    np.testing.assert_array_equal(grad.numpy(), np.roll(X, -1, 2))


@pytest.mark.parametrize("repeats", [(2,), (1, 2), (2, 1, 3), (2, 1, 1, 2), (0,), ()])
def test_tiling_is_that_of_numpy(repeats: tuple[int, ...]) -> None:
    np.testing.assert_array_equal(Tensor(X).tile(repeats).numpy(), np.tile(X, repeats))


@pytest.mark.parametrize(("axis", "size", "step"), [(2, 2, 1), (-1, 3, 2), (0, 2, 1), (1, 1, 2), (2, 4, 3)])
def test_windows_are_those_of_torch(axis: int, size: int, step: int) -> None:
    x = torch.tensor(X, requires_grad=True)
    expected = x.unfold(axis, size, step)
    t = Tensor(X)
    out = t.unfold(axis, size, step)
    np.testing.assert_array_equal(out.numpy(), expected.detach().numpy())
    (theirs,) = torch.autograd.grad(expected.square().sum(), x)
    np.testing.assert_allclose(out.square().sum().gradient(t)[0].numpy(), theirs.numpy())


def test_windows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="unfold: a window of 5"):
        Tensor(X).unfold(2, 5, 1)
    with pytest.raises(ShapeError, match="must each be at least 1"):
        Tensor(X).unfold(2, 2, 0)


def test_windows_whose_size_is_a_node_are_refused_where_it_is_no_size() -> None:
    x = Tensor.ones(9)
    for node in (Tensor([2]).uop, Tensor(2.0).uop):
        with pytest.raises(ShapeError, match=r"unfold: (?s:.*) is no size of an axis"):
            x.unfold(0, node, 1)
        with pytest.raises(ShapeError, match=r"unfold: (?s:.*) is no size of an axis"):
            x.unfold(0, 2, node)
    assert x.unfold(0, Tensor(2).uop, 1).shape == (8, 2)


def test_shapes_of_others_are_taken() -> None:
    other = Tensor.zeros(6, 4)
    assert Tensor(X).view_as(other).shape == Tensor(X).reshape_as(other).shape == (6, 4)
    assert Tensor([1.0]).expand_as(other).shape == (6, 4)


def test_windows_slide_where_another_axis_is_symbolic() -> None:
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    n = Variable("n", 1, 4).bind(3)
    part = Tensor(x).contiguous()[:n]
    expected = torch.tensor(x)[:3].unfold(1, 2, 2).numpy()
    out = part.unfold(1, 2, 2)
    assert out.shape[1:] == expected.shape[1:]
    np.testing.assert_array_equal(out.sum(0).numpy(), expected.sum(0))
    with pytest.raises(ShapeError, match=r"unfold: a window of 4 .* does not fit into an axis of 3"):
        part.unfold(0, 4, 1)
