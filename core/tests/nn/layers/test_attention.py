"""Tests of plugrad.nn.layers.attention, against torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad.errors import ShapeError
from plugrad.nn import MultiheadAttention
from plugrad.nn.state import get_state_dict, load_state_dict
from plugrad.tensor import Tensor

RNG = np.random.default_rng(1)


def load(ours: Any, theirs: torch.nn.Module) -> None:
    """Give our layer the values of torch's, whose names and their order it has to share."""
    state = {name: Tensor(value.numpy()) for name, value in theirs.state_dict().items()}
    assert list(get_state_dict(ours)) == list(state)
    load_state_dict(ours, state)


def random(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def close(ours: Tensor, theirs: torch.Tensor) -> None:
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-5)


PAIRS = RNG.random((4, 6)) < 0.4
PAIRS[:, 0] = False
PADDING = np.array([[False] * 6, [False] * 3 + [True] * 3])


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize(
    "masks",
    [
        {}, {"attn_mask": PAIRS}, {"key_padding_mask": PADDING}, {"attn_mask": random(4, 6)},
        {"attn_mask": random(4, 4, 6), "key_padding_mask": PADDING.astype(np.float32)},
    ],
    ids=lambda masks: "-".join(f"{name}{mask.ndim}" for name, mask in masks.items()),
)  # fmt: skip
def test_attention_computes_what_torch_computes(masks: Any, batch_first: bool) -> None:
    ours = MultiheadAttention(8, 2, batch_first=batch_first)
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=batch_first)
    torch.nn.init.normal_(theirs.in_proj_bias)
    load(ours, theirs)
    arrays = [random(*((2, n, 8) if batch_first else (n, 2, 8))) for n in (4, 6, 6)]
    mine = {name: Tensor(mask) for name, mask in masks.items()}
    other = {name: torch.tensor(mask) for name, mask in masks.items()}
    out, weights = ours(*map(Tensor, arrays), need_weights=False, **mine)
    assert weights is None
    close(out, theirs(*map(torch.tensor, arrays), need_weights=False, **other)[0])


def test_causal_attention_joins_other_masks() -> None:
    ours, theirs = MultiheadAttention(8, 2, bias=False), torch.nn.MultiheadAttention(8, 2, bias=False)
    load(ours, theirs)
    x = random(6, 2, 8)
    causal = torch.ones(6, 6, dtype=torch.bool).triu(1)
    y = torch.tensor(x)
    options = {"need_weights": False, "is_causal": True}
    close(ours(*[Tensor(x)] * 3, **options)[0], theirs(y, y, y, attn_mask=causal)[0])
    expected = theirs(y, y, y, attn_mask=causal, key_padding_mask=torch.tensor(PADDING))[0]
    close(ours(*[Tensor(x)] * 3, key_padding_mask=Tensor(PADDING), **options)[0], expected)


def test_what_does_not_fit_is_refused() -> None:
    layer, x = MultiheadAttention(8, 2), Tensor.ones(4, 2, 8)
    with pytest.raises(ShapeError, match="MultiheadAttention of size 8 does not divide into 3 heads"):
        MultiheadAttention(8, 3)
    with pytest.raises(ShapeError, match=r"MultiheadAttention of size 8 got shape \(4, 8\)"):
        layer(x[:, 0], x, x)
    with pytest.raises(ShapeError, match=r"attn_mask of shape \(4,\): it takes \(4, 4\) or \(4, 4, 4\)"):
        layer(x, x, x, attn_mask=Tensor.ones(4))
    with pytest.raises(ShapeError, match=r"key_padding_mask of shape \(4, 2\): it takes \(2, 4\)"):
        layer(x, x, x, key_padding_mask=Tensor.ones(4, 2))


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(
    "masks", [{}, {"attn_mask": PAIRS}, {"key_padding_mask": PADDING, "is_causal": True}], ids=list
)
def test_weights_are_those_of_torch(masks: Any, average: bool, batch_first: bool) -> None:
    ours = MultiheadAttention(8, 2, batch_first=batch_first)
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=batch_first)
    load(ours, theirs)
    arrays = [random(*((2, n, 8) if batch_first else (n, 2, 8))) for n in (4, 6, 6)]
    mine = {name: mask if isinstance(mask, bool) else Tensor(mask) for name, mask in masks.items()}
    other = {name: torch.tensor(mask) for name, mask in masks.items() if name != "is_causal"}
    if "is_causal" in masks:
        other["attn_mask"] = torch.ones(4, 6, dtype=torch.bool).triu(1)
    out, weights = ours(*map(Tensor, arrays), **mine, average_attn_weights=average)
    expected = theirs(*map(torch.tensor, arrays), **other, average_attn_weights=average)
    close(out, expected[0])
    close(weights, expected[1])


