"""Tests of layers that hold settings only: activations, losses, pooling, padding, shaping; against torch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import nn
from plugrad.errors import ShapeError
from plugrad.nn.state import get_state_dict
from plugrad.tensor import Tensor

RNG = np.random.default_rng(1)


def random(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32) * 2


def agree(name: str, arguments: tuple[Any, ...], options: dict[str, Any], *arrays: Any) -> None:
    """Compare the layer `name` with torch's on `arrays`."""
    ours, theirs = getattr(nn, name)(*arguments, **options), getattr(torch.nn, name)(*arguments, **options)
    theirs.eval()
    expected = theirs(*map(torch.tensor, arrays))
    found = ours(*map(Tensor, arrays))
    assert found.shape == tuple(expected.shape)
    np.testing.assert_allclose(found.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)


ACTIVATIONS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *((name, (), {}) for name in ("Sigmoid", "Tanh", "LogSigmoid", "Softsign", "Tanhshrink", "Mish", "SiLU")),
    *((name, (), {"inplace": False}) for name in ("ReLU", "ReLU6", "SELU", "Hardswish", "Hardsigmoid")),
    ("LeakyReLU", (0.3,), {}),
    ("ELU", (0.5,), {}),
    ("CELU", (0.5,), {}),
    ("GELU", (), {}),
    ("GELU", ("tanh",), {}),
    ("Softplus", (2.0, 1.0), {}),
    ("Hardtanh", (-0.5, 1.5), {}),
    ("Threshold", (0.5, 9.0), {}),
    ("Hardshrink", (0.7,), {}),
    ("Softshrink", (0.7,), {}),
    ("GLU", (1,), {}),
    ("Softmax", (), {"dim": 1}),
    ("Softmin", (-1,), {}),
    ("LogSoftmax", (0,), {}),
    ("PReLU", (), {}),
    ("PReLU", (4, 0.5), {}),
    ("Identity", (3,), {"unused": 1}),
    ("Dropout", (0.3,), {}),
    ("AlphaDropout", (0.3,), {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "options"), ACTIVATIONS, ids=str)
def test_activations_are_torchs(name: str, arguments: Any, options: Any) -> None:
    agree(name, arguments, options, random(3, 4, 6))


def test_a_learnt_slope_has_torchs_name() -> None:
    assert list(get_state_dict(nn.PReLU(3))) == list(torch.nn.PReLU(3).state_dict())


POOLS: list[tuple[str, tuple[Any, ...], dict[str, Any], int]] = [
    ("MaxPool1d", (3, 2), {"padding": 1, "ceil_mode": True}, 1),
    ("MaxPool2d", ((2, 3),), {"dilation": 2}, 2),
    ("MaxPool3d", (2,), {}, 3),
    ("AvgPool1d", (3,), {"stride": 1, "padding": 1, "count_include_pad": False}, 1),
    ("AvgPool2d", (2,), {"divisor_override": 3, "ceil_mode": True}, 2),
    ("AvgPool3d", ((2, 1, 2),), {}, 3),
    ("AdaptiveAvgPool1d", (3,), {}, 1),
    ("AdaptiveAvgPool2d", ((3, None),), {}, 2),
    ("AdaptiveAvgPool3d", (2,), {}, 3),
    ("AdaptiveMaxPool1d", (3,), {}, 1),
    ("AdaptiveMaxPool2d", ((3, 2),), {}, 2),
    ("AdaptiveMaxPool3d", (2,), {}, 3),
    ("ZeroPad1d", (2,), {}, 1),
    ("ZeroPad2d", ((1, 2, 0, -1),), {}, 2),
    ("ZeroPad3d", (1,), {}, 3),
    ("ConstantPad1d", (2, 3.5), {}, 1),
    ("ConstantPad2d", ((1, 0, 2, 1), -1.0), {}, 2),
    ("ConstantPad3d", (1, 9.0), {}, 3),
    ("ReflectionPad1d", (2,), {}, 1),
    ("ReflectionPad2d", ((1, 2, 3, 0),), {}, 2),
    ("ReflectionPad3d", (1,), {}, 3),
    ("ReplicationPad1d", ((3, 1),), {}, 1),
    ("ReplicationPad2d", (2,), {}, 2),
    ("ReplicationPad3d", (1,), {}, 3),
    ("CircularPad1d", (2,), {}, 1),
    ("CircularPad2d", ((1, 2, 0, 1),), {}, 2),
    ("CircularPad3d", (1,), {}, 3),
    ("Dropout1d", (0.5,), {}, 1),
    ("Dropout2d", (0.5,), {}, 2),
    ("Dropout3d", (0.5,), {}, 3),
]


@pytest.mark.parametrize(("name", "arguments", "options", "axes"), POOLS, ids=str)
def test_pooling_and_padding_are_torchs(name: str, arguments: Any, options: Any, axes: int) -> None:
    agree(name, arguments, options, random(2, 3, 7, 6, 5)[(slice(None),) * (2 + axes) + (0,) * (3 - axes)])


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_what_was_pooled_can_be_put_back(axes: int) -> None:
    x = random(2, 3, *[4] * axes)
    found, expected = (
        getattr(module, f"MaxUnpool{axes}d")(2)(
            *getattr(module, f"MaxPool{axes}d")(2, return_indices=True)(tensor(x))
        )
        for module, tensor in ((nn, Tensor), (torch.nn, torch.tensor))
    )
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_a_padding_has_a_width_for_each_side() -> None:
    with pytest.raises(ShapeError, match=r"ZeroPad2d: padding=\(1, 2\) has 2 numbers: pass 1, or 4: before"):
        nn.ZeroPad2d((1, 2))


