"""Tests of plugrad.tensor.functional.ctc, against torch."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor, Variable, context, dtypes, events
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad_conformance.testing.realize_all import realize_all

RNG = np.random.default_rng(0)
SCORES = RNG.standard_normal((9, 3, 5)).astype(np.float32)
LABELS = np.array([[1, 2, 2, 3], [4, 4, 1, 1], [3, 1, 2, 4]], np.int32)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    ("labels", "used", "wanted", "blank"),
    [
        (LABELS, [9, 9, 9], [4, 4, 4], 0),
        (LABELS, [9, 7, 4], [3, 2, 4], 0),
        (LABELS % 4, [8, 9, 5], [4, 0, 1], 4),
    ],
)
def test_losses_and_gradients_are_those_of_torch(
    labels: Any, used: Any, wanted: Any, blank: int, reduction: Any
) -> None:
    ours, theirs = Tensor(SCORES, requires_grad=True), torch.tensor(SCORES, requires_grad=True)
    out = ours.log_softmax(-1).ctc_loss(Tensor(labels), used, Tensor(wanted), blank, reduction)
    expected = F.ctc_loss(theirs.log_softmax(-1), torch.tensor(labels).long(), used, wanted, blank, reduction)
    out.sum().backward()
    expected.sum().backward()
    realize_all(out, ours.grad)
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    assert ours.grad is not None
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-3, atol=1e-5)


def test_targets_that_are_too_long_cost_infinity_or_nothing() -> None:
    x = Tensor(SCORES, requires_grad=True)
    scores = x.log_softmax(-1)
    losses = scores.ctc_loss(Tensor(LABELS), [9, 5, 3], [4, 4, 4], reduction="none")
    assert np.isinf(losses.numpy()).tolist() == [False, True, True]
    losses = scores.ctc_loss(Tensor(LABELS), [9, 5, 3], [4, 4, 4], reduction="none", zero_infinity=True)
    assert losses.tolist()[1:] == [0.0, 0.0]
    losses.sum().backward()
    assert x.grad is not None
    assert (x.grad.numpy()[:, 1:] == 0).all()
    assert np.isfinite(x.grad.numpy()).all()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.wide_on_cpu
def test_labels_may_follow_one_another(reduction: Any) -> None:
    labels, used, wanted = np.array([1, 2, 3, 4, 4, 1, 2], np.int32), [9, 8, 7], [2, 0, 5]
    scores = torch.tensor(SCORES).log_softmax(-1)
    expected = F.ctc_loss(
        scores, torch.tensor(labels), torch.tensor(used), torch.tensor(wanted), 0, reduction
    )
    for lengths in (wanted, Tensor(wanted)):
        out = Tensor(SCORES).log_softmax(-1).ctc_loss(Tensor(labels), used, lengths, 0, reduction)
        np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-4)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.wide_on_cpu
def test_one_sequence_needs_no_axis_for_a_batch(reduction: Any) -> None:
    scores = torch.tensor(SCORES[:, 0]).log_softmax(-1)
    expected = F.ctc_loss(
        scores, torch.tensor(LABELS[0, :3]), torch.tensor(8), torch.tensor(3), reduction=reduction
    )
    for lengths in ((8, 3), (Tensor(8), Tensor(3)), ([8], [3])):
        out = Tensor(SCORES[:, 0]).log_softmax(-1).ctc_loss(Tensor(LABELS[0]), *lengths, reduction=reduction)
        assert out.shape == ()
        np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-4)


def test_nothing_may_be_said() -> None:
    scores = torch.tensor(SCORES).log_softmax(-1)
    expected = F.ctc_loss(scores, torch.zeros(3, 0, dtype=torch.long), [9] * 3, [0] * 3, reduction="none")
    out = (
        Tensor(SCORES).log_softmax(-1).ctc_loss(Tensor.zeros(3, 0).int(), [9] * 3, [0] * 3, reduction="none")
    )
    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-4)


def test_halves_are_summed_in_single() -> None:
    scores = Tensor(SCORES).log_softmax(-1)
    wanted = scores.ctc_loss(Tensor(LABELS), [9] * 3, [4] * 3, reduction="none")
    found = scores.half().ctc_loss(Tensor(LABELS), [9] * 3, [4] * 3, reduction="none")
    assert found.dtype is dtypes.float16
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=5e-3)


def test_a_label_that_is_no_class_is_impossible() -> None:
    labels = Tensor([[1, 5, 2, 3], [1, -1, 2, 3], [1, 2, -1, 9]])
    losses = Tensor(SCORES).log_softmax(-1).ctc_loss(labels, [9] * 3, [4, 4, 2], reduction="none")
    assert np.isinf(losses.numpy()).tolist() == [True, True, False]


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda n: np.array(n, "uint8"), torch.tensor])
def test_lengths_come_in_lists_and_arrays_of_any_library(kind: Any) -> None:
    scores, labels = Tensor(SCORES, device="PYTHON").log_softmax(-1), Tensor(LABELS, device="PYTHON")
    used, wanted = [9, 7, 4], [3, 2, 4]
    joined = Tensor(np.concatenate([row[:n] for row, n in zip(LABELS, wanted, strict=True)]), device="PYTHON")
    each = scores.ctc_loss(labels, used, wanted, reduction="none").tolist()
    for targets in (labels, joined):
        assert scores.ctc_loss(targets, kind(used), kind(wanted), reduction="none").tolist() == each
    for one, many in ((kind([7]), kind([2])), (np.int64(7), np.array(2)), (range(7, 8), range(2, 3))):
        assert scores[:, 1].ctc_loss(labels[1], one, many, reduction="none").item() == each[1]


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        (np.array([9.0, 7.0, 4.0]), r"input_lengths=9.0 \(float\) is no integer"),
        (np.array([[9, 7, 4]]), r"input_lengths=\[9, 7, 4\] \(list\) is no integer"),
        (np.array([9, 7]), r"input_lengths of shape \(2,\) and int32 for 3 sequences"),
        (np.array([9, 7, 10]), r"input_lengths=\[9, 7, 10\]: each must lie in 0..9"),
        ("974", r"input_lengths='974' \(str\) is no integer"),
        (iter([9, 7, 4]), "input_lengths=<list_iterator"),
    ],
)
def test_lengths_in_arrays_are_checked_as_those_in_lists(lengths: Any, message: str) -> None:
    with pytest.raises((ArgumentError, ShapeError), match=f"^ctc_loss: {message}"):
        Tensor(SCORES).ctc_loss(Tensor(LABELS), lengths, [1, 1, 1])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint16", "uint32", "int64", "uint64"])
def test_labels_and_lengths_are_integers_of_any_kind(dtype: str) -> None:
    scores = Tensor(SCORES).log_softmax(-1)
    wanted = scores.ctc_loss(Tensor(LABELS), [9, 7, 4], [3, 2, 4], reduction="none").numpy()
    labels, used, lengths = (Tensor(np.array(x, dtype)) for x in (LABELS, [9, 7, 4], [3, 2, 4]))
    np.testing.assert_allclose(scores.ctc_loss(labels, used, lengths, reduction="none").numpy(), wanted)
    flat = Tensor(np.concatenate([LABELS[0, :3], LABELS[1, :2], LABELS[2]]).astype(dtype))
    np.testing.assert_allclose(scores.ctc_loss(flat, used, lengths, reduction="none").numpy(), wanted)


@pytest.mark.parametrize("dtype", ["uint32", "int64", "uint64"])
def test_numbers_that_32_bits_do_not_hold_are_no_others(dtype: str) -> None:
    scores = Tensor(SCORES).log_softmax(-1)
    great = np.array([(1 << 32) + 1 if dtype != "uint32" else (1 << 32) - 1, np.iinfo(dtype).max], dtype)
    labels = Tensor(np.array([[1, great[0]], [1, great[1]], [1, 2]], dtype))
    losses = scores.ctc_loss(labels, [9] * 3, [2, 2, 2], reduction="none").numpy()
    assert np.isinf(losses).tolist() == [True, True, False]
    lengths = Tensor(np.array([*great, 2], dtype))
    losses = scores.ctc_loss(Tensor(LABELS), [9] * 3, lengths, reduction="none").numpy()
    assert np.isinf(losses).tolist() == [True, True, False]
    # of longer inputs, all steps count
    losses = scores.ctc_loss(Tensor(LABELS), lengths, [2] * 3, reduction="none").numpy()
    expected = scores.ctc_loss(Tensor(LABELS), [9, 9, 2], [2] * 3, reduction="none").numpy()
    np.testing.assert_allclose(losses, expected)


def test_longer_sequences_need_no_more_different_kernels() -> None:
    def names(length: int) -> tuple[int, int]:
        found: list[str] = []
        scores = Tensor(RNG.standard_normal((length, 1, 3)).astype(np.float32)).realize()
        with events.subscribe(events.KernelEvent, lambda event: found.append(event.name)):
            scores.ctc_loss(Tensor([[1, 2]]), [length], [2]).realize()
        return len(found), len(set(found))

    (few, few_kinds), (many, many_kinds) = names(17), names(40)
    assert many > few
    assert many_kinds <= few_kinds + 16


def test_what_does_not_fit_is_refused() -> None:
    x, y = Tensor(SCORES), Tensor(LABELS)
    used, wanted = [9, 9, 9], [4, 4, 4]
    with pytest.raises(ShapeError, match=r"ctc_loss of shape \(9, 3, 5\) with labels of shape \(2, 4\)"):
        x.ctc_loss(y[:2], used, wanted)
    with pytest.raises(ShapeError, match=r"ctc_loss: input_lengths of shape \(2,\)"):
        x.ctc_loss(y, used[:2], wanted)
    with pytest.raises(ShapeError, match=r"ctc_loss: input_lengths=\[9, 10, 9\]: each must lie in 0\.\.9"):
        x.ctc_loss(y, [9, 10, 9], wanted)
    with pytest.raises(ShapeError, match=r"ctc_loss: target_lengths=\[4, -1, 4\]: each must lie in 0\.\.4"):
        x.ctc_loss(y, used, [4, -1, 4])
    with pytest.raises(
        ShapeError, match=r"ctc_loss: 4 labels one after another with target_lengths=\[4, 4, 4\]"
    ):
        x.ctc_loss(y[0], used, wanted)
    with pytest.raises(ShapeError, match="ctc_loss: blank=5 is none of 5 classes"):
        x.ctc_loss(y, used, wanted, blank=5)
    with pytest.raises(ArgumentError, match="ctc_loss: reduction='max' is none of"):
        x.ctc_loss(y, used, wanted, reduction="max")
    with pytest.raises(DtypeError, match="ctc_loss of float32 with labels of float32"):
        x.ctc_loss(y.cast("float32"), used, wanted)


def test_chances_that_are_nan_make_their_loss_nan() -> None:
    scores = np.log(np.full((4, 2, 3), 1 / 3, np.float32))
    scores[1, 0] = np.nan
    losses = Tensor(scores).ctc_loss(Tensor([[1, 2], [1, 2]]), [4, 4], [2, 2], reduction="none").numpy()
    assert np.isnan(losses).tolist() == [True, False]


@pytest.mark.wide_on_cpu
def test_chances_of_0_leave_gradients_finite() -> None:
    scores = np.log(np.full((4, 1, 3), 1 / 3, np.float32))
    # nothing can come at first but the label 1
    scores[0, 0] = [-np.inf, 0, -np.inf]
    x = Tensor(scores)
    loss = x.ctc_loss(Tensor([[1, 2]]), [4], [2], reduction="sum")
    theirs = torch.tensor(scores, requires_grad=True)
    expected = F.ctc_loss(theirs, torch.tensor([[1, 2]]), [4], [2], reduction="sum")
    (gradient,) = loss.gradient(x)
    np.testing.assert_allclose(loss.item(), expected.item(), rtol=1e-5)
    assert np.isfinite(gradient.numpy()).all()


def slack(name: str, value: int) -> Any:
    return Variable(name, 1, {"t": 9, "n": 3, "c": 5, "s": 4, "total": 8}[name]).bind(value)


@pytest.mark.parametrize("is_flat", [False, True], ids=["rows", "flat"])
@pytest.mark.parametrize("is_known", [False, True], ids=["tensors", "lists"])
def test_symbolic_sizes_give_what_known_ones_do(is_known: bool, is_flat: bool) -> None:
    programs: set[tuple[Any, ...]] = set()
    with context(DEVICE="PYTHON", SPEC=0):
        scores, labels = Tensor(SCORES).realize(), Tensor(LABELS).realize()
        joined = Tensor(np.array([1, 2, 1, 1, 3, 1, 2, 2], np.int32)).realize()
        many, few = Tensor([9, 9, 5]).realize(), Tensor([2, 1, 3]).realize()
        for t, n, c, s, total in ((9, 3, 5, 4, 6), (6, 2, 4, 3, 3), (4, 1, 3, 2, 2)):
            losses: list[Any] = []
            for size in (lambda _, value: value, slack):
                steps, batch = size("t", t), size("n", n)
                x = scores[:steps, :batch, : size("c", c)]
                targets = joined[: size("total", total)] if is_flat else labels[:batch, : size("s", s)]
                used: Any = [min(k, t) for k in (9, 9, 5)][:n] if is_known else many[:batch]
                wanted: Any = [2, 1, 3][:n] if is_known else few[:batch]
                each = x.log_softmax(-1).ctc_loss(targets, used, wanted, 1, reduction="none")
                mean = x.log_softmax(-1).ctc_loss(targets, used, wanted, 0, zero_infinity=True)
                found = [each.pad(((0, 3 - batch),)), mean, mean.gradient(scores)[0]]
                if size is slack:
                    programs.add(tuple(item.ast for item in found[0].schedule(*found[1:])))
                found[0].realize(*found[1:])
                losses.append([y.numpy() for y in found])
            for got, want in zip(*losses, strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    # rows of labels are as long as the longest that the host knows
    assert len(programs) == (2 if is_known and is_flat else 1)


def test_symbolic_sizes_fit_as_they_are_today() -> None:
    x, y = Tensor(SCORES), Tensor(LABELS)
    with pytest.raises(ShapeError, match=r"ctc_loss: input_lengths=\[7, 3, 3\]: each must lie in 0\.\.6"):
        x[: slack("t", 6)].ctc_loss(y, [7, 3, 3], [1, 1, 1])
    with pytest.raises(ShapeError, match=r"ctc_loss: target_lengths of shape \(3,\) and int32 for n seq"):
        x[:, : slack("n", 2)].ctc_loss(y[: slack("n", 2)], [7, 3], [1, 1, 1])
    with pytest.raises(ShapeError, match="ctc_loss: blank=4 is none of 3 classes"):
        x[..., : slack("c", 3)].ctc_loss(y, [7, 3, 3], [1, 1, 1], blank=4)
