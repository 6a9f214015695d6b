import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, dtypes
from plugrad.errors import ArgumentError

Binary = Callable[[Any, Any], Any]
VALUES = [-7, -6, -1, 0, 1, 6, 7]
DIVISORS = [-3, -2, -1, 1, 2, 3, 4]


@pytest.mark.parametrize("op", [operator.floordiv, operator.mod])
def test_division_of_floats_rounds_down(op: Binary) -> None:
    a = np.array([7.5, -7.5, 7.5, -7.5, 0.0, 5.0, -1e-3], np.float32)
    b = np.array([2.0, 2.0, -2.0, -2.0, 3.0, np.inf, 3.0], np.float32)
    np.testing.assert_allclose(op(Tensor(a), Tensor(b)).numpy(), op(a, b), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("op", [operator.floordiv, operator.mod])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_quotients_and_remainders_of_floats_are_those_of_numpy_bit_for_bit(op: Binary, dtype: type) -> None:
    limits, rng = np.finfo(dtype), np.random.default_rng(0)
    edges = [0.0, -0.0, 1, -1, 3, -0.3, math.inf, -math.inf, math.nan, limits.max, -limits.tiny, 2.5, -2]
    pairs = itertools.product(np.array([*edges, limits.smallest_subnormal], dtype), repeat=2)
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    a = np.concatenate([a, rng.uniform(-100, 100, 500).astype(dtype), np.arange(-99, 99).astype(dtype)])
    b = np.concatenate(
        [b, rng.uniform(-5, 5, 500).astype(dtype), rng.choice([-7, -2, 3, 10], 198).astype(dtype)]
    )
    with np.errstate(all="ignore"):
        expected = op(a, b)
    out = op(Tensor(a), Tensor(b)).numpy()
    np.testing.assert_array_equal(out, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(out[known]), np.signbit(expected[known]))


def test_remainders_are_exact_however_large_the_quotient_is() -> None:
    a, b = np.array([1.0, 1e30, -1e30, 16777216.0], np.float32), np.array([1e-40, 0.3, 0.3, 0.1], np.float32)
    np.testing.assert_array_equal((Tensor(a) % Tensor(b)).numpy(), a % b)
    assert (Tensor([1e300], dtype="float64") % 0.3).item() == 1e300 % 0.3
    assert (Tensor([8388609.0]) // 1).item() == 8388609


def test_gradients_of_remainders_are_those_of_torch() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-9, 9, 40), rng.uniform(0.5, 3, 40) * rng.choice([-1, 1], 40)
    x, y = Tensor(a), Tensor(b)
    u, v = (torch.tensor(side, requires_grad=True) for side in (a, b))
    expected = torch.autograd.grad(torch.remainder(u, v).square().sum(), (u, v))
    for ours, theirs in zip((x % y).square().sum().gradient(x, y), expected, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)
    (flat,) = (x // y).sum().gradient(x)
    assert not flat.numpy().any()


def test_division_of_integers_gives_floats() -> None:
    out = Tensor([1, 2]) / Tensor([2, 4])
    assert out.dtype is dtypes.float32
    assert out.tolist() == [0.5, 0.5]
    assert (1 / Tensor([4])).tolist() == [0.25]


@pytest.mark.parametrize("mode", ["trunc", "floor"])
@pytest.mark.parametrize("dtype", ["int32", "int8", "int64", "float32", "float64"])
def test_quotients_are_rounded_as_asked_for(mode: str, dtype: str) -> None:
    a, b = (
        np.array(v, dtype)[:, None] if i else np.array(v, dtype) for i, v in enumerate((VALUES, DIVISORS))
    )
    got = Tensor(a).div(Tensor(b), rounding_mode=mode)  # pyright: ignore[reportArgumentType]
    want = torch.div(torch.tensor(a), torch.tensor(b), rounding_mode=mode)
    assert got.dtype.name == dtype
    np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_the_operands_may_be_reversed_and_numbers() -> None:
    assert Tensor([2, -2]).div(7, reverse=True, rounding_mode="trunc").tolist() == [3, -3]
    assert Tensor([7, -7]).div(2, rounding_mode="floor").tolist() == [3, -4]
    assert Tensor([7, 8], dtype="uint8").div(2, rounding_mode="trunc").tolist() == [3, 4]


def test_truncated_integers_by_zero_are_zero() -> None:
    assert Tensor([-5, 0, 5]).div(0, rounding_mode="trunc").tolist() == [0, 0, 0]


def test_unknown_modes_are_refused() -> None:
    with pytest.raises(ArgumentError, match="no rounding_mode 'up'; there are 'trunc' and 'floor'"):
        Tensor([1]).div(2, rounding_mode="up")  # pyright: ignore[reportArgumentType]
