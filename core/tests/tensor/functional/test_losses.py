"""Tests of plugrad.tensor.functional.losses and reduction, against torch."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad_conformance.testing.realize_all import realize_all

RNG = np.random.default_rng(0)
X, Y = (RNG.standard_normal((4, 5)).astype(np.float32) * 2 for _ in range(2))
P, Q = (RNG.uniform(0.01, 0.99, (4, 5)).astype(np.float32) for _ in range(2))
REDUCTIONS = ["mean", "sum", "none"]


def compare(ours: Any, theirs: Any, *arrays: Any) -> None:
    """Compare values, and gradients of their sum, of functions of arrays."""
    mine = [Tensor(a, requires_grad=True) for a in arrays]
    others = [torch.tensor(a, requires_grad=True) for a in arrays]
    out, expected = ours(*mine), theirs(*others)
    assert out.shape == expected.shape
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)
    out.sum().backward()
    expected.sum().backward()
    realize_all([x.grad for x in mine])
    for left, right in zip(mine, others, strict=True):
        assert left.grad is not None
        np.testing.assert_allclose(left.grad.numpy(), right.grad.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mse_loss", {}), ("l1_loss", {}), ("smooth_l1_loss", {}), ("smooth_l1_loss", {"beta": 0.3}),
        ("smooth_l1_loss", {"beta": 0.0}), ("huber_loss", {}), ("huber_loss", {"delta": 2.5}),
    ],
)  # fmt: skip
def test_losses_of_regression_are_those_of_torch(name: str, options: Any, reduction: Any) -> None:
    compare(
        lambda x, y: getattr(x, name)(y, reduction=reduction, **options),
        lambda x, y: getattr(F, name)(x, y, reduction=reduction, **options),
        X, Y,
    )  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss"])
def test_weighted_losses_of_regression_are_those_of_torch(name: str, reduction: Any) -> None:
    compare(
        lambda x, y: getattr(x, name)(y, reduction=reduction, weight=Tensor(P)),
        lambda x, y: getattr(F, name)(x, y, reduction=reduction, weight=torch.tensor(P)),
        X, Y,
    )  # fmt: skip


def test_means_of_halves_do_not_overflow() -> None:
    x, weight = Tensor.full((40, 50), 100.0, dtype="float16"), Tensor.ones(40, 50, dtype="float16")
    assert x.mse_loss(x * 0, weight=weight).item() == 10000.0
    y = Tensor.zeros(2000, dtype="int32")
    assert Tensor.full((2000, 3), -100.0, dtype="float16").nll_loss(y).item() == 100.0


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weight", [None, Q])
def test_binary_cross_entropy_is_that_of_torch(reduction: Any, weight: Any) -> None:
    compare(
        lambda p: p.binary_cross_entropy(Tensor(Q), None if weight is None else Tensor(weight), reduction),
        lambda p: F.binary_cross_entropy(
            p, torch.tensor(Q), None if weight is None else torch.tensor(weight), reduction=reduction
        ),
        P,
    )


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    "options", [{}, {"pos_weight": P[0] * 3}, {"weight": P, "pos_weight": Q[0]}], ids=len
)
def test_binary_cross_entropy_of_logits_is_that_of_torch(reduction: Any, options: Any) -> None:
    compare(
        lambda x: x.binary_cross_entropy_with_logits(
            Tensor(Q), reduction=reduction, **{name: Tensor(value) for name, value in options.items()}
        ),
        lambda x: F.binary_cross_entropy_with_logits(
            x,
            torch.tensor(Q),
            reduction=reduction,
            **{name: torch.tensor(value) for name, value in options.items()},
        ),
        X * 20,
    )


def test_other_names_are_the_same_losses() -> None:
    p, x, y = Tensor(P), Tensor(X), Tensor(Q)
    assert p.binary_crossentropy(y, "sum").uop is p.binary_cross_entropy(y, reduction="sum").uop
    expected = x.binary_cross_entropy_with_logits(y, reduction="none", pos_weight=p)
    assert x.binary_crossentropy_logits(y, "none", p).uop is expected.uop


def test_certain_and_wrong_costs_a_hundred_and_its_gradient_is_finite() -> None:
    p = Tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
    losses = p.binary_cross_entropy(Tensor([1.0, 0.0, 0.0, 1.0]), reduction="none")
    assert losses.tolist() == [100.0, 100.0, 0.0, 0.0]
    losses.sum().backward()
    theirs = torch.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
    F.binary_cross_entropy(theirs, torch.tensor([1.0, 0.0, 0.0, 1.0]), reduction="sum").backward()
    assert p.grad is not None
    np.testing.assert_allclose(p.grad.numpy(), theirs.grad.numpy(), rtol=1e-5)


def test_second_derivatives_of_binary_cross_entropy_are_those_of_torch() -> None:
    p, q = Tensor(P, requires_grad=True), Tensor(Q, requires_grad=True)
    first = p.binary_cross_entropy(q).gradient(p, q)
    found = sum((g.square().sum() for g in first), Tensor(0.0)).gradient(p, q)
    theirs = [torch.tensor(a, requires_grad=True) for a in (P, Q)]
    grads = torch.autograd.grad(F.binary_cross_entropy(*theirs), theirs, create_graph=True)
    wanted = torch.autograd.grad(sum(g.square().sum() for g in grads), theirs)
    for left, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(left.numpy(), right.numpy(), rtol=1e-3, atol=1e-5)


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("reduction", [*REDUCTIONS, "batchmean"])
def test_kl_div_is_that_of_torch(reduction: Any) -> None:
    target = P * (P > 0.3)
    compare(
        lambda x: x.kl_div(Tensor(target), reduction),
        lambda x: F.kl_div(x, torch.tensor(target), reduction=reduction),
        X,
    )
    compare(
        lambda x, y: x.kl_div(y, reduction, log_target=True),
        lambda x, y: F.kl_div(x, y, reduction=reduction, log_target=True),
        X,
        Y,
    )


@pytest.mark.wide_on_cpu
def test_cosines_and_distances_are_those_of_torch() -> None:
    compare(lambda x, y: x.cosine_similarity(y), F.cosine_similarity, X, Y)
    compare(lambda x, y: x.cosine_similarity(y, 0), lambda x, y: F.cosine_similarity(x, y, 0), X, Y)
    assert Tensor([[0.0, 0.0]]).cosine_similarity(Tensor([[1.0, 2.0]])).tolist() == [0.0]
    for p in (1.0, 2.0, 3.0, float("inf")):
        compare(
            lambda x, y, p=p: x.pairwise_distance(y, p), lambda x, y, p=p: F.pairwise_distance(x, y, p), X, Y
        )


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("options", [{}, {"margin": 3.0, "p": 1.0}, {"swap": True}], ids=str)
def test_triplets_are_those_of_torch(reduction: Any, options: Any) -> None:
    compare(
        lambda a, p, n: a.triplet_margin_loss(p, n, reduction=reduction, **options),
        lambda a, p, n: F.triplet_margin_loss(a, p, n, reduction=reduction, **options),
        X, Y, P,
    )  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_cosine_embeddings_are_those_of_torch(reduction: Any) -> None:
    y = [1, -1, -1, 1]
    compare(
        lambda a, b: a.cosine_embedding_loss(b, Tensor(y), 0.1, reduction),
        lambda a, b: F.cosine_embedding_loss(a, b, torch.tensor(y), 0.1, reduction=reduction),
        X, Y,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64", "float32"])
def test_pairs_may_be_said_to_be_alike_in_any_dtype(dtype: str) -> None:
    x, y = Tensor([[1.0, 0.0], [1.0, 0.0]]), Tensor([[1.0, 0.0], [0.0, 1.0]])
    losses = x.cosine_embedding_loss(y, Tensor([1, 1], dtype=dtype), reduction="none")
    assert losses.tolist() == [0.0, 1.0]


PAIRED = [
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "kl_div",
]  # fmt: skip


@pytest.mark.parametrize("name", PAIRED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    loss = getattr(Tensor(X), name)
    with pytest.raises(ArgumentError, match=f"{name}: reduction='avg' is none of 'mean', 'sum', 'none'"):
        loss(Tensor(Y), reduction="avg")
    with pytest.raises(ShapeError, match=rf"{name} of shape \(4, 5\) with a target of shape \(5,\)"):
        loss(Tensor(Y[0]))
    with pytest.raises(DtypeError, match=f"{name}: target=3 .* is no tensor"):
        loss(3)
    with pytest.raises(DtypeError, match=f"{name} of int32"):
        getattr(Tensor([1]), name)(Tensor([1]))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, w: x.mse_loss(x, weight=w),
        lambda x, w: x.huber_loss(x, "none", weight=w),
        lambda x, w: x.binary_cross_entropy(x, w),
        lambda x, w: x.binary_cross_entropy_with_logits(x, w),
        lambda x, w: x.binary_cross_entropy_with_logits(x, pos_weight=w),
    ],
)
def test_weights_do_not_make_losses_larger(call: Any) -> None:
    with pytest.raises(ShapeError, match=r"of shape \(3,\) with a weight of shape \(2, 3\)"):
        call(Tensor.ones(3), Tensor.ones(2, 3))


def test_targets_of_cosines_do_not_broadcast() -> None:
    with pytest.raises(
        ShapeError, match=r"cosine_embedding_loss of \(2,\) pairs with a target of shape \(2, 1\)"
    ):
        Tensor.ones(2, 3).cosine_embedding_loss(Tensor.ones(2, 3), Tensor.ones(2, 1))


def test_wrong_numbers_are_refused() -> None:
    x, y = Tensor(X), Tensor(Y)
    with pytest.raises(ArgumentError, match=r"smooth_l1_loss: beta=-1 is negative"):
        x.smooth_l1_loss(y, beta=-1)
    with pytest.raises(ArgumentError, match=r"huber_loss: delta=0 is not positive"):
        x.huber_loss(y, delta=0)
    with pytest.raises(ArgumentError, match=r"pairwise_distance: p=0 is not positive"):
        x.pairwise_distance(y, 0)
    for name in ("triplet_margin_loss", "cosine_embedding_loss"):
        with pytest.raises(ArgumentError, match=f"{name}: reduction='max' is none of"):
            getattr(x, name)(y, y, reduction="max")


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("name", ["cosine_similarity", "pairwise_distance"])
def test_integers_do_not_wrap_where_the_result_is_a_float(name: str, dtype: str) -> None:
    x, y = np.array([[3, 100, 7]]), np.array([[90, 1, 100]])
    found = getattr(Tensor(x.astype(dtype)), name)(Tensor(y.astype(dtype)))
    expected = getattr(F, name)(torch.tensor(x).float(), torch.tensor(y).float())
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["smooth_l1_loss", "huber_loss"])
def test_infinite_differences_have_the_gradient_of_large_ones_and_nan_has_nan(name: str) -> None:
    given, zeros = [np.inf, -np.inf, 1e30, 0.25, 1.0, -1.0, 0.0, np.nan], np.zeros(8, np.float32)
    x, theirs = Tensor(given), torch.tensor(given, requires_grad=True)
    (gradient,) = getattr(x, name)(Tensor(zeros), "sum").gradient(x)
    getattr(F, name)(theirs, torch.tensor(zeros), reduction="sum").backward()
    assert theirs.grad is not None
    np.testing.assert_array_equal(gradient.numpy(), theirs.grad.numpy())


def test_vectors_of_length_0_have_the_embedding_gradients_of_torch() -> None:
    given = (
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1e-6, 0.0]],
        [[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0]],
    )
    signs = [1, -1, -1, 1]
    x, y = (Tensor(part) for part in given)
    slopes = x.cosine_embedding_loss(y, Tensor(signs), reduction="sum").gradient(x, y)
    theirs = [torch.tensor(part, requires_grad=True) for part in given]
    F.cosine_embedding_loss(theirs[0], theirs[1], torch.tensor(signs), reduction="sum").backward()
    for found, expected in zip(slopes, theirs, strict=True):
        assert expected.grad is not None
        np.testing.assert_allclose(found.numpy(), expected.grad.numpy(), rtol=1e-5)


def test_a_triplet_at_its_margin_is_pulled_as_in_torch() -> None:
    given = [[[0.0, 0.0]], [[1.0, 0.0]], [[2.0, 0.0]]]
    x, y, z = (Tensor(part) for part in given)
    slopes = x.triplet_margin_loss(y, z, 1.0, eps=0.0).gradient(x, y, z)
    theirs = [torch.tensor(part, requires_grad=True) for part in given]
    F.triplet_margin_loss(theirs[0], theirs[1], theirs[2], 1.0, eps=0.0).backward()
    for found, expected in zip(slopes, theirs, strict=True):
        assert expected.grad is not None
        np.testing.assert_array_equal(found.numpy(), expected.grad.numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_vectors_of_zeros_have_cosines_of_0_in_narrow_floats(dtype: str) -> None:
    x, y = Tensor([[0.0, 0.0], [1.0, 0.0]], dtype=dtype), Tensor([[1.0, 0.0], [1.0, 0.0]], dtype=dtype)
    cosines = x.cosine_similarity(y)
    losses = x.cosine_embedding_loss(y, Tensor([1, 1]), reduction="none")
    assert cosines.dtype.name == losses.dtype.name == dtype
    assert (cosines.float().tolist(), losses.float().tolist()) == ([0.0, 1.0], [1.0, 0.0])