@pytest.mark.parametrize("sizes", [{"kdim": 5, "vdim": 3}, {"vdim": 6}, {"kdim": 8, "vdim": 8}], ids=str)
def test_keys_and_values_may_have_other_sizes(sizes: Any) -> None:
    ours, theirs = MultiheadAttention(8, 2, **sizes), torch.nn.MultiheadAttention(8, 2, **sizes)
    load(ours, theirs)
    arrays = random(4, 2, 8), random(6, 2, sizes.get("kdim", 8)), random(6, 2, sizes["vdim"])
    out, _ = ours(*map(Tensor, arrays), need_weights=False)
    expected = theirs(*map(torch.tensor, arrays))[0]
    close(out, expected)
    (out * out).sum().backward()
    (expected * expected).sum().backward()
    theirs_by_name = dict(theirs.named_parameters())
    for name, p in get_state_dict(ours).items():
        assert p.grad is not None
        np.testing.assert_allclose(p.grad.numpy(), theirs_by_name[name].grad.numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("batch_first", [False, True])
def test_without_a_batch_attention_is_that_of_torch(batch_first: bool) -> None:
    ours = MultiheadAttention(8, 2, batch_first=batch_first)
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=batch_first)
    load(ours, theirs)
    arrays, padding = [random(n, 8) for n in (4, 6, 6)], PADDING[1]
    out, weights = ours(*map(Tensor, arrays), Tensor(padding))
    expected = theirs(*map(torch.tensor, arrays), torch.tensor(padding))
    close(out, expected[0])
    close(weights, expected[1])
    close(ours(*map(Tensor, arrays))[0], theirs(*map(torch.tensor, arrays))[0])


def test_weights_are_dropped_while_training() -> None:
    layer = MultiheadAttention(8, 2, dropout=0.5)
    x = Tensor(random(16, 1, 8))
    with Tensor.train():
        weights = layer(x, x, x, average_attn_weights=False)[1]
    assert weights is not None
    weights = weights.numpy()
    assert 0.3 < (weights == 0).mean() < 0.7


@pytest.mark.parametrize(
    "options", [{"add_bias_kv": True}, {"add_zero_attn": True, "kdim": 5, "vdim": 6}], ids=str
)
def test_every_query_sees_keys_that_are_added(options: Any) -> None:
    ours, theirs = MultiheadAttention(8, 2, **options), torch.nn.MultiheadAttention(8, 2, **options)
    load(ours, theirs)
    k, v = options.get("kdim", 8), options.get("vdim", 8)
    arrays = random(4, 2, 8), random(6, 2, k), random(6, 2, v)
    masks = {"key_padding_mask": PADDING, "attn_mask": np.triu(np.ones((4, 6), bool), 2)}
    out, weights = ours(*map(Tensor, arrays), **{name: Tensor(mask) for name, mask in masks.items()})
    expected = theirs(
        *map(torch.tensor, arrays), **{name: torch.tensor(mask) for name, mask in masks.items()}
    )
    close(out, expected[0])
    assert weights is not None
    close(weights, expected[1])
    # causal: each sees those up to its own place, and the added ones
    causal = np.triu(np.ones((4, 6), bool), 1)
    close(
        ours(*map(Tensor, arrays), need_weights=False, is_causal=True)[0],
        theirs(*map(torch.tensor, arrays), attn_mask=torch.tensor(causal))[0],
    )


def test_weights_may_be_left_out() -> None:
    layer, x = MultiheadAttention(8, 2), Tensor(random(4, 2, 8))
    out, weights = layer(x, x, x, need_weights=False)
    assert weights is None
    np.testing.assert_allclose(out.numpy(), layer(x, x, x)[0].numpy(), rtol=1e-4, atol=1e-5)
