"""Tests of plugrad.tensor.reduce.statistics, against NumPy."""

from typing import Any

import numpy as np
import pytest

from plugrad import Tensor

ROW = np.array([[1.0, 4.0, -2.0, 0.5]], np.float32)


@pytest.mark.parametrize("options", [{}, {"correction": 0}, {"aweights": [1.0, 2.0, 0.5, 1.0]}])
def test_a_row_is_one_variable_and_its_covariance_has_no_axes(options: Any) -> None:
    theirs = {"ddof" if name == "correction" else name: o for name, o in options.items()}
    ours = {name: o if name == "correction" else Tensor(o) for name, o in options.items()}
    out = Tensor(ROW).cov(**ours)
    assert out.shape == ()
    np.testing.assert_allclose(out.numpy(), np.cov(ROW, **theirs), rtol=1e-5)


def test_a_row_correlates_with_itself() -> None:
    assert Tensor(ROW).corrcoef().tolist() == 1.0
