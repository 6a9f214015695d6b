"""Tests of plugrad.tensor.fft.fourier, against NumPy and torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import ArgumentError, AxisError, ShapeError

RNG = np.random.default_rng(0)


def random(*shape: int) -> Any:
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


def pairs(x: Any) -> Any:
    return np.stack([x.real, x.imag], axis=-1)


def complexes(x: Any) -> Any:
    return x[..., 0] + 1j * x[..., 1]


def near(out: Any, expected: Any, tolerance: float) -> None:
    assert out.shape == expected.shape
    np.testing.assert_allclose(out, expected, atol=tolerance * max(np.abs(expected).max(), 1e-30))


# by matrix; split; split twice; a prime that is split off; convolutions; a convolution in a split
SIZES = [1, 2, 3, 7, 64, 67, 96, 130, 128, 210, 257, 263, 526]


@pytest.mark.parametrize("size", SIZES)
def test_lengths_of_all_kinds_are_those_of_numpy(size: int) -> None:
    x = random(2, size)
    near(complexes(Tensor(pairs(x)).fft().numpy()), np.fft.fft(x), 1e-13)
    near(complexes(Tensor(pairs(x)).ifft().numpy()), np.fft.ifft(x), 1e-13)


@pytest.mark.parametrize("size", [60, 1000, 4096, 16384, 509])
def test_single_precision_is_near_double(size: int) -> None:
    x = random(size).astype(np.complex64)
    out = Tensor(pairs(x)).fft()
    assert out.dtype.name == "float32"
    near(complexes(out.numpy()), np.fft.fft(x.astype(np.complex128)), 1e-6)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize(("n", "axis"), [(None, 0), (4, 1), (9, 1), (5, -2), (1, -1)])
def test_axes_lengths_and_norms_are_those_of_numpy(n: Any, axis: int, norm: Any) -> None:
    x = random(3, 6)
    real = x.real
    near(complexes(Tensor(pairs(x)).fft(n, axis, norm).numpy()), np.fft.fft(x, n, axis, norm), 1e-13)
    near(complexes(Tensor(pairs(x)).ifft(n, axis, norm).numpy()), np.fft.ifft(x, n, axis, norm), 1e-13)
    near(complexes(Tensor(real).rfft(n, axis, norm).numpy()), np.fft.rfft(real, n, axis, norm), 1e-13)
    near(Tensor(pairs(x)).irfft(n, axis, norm).numpy(), np.fft.irfft(x, n, axis, norm), 1e-13)


@pytest.mark.parametrize("size", [1, 2, 5, 70, 257])
def test_transforms_of_real_numbers_come_back(size: int) -> None:
    x = RNG.standard_normal((2, size))
    frequencies = Tensor(x).rfft()
    near(complexes(frequencies.numpy()), np.fft.rfft(x), 1e-13)
    near(frequencies.irfft(size).numpy(), x, 1e-13)


def test_two_axes_are_those_of_numpy() -> None:
    x = random(2, 4, 6)
    near(complexes(Tensor(pairs(x)).fft2().numpy()), np.fft.fft2(x), 1e-13)
    near(
        complexes(Tensor(pairs(x)).ifft2(None, (0, 1), "ortho").numpy()),
        np.fft.ifft2(x, axes=(0, 1), norm="ortho"),
        1e-13,
    )


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("size", [6, 66, 257])
def test_gradients_are_those_of_torch(name: str, size: int) -> None:
    x = RNG.standard_normal((2, size)) if name == "rfft" else pairs(random(2, size))
    mine, theirs = Tensor(x), torch.tensor(x, requires_grad=True)
    given = theirs if name == "rfft" else torch.view_as_complex(theirs)
    expected = getattr(torch.fft, name)(given)
    expected = expected if name == "irfft" else torch.view_as_real(expected)
    out = getattr(mine, name)()
    weight = RNG.standard_normal(expected.shape)
    grad = (out * out * Tensor(weight)).sum().gradient(mine)[0]
    (expected * expected * torch.tensor(weight)).sum().backward()
    near(grad.numpy(), theirs.grad.numpy(), 1e-12)


def test_few_kernels_make_long_transforms() -> None:
    short, long = (len(Tensor(pairs(random(size))).realize().fft().schedule()) for size in (64, 4096))
    # a table of cosines and sines, and a product for each factor: one of 64, three of 16
    assert short <= 8
    assert long <= 18


def test_narrow_floats_compute_in_single_precision() -> None:
    x = RNG.standard_normal(8).astype(np.float16)
    out = Tensor(x).rfft()
    assert out.dtype.name == "float16"
    np.testing.assert_allclose(
        complexes(out.numpy().astype(np.float64)), np.fft.rfft(x.astype(np.float64)), atol=5e-3
    )
    assert Tensor([1, 0, 0, 0]).rfft().tolist() == [[1.0, 0.0]] * 3


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(ShapeError, match="complex numbers are a last axis of 2 elements"):
        Tensor.zeros(3).fft()
    with pytest.raises(AxisError, match="that is one number"):
        Tensor.zeros(2).fft()
    with pytest.raises(AxisError, match="out of range"):
        Tensor.zeros(3, 2).fft(axis=1)
    with pytest.raises(AxisError, match="out of range"):
        Tensor.zeros(3).rfft(axis=1)
    with pytest.raises(ArgumentError, match="n=0 elements"):
        Tensor.zeros(3, 2).ifft(0)
    with pytest.raises(ArgumentError, match="Ask for at least 1"):
        Tensor.zeros(1, 2).irfft()
    with pytest.raises(ArgumentError, match="is none of"):
        Tensor.zeros(3, 2).fft(norm="none")  # pyright: ignore[reportArgumentType]
