from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from plugrad import Tensor
from plugrad.dtype import FLOAT8, DType, dtypes
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.create.random import below
from plugrad.uop.ops import Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp


def test_uniform_numbers_fill_the_interval_evenly() -> None:
    x = Tensor.rand(4000).numpy()
    assert 0 <= x.min() < 0.01
    assert 0.99 < x.max() < 1
    counts, _ = np.histogram(x, 10, (0, 1))
    # chi-squared with 9 degrees of freedom: 27.9 is passed once in a thousand
    assert ((counts - 400) ** 2 / 400).sum() < 27.9
    y = Tensor.uniform(1000, low=-3, high=5).numpy()
    assert -3 <= y.min() < -2.9
    assert 4.9 < y.max() < 5


def test_normal_numbers_have_the_moments_and_tails_of_the_normal_distribution() -> None:
    x = Tensor.randn(8000).numpy().astype(np.float64)
    assert abs(x.mean()) < 0.05
    assert abs(x.std() - 1) < 0.05
    assert abs((x**3).mean()) < 0.15
    assert abs((x**4).mean() - 3) < 0.4
    assert 0.93 < (np.abs(x) < 1.96).mean() < 0.97
    y = Tensor.normal(4000, mean=3, std=2).numpy()
    assert abs(y.mean() - 3) < 0.15
    assert abs(y.std() - 2) < 0.1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_every_float_dtype_stays_below_one(dtype: str) -> None:
    x = Tensor.rand(1000, dtype=dtype)
    assert x.dtype.name == dtype
    values = x.numpy()
    assert values.min() >= 0
    assert values.max() < 1
    assert np.isfinite(Tensor.randn(1000, dtype=dtype).numpy()).all()


def test_integers_cover_the_interval_and_no_more() -> None:
    assert set(Tensor.randint(300, low=-2, high=3).tolist()) == {-2, -1, 0, 1, 2}
    assert set(Tensor.randint(100, low=5, high=6, dtype="uint8").tolist()) == {5}
    wide = Tensor.randint(50, low=-(1 << 62), high=1 << 62, dtype="int64").numpy()
    assert wide.min() < 0 < wide.max()
    counts = np.bincount(Tensor.randint(3000, high=6).numpy(), minlength=6)
    assert ((counts - 500) ** 2 / 500).sum() < 20.5


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(DtypeError, match="rand of int32: it takes a float dtype"):
        Tensor.rand(2, dtype="int32")
    with pytest.raises(DtypeError, match="randint of float32: it takes an integer dtype"):
        Tensor.randint(2, dtype="float32")
    with pytest.raises(ArgumentError, match="there is no integer from 3 to below 3"):
        Tensor.randint(2, low=3, high=3)
    with pytest.raises(DtypeError, match="999 does not fit uint8"):
        Tensor.randint(2, high=1000, dtype="uint8")


