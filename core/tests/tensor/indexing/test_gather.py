from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Device, Tensor
from plugrad.errors import ArgumentError, AxisError, DtypeError, ShapeError
from plugrad.events import KernelEvent
from plugrad.uop import Ops
from plugrad_conformance.testing.scopes import recorded_events

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 5, 6)).astype(np.float32)
INDEX = RNG.integers(-5, 5, (3, 9, 2))
SOURCE = RNG.standard_normal((3, 9, 4)).astype(np.float32)


def test_gather_is_that_of_torch() -> None:
    for axis, dtype in ((0, np.int64), (1, np.int32), (-1, np.uint8)):
        shape = [3, 4, 5]
        shape[axis] = 7
        index = RNG.integers(0, X.shape[axis], shape).astype(dtype)
        expected = torch.tensor(X).gather(axis, torch.tensor(index.astype(np.int64))).numpy()
        np.testing.assert_array_equal(Tensor(X).gather(axis, Tensor(index)).numpy(), expected)


def test_negative_positions_count_from_the_end() -> None:
    expected = torch.tensor(X).gather(1, torch.tensor(INDEX % 5)).numpy()
    np.testing.assert_array_equal(Tensor(X).gather(1, Tensor(INDEX)).numpy(), expected)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float64"])
def test_elements_of_every_dtype_are_picked_bit_for_bit(dtype: str) -> None:
    x = Tensor([1, 0, 3, 1], dtype="int32").cast(dtype)
    out = x.gather(0, Tensor([3, 1, 2]))
    assert (out.dtype.name, out.cast("int32").tolist()) == (dtype, [1, 0, 1 if dtype == "bool" else 3])


def test_positions_outside_give_zero_and_write_nothing() -> None:
    x, index = Tensor([1.0, 2.0, 3.0]), Tensor([3, -4, 1, 2**40])
    assert x.gather(0, index).tolist() == [0.0, 0.0, 2.0, 0.0]
    assert x.index_select(0, index).tolist() == [0.0, 0.0, 2.0, 0.0]
    assert x.scatter(0, index, 9.0).tolist() == [1.0, 9.0, 3.0]
    assert x.scatter_reduce(0, index, 1.0, "sum").tolist() == [1.0, 3.0, 3.0]
    assert x.gather(0, Tensor([255, 1], dtype="uint8")).tolist() == [0.0, 2.0]
    assert x.gather(0, Tensor([2**32, 2**64 - 1, 1], dtype="uint64")).tolist() == [0.0, 0.0, 2.0]


def test_not_a_number_beside_an_element_does_not_leak() -> None:
    x = Tensor([np.nan, 1.0, np.inf])
    assert x.gather(0, Tensor([1, 1])).tolist() == [1.0, 1.0]
    assert x.scatter(0, Tensor([0, 2]), Tensor([5.0, 6.0])).tolist() == [5.0, 1.0, 6.0]


def test_a_gather_computes_its_elements_in_their_order() -> None:
    picked = Tensor(X).gather(0, Tensor(np.zeros((7, 5, 6), np.int32)))._graph
    chosen = Tensor(X).index_select(1, Tensor(np.zeros(7, np.int32)))._graph
    for graph in (picked, chosen):
        assert not any(u.op is Ops.PERMUTE and 7 in u.shape for u in graph.toposort())


def test_a_gather_is_one_load_an_element() -> None:
    x, index = Tensor.zeros(4000, 3).contiguous().realize(), Tensor([5, 7, 9]).realize()
    with recorded_events(KernelEvent) as launches:
        x.index_select(0, index).realize()
    assert max(launch.flops for launch in launches) < 1000


def test_take_along_axis_is_that_of_numpy() -> None:
    order = np.argsort(X, axis=1)
    np.testing.assert_array_equal(
        Tensor(X).take_along_axis(Tensor(order), 1).numpy(), np.take_along_axis(X, order, 1)
    )
    first = X.argmax(2, keepdims=True)[:1]
    expected = np.take_along_axis(X, first, 2)
    np.testing.assert_array_equal(Tensor(X).take_along_axis(Tensor(first)).numpy(), expected)
    flat = Tensor(X).take_along_axis(Tensor([3, 100]), None)
    np.testing.assert_array_equal(flat.numpy(), X.reshape(-1)[[3, 100]])


