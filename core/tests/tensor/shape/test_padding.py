from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, Variable
from plugrad.errors import ArgumentError, ShapeError

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("value", [0, 1.5, float("-inf")])
def test_padding(value: float) -> None:
    expected = np.pad(X, ((0, 0), (1, 0), (2, 3)), constant_values=value)
    np.testing.assert_array_equal(Tensor(X).pad((None, (1, 0), (2, 3)), value=value).numpy(), expected)
    np.testing.assert_array_equal(Tensor(X).pad((2, 3, 1, 0), value=value).numpy(), expected)
    np.testing.assert_array_equal(
        Tensor(X).pad((-1, 2), value=value).numpy(),
        torch.nn.functional.pad(torch.tensor(X), (-1, 2), value=value).numpy(),
    )


def test_paddings_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"pad: 3 widths \(1, 2, 3\) for shape \(2, 3, 4\)"):
        Tensor(X).pad((1, 2, 3))
    with pytest.raises(ShapeError, match="pad: 2 pairs for shape"):
        Tensor(X).pad(((1, 1), None))


def test_a_padded_nan_stays_outside() -> None:
    assert Tensor([float("nan")]).pad((1, 1), value=2.0).tolist()[::2] == [2.0, 2.0]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("widths", [(1, 2), (2, 0), (0, 3), (3, 1, 1, 2), (0, 0)])
def test_other_modes_are_those_of_torch(mode: Any, widths: tuple[int, ...]) -> None:
    x = torch.tensor(X[None], requires_grad=True)
    full = widths if len(widths) == 4 else (*widths, 0, 0)
    expected = torch.nn.functional.pad(x, full, mode=mode)
    t = Tensor(X[None], requires_grad=True)
    out = t.pad(widths, mode)
    np.testing.assert_array_equal(out.numpy(), expected.detach().numpy())
    weight = np.arange(expected.numel(), dtype=np.float32).reshape(expected.shape)
    (theirs,) = torch.autograd.grad((expected * torch.tensor(weight)).sum(), x)
    (ours,) = (out * Tensor(weight)).sum().gradient(t)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


def test_wrapping_goes_round_more_than_once_and_negative_widths_cut() -> None:
    x = np.arange(3)
    np.testing.assert_array_equal(Tensor(x).pad((4, 8), "circular").numpy(), np.pad(x, (4, 8), "wrap"))
    assert Tensor(x).pad((-1, 2), "reflect").tolist() == [1, 2, 1, 0]
    assert Tensor(x).pad([(2, -2)], "replicate").tolist() == [0, 0, 0]
    assert Tensor([True, False]).pad((1, 1), "reflect").tolist() == [False, True, False, True]


def test_modes_and_widths_that_do_not_fit_are_refused() -> None:
    wrong: Any = "wrap"
    with pytest.raises(ArgumentError, match=r"pad: mode='wrap' is none of 'constant', 'reflect'"):
        Tensor(X).pad((1, 1), wrong)
    wrong = 0.5
    with pytest.raises(ArgumentError, match=r"passed as value="):
        Tensor(X).pad((1, 1), wrong)
    with pytest.raises(ArgumentError, match=r"mode='reflect' fills with no value=2"):
        Tensor(X).pad((1, 1), "reflect", 2)
    with pytest.raises(ShapeError, match=r"a width of 4 on axis 2 of 4 elements.*at most 3"):
        Tensor(X).pad((4, 0), "reflect")
    with pytest.raises(ShapeError, match="axis 0 has no elements to take"):
        Tensor(np.zeros(0)).pad((1, 0), "circular")
    n = Variable("n", 1, 4).bind(2)
    with pytest.raises(ShapeError, match=r"a width of 2 on axis 0 of 2 elements.*at most 1"):
        Tensor([1, 2, 3, 4])[:n].pad((2, 0), "reflect")
    with pytest.raises(ShapeError, match=r"a width of 4 on axis 0 of 4 elements.*at most 3"):
        Tensor([1, 2, 3, 4]).pad([(n + 2, 0)], "reflect")


def test_sizes_as_targets() -> None:
    t = Tensor(X)
    expected = np.pad(X, ((0, 0), (0, 2), (0, 1)), constant_values=-1)
    np.testing.assert_array_equal(t.pad_to(None, 5, 5, value=-1).numpy(), expected)
    np.testing.assert_array_equal(t.pad_to((2, 3, 4)).numpy(), X)
    np.testing.assert_array_equal(t.shrink_to(1, None, 2).numpy(), X[:1, :, :2])
    n = Variable("n", 1, 4).bind(2)
    assert t[..., :n].pad_to(2, 3, 4).sum().item() == X[..., :2].sum()
    assert t.shrink_to(2, 3, n).sum().item() == X[..., :2].sum()
    with pytest.raises(ShapeError, match=r"pad_to: axis 1 of shape \(2, 3, 4\) has more than 2 elements"):
        t.pad_to(2, 2, 4)
    with pytest.raises(ShapeError, match=r"shrink_to: 2 sizes \(2, 2\) for shape"):
        t.shrink_to(2, 2)
    with pytest.raises(ShapeError, match=r"shrink_to: \[0, 9\) of axis 2"):
        t.shrink_to(2, 3, 9)


def test_one_number_pads_every_axis_as_in_numpy() -> None:
    np.testing.assert_array_equal(Tensor(X).pad(1).numpy(), np.pad(X, 1))
    np.testing.assert_array_equal(Tensor(X).pad(np.array([[1, 0]] * 3)).numpy(), np.pad(X, ((1, 0),) * 3))
    np.testing.assert_array_equal(
        Tensor(X).pad(np.array([1, 0])).numpy(), np.pad(X, ((0, 0),) * 2 + ((1, 0),))
    )
    assert Tensor(X).pad(()).shape == X.shape


def test_a_dtype_stays_where_it_holds_the_value() -> None:
    for x, value in ((np.array([True]), True), (np.array([True]), 1), (np.arange(3, dtype=np.uint8), 7.0)):
        t = torch.tensor(x)
        out = Tensor(x).pad((1, 2), value=value)
        expected = torch.nn.functional.pad(t, (1, 2), value=value).numpy()
        assert out.numpy().dtype == expected.dtype
        np.testing.assert_array_equal(out.numpy(), expected)
    assert Tensor([1, 2]).pad((1, 0), value=0.5).tolist() == [0.5, 1.0, 2.0]
    assert Tensor([1, 2]).pad((1, 0), value=None).tolist() == [0, 1, 2]
    assert Tensor([1, 2]).pad((1, 0), value=np.float32(3)).tolist() == [3, 1, 2]


def test_what_wraps_around_was_cut_before_as_in_torch() -> None:
    x = torch.arange(6.0).reshape(1, 2, 3)
    for widths in ((1, -1), (-1, 2), (2, -1)):
        expected = torch.nn.functional.pad(x, widths, mode="circular")
        np.testing.assert_array_equal(Tensor(x.numpy()).pad(widths, "circular").numpy(), expected.numpy())