# each with a fixed seed, so that the same numbers are judged each time
@pytest.mark.parametrize(
    ("make", "distribution"),
    [
        (lambda n: Tensor.rand(n), stats.uniform()),
        (lambda n: Tensor.rand(n, dtype="float64"), stats.uniform()),
        (lambda n: Tensor.randn(n), stats.norm()),
        (lambda n: Tensor.randn(n, dtype="float64"), stats.norm()),
        (lambda n: Tensor.uniform(n, low=-3, high=2), stats.uniform(-3, 5)),
        (lambda n: Tensor.normal(n, mean=-1, std=3), stats.norm(-1, 3)),
        (lambda n: Tensor.scaled_uniform(n), stats.uniform(-1 / 64, 1 / 32)),
        (lambda n: Tensor.glorot_uniform(n // 32, 32), stats.uniform(-0.19364917, 2 * 0.19364917)),
        (lambda n: Tensor.kaiming_uniform(n // 32, 4, 8, a=0), stats.uniform(-0.4330127, 2 * 0.4330127)),
        (lambda n: Tensor.kaiming_normal(n // 32, 4, 8, a=1), stats.norm(0, 32**-0.5)),
    ],
)
def test_numbers_pass_the_test_of_kolmogorov_and_smirnov(
    make: Callable[[int], Tensor], distribution: Any
) -> None:
    values = make(4096).numpy().astype(np.float64).reshape(-1)
    assert stats.kstest(values, distribution.cdf).pvalue > 0.01


def test_numbers_do_not_depend_on_those_before() -> None:
    x = Tensor.rand(4096).numpy().astype(np.float64)
    for lag in (1, 2, 7):
        assert abs(np.corrcoef(x[:-lag], x[lag:])[0, 1]) < 0.05
    y = Tensor.rand(4096).numpy().astype(np.float64)
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.05


@pytest.mark.parametrize("shape", [(8, 6), (8, 6, 3, 3)])
def test_bounds_of_initial_values_are_those_of_torch(shape: tuple[int, ...]) -> None:
    like = torch.empty(500, *shape)
    for name, options in (("kaiming_uniform", {"a": 0.3}), ("glorot_uniform", {})):
        values = getattr(Tensor, name)(*shape, **options).numpy()
        init = torch.nn.init.xavier_uniform_ if name == "glorot_uniform" else torch.nn.init.kaiming_uniform_
        bound = max(init(like[0], **options).abs().max().item() for _ in range(30))
        assert 0.8 * bound < np.abs(values).max() < 1.25 * bound
        assert getattr(Tensor, name)(shape, dtype="float16").dtype.name == "float16"
    assert Tensor.kaiming_normal(shape, requires_grad=True).requires_grad
    assert Tensor.scaled_uniform(0, 3).shape == (0, 3)


def test_a_seed_gives_the_same_bits_on_every_device(device: str) -> None:
    def draw(device: str) -> list[Any]:
        Tensor.manual_seed(77)
        return [
            Tensor.rand(50, device=device).tolist(),
            Tensor.randint(50, high=1000, device=device).tolist(),
            Tensor.randperm(50, device=device).tolist(),
            Tensor.rand(50, dtype="float64", device=device).tolist(),
            Tensor.randn(500, device=device).tolist(),
            Tensor.randn(500, dtype="float64", device=device).tolist(),
            Tensor.rand(50, dtype="fp8e5m2", device=device).tolist(),
            Tensor.rand(50, device=device).multinomial(20).tolist(),
            Tensor.rand(50, device=device).bernoulli().tolist(),
        ]

    assert draw("PYTHON") == draw(device if device != "PYTHON" else "CPU")


@pytest.mark.parametrize("name", ["glorot_uniform", "kaiming_uniform", "kaiming_normal"])
def test_weights_have_two_axes(name: str) -> None:
    with pytest.raises(ShapeError, match=rf"{name} of shape \(3,\): weights have axes"):
        getattr(Tensor, name)(3)
    with pytest.raises(ShapeError, match="negative size"):
        getattr(Tensor, name)(3, -2)
    with pytest.raises(DtypeError, match="takes a float dtype"):
        getattr(Tensor, name)(3, 2, dtype="int32")


@pytest.mark.parametrize("dtype", FLOAT8, ids=lambda d: d.name)
def test_floats_of_a_byte_take_all_their_numbers(dtype: DType) -> None:
    steps = 2 ** (FLOAT8[dtype].fraction_bits + 1)
    values = Tensor.rand(4000, dtype=dtype).numpy()
    assert sorted(set(values.tolist())) == [i / steps for i in range(steps)]
    counts = np.bincount((values * steps).astype(int))
    assert stats.chisquare(counts).pvalue > 0.01


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "fp8e4m3", "float32"])
def test_the_upper_limit_is_never_drawn(dtype: str) -> None:
    values = Tensor.uniform(5000, low=1, high=1.5, dtype=dtype).numpy()
    assert values.min() >= 1
    assert values.max() < 1.5
    assert Tensor.uniform(3, low=2, high=2, dtype=dtype).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_normal_numbers_are_arithmetic_that_devices_agree_on(dtype: str) -> None:
    used = {u.op for u in Tensor.randn(3, dtype=dtype).uop.toposort()}
    assert not used & {Ops.LOG2, Ops.SIN, Ops.COS, Ops.EXP, Ops.EXP2, Ops.POW}


def test_draws_of_ones_have_their_probabilities() -> None:
    chances = Tensor([0.0, 0.1, 0.5, 0.9, 1.0]).reshape(5, 1).expand(5, 4000)
    drawn = chances.bernoulli()
    assert set(drawn.numpy().reshape(-1).tolist()) == {0.0, 1.0}
    means = drawn.mean(1).tolist()
    assert (means[0], means[-1]) == (0.0, 1.0)
    for found, chance in zip(means, (0.0, 0.1, 0.5, 0.9, 1.0), strict=True):
        assert abs(found - chance) < 0.025
    assert Tensor([1, 2, 3], dtype="int8").bernoulli(1).tolist() == [1, 1, 1]
    assert abs(Tensor.zeros(4000).bernoulli(0.25).mean().item() - 0.25) < 0.025
    assert Tensor([float("nan"), -1.0, 2.0]).bernoulli().tolist() == [0.0, 0.0, 1.0]
    assert not Tensor([0.5], requires_grad=True).bernoulli().requires_grad


def test_seeds_may_come_from_numpy() -> None:
    Tensor.manual_seed(np.int64(5))
    first = Tensor.rand(3).tolist()
    Tensor.manual_seed(5)
    assert Tensor.rand(3).tolist() == first


@pytest.mark.parametrize("count", [1, 2, 10, 255, 1 << 31, 1 << 32, 3 << 40])
def test_integers_reach_both_ends_of_their_interval(count: int) -> None:
    ends = UOp.const(dtypes.uint64, 0), UOp.const(dtypes.uint64, (1 << 64) - 1)
    lowest, highest = (simplify(below(bits, count)).arg for bits in ends)
    assert lowest == 0
    assert highest == count - 1 if count <= 1 << 32 else highest < count


def test_integers_of_an_interval_come_equally_often() -> None:
    Tensor.manual_seed(3)
    counts = np.bincount(Tensor.randint(30000, high=6).numpy(), minlength=6)
    assert len(counts) == 6
    assert np.abs(counts - 5000).max() < 300