def test_index_select_is_that_of_torch() -> None:
    for axis in (0, 1, -1):
        index = RNG.integers(0, X.shape[axis], 7)
        expected = torch.tensor(X).index_select(axis, torch.tensor(index)).numpy()
        np.testing.assert_array_equal(Tensor(X).index_select(axis, Tensor(index)).numpy(), expected)


def test_scatter_lets_the_last_of_several_writes_win() -> None:
    index = Tensor([1, 3, 1, -1])
    assert Tensor([0, 0, 0, 0]).scatter(0, index, Tensor([1, 2, 3, 4])).tolist() == [0, 3, 0, 4]
    assert Tensor([0, 0, 0, 0]).scatter(0, index, 7).tolist() == [0, 7, 0, 7]
    added = Tensor([1, 1, 1, 1]).scatter(0, index, Tensor([1, 2, 3, 4]), "add")
    assert added.tolist() == [1, 5, 1, 7]
    assert Tensor([1, 2]).scatter(0, Tensor([1, 1]), 3, "multiply").tolist() == [1, 18]


@pytest.mark.parametrize(("writes", "size"), [(2, 40), (6, 9), (9, 6)])
def test_scatter_returns_gradients_to_the_writes_that_last(writes: int, size: int) -> None:
    rng = np.random.default_rng(3)
    index = rng.integers(0, size, (4, writes))
    index[:, -1] = index[:, 0]
    x, source, back = (Tensor(rng.normal(size=(4, n)).astype(np.float32)) for n in (size, writes, size))
    written = x.scatter(1, Tensor(index), source)
    ours = [g.numpy() for g in written.gradient(x, source, gradient=back)]
    into_x, into_source = back.numpy(), np.zeros((4, writes), np.float32)
    for row in range(4):
        last = {place: write for write, place in enumerate(index[row].tolist())}
        for place, write in last.items():
            into_source[row, write], into_x[row, place] = into_x[row, place], 0
    assert (ours[0] == into_x).all()
    assert (ours[1] == into_source).all()


def test_scatter_is_that_of_torch() -> None:
    index = np.stack([np.stack([RNG.permutation(5)[:3] for _ in range(6)], 1) for _ in range(2)])
    expected = torch.tensor(X).scatter(1, torch.tensor(index), torch.tensor(SOURCE[:2, :3, :1].repeat(6, 2)))
    out = Tensor(X).scatter(1, Tensor(index), Tensor(SOURCE[:2, :3, :1].repeat(6, 2)))
    np.testing.assert_array_equal(out.numpy(), expected.numpy())


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_scatter_reduce_is_that_of_torch(reduce: Any, include_self: bool) -> None:
    expected = torch.tensor(X).scatter_reduce(
        1, torch.tensor(INDEX % 5), torch.tensor(SOURCE), reduce, include_self=include_self
    )
    out = Tensor(X).scatter_reduce(1, Tensor(INDEX), Tensor(SOURCE), reduce, include_self)
    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
    x, source = RNG.integers(-9, 9, (6,)), RNG.integers(-9, 9, (8,))
    index = RNG.integers(0, 6, (8,))
    expected = torch.tensor(x).scatter_reduce(
        0, torch.tensor(index), torch.tensor(source), reduce, include_self=include_self
    )
    out = Tensor(x).scatter_reduce(0, Tensor(index), Tensor(source), reduce, include_self)
    np.testing.assert_array_equal(out.numpy(), expected.numpy())


