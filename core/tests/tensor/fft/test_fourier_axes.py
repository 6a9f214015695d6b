"""Tests of plugrad.tensor.fft.fourier_axes, against NumPy and torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import ArgumentError, AxisError, DtypeError

RNG = np.random.default_rng(0)


def random(*shape: int) -> Any:
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


X = random(3, 4, 5)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward", None])
@pytest.mark.parametrize(
    ("s", "axes"),
    [(None, None), (None, (0, 2)), (None, (-1,)), ((4,), None), ((2, 7), (1, 0)), ((3, 6), None)],
)
@pytest.mark.wide_on_cpu
def test_several_axes_are_those_of_numpy(s: Any, axes: Any, norm: Any) -> None:
    # NumPy takes no sizes without axes any more
    named = tuple(range(-len(s), 0)) if s is not None and axes is None else axes
    for name in ("fftn", "ifftn"):
        out = getattr(Tensor(X), name)(s, axes, norm)
        np.testing.assert_allclose(out.numpy(), getattr(np.fft, name)(X, s, named, norm), atol=1e-12)
        out = getattr(Tensor(X.real), name)(s, axes, norm)
        np.testing.assert_allclose(out.numpy(), getattr(np.fft, name)(X.real, s, named, norm), atol=1e-12)
    out = Tensor(X.real).rfftn(s, axes, norm)
    np.testing.assert_allclose(out.numpy(), np.fft.rfftn(X.real, s, named, norm), atol=1e-12)
    out = Tensor(X).irfftn(s, axes, norm)
    np.testing.assert_allclose(out.numpy(), np.fft.irfftn(X, s, named, norm), atol=1e-12)


@pytest.mark.parametrize("axes", [(-2, -1), (2, 0)])
def test_two_axes_are_those_of_numpy(axes: Any) -> None:
    for name in ("fft2", "ifft2"):
        out = getattr(Tensor(X), name)((3, 6), axes)
        np.testing.assert_allclose(out.numpy(), getattr(np.fft, name)(X, (3, 6), axes), atol=1e-12)
    out = Tensor(X.real).rfft2(None, axes)
    np.testing.assert_allclose(out.numpy(), np.fft.rfft2(X.real, None, axes), atol=1e-12)
    out = Tensor(X).irfft2((3, 7), axes)
    np.testing.assert_allclose(out.numpy(), np.fft.irfft2(X, (3, 7), axes), atol=1e-12)


def test_minus_one_takes_all_of_an_axis() -> None:
    out = Tensor(X).fft2((-1, 3))
    expected = torch.fft.fft2(torch.tensor(X), (-1, 3)).numpy()
    np.testing.assert_allclose(out.numpy(), expected, atol=1e-12)


def test_gradients_are_those_of_torch() -> None:
    real = X.real[0]
    mine, theirs = Tensor(real), torch.tensor(real, requires_grad=True)
    weight = RNG.standard_normal((4, 3))
    ours = (mine.rfft2() * Tensor(weight)).abs().square().sum().gradient(mine)[0]
    (torch.fft.rfft2(theirs) * torch.tensor(weight)).abs().square().sum().backward()
    assert theirs.grad is not None
    np.testing.assert_allclose(ours.numpy(), theirs.grad.numpy(), atol=1e-10)


def test_what_is_wrong_is_said() -> None:
    x = Tensor(X)
    for axes in ((0,), 1, (0, 1, 2), None):
        with pytest.raises(AxisError, match=r"fft2: axes=.* are not two"):
            x.fft2(axes=axes)  # pyright: ignore[reportArgumentType]
    with pytest.raises(AxisError, match="name one axis twice"):
        x.fftn(axes=(0, -3))
    with pytest.raises(ArgumentError, match="for 2 axes"):
        x.ifft2((1, 2, 3))
    with pytest.raises(ArgumentError, match="is no integer"):
        x.fftn((1.5, 2))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match="more sizes than axes"):
        x.irfftn((1, 2, 3, 4))
    with pytest.raises(
        DtypeError, match=r"rfft2 of complex128: it takes real numbers only. Use fft, fft2 or fftn"
    ):
        x.rfft2()
    with pytest.raises(AxisError, match="there is no axis to transform"):
        Tensor(1.0).rfftn()
    with pytest.raises(AxisError, match=r"irfftn of shape .*: there is no axis to transform"):
        Tensor(1.0).irfftn()
    with pytest.raises(AxisError, match="fftshift: axis 1 is out of range"):
        Tensor([1.0]).fftshift(1)


@pytest.mark.parametrize("axes", [None, 0, (1, 2), ()])
def test_frequencies_are_moved_as_by_numpy(axes: Any) -> None:
    for name in ("fftshift", "ifftshift"):
        np.testing.assert_array_equal(getattr(Tensor(X), name)(axes).numpy(), getattr(np.fft, name)(X, axes))
    np.testing.assert_array_equal(Tensor(X).fftshift(dim=1).numpy(), np.fft.fftshift(X, 1))


def test_a_transform_along_no_axes_changes_nothing() -> None:
    for name in ("fftn", "ifftn"):
        np.testing.assert_array_equal(getattr(Tensor(X), name)(axes=()).numpy(), X)
        assert getattr(Tensor(2), name)().item() == 2 + 0j
