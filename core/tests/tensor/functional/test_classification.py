"""Tests of plugrad.tensor.functional.classification, against torch."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor, dtypes
from plugrad.errors import ArgumentError, DtypeError, ShapeError

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
            ArgumentError,
            r"label_smoothing=2\.0 lies outside of 0\.\.1",
        ),
        (LOGITS, LABELS, {"reduction": "max"}, ArgumentError, "reduction='max' is none of"),
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


WEIGHTS = np.array([0.5, 2.0, 0.0, 1.0, 3.0], np.float32)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_weights_of_classes_count_as_in_torch(reduction: Any, smoothing: float) -> None:
    options = {"reduction": reduction, "label_smoothing": smoothing}
    y = np.where(LABELS == 1, -100, LABELS)
    for target in (y, np.abs(LOGITS[::-1]).copy()):
        theirs = torch.tensor(LOGITS, requires_grad=True)
        ours = Tensor(LOGITS, requires_grad=True)
        other = torch.tensor(target)
        other = other.long() if target.dtype.kind == "i" else other
        expected = F.cross_entropy(theirs, other, weight=torch.tensor(WEIGHTS), **options)
        out = ours.cross_entropy(Tensor(target), weight=Tensor(WEIGHTS), **options)
        np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)
        out.sum().backward()
        expected.sum().backward()
        assert ours.grad is not None
        np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("options", [{}, {"weight": WEIGHTS}, {"ignore_index": 2}], ids=str)
def test_nll_loss_is_that_of_torch(reduction: Any, options: Any) -> None:
    x = RNG.standard_normal((2, 5, 3)).astype(np.float32)
    y = RNG.integers(0, 5, (2, 3)).astype(np.int32)
    for scores, labels in ((LOGITS, LABELS), (x, y), (LOGITS[0], LABELS[0])):
        theirs = {k: torch.tensor(v) if k == "weight" else v for k, v in options.items()}
        ours = {k: Tensor(v) if k == "weight" else v for k, v in options.items()}
        expected = F.nll_loss(
            torch.tensor(scores), torch.tensor(labels).long(), reduction=reduction, **theirs
        ).numpy()
        out = Tensor(scores).nll_loss(Tensor(labels), reduction=reduction, **ours)
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_wrong_weights_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"nll_loss: weight of shape \(2,\) and float32 for 5 classes"):
        Tensor(LOGITS).nll_loss(Tensor(LABELS), Tensor([1.0, 2.0]))
    with pytest.raises(DtypeError, match=r"cross_entropy: weight of shape \(5,\) and int32 for 5 classes"):
        Tensor(LOGITS).cross_entropy(Tensor(LABELS), weight=Tensor([1, 2, 3, 4, 5]))


def test_the_loss_of_what_is_no_class_is_no_number() -> None:
    x = Tensor(LOGITS)
    classes = LOGITS.shape[1]
    for wrong in (classes, -1):
        y = Tensor([wrong] + [0] * (len(LOGITS) - 1))
        assert np.isnan(x.cross_entropy(y, "none").numpy()).tolist() == [True] + [False] * (len(LOGITS) - 1)
        assert np.isnan(x.nll_loss(y).item())
    assert not np.isnan(x.nll_loss(Tensor([-100] + [0] * (len(LOGITS) - 1)).cast("int8")).item())


def test_labels_are_tensors() -> None:
    with pytest.raises(DtypeError, match=r"cross_entropy: y=\[0, 1\] \(list\) is no tensor"):
        Tensor(LOGITS).cross_entropy([0, 1])  # pyright: ignore[reportArgumentType]
