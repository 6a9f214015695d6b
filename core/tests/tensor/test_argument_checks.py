"""Tests of plugrad.tensor.argument_checks: what is no number or tensor is refused by name everywhere."""

from typing import Any

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.errors import ArgumentError, DtypeError, PlugradError
from plugrad.tensor.argument_checks import real_number, require_optional_tensors, require_tensors
from plugrad.tensor.shapes import as_int

IMAGE, ROWS, THREE = (1, 4, 4, 4), (2, 3), (3,)
WINDOW = {"stride": 1, "dilation": 1, "padding": 0}
# the shape of the tensor, and arguments that are right, those that are shapes as tensors of ones
CALLS: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "conv1d": ((1, 2, 5), {"weight": (2, 2, 3), "bias": (2,), "groups": 1, **WINDOW}),
    "conv2d": (IMAGE, {"weight": (2, 4, 3, 3), "bias": (2,), "groups": 1, **WINDOW}),
    "conv_transpose2d": (IMAGE, {"weight": (4, 2, 3, 3), "bias": (2,), "groups": 1, **WINDOW,
                                 "output_padding": 0}),
    "max_pool2d": (IMAGE, {"kernel_size": 2, **WINDOW}),
    "avg_pool1d": (IMAGE, {"kernel_size": 2, **WINDOW, "divisor_override": 2}),
    "adaptive_avg_pool2d": (IMAGE, {"output_size": 2}),
    "max_unpool2d": (IMAGE, {"indices": IMAGE, "kernel_size": 2, "padding": 0, "output_size": (8, 8)}),
    "interpolate": (IMAGE, {"size": 3, "mode": "nearest"}),
    "grid_sample": (IMAGE, {"grid": (1, 2, 2, 2), "mode": "nearest", "padding_mode": "zeros"}),
    "pixel_shuffle": (IMAGE, {"upscale_factor": 2}),
    "pixel_unshuffle": (IMAGE, {"downscale_factor": 2}),
    "dropout": (IMAGE, {"p": 0.5}),
    "layer_norm": (ROWS, {"normalized_shape": 3, "weight": THREE, "bias": THREE, "eps": 0.1}),
    "rms_norm": (ROWS, {"normalized_shape": 3, "weight": THREE, "eps": 0.1}),
    "group_norm": (IMAGE, {"num_groups": 2, "weight": (4,), "bias": (4,), "eps": 0.1}),
    "instance_norm": (IMAGE, {"weight": (4,), "bias": (4,), "eps": 0.1}),
    "batch_norm": (IMAGE, {"running_mean": (4,), "running_var": (4,), "weight": (4,), "bias": (4,),
                           "momentum": 0.1, "eps": 0.1}),
    "batchnorm": (IMAGE, {"mean": (4,), "invstd": (4,), "weight": (4,), "bias": (4,)}),
    "scaled_dot_product_attention": (ROWS, {"key": ROWS, "value": ROWS, "attn_mask": (2, 2), "dropout_p": 0.0,
                                            "scale": 1.0}),
    "mse_loss": (THREE, {"target": THREE, "reduction": "sum", "weight": THREE}),
    "smooth_l1_loss": (THREE, {"target": THREE, "reduction": "sum", "beta": 1.0}),
    "huber_loss": (THREE, {"target": THREE, "reduction": "sum", "delta": 1.0, "weight": THREE}),
    "binary_cross_entropy": (THREE, {"target": THREE, "weight": THREE, "reduction": "sum"}),
    "binary_cross_entropy_with_logits": (THREE, {"target": THREE, "weight": THREE, "reduction": "sum",
                                                 "pos_weight": THREE}),
    "kl_div": (THREE, {"target": THREE, "reduction": "sum"}),
    "cross_entropy": (ROWS, {"y": (2,), "reduction": "sum", "label_smoothing": 0.1, "ignore_index": 7,
                             "weight": THREE}),
    "nll_loss": (ROWS, {"y": (2,), "weight": THREE, "ignore_index": 7, "reduction": "sum"}),
    "one_hot": ((2,), {"num_classes": 3}),
    "ctc_loss": ((4, 1, 3), {"targets": (1, 2), "input_lengths": [4], "target_lengths": [2], "blank": 0,
                             "reduction": "sum"}),
    "cosine_similarity": (ROWS, {"other": ROWS, "axis": 1, "eps": 0.1}),
    "pairwise_distance": (ROWS, {"other": ROWS, "p": 2.0, "eps": 0.1}),
    "triplet_margin_loss": (ROWS, {"positive": ROWS, "negative": ROWS, "margin": 1.0, "p": 2.0, "eps": 0.1,
                                   "reduction": "sum"}),
    "cosine_embedding_loss": (ROWS, {"other": ROWS, "target": (2,), "margin": 0.5, "reduction": "sum"}),
}  # fmt: skip
# shapes that stay shapes
SHAPES = {"output_size"}
INTEGERS = {"y", "targets", "indices"}


def right(name: str) -> tuple[Tensor, dict[str, Any]]:
    shape, options = CALLS[name]
    given = {
        key: Tensor.ones(*value, dtype="int32" if key in INTEGERS else "float32")
        if isinstance(value, tuple) and key not in SHAPES
        else value
        for key, value in options.items()
    }
    return Tensor.ones(*shape, dtype="int32" if name == "one_hot" else "float32"), given


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_argument_is_refused_by_name(name: str) -> None:
    x, options = right(name)
    getattr(x, name)(**options)
    for key in options:
        for wrong in ("no", {}, object(), (object(),), np.zeros((2, 2, 2)), [[[]]]):
            with Tensor.train(), pytest.raises(PlugradError) as caught:
                getattr(x, name)(**{**options, key: wrong})
            assert name in str(caught.value), (key, wrong)


def test_integers_of_numpy_are_integers() -> None:
    assert as_int(np.int64(3), "groups") == 3
    x, two = Tensor.ones(*IMAGE), np.int64(2)
    assert x.max_pool2d(two, stride=(two, two), padding=np.int32(0)).shape == (1, 4, 2, 2)
    assert x.pixel_shuffle(two).shape == (1, 1, 8, 8)


@pytest.mark.parametrize("value", [1.5, "1", None, np.float64(2)])
def test_what_is_no_integer_is_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"groups=.* is no integer\. Pass one"):
        as_int(value, "groups")


def test_numbers_are_taken_as_they_are() -> None:
    assert real_number(2, "eps") == 2
    assert real_number(np.float32(0.5), "eps") == 0.5
    with pytest.raises(ArgumentError, match=r"eps='a' \(str\) is no number\. Pass one"):
        real_number("a", "eps")


def test_tensors_are_told_from_all_else() -> None:
    require_tensors(a=Tensor(1))
    require_optional_tensors(a=None, b=Tensor(1))
    with pytest.raises(DtypeError, match=r"b=None \(NoneType\) is no tensor"):
        require_tensors(a=Tensor(1), b=None)
    with pytest.raises(DtypeError, match=r"b=3 \(int\) is no tensor"):
        require_optional_tensors(a=None, b=3)
