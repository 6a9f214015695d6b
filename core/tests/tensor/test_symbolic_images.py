"""Batches, images and matrices of symbolic size: one set of kernels serves all values, those of PyTorch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from plugrad import Tensor, Variable
from plugrad.errors import ShapeError
from plugrad.jit import jit

RNG = np.random.default_rng(0)
#: (batch, channels, height, width); the symbolic axes have 3 to 8 elements.
IMAGES = RNG.standard_normal((8, 2, 8, 5)).astype(np.float32)
WEIGHT = RNG.standard_normal((4, 2, 3, 2)).astype(np.float32)
BACK = RNG.standard_normal((2, 3, 3, 2)).astype(np.float32)
SQUARES = (RNG.standard_normal((2, 8, 8)) + 4 * np.eye(8)).astype(np.float32)
VALUES = (8, 4, 5)
LARGEST = 24


# places inside of images and beside them, on none of their middles
GRID = np.random.default_rng(5).uniform(-1.4, 1.4, (2, 3, 4, 2)).astype(np.float32)


def images(n: Any, x: Any) -> Any:
    return x[:n]


def tall(n: Any, x: Any) -> Any:
    return x[:2, :, :n]


def slope(f: Callable[[torch.Tensor], torch.Tensor], x: Any) -> torch.Tensor:
    x = x.clone().requires_grad_()
    (f(x) ** 2).sum().backward()
    return x.grad


# from images of Tensors, of which `part` takes a symbolic number, and from those of PyTorch
Case = tuple[Callable[[Any, Any], Any], Callable[[Any], Any], Callable[[Any], Any]]
CASES: dict[str, Case] = {
    "convolution of a batch": (
        images, lambda x: x.conv2d(Tensor(WEIGHT), padding=1),
        lambda x: functional.conv2d(x, torch.tensor(WEIGHT), padding=1),
    ),
    "convolution": (
        tall, lambda x: x.conv2d(Tensor(WEIGHT), padding=1, stride=2),
        lambda x: functional.conv2d(x, torch.tensor(WEIGHT), padding=1, stride=2),
    ),
    "gradient of a convolution": (
        tall, lambda x: (x.conv2d(Tensor(WEIGHT)) ** 2).sum().gradient(x)[0],
        lambda x: slope(lambda x: functional.conv2d(x, torch.tensor(WEIGHT)), x),
    ),
    "transposed convolution": (
        tall, lambda x: x.conv_transpose2d(Tensor(BACK), stride=2, padding=1),
        lambda x: functional.conv_transpose2d(x, torch.tensor(BACK), stride=2, padding=1),
    ),
    "the greatest": (
        tall, lambda x: x.max_pool2d(3, 2, padding=1), lambda x: functional.max_pool2d(x, 3, 2, padding=1),
    ),
    "the greatest of a batch": (images, lambda x: x.max_pool2d(2), lambda x: functional.max_pool2d(x, 2)),
    "the greatest, to the last": (
        tall, lambda x: x.max_pool2d((3, 2), 2, ceil_mode=True),
        lambda x: functional.max_pool2d(x, (3, 2), 2, ceil_mode=True),
    ),
    "places of the greatest": (
        tall, lambda x: x.max_pool2d(2, return_indices=True)[1],
        lambda x: functional.max_pool2d(x, 2, return_indices=True)[1],
    ),
    "gradient of the greatest": (
        tall, lambda x: (x.max_pool2d(3, 2) ** 2).sum().gradient(x)[0],
        lambda x: slope(lambda x: functional.max_pool2d(x, 3, 2), x),
    ),
    "means": (
        tall, lambda x: x.avg_pool2d(3, 2, padding=1, count_include_pad=False),
        lambda x: functional.avg_pool2d(x, 3, 2, padding=1, count_include_pad=False),
    ),
    "means to the last": (
        tall, lambda x: x.avg_pool2d(3, 2, ceil_mode=True),
        lambda x: functional.avg_pool2d(x, 3, 2, ceil_mode=True),
    ),
    "as many means": (
        tall, lambda x: x.adaptive_avg_pool2d((3, 2)), lambda x: functional.adaptive_avg_pool2d(x, (3, 2)),
    ),
    "as many of the greatest": (
        tall, lambda x: x.adaptive_max_pool2d((3, None)),
        lambda x: functional.adaptive_max_pool2d(x, (3, 5)),
    ),
    "twice the size": (
        tall, lambda x: x.interpolate(scale_factor=2, mode="bilinear"),
        lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"),
    ),
    "half the size": (
        tall, lambda x: x.interpolate(scale_factor=(0.5, 1)),
        lambda x: functional.interpolate(x, scale_factor=(0.5, 1)),
    ),
    "another size": (
        tall, lambda x: x.interpolate((6, 5), mode="bicubic", align_corners=True),
        lambda x: functional.interpolate(x, (6, 5), mode="bicubic", align_corners=True),
    ),
    "another size of a batch": (
        images, lambda x: x.interpolate((3, 4), mode="area"),
        lambda x: functional.interpolate(x, (3, 4), mode="area"),
    ),
    "samples of a batch": (
        images, lambda x: x.grid_sample(x[:, 0, :, :2].unsqueeze(1)),
        lambda x: functional.grid_sample(x, x[:, 0, :, :2].unsqueeze(1), align_corners=False),
    ),
    **{
        f"samples of another height, {mode}, {padding}, {corners}": (
            tall,
            lambda x, how=(mode, padding, corners): x.grid_sample(Tensor(GRID), *how),
            lambda x, how=(mode, padding, corners): functional.grid_sample(x, torch.tensor(GRID), *how),
        )
        for mode, padding, corners in (
            ("bilinear", "zeros", False), ("bicubic", "border", True), ("nearest", "reflection", False),
            ("bilinear", "reflection", True),
        )
    },
    "slope of samples of another height": (
        tall, lambda x: (x.grid_sample(Tensor(GRID)) ** 2).sum().gradient(x)[0],
        lambda x: slope(lambda x: functional.grid_sample(x, torch.tensor(GRID), align_corners=False), x),
    ),
    "pools and back": (
        tall, lambda x: Tensor.max_unpool2d(*x.max_pool2d((2, 1), return_indices=True), (2, 1)),
        lambda x: functional.max_unpool2d(*functional.max_pool2d(x, (2, 1), return_indices=True), (2, 1)),
    ),
    "frequencies of a batch": (
        images, lambda x: x.rfft(axis=-1).view_as_real(), lambda x: torch.view_as_real(torch.fft.rfft(x)),
    ),
    "frequencies of so many": (
        tall, lambda x: x.rfft(6, axis=2).view_as_real(),
        lambda x: torch.view_as_real(torch.fft.rfft(x, 6, dim=2)),
    ),
}  # fmt: skip


# from square matrices of a symbolic size, and those of NumPy
MATRICES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "inverses": (lambda x: x.inv(), np.linalg.inv),
    "determinants": (lambda x: x.det(), np.linalg.det),
    "logarithms of determinants": (lambda x: x.slogdet()[1], lambda x: np.linalg.slogdet(x)[1]),
    "triangles": (
        lambda x: (x @ x.transpose(-2, -1)).cholesky(), lambda x: np.linalg.cholesky(x @ x.swapaxes(-2, -1)),
    ),
    "solutions": (lambda x: x.solve(x[..., :2]), lambda x: np.linalg.solve(x, x[..., :2])),
    "powers": (lambda x: x.matrix_power(-2), lambda x: np.linalg.matrix_power(x, -2)),
    "gradient of determinants": (
        lambda x: x.det().log().sum().gradient(x)[0], lambda x: np.linalg.inv(x).swapaxes(-2, -1),
    ),
}  # fmt: skip


def bound(value: int) -> Any:
    return Variable("n", 3, 8).bind(value)


def filled_up(y: Tensor) -> Tensor:
    return y.pad(tuple((0, 0 if isinstance(size, int) else LARGEST - size) for size in y.shape))


def compare(y: Tensor, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert y.ndim == wanted.ndim
    shown = y.numpy()[tuple(slice(size) for size in wanted.shape)]
    np.testing.assert_allclose(shown, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("part", "f", "expected"), CASES.values(), ids=CASES)
def test_one_set_of_kernels_serves_all_values(part: Any, f: Any, expected: Any) -> None:
    x = Tensor(IMAGES).realize()
    programs: set[tuple[Any, ...]] = set()
    for value in VALUES:
        y = filled_up(f(part(bound(value), x)))
        programs.add(tuple(item.ast for item in y.schedule()))
        compare(y, expected(part(value, torch.tensor(IMAGES))))
    assert len(programs) == 1


@pytest.mark.parametrize("name", ["convolution", "the greatest, to the last", "as many means"])
def test_a_replay_takes_new_values(name: str) -> None:
    part, f, expected = CASES[name]

    @jit
    def step(x: Tensor, n: Any) -> Tensor:
        return filled_up(f(part(n, x))) + 0

    for value in (*VALUES, 3, 7):
        compare(step(Tensor(IMAGES), bound(value)), expected(part(value, torch.tensor(IMAGES))))
    assert step.captures == 1


@pytest.mark.parametrize(("f", "expected"), MATRICES.values(), ids=MATRICES)
@pytest.mark.wide_on_cpu
def test_one_set_of_kernels_serves_matrices_of_all_sizes(f: Any, expected: Any) -> None:
    x = Tensor(SQUARES).realize()
    programs: set[tuple[Any, ...]] = set()
    for value in VALUES:
        n = bound(value)
        y = filled_up(f(x[:, :n, :n]))
        programs.add(tuple(item.ast for item in y.schedule()))
        compare(y, expected(SQUARES[:, :value, :value]))
    assert len(programs) == 1


@pytest.mark.parametrize("f", [lambda x: x.inv(), lambda x: x.qr()[1]])
@pytest.mark.wide_on_cpu
def test_how_many_matrices_there_are_may_vary(f: Any) -> None:
    x = Tensor(SQUARES[:1]).expand(8, 8, 8)[:, :3, :3].contiguous().realize()
    programs: set[tuple[Any, ...]] = set()
    for value in VALUES:
        y = filled_up(f(x[: bound(value)]))
        programs.add(tuple(item.ast for item in y.schedule()))
        compare(y, f(x[:value]).numpy())
    assert len(programs) == 1


def test_a_replay_refuses_windows_that_do_not_fit() -> None:
    @jit
    def step(x: Tensor, n: Any) -> Tensor:
        return filled_up(x[:, :, :n].max_pool2d((5, 2), 1)) + 0

    for value in (6, 8, 5):
        wanted = functional.max_pool2d(torch.tensor(IMAGES[:, :, :value]), (5, 2), 1)
        compare(step(Tensor(IMAGES), bound(value)), wanted)
    # one element less, and there would be no window at all
    with pytest.raises(ShapeError, match=r"with n=4: (padding by -1|a slice of -1)"):
        step(Tensor(IMAGES), bound(4))


def test_what_does_not_fit_is_refused() -> None:
    x = Tensor(IMAGES)
    weight = Tensor(WEIGHT)
    with pytest.raises(ShapeError, match=r"conv2d: a window of 4 .* does not fit into an axis of 3"):
        tall(bound(3), x).conv2d(weight.pad((0, 0, 0, 1)))
