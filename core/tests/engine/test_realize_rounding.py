"""Kernels round floats where the program does."""

from collections.abc import Callable

import numpy as np
import pytest

from plugrad import Tensor

VALUES = np.array([0.3, 0.5, 1.7, -2.5, -0.0, 1e-10, 3e10, -1.0, np.inf], np.float32)


def as_numpy(number: float) -> np.float32:
    return np.float32(number)


@pytest.mark.parametrize(
    "compute",
    [
        lambda x, c: (x + c(12582912.0)) - c(12582912.0),
        lambda x, c: (x - c(12582912.0)) + c(12582912.0),
        lambda x, c: (c(1.0) + c(0.0) * x + c(1e8)) - c(1e8),
        lambda x, c: (x + c(1.0)) + c(1e-10),
        lambda x, c: (x * c(1e30)) * c(1e-30),
        lambda x, c: (x * c(1e-30)) * c(1e30),
        lambda x, c: (x / c(1e30)) / c(1e-30),
        lambda x, c: x / c(3.0) * c(3.0),
    ],
)
def test_constants_round_in_the_order_of_the_program(compute: Callable[..., object]) -> None:
    with np.errstate(all="ignore"):
        want = compute(VALUES, as_numpy)
    got = compute(Tensor(VALUES, device="PYTHON"), float)
    assert isinstance(got, Tensor)
    np.testing.assert_array_equal(got.numpy(), want)


def test_one_and_a_large_number_that_is_taken_away_again_is_zero() -> None:
    assert ((Tensor.ones(2, device="PYTHON") + 1e8) - 1e8).tolist() == [0.0, 0.0]
