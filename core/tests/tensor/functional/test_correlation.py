"""Gradients of sums over windows are those of the chain rule."""

from typing import Any

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.autodiff import compute_gradient, outputs_of
from plugrad.tensor.functional.correlation import correlated
from plugrad.uop.uop import UOp


def numbers(*shape: int, seed: int) -> Tensor:
    return Tensor(np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32))


def sums(
    x: Tensor,
    weight: Tensor,
    groups: int,
    steps: tuple[int, ...],
    gaps: tuple[int, ...],
    widths: tuple[tuple[int, int], ...],
) -> UOp:
    return correlated(x.uop, weight.uop, groups, steps, gaps, widths)


@pytest.mark.parametrize(
    ("sizes", "kernel", "groups", "steps", "gaps", "widths"),
    [
        ((5, 6), (3, 2), 1, (1, 1), (1, 1), ((0, 0), (0, 0))),
        ((7, 6), (2, 3), 2, (1, 1), (2, 1), ((1, 1), (0, 2))),
        ((7, 6), (3, 2), 2, (2, 1), (1, 2), ((1, 0), (2, 1))),
        ((7, 6), (3, 2), 1, (1, 1), (1, 1), ((3, -1), (0, 4))),
        ((6,), (1,), 1, (1,), (1,), ((0, 2),)),
        ((7, 6), (2, 6), 2, (2, 3), (1, 1), ((1, 0), (3, -1))),
        ((9, 6), (4, 2), 2, (2, 1), (1, 2), ((-1, 2), (0, 1))),
        ((8,), (4,), 1, (2,), (1,), ((5, 4),)),
        ((8, 9), (3, 3), 2, (2, 2), (1, 1), ((1, 1), (1, 1))),
        ((12, 7), (7, 2), 1, (2, 3), (1, 1), ((-1, 4), (0, 2))),
        ((9, 6), (5, 3), 1, (3, 1), (1, 2), ((4, 0), (2, -1))),
        ((9,), (3,), 1, (2,), (2,), ((1, 2),)),
        ((9,), (1,), 1, (2,), (1,), ((0, 0),)),
        ((1,), (7,), 1, (2,), (1,), ((3, 3),)),
        ((1,), (10,), 1, (3,), (1,), ((9, 0),)),
        ((1,), (2,), 1, (5,), (1,), ((5, 0),)),
    ],
)
def test_gradients_are_those_of_the_chain_rule(
    sizes: Any, kernel: Any, groups: int, steps: Any, gaps: Any, widths: Any
) -> None:
    x, weight = numbers(2, 4, *sizes, seed=1), numbers(32, 4 // groups, *kernel, seed=2)
    out = sums(x, weight, groups, steps, gaps, widths)
    flowing = numbers(*out.shape, seed=3)  # pyright: ignore[reportArgumentType] - sizes are numbers
    (plain,) = outputs_of(out.src[0])
    got, want = (compute_gradient(u, flowing.uop, [x.uop, weight.uop]) for u in (out, plain))
    for source in (x, weight):
        ours, theirs = (Tensor._make(found[source.uop], x.device) for found in (got, want))
        assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize(("taps", "step"), [(3, 2), (4, 2), (5, 3)])
def test_an_infinity_reaches_no_elements_of_other_windows(taps: int, step: int) -> None:
    x, weight = numbers(1, 1, 12, seed=1), Tensor.ones(1, 1, taps)
    out = x.conv1d(weight, stride=step)
    flowing = np.zeros(out.shape, np.float32)
    flowing[0, 0, 1] = np.inf
    (got,) = (out * Tensor(flowing)).sum().gradient(x)
    assert [i for i, value in enumerate(got.numpy().ravel()) if value] == list(range(step, step + taps))


def test_a_weight_that_is_computed_from_the_elements_counts_once() -> None:
    x = numbers(1, 1, 4, 4, seed=1)
    got = x.conv2d(x[:, :, :2, :2] * 2).sum().gradient(x)[0]
    # the sum of all windows is that of each place of the weight times what it meets
    met = Tensor([[x[0, 0, i : i + 3, j : j + 3].sum().item() for j in range(2)] for i in range(2)])
    spread = Tensor.ones(1, 1, 3, 3).conv_transpose2d(x[:, :, :2, :2] * 2)
    assert got.tolist() == (spread + (met * 2).pad((0, 2, 0, 2))).tolist()


def test_equal_sums_are_one_node() -> None:
    x, weight = numbers(1, 2, 4, 4, seed=1), numbers(3, 2, 2, 2, seed=2)
    options: Any = 1, (1, 1), (1, 1), ((1, 1), (0, 0))
    assert sums(x, weight, *options) is sums(x, weight, *options)
