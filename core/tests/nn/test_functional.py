"""Tests of plugrad.nn.functional, against torch."""

import inspect
from typing import Any

import numpy as np
import pytest
import torch

from plugrad.errors import ShapeError
from plugrad.nn import functional
from plugrad.tensor import Tensor

RNG = np.random.default_rng(1)


def random(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


X = random(2, 4, 6, 6)
LABELS = np.array([1, 3])

# arguments are positional, in torch's order
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *((name, (X,), {}) for name in ("relu", "relu6", "gelu", "silu", "sigmoid", "tanh", "selu", "elu")),
    ("relu", (X,), {"inplace": False}),
    ("gelu", (X, ), {"approximate": "tanh"}),
    ("leaky_relu", (X, 0.3), {}),
    ("hardtanh", (X, -0.5, 0.5), {}),
    ("softmax", (X, 1), {}),
    ("log_softmax", (X,), {"dim": -1}),
    ("dropout", (X, 0.5, False), {}),
    ("linear", (random(3, 4), random(5, 4), random(5)), {}),
    ("linear", (random(3, 4), random(5, 4)), {}),
    ("embedding", (np.array([[1, 0], [2, 2]]), random(3, 4)), {}),
    ("one_hot", (LABELS, 4), {}),
    ("conv1d", (random(2, 4, 9), random(6, 2, 3), None, 2, 1, 1, 2), {}),
    ("conv2d", (X, random(6, 4, 3, 3), random(6), 2, 1), {}),
    ("conv2d", (X, random(6, 4, 3, 3)), {"padding": "same", "dilation": 2}),
    ("conv3d", (random(1, 2, 4, 4, 4), random(3, 2, 2, 2, 2), None, (1, 2, 1)), {}),
    ("conv_transpose2d", (X, random(4, 3, 3, 3), random(3), 2, 1, 1), {}),
    ("max_pool2d", (X, 3, 2, 1), {}),
    ("max_pool2d", (X, 2), {"ceil_mode": True}),
    ("avg_pool2d", (X, 3, 2, 1, False, False), {}),
    ("adaptive_avg_pool2d", (X, (2, 3)), {}),
    ("batch_norm", (X, random(4), random(4) ** 2, random(4), random(4)), {}),
    ("layer_norm", (X, (6,), random(6), random(6)), {}),
    ("group_norm", (X, 2, random(4), random(4)), {}),
    ("normalize", (X,), {"dim": 1}),
    ("pad", (X, (1, 2, 0, 1)), {"mode": "reflect"}),
    ("interpolate", (X,), {"scale_factor": 2, "mode": "bilinear"}),
    ("pixel_shuffle", (X, 2), {}),
    ("scaled_dot_product_attention", (X, X, X), {"is_causal": True}),
    ("cross_entropy", (random(2, 4), LABELS), {}),
    ("cross_entropy", (random(2, 4), LABELS, random(4) ** 2), {"reduction": "sum", "label_smoothing": 0.1}),
    ("cross_entropy", (random(2, 4),), {"target": LABELS}),
    ("nll_loss", (random(2, 4), LABELS), {}),
    ("mse_loss", (X, X[::-1].copy()), {}),
    ("l1_loss", (X, X[::-1].copy()), {"reduction": "none"}),
    ("smooth_l1_loss", (X, X[::-1].copy()), {}),
    ("binary_cross_entropy_with_logits", (X, (X > 0).astype(np.float32)), {}),
    ("kl_div", (random(2, 4), random(2, 4) ** 2), {"reduction": "batchmean"}),
    ("cosine_similarity", (random(2, 4), random(2, 4)), {}),
]  # fmt: skip


def converted(make: Any, value: Any) -> Any:
    return make(value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(("name", "arguments", "options"), CASES, ids=[case[0] for case in CASES])
def test_functions_compute_what_torchs_compute(name: str, arguments: Any, options: Any) -> None:
    sides: list[Any] = []
    for module, make in ((functional, Tensor), (torch.nn.functional, torch.tensor)):
        given = [converted(make, value) for value in arguments]
        named = {key: converted(make, value) for key, value in options.items()}
        sides.append(getattr(module, name)(*given, **named))
    found, expected = sides
    assert found.shape == tuple(expected.shape)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


def test_every_function_is_one_of_torchs() -> None:
    ours = {name for name, value in vars(functional).items() if inspect.isroutine(value) and name[0] != "_"}
    assert len(ours) > 70
    assert not ours - set(dir(torch.nn.functional))


def test_dropout_drops_unless_told_not_to() -> None:
    assert functional.dropout(Tensor.ones(1000), 0.5).tolist().count(0.0) > 300


def test_max_pool_returns_places_if_asked() -> None:
    out, places = functional.max_pool2d(Tensor(X), 2, return_indices=True)
    expected = torch.nn.functional.max_pool2d(torch.tensor(X), 2, return_indices=True)
    assert places.tolist() == expected[1].tolist()
    back = functional.max_unpool2d(out, places, 2)
    np.testing.assert_allclose(back.numpy(), torch.nn.functional.max_unpool2d(*expected, 2).numpy())


def test_too_many_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match=r"conv2d\(\) takes weight bias .* and got 7 arguments"):
        functional.conv2d(Tensor(X), Tensor(X), None, 1, 0, 1, 1, 1)
    with pytest.raises(TypeError, match="multiple values"):
        functional.conv2d(Tensor(X), Tensor(X), weight=Tensor(X))
    with pytest.raises(ShapeError):
        functional.conv2d(Tensor(X), Tensor.ones(3))
