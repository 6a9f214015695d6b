"""Tests of plugrad.nn.optim.adam: how much averages tell, beside exact arithmetic."""

from fractions import Fraction

import pytest

from plugrad.nn.optim.adam import average_length
from plugrad.tensor import Tensor


@pytest.mark.parametrize("beta", ["0.7", "0.99", "0.999", "0.9999", "0.99999"])
@pytest.mark.parametrize("steps", [1, 5, 6, 100, 1001])
def test_lengths_have_all_digits_of_a_float(beta: str, steps: int) -> None:
    exact = Fraction(beta)
    power = exact**steps
    wanted = (1 + exact) / (1 - exact) - 2 * steps * power / (1 - power)
    assert average_length(float(beta), Tensor(float(steps))).item() == pytest.approx(float(wanted), rel=2e-6)
