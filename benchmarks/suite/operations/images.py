"""Convolutions, pools, and what else is done to images."""

# lambdas take whatever the inputs of their case are
# ruff: noqa: E731

from typing import Any

import numpy as np
import torch.nn.functional as F

from suite.operations.operation import Operation, both, floats, method


def _conv(
    n: int, x: tuple[int, ...], w: tuple[int, ...], title: str = "", transposed: bool = False, **options: Any
) -> list[Operation]:
    name = f"conv_transpose{n}d" if transposed else f"conv{n}d"
    extra = "".join(f", {key} {value}" for key, value in options.items())
    title = f"({' x '.join(map(str, x))}), ({' x '.join(map(str, w))}){extra}"
    inputs = floats(*x), floats(*w, seed=1) * 0.1
    ours = lambda x, w: getattr(x, name)(w, **options)
    theirs = lambda x, w: getattr(F, name)(x, w, **options)
    return [
        Operation(f"{name} {title}", inputs, ours, theirs),
        Operation(f"{name} backward {title}", inputs, ours, theirs, backward=True),
    ]


def _convolutions() -> list[Operation]:
    return [
        *_conv(2, (8, 3, 112, 112), (64, 3, 7, 7), stride=2, padding=3),
        *_conv(2, (4, 64, 56, 56), (64, 64, 3, 3), padding=1),
        *_conv(2, (4, 64, 56, 56), (256, 64, 1, 1)),
        *_conv(2, (4, 128, 56, 56), (128, 128, 3, 3), stride=2, padding=1),
        *_conv(2, (4, 256, 14, 14), (256, 256, 3, 3), padding=1),
        *_conv(2, (4, 512, 7, 7), (512, 512, 3, 3), padding=1),
        *_conv(2, (4, 256, 56, 56), (512, 256, 1, 1), stride=2),
        *_conv(2, (64, 16, 14, 14), (32, 16, 3, 3), padding=1),
        *_conv(2, (64, 1, 28, 28), (32, 1, 5, 5)),
        *_conv(2, (4, 96, 56, 56), (96, 1, 3, 3), groups=96, padding=1),
        *_conv(2, (4, 96, 112, 112), (96, 1, 3, 3), groups=96, padding=1, stride=2),
        *_conv(2, (4, 576, 14, 14), (576, 1, 5, 5), groups=576, padding=2),
        *_conv(2, (4, 128, 28, 28), (128, 4, 3, 3), groups=32, padding=1),
        *_conv(2, (4, 64, 28, 28), (64, 64, 3, 3), dilation=2, padding=2),
        *_conv(1, (16, 64, 1000), (64, 64, 3), padding=1),
        *_conv(1, (16, 1, 16000), (32, 1, 80), stride=4),
        *_conv(3, (2, 16, 16, 28, 28), (32, 16, 3, 3, 3), padding=1),
        *_conv(2, (4, 64, 28, 28), (64, 32, 4, 4), transposed=True, stride=2, padding=1),
        *_conv(2, (4, 64, 28, 28), (64, 32, 2, 2), transposed=True, stride=2),
        *_conv(2, (4, 64, 28, 28), (64, 32, 3, 3), transposed=True, stride=2, padding=1, output_padding=1),
    ]


def _pool(name: str, x: tuple[int, ...], *arguments: Any, **options: Any) -> list[Operation]:
    extra = "".join(f", {value}" for value in arguments) + "".join(f", {k} {v}" for k, v in options.items())
    ours, theirs = method(name, *arguments, **options), lambda x: getattr(F, name)(x, *arguments, **options)
    shape = " x ".join(map(str, x))
    return [
        Operation(f"{name} ({shape}){extra}", (floats(*x),), ours, theirs),
        Operation(f"{name} backward ({shape}){extra}", (floats(*x),), ours, theirs, backward=True),
    ]


def _pools() -> list[Operation]:
    return [
        *_pool("max_pool2d", (64, 32, 28, 28), 2),
        *_pool("max_pool2d", (64, 32, 28, 28), 3, 2, padding=1),
        *_pool("max_pool2d", (8, 64, 112, 112), 3, 2, padding=1),
        *_pool("max_pool2d", (64, 32, 13, 13), 3, 1, padding=1),
        *_pool("max_pool2d", (64, 32, 27, 27), 3, 2),
        *_pool("avg_pool2d", (64, 32, 28, 28), 2),
        *_pool("avg_pool2d", (64, 32, 28, 28), 3, 2, padding=1),
        *_pool("max_pool1d", (64, 32, 1000), 3, 2, padding=1),
        *_pool("max_pool3d", (4, 16, 16, 28, 28), 2),
        *_pool("adaptive_avg_pool2d", (64, 256, 7, 7), 1),
        *_pool("adaptive_avg_pool2d", (16, 64, 28, 28), 5),
        *_pool("adaptive_avg_pool2d", (16, 64, 28, 28), 7),
        *_pool("adaptive_max_pool2d", (16, 64, 28, 28), 5),
    ]


def _images() -> list[Operation]:
    x = floats(8, 16, 64, 64)
    grid = np.random.default_rng(2).uniform(-1, 1, (8, 64, 64, 2)).astype(np.float32)
    cases = []
    for mode in ("nearest", "bilinear", "bicubic"):
        ours = lambda x, mode=mode: x.interpolate((128, 128), mode=mode)
        theirs = lambda x, mode=mode: F.interpolate(x, (128, 128), mode=mode)
        cases += [
            both(f"interpolate {mode} (8 x 16 x 64 x 64) to twice", [x], ours, theirs),
            both(
                f"interpolate {mode} backward (8 x 16 x 64 x 64) to twice", [x], ours, theirs, backward=True
            ),
        ]
    theirs = lambda x, g: F.grid_sample(x, g, align_corners=False)
    return [
        *cases,
        both(
            "interpolate bilinear to 50 x 50 (8 x 16 x 64 x 64)",
            [x],
            lambda x: x.interpolate((50, 50), mode="bilinear"),
            lambda x: F.interpolate(x, (50, 50), mode="bilinear"),
        ),
        both("grid_sample (8 x 16 x 64 x 64)", [x, grid], lambda x, g: x.grid_sample(g), theirs),
        both(
            "grid_sample backward (8 x 16 x 64 x 64)",
            [x, grid],
            lambda x, g: x.grid_sample(g),
            theirs,
            backward=True,
        ),
    ]


OPERATIONS = (
    *_convolutions(),
    *_pools(),
    *_images(),
)
