"""Tests of plugrad.nn.layers.dropout."""

import numpy as np
import pytest

from plugrad.errors import ArgumentError
from plugrad.nn import Dropout
from plugrad.tensor import Tensor


def test_dropout_keeps_the_mean_while_training() -> None:
    with Tensor.train():
        out = Dropout(0.25)(Tensor.ones(10_000)).numpy()
    assert set(np.unique(out)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(out.mean() - 1) < 0.03


def test_dropout_does_nothing_otherwise() -> None:
    assert Dropout(0.9)(Tensor.ones(5)).tolist() == [1.0] * 5


@pytest.mark.parametrize("p", [2.0, -0.1, float("nan")])
def test_shares_outside_of_the_interval_are_refused(p: float) -> None:
    with pytest.raises(ArgumentError, match=rf"Dropout: p={p} lies outside of 0\.\.1"):
        Dropout(p)
