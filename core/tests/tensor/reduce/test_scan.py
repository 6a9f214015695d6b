from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, dtypes
from plugrad.errors import AxisError
from plugrad.tensor.dispatch import InLoops
from plugrad.tensor.reduce.scan import in_order
from plugrad.uop.ops import Ops

RNG = np.random.default_rng(1)
X = RNG.standard_normal((3, 70, 2)).astype(np.float32)
EDGES = np.array([0.5, np.inf, 1.0, np.nan, 2.0, -np.inf, 0.0], np.float32)


def both(name: str, x: Any, axis: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    ours, theirs = getattr(Tensor(x), name)(axis), getattr(torch, name)(torch.tensor(x), axis)
    if isinstance(ours, Tensor):
        return [ours.numpy()], [theirs.numpy()]
    ours[0].realize(ours[1])
    return [t.numpy() for t in ours], [t.numpy() for t in theirs]


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"])
def test_scans_are_those_of_torch(name: str) -> None:
    for axis in (1, -1):
        for ours, theirs in zip(*both(name, X, axis), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    for ours, theirs in zip(*both(name, EDGES, 0), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_long_scans_go_through_several_levels() -> None:
    x = RNG.integers(-9, 9, 5000).astype(np.int64)
    np.testing.assert_array_equal(Tensor(x).cumsum().numpy(), x.cumsum())
    found = Tensor(x).cummax()
    values, places = found
    assert found.values is values
    assert found.indices is places
    expected = torch.tensor(x).cummax(0)
    np.testing.assert_array_equal(values.numpy(), expected.values.numpy())
    np.testing.assert_array_equal(places.numpy(), expected.indices.numpy())


def test_scans_of_ties_give_the_last_position() -> None:
    x = np.array([[3, 3, 1, 3, 1, 4, 4]], np.int8)
    for name in ("cummax", "cummin"):
        ours, theirs = both(name, x, 1)
        np.testing.assert_array_equal(ours[1], theirs[1])
        assert ours[0].dtype == np.int8


def test_dtypes_are_those_of_sums() -> None:
    assert Tensor([True, True]).cumsum().dtype is dtypes.int64
    assert Tensor([1, 2], dtype="int8").cumsum().dtype is dtypes.int64
    assert Tensor([1, 2], dtype="uint8").cumprod().dtype is dtypes.uint64
    assert Tensor([2**31 - 1, 1]).cumsum().tolist() == [2**31 - 1, 2**31]
    assert Tensor([200, 100], dtype="uint8").cumsum(dtype="uint8").tolist() == [200, 44]
    half = Tensor(np.full(3000, 0.1, np.float16)).cumsum()
    assert half.dtype is dtypes.float16
    assert abs(half[-1].item() - 300) < 1


def test_scans_of_nothing_and_of_scalars() -> None:
    assert Tensor([], dtype="float32").cumsum().tolist() == []
    assert Tensor(3.0).cumsum().item() == 3.0
    assert [t.tolist() for t in Tensor([], dtype="float32").cummax()] == [[], []]
    assert [t.tolist() for t in Tensor(2.0).cummin()] == [2.0, 0]
    with pytest.raises(AxisError, match="cumsum: axis 1 is out of range"):
        Tensor([1]).cumsum(1)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "logcumsumexp"])
def test_gradients_of_scans_are_those_of_torch(name: str) -> None:
    x = RNG.standard_normal((2, 67)).astype(np.float32)
    weight = RNG.standard_normal((2, 67)).astype(np.float32)
    t, u = Tensor(x), torch.tensor(x, requires_grad=True)
    ours, theirs = getattr(t, name)(1), getattr(u, name)(1)
    if name == "cummax":
        ours, theirs = ours[0], theirs.values
    (expected,) = torch.autograd.grad((theirs * torch.tensor(weight)).sum(), u)
    (gradient,) = (ours * Tensor(weight)).sum().gradient(t)
    np.testing.assert_allclose(gradient.numpy(), expected.numpy(), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("zeros", [[], [0], [4, 20], [29]])
@pytest.mark.wide_on_cpu
def test_gradients_of_products_are_those_of_torch_beside_zeros(zeros: list[int]) -> None:
    x = RNG.standard_normal(30)
    x[zeros] = 0
    weights, others = RNG.standard_normal((2, 30))
    theirs = torch.tensor(x, requires_grad=True)
    total = (theirs.cumprod(0) * torch.tensor(weights)).sum()
    (wanted,) = torch.autograd.grad(total, theirs, create_graph=True)
    (second,) = torch.autograd.grad((wanted * torch.tensor(others)).sum(), theirs)
    ours = Tensor(x)
    first = (ours.cumprod(0) * Tensor(weights)).sum().gradient(ours)[0]
    found = (first * Tensor(others)).sum().gradient(ours)[0]
    first.realize(found)
    np.testing.assert_allclose(first.numpy(), wanted.detach().numpy(), atol=1e-10)
    np.testing.assert_allclose(found.numpy(), second.numpy(), atol=1e-10)


def test_behind_a_zero_products_too_great_for_a_float_have_no_gradient() -> None:
    x = np.full(120, 3.0, np.float32)
    x[0] = 0
    ours = Tensor(x)
    found = ours.cumprod(0).sum().gradient(ours)[0].numpy()
    assert found[0] == np.inf
    assert not found[1:].any()


@pytest.mark.parametrize("size", [9, 17, 77])
def test_rows_of_large_tensors_continue_their_whole_blocks(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr("plugrad.tensor.reduce.scan._LARGE", 1)
    array = np.random.default_rng(size).normal(size=(3, size)).astype(np.float32)
    x = Tensor(array)
    wide = array.astype(np.float64)
    assert np.allclose(x.cumsum(1).numpy(), wide.cumsum(1), atol=1e-5)
    assert np.allclose(x.cumprod(1).numpy(), wide.cumprod(1), atol=1e-5)
    assert np.allclose(x.logcumsumexp(1).numpy(), np.logaddexp.accumulate(wide, 1), atol=1e-5)
    highest = torch.tensor(array).cummax(1)
    assert (x.cummax(1).values.numpy() == highest.values.numpy()).all()
    assert (x.cummax(1).indices.numpy() == highest.indices.numpy()).all()
    (gradient,) = (x.cumsum(1) * Tensor(array)).sum().gradient(x)
    assert np.allclose(gradient.numpy(), wide[:, ::-1].cumsum(1)[:, ::-1], atol=1e-5)


@pytest.mark.parametrize("shape", [(40,), (9, 40), (2, 3, 16)])
def test_sums_in_order_are_running_sums(shape: tuple[int, ...]) -> None:
    x = RNG.standard_normal(shape).astype(np.float32)
    for t in (Tensor(x), Tensor(x).exp()):
        graph = in_order("", t._graph, Ops.ADD)
        assert graph is not None
        wanted = np.cumsum(t.numpy(), -1, dtype=np.float64).astype(np.float32)
        np.testing.assert_array_equal(t._like(graph).numpy(), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool"])
def test_maxima_in_order_are_running_maxima(dtype: str) -> None:
    x = Tensor((RNG.standard_normal((9, 40)) * 9).astype(dtype))
    graph = in_order("", x._graph, Ops.MAX)
    assert graph is not None
    assert (x._like(graph).numpy() == np.maximum.accumulate(x.numpy(), 1)).all()


def test_nan_stays_the_greatest_behind_it_and_the_first_may_be_the_least() -> None:
    x = np.full((8, 20), -np.inf, np.float32)
    x[1, 3:] = RNG.standard_normal(17)
    x[2, 5] = np.nan
    found, wanted = Tensor(x).cummax(1), torch.tensor(x).cummax(1)
    np.testing.assert_array_equal(found.values.numpy(), wanted.values.numpy())
    np.testing.assert_array_equal(found.indices.numpy(), wanted.indices.numpy())


@pytest.mark.parametrize(
    ("shape", "dtype", "runs_loops"),
    [
        ((40,), "float32", False),
        ((15,), "float32", True),
        ((40,), "float64", True),
        ((2, 1 << 17), "int32", True),
    ],
)
def test_grids_and_doubles_and_few_long_rows_keep_blocks(
    shape: tuple[int, ...], dtype: str, runs_loops: bool
) -> None:
    x = Tensor.empty(*shape, dtype=dtype)
    assert InLoops(in_order, (Ops.ADD,))("", runs_loops, (x._graph,)) is None
