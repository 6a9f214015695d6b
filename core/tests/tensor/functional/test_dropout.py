"""Tests of plugrad.tensor.functional.dropout."""

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


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_dropout_of_channels_leaves_out_whole_ones(axes: int) -> None:
    with Tensor.train():
        x = getattr(Tensor.ones(40, 50, *(2,) * axes), f"dropout{axes}d")(0.25).numpy().reshape(2000, -1)
    assert (x == x[:, :1]).all()
    kept = x[:, 0] != 0
    assert abs(kept.mean() - 0.75) < 0.05
    np.testing.assert_allclose(x[kept], 1 / 0.75, rtol=1e-6)


@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout"])
def test_alpha_dropout_keeps_mean_and_variance(name: str) -> None:
    with Tensor.train():
        x = getattr(Tensor.randn(100, 400), name)(0.3).numpy()
        assert getattr(Tensor.ones(2, 3), name)(1.0).tolist() == [[0.0] * 3] * 2
    assert abs(x.mean()) < 0.03
    assert abs(x.var() - 1) < 0.05
    # a and b of the paper, for what selu gives at -infinity
    limit = -1.7580993408473766
    scale = (0.7 + limit**2 * 0.3 * 0.7) ** -0.5
    left_out = np.float32(limit * scale - scale * limit * 0.3)
    assert abs(np.isclose(x, left_out).mean() - 0.3) < 0.03


def test_alpha_dropout_of_features_leaves_out_whole_channels() -> None:
    with Tensor.train():
        x = Tensor.ones(20, 30, 4).feature_alpha_dropout(0.5).numpy()
    assert (x == x[..., :1]).all()
    assert len(np.unique(x)) == 2


def test_wrong_dropouts_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"dropout: p=1\.5 lies outside of 0\.\.1"):
        Tensor.ones(2).dropout(1.5)
    with pytest.raises(DtypeError, match="dropout of int32: it takes floats"):
        Tensor([1]).dropout()


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_alpha_dropout"])
def test_whether_to_drop_may_be_said(name: str) -> None:
    t = Tensor.ones(20, 50, 2)
    dropped = getattr(t, name)(0.5, training=True)
    assert len(np.unique(dropped.numpy())) == 2
    with Tensor.train():
        assert getattr(t, name)(0.5, False) is t
    with pytest.raises(ArgumentError, match=f"{name}: training=0.5"):
        getattr(t, name)(0.5, 0.5)
