"""Tests of plugrad.tensor.fft.fourier, against NumPy and torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.dtype import dtypes
from plugrad.errors import ArgumentError, AxisError, DtypeError
from plugrad.jit import jit

RNG = np.random.default_rng(0)


def random(*shape: int) -> Any:
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


def near(out: Any, expected: Any, tolerance: float) -> None:
    assert out.shape == expected.shape
    np.testing.assert_allclose(out, expected, atol=tolerance * max(np.abs(expected).max(), 1e-30))


# by matrix; split; split twice; a prime that is split off; convolutions; a convolution in a split
SIZES = [1, 2, 3, 7, 64, 67, 96, 130, 128, 210, 257, 263, 526]


@pytest.mark.parametrize("size", SIZES)
def test_lengths_of_all_kinds_are_those_of_numpy(size: int) -> None:
    x = random(2, size)
    near(Tensor(x).fft().numpy(), np.fft.fft(x), 1e-13)
    near(Tensor(x).ifft().numpy(), np.fft.ifft(x), 1e-13)


@pytest.mark.parametrize("size", [1, 2, 7, 66, 131, 257])
def test_real_numbers_have_complex_transforms(size: int) -> None:
    x = RNG.standard_normal((2, size))
    near(Tensor(x).fft().numpy(), np.fft.fft(x), 1e-13)
    near(Tensor(x).ifft(axis=0).numpy(), np.fft.ifft(x, axis=0), 1e-13)
    near(Tensor(x).irfft(size).numpy(), np.fft.irfft(x, size), 1e-13)
    near(Tensor(x).hfft(size).numpy(), np.fft.hfft(x, size), 1e-13)


@pytest.mark.parametrize("size", [60, 1000, 4096, 16384, 509])
def test_single_precision_is_near_double(size: int) -> None:
    x = random(size).astype(np.complex64)
    out = Tensor(x).fft()
    assert out.dtype is dtypes.complex64
    near(out.numpy(), np.fft.fft(x.astype(np.complex128)), 1e-6)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize(("n", "axis"), [(None, 0), (4, 1), (9, 1), (5, -2), (1, -1)])
def test_axes_lengths_and_norms_are_those_of_numpy(n: Any, axis: int, norm: Any) -> None:
    x = random(3, 6)
    real = x.real
    near(Tensor(x).fft(n, axis, norm).numpy(), np.fft.fft(x, n, axis, norm), 1e-13)
    near(Tensor(x).ifft(n, axis, norm).numpy(), np.fft.ifft(x, n, axis, norm), 1e-13)
    near(Tensor(real).rfft(n, axis, norm).numpy(), np.fft.rfft(real, n, axis, norm), 1e-13)
    near(Tensor(x).irfft(n, axis, norm).numpy(), np.fft.irfft(x, n, axis, norm), 1e-13)
    near(Tensor(x).hfft(n, axis, norm).numpy(), np.fft.hfft(x, n, axis, norm), 1e-13)
    near(Tensor(real).ihfft(n, axis, norm).numpy(), np.fft.ihfft(real, n, axis, norm), 1e-13)


@pytest.mark.parametrize("size", [1, 2, 5, 70, 257])
def test_transforms_of_real_numbers_come_back(size: int) -> None:
    x = RNG.standard_normal((2, size))
    frequencies = Tensor(x).rfft()
    near(frequencies.numpy(), np.fft.rfft(x), 1e-13)
    near(frequencies.irfft(size).numpy(), x, 1e-13)


def test_two_axes_are_those_of_numpy() -> None:
    x = random(2, 4, 6)
    near(Tensor(x).fft2().numpy(), np.fft.fft2(x), 1e-13)
    near(
        Tensor(x).ifft2(None, (0, 1), "ortho").numpy(),
        np.fft.ifft2(x, axes=(0, 1), norm="ortho"),
        1e-13,
    )


NAMES = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "float64") for name in NAMES]
    + [(name, "complex128") for name in NAMES if name not in ("rfft", "ihfft")],
)
@pytest.mark.parametrize("size", [2, 7, 66])
def test_gradients_are_those_of_torch(name: str, kind: str, size: int) -> None:
    x = random(2, size) if kind == "complex128" else RNG.standard_normal((2, size))
    mine, theirs = Tensor(x), torch.tensor(x, requires_grad=True)
    expected = getattr(torch.fft, name)(theirs)
    out = getattr(mine, name)()
    weight = RNG.standard_normal(expected.shape)
    grad = (out * out * Tensor(weight)).abs().sum().gradient(mine)[0]
    (expected * expected * torch.tensor(weight)).abs().sum().backward()
    assert theirs.grad is not None
    assert grad.dtype is mine.dtype
    near(grad.numpy(), theirs.grad.resolve_conj().numpy(), 1e-11)


def test_few_kernels_make_long_transforms() -> None:
    short, long = (len(Tensor(random(size)).realize().fft().schedule()) for size in (64, 4096))
    # a table of cosines and sines, and a product for each factor: one of 64, three of 16
    assert short <= 8
    assert long <= 18


def test_a_replay_transforms_other_numbers() -> None:
    step = jit(lambda x: (x * 2).fft().abs())
    for _ in range(4):
        x = random(2, 12)
        near(step(Tensor(x).realize()).numpy(), np.abs(np.fft.fft(2 * x)), 1e-13)
    assert step.captures == 1


def test_narrow_floats_and_integers_compute_in_single_precision() -> None:
    x = RNG.standard_normal(8).astype(np.float16)
    out = Tensor(x).rfft()
    assert out.dtype is dtypes.complex64
    assert Tensor(x).irfft().dtype is dtypes.float32
    np.testing.assert_allclose(out.numpy(), np.fft.rfft(x.astype(np.float64)), atol=5e-3)
    assert Tensor([1, 0, 0, 0]).rfft().tolist() == [1 + 0j] * 3


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(
        DtypeError, match=r"^rfft of complex64: it takes real numbers only. Use fft, fft2 or fftn"
    ):
        Tensor([1j]).rfft()
    with pytest.raises(
        DtypeError, match=r"^ihfft of complex64: it takes real numbers only. Use fft, fft2 or fftn"
    ):
        Tensor([1j]).ihfft()
    for name in NAMES:
        with pytest.raises(AxisError, match=f"^{name}: axis -1 is out of range"):
            getattr(Tensor(1.0), name)()
        with pytest.raises(AxisError, match=f"^{name}: axis 1 is out of range"):
            getattr(Tensor.zeros(3), name)(axis=1)
        with pytest.raises(ArgumentError, match=f"^{name}: n=0 elements"):
            getattr(Tensor.zeros(3), name)(0)
        with pytest.raises(ArgumentError, match=f"^{name}: norm='none' is none of"):
            getattr(Tensor.zeros(3), name)(norm="none")
    for name in ("irfft", "hfft"):
        with pytest.raises(ArgumentError, match=f"^{name}: .*Ask for at least 1"):
            getattr(Tensor.zeros(1), name)()