@pytest.mark.parametrize(
    ("name", "arguments", "options", "shape"),
    [
        ("Flatten", (), {}, (2, 3, 4)),
        ("Flatten", (0, 1), {}, (2, 3, 4)),
        ("Unflatten", (1, (3, -1)), {}, (2, 6)),
        ("PixelShuffle", (2,), {}, (1, 8, 3, 2)),
        ("PixelUnshuffle", (2,), {}, (1, 2, 4, 6)),
        ("Upsample", (), {"scale_factor": 2}, (1, 2, 3, 4)),
        ("Upsample", ((5, 7),), {"mode": "bilinear", "align_corners": True}, (1, 2, 3, 4)),
    ],
    ids=str,
)
def test_changes_of_shape_are_torchs(name: str, arguments: Any, options: Any, shape: Any) -> None:
    agree(name, arguments, options, random(*shape))


PROBABILITIES = np.abs(np.sin(random(4, 3)))
CLASSES = np.array([0, 2, 1, 2])
LOSSES: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[Any, ...]]] = [
    ("MSELoss", (), {}, (random(4, 3), random(4, 3))),
    ("L1Loss", (), {"reduction": "sum"}, (random(4, 3), random(4, 3))),
    ("SmoothL1Loss", (), {"beta": 0.5}, (random(4, 3), random(4, 3))),
    ("HuberLoss", (), {"delta": 0.5, "reduction": "none"}, (random(4, 3), random(4, 3))),
    ("BCELoss", (), {}, (PROBABILITIES, PROBABILITIES[::-1].copy())),
    ("BCEWithLogitsLoss", (), {"reduction": "none"}, (random(4, 3), PROBABILITIES)),
    ("CrossEntropyLoss", (), {"label_smoothing": 0.1, "ignore_index": 1}, (random(4, 3), CLASSES)),
    ("CrossEntropyLoss", (), {"reduction": "sum"}, (random(4, 3), PROBABILITIES)),
    ("NLLLoss", (), {"ignore_index": 0}, (random(4, 3), CLASSES)),
    ("KLDivLoss", (), {"reduction": "batchmean"}, (random(4, 3), PROBABILITIES)),
    ("KLDivLoss", (), {"reduction": "sum", "log_target": True}, (random(4, 3), random(4, 3))),
    ("TripletMarginLoss", (0.5, 1.0), {"swap": True}, (random(4, 3), random(4, 3), random(4, 3))),
    ("CosineEmbeddingLoss", (0.2,), {}, (random(4, 3), random(4, 3), np.array([1, -1, 1, -1]))),
    ("CosineSimilarity", (0,), {}, (random(4, 3), random(4, 3))),
    ("PairwiseDistance", (1.0,), {"keepdim": True}, (random(4, 3), random(4, 3))),
    ("CTCLoss", (), {"reduction": "sum"}, (
        np.log(PROBABILITIES.reshape(4, 1, 3) + 0.1), np.array([[1, 2]]), np.array([4]), np.array([2])
    )),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "options", "arrays"), LOSSES, ids=lambda v: str(v)[:20])
def test_losses_are_torchs(name: str, arguments: Any, options: Any, arrays: Any) -> None:
    agree(name, arguments, options, *arrays)


@pytest.mark.parametrize("name", ["CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss"])
def test_weights_of_losses_are_torchs(name: str) -> None:
    weight = np.array([0.5, 1.0, 2.0], np.float32)
    target = CLASSES if name in ("CrossEntropyLoss", "NLLLoss") else PROBABILITIES
    ours, theirs = getattr(nn, name)(Tensor(weight)), getattr(torch.nn, name)(torch.tensor(weight))
    expected = theirs(torch.tensor(PROBABILITIES), torch.tensor(target)).item()
    assert ours(Tensor(PROBABILITIES), Tensor(target)).item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("MaxPool2d", {"kernel_size": 0}),
        ("MaxPool1d", {"stride": (1, 1)}),
        ("MaxPool3d", {"dilation": 0}),
        ("MaxUnpool2d", {"padding": (1, 1, 1)}),
    ],
)
def test_windows_that_cannot_be_are_refused(name: str, settings: Any) -> None:
    x = Tensor.ones(1, 1, *[4] * int(name[-2]))
    with pytest.raises(ShapeError, match=f"{next(iter(settings)).removesuffix('_size')}"):
        getattr(nn, name)(**{"kernel_size": 2, **settings})(*[x, x.int()][: 1 + name.startswith("MaxUnpool")])


def test_the_first_setting_of_a_ctc_loss_is_its_blank() -> None:
    loss = nn.CTCLoss(1, "sum", True)
    assert (loss.blank, loss.reduction, loss.zero_infinity) == (1, "sum", True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.MaxPool2d(2, padding=2),
        lambda: nn.MaxPool1d(3, padding=(1, 2)),
        lambda: nn.AvgPool3d(2, padding=-1),
        lambda: nn.AvgPool2d(2, padding="same"),
        lambda: nn.AvgPool2d((2, 4), padding=(1, 2, 3)),
    ],
)
def test_padding_that_cannot_be_is_refused_when_a_pool_is_made(make: Callable[[], Any]) -> None:
    with pytest.raises(ShapeError, match=r"^(Max|Avg)Pool\dd: padding"):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.MaxPool2d(0),
        lambda: nn.AvgPool1d(2, stride=0),
        lambda: nn.MaxPool3d(2, dilation=(1, 0, 1)),
    ],
)
def test_windows_without_elements_or_steps_are_refused_when_a_pool_is_made(make: Callable[[], Any]) -> None:
    with pytest.raises(ShapeError, match=r"^(Max|Avg)Pool\dd: kernel_size=.*: pass 1 or more"):
        make()
