from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor, dtypes
from plugrad.errors import DtypeError, ShapeError

RNG = np.random.default_rng(0)
LOGITS = (RNG.standard_normal((6, 5)) * 4).astype(np.float32)
LABELS = np.array([0, 4, 2, 2, 1, 3], np.int32)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
def test_cross_entropy_of_class_numbers_is_that_of_torch(reduction: Any, smoothing: float) -> None:
    expected = F.cross_entropy(
        torch.tensor(LOGITS), torch.tensor(LABELS).long(), reduction=reduction, label_smoothing=smoothing
    ).numpy()
    for y in (Tensor(LABELS), Tensor(LABELS.astype(np.int64)), Tensor(LABELS.astype(np.uint8))):
        out = Tensor(LOGITS).cross_entropy(y, reduction, smoothing)
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5, atol=1e-6)
        out = Tensor(LOGITS).sparse_categorical_crossentropy(
            y, reduction=reduction, label_smoothing=smoothing
        )
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy_of_probabilities_is_that_of_torch(reduction: Any, smoothing: float) -> None:
    y = torch.tensor(LOGITS).flip(0).softmax(1)
    expected = F.cross_entropy(
        torch.tensor(LOGITS), y, reduction=reduction, label_smoothing=smoothing
    ).numpy()
    out = Tensor(LOGITS).cross_entropy(Tensor(y.numpy()), reduction, smoothing)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_classes_lie_on_axis_one() -> None:
    x = RNG.standard_normal((2, 3, 4)).astype(np.float32)
    y = RNG.integers(0, 3, (2, 4)).astype(np.int32)
    expected = F.cross_entropy(torch.tensor(x), torch.tensor(y).long()).item()
    np.testing.assert_allclose(Tensor(x).cross_entropy(Tensor(y)).item(), expected, rtol=1e-5)
    expected = F.cross_entropy(torch.tensor(x[0, :, 0]), torch.tensor(y[0, 0]).long()).item()
    np.testing.assert_allclose(Tensor(x[0, :, 0]).cross_entropy(Tensor(y[0, 0])).item(), expected, rtol=1e-5)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_ignored_labels_do_not_count(reduction: Any) -> None:
    y = np.where(LABELS == 2, -1, LABELS)
    expected = F.cross_entropy(
        torch.tensor(LOGITS),
        torch.tensor(y).long(),
        reduction=reduction,
        ignore_index=-1,
        label_smoothing=0.1,
    ).numpy()
    ours = Tensor(LOGITS).sparse_categorical_crossentropy(Tensor(y), label_smoothing=0.1, reduction=reduction)
    if reduction != "mean":
        np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-5, atol=1e-6)
    expected = F.cross_entropy(
        torch.tensor(LOGITS), torch.tensor(y).long(), reduction=reduction, ignore_index=-1
    ).numpy()
    ours = Tensor(LOGITS).cross_entropy(Tensor(y), reduction, ignore_index=-1)
    np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_the_gradient_of_cross_entropy_is_that_of_torch() -> None:
    ours, theirs = Tensor(LOGITS, requires_grad=True), torch.tensor(LOGITS, requires_grad=True)
    ours.cross_entropy(Tensor(LABELS), label_smoothing=0.1).backward()
    F.cross_entropy(theirs, torch.tensor(LABELS).long(), label_smoothing=0.1).backward()
    assert ours.grad is not None
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-7)


def test_confident_logits_give_no_infinity() -> None:
    assert Tensor([[1000.0, -1000.0]]).cross_entropy(Tensor([1])).item() == 2000.0
    assert Tensor([[float("-inf"), 0.0]]).cross_entropy(Tensor([1])).item() == 0.0


def test_one_hot_is_that_of_torch() -> None:
    y = np.array([[0, 2], [1, 2]], np.int32)
    out = Tensor(y).one_hot(3)
    assert out.dtype is dtypes.int32
    np.testing.assert_array_equal(out.numpy(), F.one_hot(torch.tensor(y).long(), 3).numpy())
    assert Tensor([5, -1]).one_hot(2).tolist() == [[0, 0], [0, 0]]
    assert Tensor([300, 255]).one_hot(301).argmax(-1).tolist() == [300, 255]
    assert Tensor([200], dtype="uint8").one_hot(400).argmax(-1).tolist() == [200]


@pytest.mark.parametrize(
    ("logits", "labels", "options", "error", "message"),
    [
        (LOGITS, LABELS[:3], {}, ShapeError, r"logits \(6, 5\) take labels of shape \(6,\), not \(3,\)"),
        (
            LOGITS,
            LOGITS[:, 0],
            {},
            ShapeError,
            r"take integers without axis 1, or probabilities of the same shape",
        ),
        (LABELS, LABELS, {}, DtypeError, "cross_entropy of int32: it takes floats as logits"),
        (
            LOGITS,
            LABELS,
            {"label_smoothing": 2.0},
            ShapeError,
            r"label_smoothing=2\.0 lies outside of 0\.\.1",
        ),
        (LOGITS, LABELS, {"reduction": "max"}, ShapeError, "reduction='max' is none of"),
        (LOGITS[0, 0], LABELS, {}, ShapeError, "cross_entropy of a scalar"),
    ],
)
def test_what_does_not_fit_is_refused(
    logits: Any, labels: Any, options: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        Tensor(logits).cross_entropy(Tensor(labels), **options)


def test_wrong_classes_are_refused() -> None:
    with pytest.raises(DtypeError, match="one_hot of float32: it takes integers"):
        Tensor([1.0]).one_hot(2)
    with pytest.raises(ShapeError, match="one_hot with 0 classes"):
        Tensor([1]).one_hot(0)


# --- dropout ---


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
    with pytest.raises(ShapeError, match=r"dropout: p=1\.5 lies outside of 0\.\.1"):
        Tensor.ones(2).dropout(1.5)
    with pytest.raises(DtypeError, match="dropout of int32: it takes floats"):
        Tensor([1]).dropout()
