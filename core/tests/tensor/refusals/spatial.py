"""Errors of windows and images."""

from plugrad import Tensor
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from refusals.case import Case

CASES: list[Case] = [
    (
        "conv1d",
        ShapeError,
        lambda t: t.images.conv1d(Tensor.ones(4, 5, 1)),
        "conv1d: weight of shape (4, 5, 1): it takes (O, C/groups, KH, KW).",
    ),
    (
        "conv2d",
        ShapeError,
        lambda t: t.images.conv2d(Tensor.ones(4, 3, 1, 1)),
        "conv2d of shape (1, 5, 4, 4) with weight (4, 3, 1, 1) and groups=1: there are 5 channels",
    ),
    (
        "conv3d",
        ShapeError,
        lambda t: t.floats.conv3d(Tensor.ones(4, 5, 1, 1, 1)),
        "conv3d of shape (2, 3): it takes volumes (N, C, D, H, W) with a weight of",
    ),
    (
        "conv_transpose1d",
        ShapeError,
        lambda t: t.floats.sum().conv_transpose1d(Tensor.ones(4, 5, 1)),
        "conv_transpose1d of shape (): it takes sequences (N, C, L) with a weight of",
    ),
    (
        "conv_transpose2d",
        ShapeError,
        lambda t: t.images.conv_transpose2d(Tensor.ones(4, 3, 1, 1)),
        "conv_transpose2d of shape (1, 5, 4, 4) with weight (4, 3, 1, 1) and groups=1: the",
    ),
    (
        "conv_transpose2d",
        ShapeError,
        lambda t: t.images.conv_transpose2d(Tensor.ones(5, 3, 1, 1), padding=2),
        "conv_transpose2d of shape (1, 5, 4, 4) with weight (5, 3, 1, 1): padding (2, 2) takes all 4 results",
    ),
    (
        "conv_transpose3d",
        ShapeError,
        lambda t: t.floats.conv_transpose3d(Tensor.ones(4, 5, 1, 1, 1)),
        "conv_transpose3d of shape (2, 3): it takes volumes (N, C, D, H, W) with a",
    ),
    (
        "grid_sample",
        ShapeError,
        lambda t: t.images.grid_sample(t.floats),
        "grid_sample of shape (1, 5, 4, 4) with a grid of shape (2, 3): it takes (N, C, H,",
    ),
    (
        "grid_sample",
        ArgumentError,
        lambda t: t.images.grid_sample(t.grid, "cubic"),
        "grid_sample: mode='cubic' is none of 'bilinear', 'nearest', 'bicubic'",
    ),
    (
        "grid_sample",
        DtypeError,
        lambda t: t.images.int().grid_sample(t.grid),
        "grid_sample of int32: it takes floats",
    ),
    (
        "interpolate",
        ArgumentError,
        lambda t: t.images.interpolate(3, mode="cubic"),
        "interpolate: mode='cubic' is none of 'nearest', 'nearest-exact', 'linear',",
    ),
    (
        "interpolate",
        ArgumentError,
        lambda t: t.images.interpolate(3, recompute_scale_factor=True),
        "interpolate: recompute_scale_factor goes with scale_factor, not with size",
    ),
    ("interpolate", ShapeError, lambda t: t.images.interpolate((3, 3, 3)), "size=(3, 3, 3) has 3 numbers"),
    ("pixel_shuffle", ArgumentError, lambda t: t.images.pixel_shuffle(0), "pixel_shuffle: a factor of 0"),
    (
        "pixel_shuffle",
        ShapeError,
        lambda t: t.images.pixel_shuffle(2),
        "pixel_shuffle of shape (1, 5, 4, 4) by 2: 2*2 must divide the 5 channels",
    ),
    (
        "pixel_unshuffle",
        ArgumentError,
        lambda t: t.images.pixel_unshuffle(0),
        "pixel_unshuffle: a factor of 0",
    ),
    (
        "pixel_unshuffle",
        ShapeError,
        lambda t: t.images.pixel_unshuffle(3),
        "pixel_unshuffle of shape (1, 5, 4, 4) by 3: it must divide 4 and 4",
    ),
    (
        "max_pool1d",
        ShapeError,
        lambda t: t.floats.max_pool1d(4),
        "max_pool1d: a window of 4 (kernel size 4, dilation 1) does not fit into an axis of 3",
    ),
    (
        "max_pool2d",
        ShapeError,
        lambda t: t.floats.max_pool2d(4),
        "max_pool2d: a window of 4 (kernel size 4, dilation 1) does not fit into an axis of 2",
    ),
    (
        "max_pool3d",
        ShapeError,
        lambda t: t.images.max_pool3d(9),
        "max_pool3d: a window of 9 (kernel size 9, dilation 1) does not fit into an axis of 5",
    ),
    (
        "max_unpool2d",
        ShapeError,
        lambda t: t.floats.max_unpool2d(t.row),
        "max_unpool2d of shape (2, 3) with indices (2,) of int32",
    ),
    (
        "max_unpool2d",
        DtypeError,
        lambda t: t.floats.max_unpool2d(t.floats),
        "max_unpool2d of shape (2, 3) with indices (2, 3) of float32",
    ),
    (
        "avg_pool1d",
        ShapeError,
        lambda t: t.floats.avg_pool1d(4),
        "avg_pool1d: a window of 4 (kernel size 4, dilation 1) does not fit into an axis of 3",
    ),
    (
        "avg_pool2d",
        ShapeError,
        lambda t: t.floats.avg_pool2d(4),
        "avg_pool2d: a window of 4 (kernel size 4, dilation 1) does not fit into an axis of 2",
    ),
    (
        "avg_pool3d",
        ShapeError,
        lambda t: t.images.avg_pool3d(9),
        "avg_pool3d: a window of 9 (kernel size 9, dilation 1) does not fit into an axis of 5",
    ),
    (
        "adaptive_avg_pool2d",
        ShapeError,
        lambda t: t.floats.adaptive_avg_pool2d(0),
        "adaptive_avg_pool2d of shape (2, 3) to (0, 0): all sizes must be at least 1",
    ),
    (
        "adaptive_max_pool2d",
        ShapeError,
        lambda t: t.floats.adaptive_max_pool2d((1, 1, 1)),
        "adaptive_max_pool2d of shape (2, 3): it takes at least 3 axes",
    ),
    *[
        (
            f"avg_pool{n}d",
            ArgumentError,
            lambda t, n=n: getattr(t.images, f"avg_pool{n}d")(1, divisor_override=0),
            f"avg_pool{n}d: divisor_override=0",
        )
        for n in (1, 2, 3)
    ],
]