def test_gradients_flow_to_what_was_picked_and_written() -> None:
    x, source = Tensor(X), Tensor(SOURCE[:2, :3])
    index = np.stack([np.stack([RNG.permutation(5)[:3] for _ in range(4)], 1) for _ in range(2)])
    tx, ts = torch.tensor(X, requires_grad=True), torch.tensor(SOURCE[:2, :3], requires_grad=True)
    ti = torch.tensor(index)
    picked = x.gather(1, Tensor(INDEX)).square().sum() + x.index_select(2, Tensor([0, 0, 3])).exp().sum()
    written = x.scatter(1, Tensor(index), source).square().sum()
    combined = x.scatter_reduce(1, Tensor(index), source, "sum").exp().sum()
    theirs = tx.gather(1, torch.tensor(INDEX % 5)).square().sum()
    theirs = theirs + tx.index_select(2, torch.tensor([0, 0, 3])).exp().sum()
    theirs = theirs + tx.scatter(1, ti, ts).square().sum()
    theirs = theirs + tx.scatter_reduce(1, ti, ts, "sum").exp().sum()
    expected = torch.autograd.grad(theirs, (tx, ts))
    first, second = (picked + written + combined).gradient(x, source)
    first.realize(second)
    np.testing.assert_allclose(first.numpy(), expected[0].numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(second.numpy(), expected[1].numpy(), rtol=1e-4, atol=1e-5)


def test_wrong_arguments_are_refused() -> None:
    x = Tensor(X)
    with pytest.raises(DtypeError, match="gather with an index of float32: positions are integers"):
        x.gather(0, Tensor([[[1.0]]]))
    with pytest.raises(ShapeError, match=r"gather: an index of shape \(2,\) for shape \(4, 5, 6\)"):
        x.gather(0, Tensor([1, 2]))
    with pytest.raises(ShapeError, match="axis 1 of the index has 6 elements, that of the tensor 5"):
        x.gather(0, Tensor(np.zeros((1, 6, 1), np.int32)))
    with pytest.raises(AxisError, match="gather: axis 3 is out of range"):
        x.gather(3, Tensor(INDEX))
    with pytest.raises(ShapeError, match="src of shape"):
        x.scatter(1, Tensor(INDEX), Tensor(SOURCE[:, :2]))
    with pytest.raises(DtypeError, match=r"scatter of float64 into float32.*src\.cast\(dtypes\.float32\)"):
        x.scatter(1, Tensor(INDEX), Tensor(SOURCE.astype(np.float64)))
    with pytest.raises(ArgumentError, match="reduce='max' is none of"):
        x.scatter_reduce(1, Tensor(INDEX), 1.0, "max")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"index_select: an index of shape \(1, 1\)"):
        x.index_select(0, Tensor([[1]]))
    with pytest.raises(DtypeError, match=r"\[1\] \(list\) is no tensor"):
        x.gather(0, [1])  # type: ignore[arg-type]


@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_equal_values_share_a_gradient_evenly_as_in_torch(reduce: Any) -> None:
    x = np.array([[1.0, 4.0, 2.0, 9.0, 2.0], [3.0, 3.0, 3.0, 3.0, 3.0]], np.float32)
    source = RNG.integers(1, 5, (2, 9)).astype(np.float32)
    index = RNG.integers(0, 4, (2, 9))
    weights = RNG.standard_normal(x.shape).astype(np.float32)
    tx, ts = torch.tensor(x, requires_grad=True), torch.tensor(source, requires_grad=True)
    theirs = tx.scatter_reduce(1, torch.tensor(index), ts, reduce)
    expected = torch.autograd.grad((theirs * torch.tensor(weights)).sum(), (tx, ts))
    a, b = Tensor(x), Tensor(source)
    out = a.scatter_reduce(1, Tensor(index), b, reduce)
    for got, want in zip((out * Tensor(weights)).sum().gradient(a, b), expected, strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-6)


@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_what_is_nan_shares_the_gradient_of_nan(reduce: Any) -> None:
    nan = float("nan")
    x, source = Tensor([1.0, nan, nan, 2.0]), Tensor([nan, 3.0, nan])
    out = x.scatter_reduce(0, Tensor([0, 2, 2]), source, reduce)
    first, second = out.sum().gradient(x, source)
    assert (first.tolist(), second.tolist()) == ([0.0, 1.0, 0.5, 1.0], [1.0, 0.0, 0.5])


def test_what_takes_no_part_shares_no_gradient() -> None:
    x, source = Tensor([5.0, 5.0, 7.0]), Tensor([5.0, 5.0, 5.0, 5.0])
    out = x.scatter_reduce(0, Tensor([0, 0, 9]), source, "amax", include_self=False)
    first, second = out.sum().gradient(x, source)
    assert (first.tolist(), second.tolist()) == ([0.0, 1.0, 1.0], [0.5, 0.5, 0.0, 0.0])


def test_positions_of_a_sum_with_a_start_are_computed_where_it_runs() -> None:
    if Device[Device.DEFAULT].capabilities.grid_dims:
        pytest.skip("sums by position run in order where loops do")
    numbers = Tensor(np.arange(5000) % 300).realize()
    positions = (numbers < 0).where(300, numbers)
    (step,) = Tensor.zeros(300, dtype="int32").scatter_reduce(0, positions, 1, "sum").schedule()
    assert step.ast.op is Ops.SINK
