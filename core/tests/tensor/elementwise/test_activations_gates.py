import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor, Variable
from plugrad.errors import ArgumentError, AxisError, ShapeError

X = np.random.default_rng(0).standard_normal((2, 4, 6)).astype(np.float32)
VALUES = np.array([-200, -8, -1, -0.5, -0.3, 0, 0.3, 0.5, 1, 8, 200], np.float32)
NAMES = {
    "hardshrink": F.hardshrink, "softshrink": F.softshrink, "tanhshrink": F.tanhshrink,
    "threshold": lambda x: F.threshold(x, 0.3, -7),
}  # fmt: skip


def ours_of(name: str, x: Tensor) -> Tensor:
    return x.threshold(0.3, -7) if name == "threshold" else getattr(x, name)()


@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_are_those_of_torch(name: str) -> None:
    x, t = torch.tensor(VALUES, requires_grad=True), Tensor(VALUES, requires_grad=True)
    expected, out = NAMES[name](x), ours_of(name, t)
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=2e-6, atol=3e-7)
    (theirs,) = torch.autograd.grad(expected.sum(), x)
    np.testing.assert_allclose(out.sum().gradient(t)[0].numpy(), theirs.numpy(), rtol=1e-5, atol=2e-6)
    assert math.isnan(ours_of(name, Tensor([math.nan])).item())


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gated_units_are_those_of_torch(axis: int) -> None:
    x, t = torch.tensor(X, requires_grad=True), Tensor(X, requires_grad=True)
    expected, out = F.glu(x, axis), t.glu(axis)
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-5)
    (theirs,) = torch.autograd.grad(expected.square().sum(), x)
    np.testing.assert_allclose(
        out.square().sum().gradient(t)[0].numpy(), theirs.numpy(), rtol=1e-4, atol=1e-6
    )


def test_gates_need_two_halves() -> None:
    with pytest.raises(ShapeError, match=r"glu: axis -1 of shape \(3,\) has no two equal halves"):
        Tensor([1.0, 2.0, 3.0]).glu()
    with pytest.raises(AxisError, match="glu: axis 3"):
        Tensor(X).glu(3)
    n = Variable("n", 1, 4).bind(3)
    with pytest.raises(ShapeError, match="no two equal halves"):
        Tensor([1.0, 2.0, 3.0, 4.0])[:n].glu()


@pytest.mark.parametrize("slopes", [[0.25], [0.1, -0.2, 0.3, 2.0]])
def test_learned_slopes_are_those_of_torch(slopes: list[float]) -> None:
    x, w = torch.tensor(X, requires_grad=True), torch.tensor(slopes, requires_grad=True)
    t, v = Tensor(X, requires_grad=True), Tensor(slopes, requires_grad=True)
    expected, out = F.prelu(x, w), t.prelu(v)
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-6)
    theirs = torch.autograd.grad(expected.square().sum(), (x, w))
    for ours, wanted in zip(out.square().sum().gradient(t, v), theirs, strict=True):
        np.testing.assert_allclose(ours.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_slopes_for_scalars_rows_and_wrong_numbers() -> None:
    assert Tensor(-2.0).prelu(Tensor(0.5)).item() == -1.0
    assert Tensor([-2.0, 4.0]).prelu(Tensor([0.5])).tolist() == [-1.0, 4.0]
    assert Tensor([[-2.0, -4.0]]).prelu(Tensor([0.5, 0.25])).tolist() == [[-1.0, -1.0]]
    with pytest.raises(ShapeError, match=r"weight has shape \(3,\)\. Give one slope, or 4 for the channels"):
        Tensor(X).prelu(Tensor([1.0, 2.0, 3.0]))


def test_widths_are_not_negative() -> None:
    with pytest.raises(ArgumentError, match="hardshrink: lambd=-1 is negative"):
        Tensor([1.0]).hardshrink(-1)
    with pytest.raises(ArgumentError, match="softshrink: lambd=-1 is negative"):
        Tensor([1.0]).softshrink(-1)


def test_a_slope_of_prelu_has_no_part_in_what_is_above_0() -> None:
    given, slopes = [[3.0, math.inf, -2.0]], [math.nan, -0.5, 0.25]
    x, w = Tensor(given), Tensor(slopes)
    tx, tw = torch.tensor(given, requires_grad=True), torch.tensor(slopes, requires_grad=True)
    F.prelu(tx, tw).sum().backward()
    assert x.prelu(w).tolist() == [[3.0, math.inf, -0.5]]
    for ours, theirs in zip(x.prelu(w).sum().gradient(x, w), (tx.grad, tw.grad), strict=True):
        assert theirs is not None
        assert ours.tolist() == theirs.tolist()


def test_prelu_of_integers_stays_whole() -> None:
    found = Tensor([[-2, 3]]).prelu(Tensor([5]))
    assert (found.dtype.name, found.tolist()) == ("int32", [[-10, 3]])
