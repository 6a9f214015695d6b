"""Tests of plugrad.nn.layers.conv, against torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad import nn
from plugrad.errors import ArgumentError, ShapeError
from plugrad.nn import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from plugrad.nn.state import get_state_dict, load_state_dict
from plugrad.tensor import Tensor


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"padding": 1},
        {"stride": 2, "padding": (0, 1)},
        {"dilation": 2},
        {"groups": 2, "bias": False},
        {"padding": (2, 1), "padding_mode": "reflect"},
        {"padding": "same", "padding_mode": "replicate", "dilation": 2},
        {"padding": "valid", "padding_mode": "circular", "stride": 2},
    ],
    ids=str,
)
def test_conv2d_computes_what_torch_computes(options: dict[str, Any]) -> None:
    ours, theirs = Conv2d(4, 6, (3, 2), **options), torch.nn.Conv2d(4, 6, (3, 2), **options)
    assert list(get_state_dict(ours)) == list(theirs.state_dict())
    for name, tensor in get_state_dict(ours).items():
        assert tensor.shape == tuple(theirs.state_dict()[name].shape)
        tensor.assign(Tensor(theirs.state_dict()[name].numpy()))
    x = np.random.default_rng(1).normal(size=(2, 4, 7, 6)).astype(np.float32)
    expected = theirs(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(ours(Tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_groups_have_to_divide_the_channels() -> None:
    with pytest.raises(ShapeError, match="Conv2d of 4 to 6 channels does not divide into 3 groups"):
        Conv2d(4, 6, 3, groups=3)
    with pytest.raises(ShapeError, match="ConvTranspose1d of 4 to 6 channels does not divide into 0 groups"):
        ConvTranspose1d(4, 6, 3, groups=0)


@pytest.mark.parametrize(
    ("ours", "theirs", "sizes", "options"),
    [
        (Conv1d, torch.nn.Conv1d, (7,), {"padding": "same", "dilation": 2}),
        (Conv3d, torch.nn.Conv3d, (4, 5, 4), {"padding": 1, "stride": 2}),
        (ConvTranspose1d, torch.nn.ConvTranspose1d, (7,), {"stride": 2, "output_padding": 1}),
        (ConvTranspose2d, torch.nn.ConvTranspose2d, (4, 5), {"stride": 2, "padding": 1, "groups": 2}),
        (ConvTranspose3d, torch.nn.ConvTranspose3d, (2, 3, 2), {"bias": False, "dilation": 2}),
    ],
)
def test_other_convolutions_compute_what_torchs_compute(
    ours: Any, theirs: Any, sizes: Any, options: dict[str, Any]
) -> None:
    mine, other = ours(4, 6, 3, **options), theirs(4, 6, 3, **options)
    state = {name: Tensor(value.numpy()) for name, value in other.state_dict().items()}
    assert list(get_state_dict(mine)) == list(state)
    assert 0.8 < mine.weight.numpy().std() / other.weight.detach().numpy().std() < 1.25
    load_state_dict(mine, state)
    x = np.random.default_rng(1).normal(size=(2, 4, *sizes)).astype(np.float32)
    expected = other(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(mine(Tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_one_example_needs_no_axis_of_a_batch() -> None:
    x = Tensor(np.random.default_rng(1).normal(size=(4, 7, 6)).astype(np.float32))
    for layer in (Conv2d(4, 6, 3, padding=1), ConvTranspose2d(4, 6, 3, stride=2)):
        np.testing.assert_allclose(layer(x).numpy(), layer(x.unsqueeze(0)).numpy()[0], rtol=1e-5, atol=1e-6)


def test_a_transposed_convolution_takes_the_size_of_its_output() -> None:
    ours, theirs = (module.ConvTranspose2d(4, 6, 3, stride=3) for module in (nn, torch.nn))
    load_state_dict(ours, {name: Tensor(value.numpy()) for name, value in theirs.state_dict().items()})
    x = np.random.default_rng(1).normal(size=(2, 4, 3, 2)).astype(np.float32)
    for size in ([9, 8], [2, 6, 10, 6]):
        expected = theirs(torch.tensor(x), output_size=size).detach().numpy()
        np.testing.assert_allclose(ours(Tensor(x), size).numpy(), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ShapeError, match=r"output_size=\(12, 6\) .* may be \(9, 6\) up to \(11, 8\)"):
        ours(Tensor(x), (12, 6))


def test_other_modes_of_padding_are_refused() -> None:
    with pytest.raises(ArgumentError, match="Conv1d: padding_mode='constant' is none of 'zeros', 'reflect'"):
        Conv1d(1, 1, 1, padding_mode="constant")


@pytest.mark.parametrize("make", [Conv1d, ConvTranspose3d], ids=str)
def test_parameters_have_the_dtype_and_device_that_are_asked_for(make: Any) -> None:
    layer = make(2, 4, 1, dtype="float16", device="PYTHON")
    assert [(p.dtype.name, p.device) for p in (layer.weight, layer.bias)] == [("float16", "PYTHON")] * 2


def test_transposed_convolutions_are_padded_with_zeros_only() -> None:
    layer = ConvTranspose2d(2, 3, 2, 1, 0, 0, 1, True, 1, "zeros", None, "float64")
    assert layer.weight.dtype.name == "float64"
    with pytest.raises(ArgumentError, match="ConvTranspose2d: padding_mode='reflect' is none of 'zeros'"):
        ConvTranspose2d(2, 3, 2, padding_mode="reflect")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("mode", ["zeros", "reflect", "circular"])
def test_a_negative_padding_is_refused(mode: Any) -> None:
    with pytest.raises(ShapeError, match=r"is negative\. Cut with slices before"):
        Conv2d(1, 1, 3, padding=-1, padding_mode=mode)


@pytest.mark.parametrize(
    "settings",
    [
        {"padding": "full"},
        {"padding": (1, 1, 1)},
        {"padding": "same", "stride": 2},
        {"stride": 0},
        {"stride": (1, 1, 1)},
        {"dilation": 0},
        {"kernel_size": (3, 0)},
        {"kernel_size": (1, 1, 1, 1)},
    ],
    ids=str,
)
def test_windows_that_cannot_be_are_refused_when_the_layer_is_made(settings: dict[str, Any]) -> None:
    with pytest.raises(ShapeError, match=r"padding|stride|kernel_size"):
        Conv2d(1, 1, **{"kernel_size": 3, **settings})


@pytest.mark.parametrize(
    "settings", [{"padding": "same"}, {"output_padding": (1, 1, 1)}, {"stride": 0}], ids=str
)
def test_transposed_windows_are_refused_when_the_layer_is_made(settings: dict[str, Any]) -> None:
    with pytest.raises(ShapeError, match=next(iter(settings))):
        ConvTranspose2d(1, 1, 3, **settings)


@pytest.mark.parametrize(("kernel", "sizes"), [((3,), (5,)), ((3, 1, 2), (4, 2, 3))])
def test_a_kernel_of_one_or_three_sizes_makes_conv2d_a_layer_of_as_many_axes(
    kernel: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    layer = Conv2d(2, 4, kernel)
    x = Tensor.rand(1, 2, *sizes)
    expected = getattr(x, f"conv{len(kernel)}d")(layer.weight, layer.bias)
    assert layer(x).tolist() == expected.tolist()
    with pytest.raises(ShapeError, match=r"kernel_size=\(3, 1, 2\) has 3 numbers"):
        Conv1d(2, 4, (3, 1, 2))
