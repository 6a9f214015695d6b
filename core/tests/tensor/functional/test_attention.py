"""Tests of plugrad.tensor.functional.attention, against torch."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor, dtypes, events
from plugrad.dtype import DType
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.functional import attention
from plugrad.uop.ops import MOVEMENT, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.realize_all import realize_all

RNG = np.random.default_rng(0)


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


FLOATS = random(5, 7)
BOOLS = RNG.random((2, 1, 5, 7)) < 0.6
BOOLS[..., 0] = True

OPTIONS: list[dict[str, Any]] = [
    {}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": FLOATS}, {"attn_mask": BOOLS},
    {"attn_mask": BOOLS[0, 0, :, :1]},
]  # fmt: skip


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(o))
def test_attention_is_that_of_torch(monkeypatch: pytest.MonkeyPatch, options: Any, is_long: bool) -> None:
    if is_long:
        monkeypatch.setattr(attention, "_WHOLE", 0)
        monkeypatch.setattr(attention, "_BLOCK", 3)
    arrays = random(2, 3, 5, 4), random(2, 3, 7, 4), random(2, 3, 7, 6)
    ours = [Tensor(a, requires_grad=True) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    mask = options.get("attn_mask")
    mine = options if mask is None else {"attn_mask": Tensor(mask)}
    other = options if mask is None else {"attn_mask": torch.tensor(mask)}
    out = ours[0].scaled_dot_product_attention(*ours[1:], **mine)
    expected = F.scaled_dot_product_attention(*theirs, **other)
    weights = random(*expected.shape)
    (out * Tensor(weights)).sum().backward()
    (expected * torch.tensor(weights)).sum().backward()
    realize_all(out, [x.grad for x in ours])
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    for left, right in zip(ours, theirs, strict=True):
        assert left.grad is not None
        np.testing.assert_allclose(left.grad.numpy(), right.grad.numpy(), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(9, 9), (9, 4), (5, 12)])
def test_parts_of_causal_attention_are_those_of_torch(
    monkeypatch: pytest.MonkeyPatch, queries: int, keys: int, is_long: bool
) -> None:
    monkeypatch.setattr(attention, "_PART", 2)
    if is_long:
        in_blocks(monkeypatch, 3)
    arrays = random(2, queries, 4), random(2, keys, 4), random(2, keys, 6)
    ours = [Tensor(a, requires_grad=True) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    out = ours[0].scaled_dot_product_attention(*ours[1:], is_causal=True)
    expected = F.scaled_dot_product_attention(*theirs, is_causal=True)
    weights = random(*expected.shape)
    (out * Tensor(weights)).sum().backward()
    (expected * torch.tensor(weights)).sum().backward()
    realize_all(out, [x.grad for x in ours])
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    for left, right in zip(ours, theirs, strict=True):
        assert left.grad is not None
        np.testing.assert_allclose(left.grad.numpy(), right.grad.numpy(), rtol=1e-3, atol=1e-5)


def test_causal_attention_computes_little_of_what_its_mask_empties() -> None:
    q = Tensor.ones(512, 16, device="NULL").contiguous().realize()

    def flops(is_causal: bool) -> int:
        found: list[int] = []
        with events.subscribe(events.KernelEvent, lambda event: found.append(event.flops)):
            q.scaled_dot_product_attention(q, q, is_causal=is_causal).realize()
        return sum(found)

    assert flops(is_causal=True) < 0.7 * flops(is_causal=False)


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize("mask_shape", [None, (2, 6, 5, 7), (2, 1, 5, 7), (5, 7)])
def test_groups_of_queries_share_keys(
    monkeypatch: pytest.MonkeyPatch, is_long: bool, mask_shape: Any
) -> None:
    if is_long:
        monkeypatch.setattr(attention, "_WHOLE", 0)
        monkeypatch.setattr(attention, "_BLOCK", 4)
    q, k, v = random(2, 6, 5, 4), random(2, 2, 7, 4), random(2, 2, 7, 3)
    mask = None if mask_shape is None else random(*mask_shape)
    expected = F.scaled_dot_product_attention(
        *map(torch.tensor, (q, k, v)), None if mask is None else torch.tensor(mask), enable_gqa=True
    )
    out = Tensor(q).scaled_dot_product_attention(
        Tensor(k), Tensor(v), None if mask is None else Tensor(mask), enable_gqa=True
    )
    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("is_long", [False, True])
def test_a_query_that_may_attend_to_nothing_gives_zeros(
    monkeypatch: pytest.MonkeyPatch, is_long: bool
) -> None:
    if is_long:
        monkeypatch.setattr(attention, "_WHOLE", 0)
        monkeypatch.setattr(attention, "_BLOCK", 2)
    x = Tensor(random(3, 4), requires_grad=True)
    mask = Tensor([[True, False, True], [False, False, False], [False, False, True]])
    out = x.scaled_dot_product_attention(x, x, mask)
    assert out[1].tolist() == [0.0] * 4
    np.testing.assert_allclose(out[2].numpy(), x[2].numpy(), rtol=1e-6)
    out.sum().backward()
    assert x.grad is not None
    assert np.isfinite(x.grad.numpy()).all()


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"attn_mask": (3, 0)}])
def test_where_there_are_no_keys_attention_gives_zeros(options: Any) -> None:
    options = {name: Tensor.zeros(*o) if name == "attn_mask" else o for name, o in options.items()}
    q, none = Tensor(random(2, 3, 4), requires_grad=True), Tensor.zeros(2, 0, 4)
    out = q.scaled_dot_product_attention(none, none, **options)
    assert out.tolist() == np.zeros((2, 3, 4)).tolist()
    assert out.sum().gradient(q)[0].tolist() == np.zeros((2, 3, 4)).tolist()


def test_keys_of_no_elements_are_attended_to_alike() -> None:
    values = random(2, 5, 3)
    out = Tensor.zeros(2, 3, 0).scaled_dot_product_attention(Tensor.zeros(2, 5, 0), Tensor(values))
    mean = values.mean(1, keepdims=True).repeat(3, 1)
    np.testing.assert_allclose(out.numpy(), mean, rtol=1e-5, atol=1e-6)


def test_halves_are_attended_to_in_single() -> None:
    q, k, v = (random(2, 6, 8).astype(np.float16) for _ in range(3))
    out = Tensor(q).scaled_dot_product_attention(Tensor(k), Tensor(v))
    expected = F.scaled_dot_product_attention(*(torch.tensor(a).float() for a in (q, k, v))).half()
    assert out.dtype.name == "float16"
    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=2e-3, atol=1e-3)


def test_weights_drop_out_while_training() -> None:
    x, eye = Tensor(random(64, 8)), Tensor.eye(64)
    assert (x.scaled_dot_product_attention(x, eye, dropout_p=0.5) > 0).all().item()
    with Tensor.train():
        weights = x.scaled_dot_product_attention(x, eye, dropout_p=0.5).numpy()
    assert 0.4 < (weights == 0).mean() < 0.6


def in_blocks(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(attention, "_WHOLE", 0)
    monkeypatch.setattr(attention, "_BLOCK", block)


@pytest.mark.parametrize("shape", [(5, 7), (2, 1, 5, 1), (7,), ()])
@pytest.mark.wide_on_cpu
def test_masks_get_gradients_from_blocks(monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...]) -> None:
    in_blocks(monkeypatch, 3)
    arrays = random(2, 3, 5, 4), random(2, 1, 7, 4), random(7, 6), np.float32(RNG.standard_normal(shape))
    ours = [Tensor(a, requires_grad=True) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    out = ours[0].scaled_dot_product_attention(*ours[1:])
    q, k, v, mask = theirs
    expected = ((q @ k.transpose(-2, -1)) / 2 + mask).softmax(-1) @ v
    weights = random(*expected.shape)
    (out * Tensor(weights)).sum().backward()
    (expected * torch.tensor(weights)).sum().backward()
    realize_all([x.grad for x in ours])
    for left, right in zip(ours, theirs, strict=True):
        assert left.grad is not None
        assert right.grad is not None
        np.testing.assert_allclose(left.grad.numpy(), right.grad.numpy(), rtol=1e-3, atol=1e-5)


@pytest.mark.wide_on_cpu
def test_second_derivatives_come_from_blocks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = Tensor(random(5, 3).astype(np.float64)), Tensor(random(7, 3).astype(np.float64))

    def second() -> np.ndarray:
        (by_y,) = (x.scaled_dot_product_attention(y, y) ** 2).sum().gradient(y)
        return (by_y**2).sum().gradient(x)[0].numpy()

    whole = second()
    in_blocks(monkeypatch, 3)
    np.testing.assert_allclose(second(), whole, rtol=1e-8, atol=1e-10)


def test_both_passes_of_blocks_leave_out_the_same_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    in_blocks(monkeypatch, 16)
    x, v = Tensor(random(40, 8)), Tensor(np.eye(40, dtype=np.float32))
    with Tensor.train():
        out = x.scaled_dot_product_attention(x, v, dropout_p=0.5)
    # how much weight each value got
    (by_value,) = out.sum().gradient(v)
    np.testing.assert_allclose(by_value[:, 0].numpy(), out.numpy().sum(0), rtol=1e-5)
    assert 0.4 < (out.numpy() == 0).mean() < 0.6


def peak(length: int, block: int, monkeypatch: pytest.MonkeyPatch, trains: bool) -> tuple[int, int]:
    """Return the most bytes that kernels held beyond what was there before, and how many kinds there were."""
    monkeypatch.setattr(attention, "_WHOLE", 0)
    monkeypatch.setattr(attention, "_PART", 64)  # as many parts of each length
    monkeypatch.setattr(attention, "_BLOCK", block)
    q, k, v = (Tensor(random(length, 8)).realize() for _ in range(3))
    held: list[int] = []
    names: set[str] = set()

    def watch(event: Any) -> None:
        held.append(event.memory_used)
        names.add(event.name)

    with events.subscribe(events.KernelEvent, watch):
        (q + 0).realize()
        before = held[0]
        with Tensor.train(trains):
            out = q.scaled_dot_product_attention(k, v, is_causal=True, dropout_p=0.1)
        Tensor.realize(out, *(out.sum().gradient(q, k, v) if trains else []))
    return max(held) - before, len(names)


@pytest.mark.parametrize("trains", [False, True])
@pytest.mark.wide_on_cpu
def test_memory_does_not_grow_with_the_square_of_the_length(
    monkeypatch: pytest.MonkeyPatch, trains: bool
) -> None:
    (short, short_names), (long, long_names) = (peak(n, 32, monkeypatch, trains) for n in (256, 1024))
    assert long < 1024 * 1024 * 4 / 2
    assert long < 6 * short
    assert long_names < short_names + 40


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.wide_on_cpu
def test_memory_of_gradients_alone_does_not_grow_with_the_square(
    monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    """The result is in memory already, or the gradient does not depend on it: nothing asks for it first."""

    def most(length: int) -> int:
        in_blocks(monkeypatch, 16)
        q, k, v = (Tensor(random(length, 4), requires_grad=True).realize() for _ in range(3))
        held: list[int] = []
        out = q.scaled_dot_product_attention(k, v)
        if is_known:
            out.realize()
        with events.subscribe(events.KernelEvent, lambda event: held.append(event.memory_used)):
            (q + 0).realize()
            Tensor.realize(*out.sum().gradient(q, k, v))
        return max(held) - held[0]

    assert most(256) < 2.5 * most(128)


def test_what_does_not_fit_is_refused() -> None:
    x, what = Tensor(random(2, 3, 4)), "scaled_dot_product_attention"
    with pytest.raises(ShapeError, match=rf"{what} of queries \(2, 3, 4\), keys \(2, 3, 5\)"):
        x.scaled_dot_product_attention(Tensor(random(2, 3, 5)), x)
    with pytest.raises(ShapeError, match="3 heads of queries, 2 of keys, 2 of values"):
        Tensor(random(3, 3, 4)).scaled_dot_product_attention(x, x, enable_gqa=True)
    with pytest.raises(ShapeError, match="with enable_gqa takes"):
        x[0].scaled_dot_product_attention(x[0], x[0], enable_gqa=True)
    with pytest.raises(DtypeError, match="of float32, float16 and float32"):
        x.scaled_dot_product_attention(x.cast("float16"), x)
    with pytest.raises(DtypeError, match="with a mask of int32"):
        x.scaled_dot_product_attention(x, x, Tensor([1, 0, 1]))
    with pytest.raises(ArgumentError, match="both attn_mask and is_causal"):
        x.scaled_dot_product_attention(x, x, Tensor([True, True, False]), is_causal=True)
    with pytest.raises(ArgumentError, match=r"dropout_p=1\.5 lies outside"):
        x.scaled_dot_product_attention(x, x, dropout_p=1.5)


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16])
def test_both_products_of_narrow_floats_take_narrow_factors(dtype: DType) -> None:
    """Matrix instructions take no others."""
    x = Tensor.empty(2, 8, 16, dtype=dtype)

    def source_of(u: UOp) -> UOp:
        while u.op in MOVEMENT or (u.op is Ops.CAST and u.dtype is dtypes.float32):
            u = u.src[0]
        return u

    sums = [u for u in x.scaled_dot_product_attention(x, x).uop.toposort() if u.op is Ops.REDUCE_AXIS]
    products = [u.src[0] for u in sums if u.src[0].op is Ops.MUL]
    assert [[source_of(s).dtype for s in u.src] for u in products].count([dtype, dtype]) == 2
    assert all(u.dtype is dtypes.float32 for u in sums)


def test_causal_scores_are_masked_where_their_products_are() -> None:
    x = Tensor.empty(2, 8, 16)
    nodes = x.scaled_dot_product_attention(x, x, is_causal=True).uop.toposort()
    assert [u.src[0].op for u in nodes if u.op is Ops.REDUCE_AXIS and u.arg[0] is Ops.MAX] == [Ops.CONTIGUOUS]
