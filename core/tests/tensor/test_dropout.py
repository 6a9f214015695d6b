"""Tests of plugrad.tensor.dropout."""

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.errors import ArgumentError, DtypeError


def test_dropout_is_nothing_unless_training() -> None:
    t = Tensor.ones(10)
    assert t.dropout(0.5) is t
    with Tensor.train():
        assert t.dropout(0) is t
        with Tensor.train(False):
            assert t.dropout(0.5) is t


def test_dropout_keeps_the_mean() -> None:
    with Tensor.train():
        x = Tensor.ones(4000).dropout(0.3).numpy()
        assert Tensor.ones(3).dropout(1).tolist() == [0.0] * 3
    kept = x != 0
    assert abs(kept.mean() - 0.7) < 0.03
    np.testing.assert_allclose(x[kept], 1 / 0.7, rtol=1e-6)


def test_dropout_passes_the_gradient_of_what_it_kept() -> None:
    w = Tensor.ones(50, requires_grad=True)
    with Tensor.train():
        out = w.dropout(0.5)
    out.sum().backward()
    assert w.grad is not None
    np.testing.assert_array_equal(w.grad.numpy(), out.numpy())


def test_wrong_dropouts_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"dropout: p=1\.5 lies outside of 0\.\.1"):
        Tensor.ones(2).dropout(1.5)
    with pytest.raises(DtypeError, match="dropout of int32: it takes floats"):
        Tensor([1]).dropout()
