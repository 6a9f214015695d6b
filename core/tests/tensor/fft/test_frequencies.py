"""Transforms of real numbers by sums of cosines and sines are NumPy's, by each of their ways."""

import numpy as np
import pytest

from plugrad import Device, Tensor
from plugrad.tensor.fft.frequencies import frequencies
from plugrad.tensor.fft.twiddles import by_real_transforms, cosines_and_sines
from plugrad.transforms import vmap
from plugrad.uop.ops import FourierArg, Ops


def given(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8])
def test_sums_of_cosines_and_sines_are_parts_of_the_transform(size: int) -> None:
    array = given(2, size)
    cosines, sines = cosines_and_sines(Tensor(array), -1)
    expected = np.fft.rfft(array)
    np.testing.assert_allclose(cosines.numpy(), expected.real, atol=1e-12)
    np.testing.assert_allclose(sines.numpy(), expected.imag, atol=1e-12)


@pytest.mark.parametrize("size", [66, 77, 128])
def test_pairs_and_columns_make_long_transforms(size: int) -> None:
    array = given(2, size)
    np.testing.assert_allclose(Tensor(array).rfft().numpy(), np.fft.rfft(array), atol=1e-12)


@pytest.mark.parametrize(("rows", "size"), [(1, 67), (1, 257), (50, 257)])
def test_prime_lengths_are_products_for_many_rows(rows: int, size: int) -> None:
    array = given(rows, size)
    np.testing.assert_allclose(Tensor(array).rfft().numpy(), np.fft.rfft(array), atol=1e-11)


@pytest.mark.parametrize("sign", [-1, 1])
def test_complex_numbers_are_transformed_by_their_parts(sign: int) -> None:
    array = given(2, 7, 2)
    numbers = array[..., 0] + 1j * array[..., 1]
    expected = np.fft.fft(numbers) if sign < 0 else np.fft.ifft(numbers) * 7
    np.testing.assert_allclose(
        by_real_transforms(Tensor(array), sign).view_as_complex().numpy(), expected, atol=1e-12
    )


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_mean_has_no_negative_zero_beside_it(size: int) -> None:
    assert not np.signbit(Tensor(given(size)).rfft().numpy()[0].imag)


def test_a_row_that_is_not_finite_leaves_the_others_alone() -> None:
    array = given(3, 66)
    array[1, 5] = np.inf
    found = Tensor(array).rfft().numpy()
    np.testing.assert_allclose(found[::2], np.fft.rfft(array[::2]), atol=1e-12)
    assert not np.isfinite(found[1]).any()


def test_short_rows_of_nan_have_two_parts_of_nan() -> None:
    found = Tensor(np.full((2, 1), np.nan)).rfft().numpy()
    assert np.isnan(found.real).all()
    assert np.isnan(found.imag).all()


@pytest.mark.parametrize("size", [60, 64, 126, 500, 512, 1024])
def test_lengths_of_several_factors_are_those_of_numpy(size: int) -> None:
    x = np.random.default_rng(size).standard_normal((3, size)).astype(np.float32)
    expected = np.fft.fft(x.astype(np.float64))
    got = Tensor(x.astype(np.complex64)).fft().numpy()
    assert np.abs(got - expected).max() <= 1e-6 * np.abs(expected).max()


def test_all_steps_of_a_transform_are_one_kernel() -> None:
    x = Tensor(given(300, 240).astype(np.complex64)).realize()
    kernels = [item.ast for item in x.fft().schedule()]
    found = [u.arg for kernel in kernels for u in kernel.toposort() if u.op is Ops.FOURIER]
    runs_loops = Device[x.device].capabilities.grid_dims == 0
    assert found == ([FourierArg(-1, (8, 6, 5))] if runs_loops else [])


@pytest.mark.parametrize("size", [16, 60])
@pytest.mark.wide_on_cpu
def test_what_is_transformed_is_computed_first(size: int) -> None:
    array = given(3, 2, size)
    x = Tensor(array)
    np.testing.assert_allclose(x.sum(1).fft().numpy(), np.fft.fft(array.sum(1)), atol=1e-12)
    np.testing.assert_allclose((x * 2 + 1).exp().fft().numpy(), np.fft.fft(np.exp(array * 2 + 1)), rtol=1e-9)
    np.testing.assert_allclose(
        x.flip(-1).fft(n=size + 14).numpy(), np.fft.fft(array[..., ::-1], size + 14), atol=1e-12
    )


@pytest.mark.wide_on_cpu
def test_examples_of_a_batch_are_transformed_each() -> None:
    array = given(3, 2, 48)
    found = vmap(lambda x: (x * 2).fft())(Tensor(array))
    np.testing.assert_allclose(found.numpy(), np.fft.fft(array * 2), atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_transforms_along_any_axis_are_those_of_numpy(axis: int) -> None:
    array = given(16, 20, 18) + 1j * given(16, 20, 18)
    np.testing.assert_allclose(Tensor(array).fft(axis=axis).numpy(), np.fft.fft(array, axis=axis), atol=1e-12)


@pytest.mark.parametrize(("axis", "parts"), [(-2, -1), (-1, -2), (-3, -1), (-3, -2)])
def test_parts_of_numbers_lie_along_any_axis(axis: int, parts: int) -> None:
    numbers = given(3, 24) + 1j * given(3, 24)[::-1]
    pairs = np.stack([numbers.real, numbers.imag], -1)
    x = Tensor(np.moveaxis(pairs, (1, 2), (axis, parts)))
    expected = np.fft.ifft(numbers) * 24
    found = np.moveaxis(frequencies(x, 1, axis, parts).numpy(), (axis, parts), (1, 2))
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, atol=1e-12)


@pytest.mark.wide_on_cpu
def test_long_prime_lengths_of_many_rows_are_those_of_numpy() -> None:
    numbers = (given(50, 521) + 1j * given(50, 521)[::-1]).astype(np.complex64)
    expected = np.fft.fft(numbers.astype(np.complex128))
    got = Tensor(numbers).fft().numpy()
    assert np.abs(got - expected).max() <= 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize(("rows", "size"), [(1, 271), (3, 337), (2, 2 * 401)])
@pytest.mark.wide_on_cpu
def test_primes_before_which_a_transform_is_one_kernel_are_convolutions(rows: int, size: int) -> None:
    array = given(rows, size)
    tolerance = 1e-10
    np.testing.assert_allclose(Tensor(array).rfft().numpy(), np.fft.rfft(array), atol=tolerance)
    numbers = array + 1j * array[:, ::-1] ** 2
    np.testing.assert_allclose(Tensor(numbers).fft().numpy(), np.fft.fft(numbers), atol=tolerance)
    np.testing.assert_allclose(Tensor(numbers).ifft().numpy(), np.fft.ifft(numbers), atol=tolerance)


def test_gradients_of_prime_lengths_are_those_of_products() -> None:
    array = given(2, 257)
    x = Tensor(array)
    weight = Tensor(given(2, 129))
    (found,) = ((x.rfft().real * weight).sum()).gradient(x)
    angles = 2 * np.pi * np.outer(np.arange(129), np.arange(257)) / 257
    np.testing.assert_allclose(found.numpy(), weight.numpy() @ np.cos(angles), atol=1e-10)
