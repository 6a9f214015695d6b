from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from plugrad import Tensor, Variable, dtypes
from plugrad.dtype import DType
from plugrad.errors import AxisError, PlugradError, ShapeError
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("shape", [(24,), (4, 6), (-1, 2), (2, 3, -1), (1, 24, 1), (3, 2, 2, 2)])
def test_reshape_keeps_row_major_order(shape: tuple[int, ...]) -> None:
    np.testing.assert_array_equal(Tensor(X).reshape(*shape).numpy(), X.reshape(shape))
    np.testing.assert_array_equal(Tensor(X).view(shape).numpy(), X.reshape(shape))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (
            (5, 5),
            r"cannot reshape \(2, 3, 4\) to \(5, 5\): 24 elements do not fit 25\. Pass -1 for one",
        ),
        ((-1, -1), "only one size may be -1"),
        ((-1, 5), "24 elements do not divide into groups of 5"),
        ((-2, -12), "has a negative size"),
        ((-1, 0), "groups of 0"),
    ],
)
def test_reshapes_that_do_not_fit_are_refused(shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        Tensor(X).reshape(shape)


def test_permutations() -> None:
    t = Tensor(X)
    np.testing.assert_array_equal(t.permute(2, 0, 1).numpy(), X.transpose(2, 0, 1))
    np.testing.assert_array_equal(t.permute((0, -1, 1)).numpy(), X.transpose(0, 2, 1))
    np.testing.assert_array_equal(t.transpose(1).numpy(), X.swapaxes(0, 1))
    np.testing.assert_array_equal(t.transpose(-1, 0).numpy(), X.swapaxes(-1, 0))
    np.testing.assert_array_equal(t.T.numpy(), X.T)
    with pytest.raises(ShapeError, match=r"permute: 2 axes \(0, 1\) for shape \(2, 3, 4\)"):
        t.permute(0, 1)
    with pytest.raises(AxisError, match="name one axis twice"):
        t.permute(0, 1, 1)


def test_expanding() -> None:
    x = X[:, :1]
    np.testing.assert_array_equal(Tensor(x).expand(2, 5, 4).numpy(), np.broadcast_to(x, (2, 5, 4)))
    np.testing.assert_array_equal(Tensor(x).expand(3, -1, 2, -1).numpy(), np.broadcast_to(x, (3, 2, 2, 4)))
    np.testing.assert_array_equal(Tensor(x).broadcast_to((2, 2, 4)).numpy(), np.broadcast_to(x, (2, 2, 4)))
    with pytest.raises(
        ShapeError, match=r"cannot expand \(2, 3, 4\) to \(2, 6, 4\): only axes of size 1 expand"
    ):
        Tensor(X).expand(2, 6, 4)
    with pytest.raises(ShapeError, match="that has fewer axes"):
        Tensor(X).expand(4)


def test_shrinking() -> None:
    np.testing.assert_array_equal(Tensor(X).shrink([(0, 1), None, (1, 3)]).numpy(), X[:1, :, 1:3])
    assert Tensor(X).shrink([(1, 1), None, None]).shape == (0, 3, 4)
    with pytest.raises(ShapeError, match=r"\[1, 4\) of axis 1 is no part of \[0, 3\)"):
        Tensor(X).shrink([None, (1, 4), None])
    with pytest.raises(ShapeError, match="1 intervals for shape"):
        Tensor(X).shrink([None])


def test_flipping() -> None:
    np.testing.assert_array_equal(Tensor(X).flip(0).numpy(), X[::-1])
    np.testing.assert_array_equal(Tensor(X).flip((-1, 1)).numpy(), X[:, ::-1, ::-1])
    with pytest.raises(AxisError, match="flip: axis 3 is out of range"):
        Tensor(X).flip(3)


def test_axes_of_size_one_come_and_go() -> None:
    t = Tensor(X).reshape(1, 2, 1, 12)
    assert t.squeeze().shape == (2, 12)
    assert t.squeeze(0).shape == t.squeeze((0, 1)).shape == (2, 1, 12)
    assert t.squeeze(-2).shape == (1, 2, 12)
    assert t.unsqueeze(-1).shape == (1, 2, 1, 12, 1)
    assert t.unsqueeze(0).shape == (1, 1, 2, 1, 12)
    with pytest.raises(AxisError, match="unsqueeze: axis 5 is out of range"):
        t.unsqueeze(5)


def test_flattening_and_back() -> None:
    t = Tensor(X)
    assert t.flatten().shape == (24,)
    assert t.flatten(1).shape == (2, 12)
    assert t.flatten(0, 1).shape == (6, 4)
    assert Tensor(1.0).flatten().shape == (1,)
    assert t.unflatten(-1, (2, -1)).shape == (2, 3, 2, 2)
    with pytest.raises(ShapeError, match="axis 1 comes after axis 0"):
        t.flatten(1, 0)


def test_views_of_memory_take_no_kernel() -> None:
    t = Tensor(X).realize()
    for view in (
        t.reshape(6, 4),
        t.permute(2, 0, 1),
        t.shrink([(0, 1), None, None]),
        t.flip(1),
        t.unsqueeze(0),
    ):
        assert view.schedule() == []


MOVES: dict[str, Callable[[Any], Any]] = {
    "reverse": lambda x: x.flip(0) if isinstance(x, Tensor) else x[::-1],
    "turn": lambda x: x.permute(*range(1, x.ndim), 0) if isinstance(x, Tensor) else np.moveaxis(x, 0, -1),
    "flatten": lambda x: x.reshape(-1),
    "fold": lambda x: x.reshape(2, -1),
    "cut": lambda x: x[1:],
    "every": lambda x: x[..., ::2],
    "pad": lambda x: (
        x.pad((1, 2)) if isinstance(x, Tensor) else np.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 2)])
    ),
    "add": lambda x: x + 1,
}


@given(st.lists(st.sampled_from(sorted(MOVES)), min_size=1, max_size=7))
@pytest.mark.wide_on_cpu
def test_chains_of_moves_are_those_of_numpy(names: list[str]) -> None:
    ours, theirs = Tensor(X), X
    for name in names:
        if name == "fold" and theirs.size % 2:
            continue
        ours, theirs = MOVES[name](ours), MOVES[name](theirs)
    np.testing.assert_array_equal(ours.numpy(), theirs)


def test_symbolic_sizes_pass_through() -> None:
    n = Variable("n", 1, 8)
    for value in (1, 3, 8):
        bound = n.bind(value)
        part = Tensor(np.arange(16, dtype=np.float32).reshape(2, 8))[:, :bound]
        assert part.shape == (2, bound)
        assert part.sum().item() == np.arange(16).reshape(2, 8)[:, :value].sum()
        assert (part + 1).sum(1).tolist() == (np.arange(16).reshape(2, 8)[:, :value] + 1).sum(1).tolist()
        flat = part.reshape(2 * bound)
        assert isinstance(flat.shape[0], UOp)
        assert flat.max().item() == 8 + value - 1
        assert part.unsqueeze(0).expand(3, 2, bound).sum().item() == 3 * part.sum().item()
        assert Tensor(2.0).expand(bound).sum().item() == 2.0 * value
        joined = part.cat(Tensor([[7.0], [9.0]]), part, axis=1)
        assert joined.sum().item() == 2 * part.sum().item() + 16
        assert part.pad(((0, 0), (0, 8 - bound))).shape == (2, 8)
    assert part.permute(1, 0).shape == (bound, 2)
    assert part.uop.op is Ops.SHRINK


def test_matrices_are_transposed_one_by_one() -> None:
    t = Tensor.arange(12).reshape(2, 2, 3)
    assert t.mT.tolist() == np.swapaxes(np.arange(12).reshape(2, 2, 3), 1, 2).tolist()
    with pytest.raises(ShapeError, match=r"mT of shape \(3,\): a matrix has two axes"):
        _ = Tensor([1, 2, 3]).mT


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.permute(None),
        lambda x: x.permute(1.5),
        lambda x: x.transpose(np.array([0, 1]), 1),
        lambda x: x.movedim(None, 1),
        lambda x: x.shrink(None),
        lambda x: x.shrink((0, 1)),
        lambda x: x.shrink([(0, 1), (1, "a")]),
        lambda x: x.flip(1.5),
        lambda x: x.unflatten(1, None),
        lambda x: x.roll((None,), 0),
        lambda x: x.roll(np.ones((2, 2)), 0),
        lambda x: x.rot90(1, None),
        lambda x: x.unfold(1, 2, "a"),
        lambda x: x.split("a"),
        lambda x: x.split([3, -1]),
        lambda x: x.chunk(1.5),
        lambda x: x.pad(None),
        lambda x: x.pad([(1, 1), (1,)]),
        lambda x: x.pad((1, 1), np.array([0, 1])),
        lambda x: x.pad((1, 1), value=np.zeros(2)),
        lambda x: x.squeeze("a"),
    ],
)
def test_arguments_of_another_kind_are_refused_by_errors_of_ours(call: Any) -> None:
    with pytest.raises(PlugradError):
        call(Tensor.zeros(2, 3))


def test_numbers_may_be_those_of_numpy_and_sequences_of_any_kind() -> None:
    x = Tensor(X)
    one, two = np.int64(1), np.array([0, 2])
    assert x.permute(np.array([2, 0, 1])).shape == (4, 2, 3)
    assert x.reshape(np.array([6, -1])).shape == (6, 4)
    assert x.permute(range(3)).shape == (2, 3, 4)
    assert x.movedim(one, 0).shape == (3, 2, 4)
    np.testing.assert_array_equal(x.flip(two).numpy(), np.flip(X, (0, 2)))
    np.testing.assert_array_equal(x.flip(one).numpy(), np.flip(X, 1))
    np.testing.assert_array_equal(x.flip(None).numpy(), np.flip(X))
    np.testing.assert_array_equal(x.roll(one, one).numpy(), np.roll(X, 1, 1))
    np.testing.assert_array_equal(x.roll(1, (0, 2)).numpy(), np.roll(X, 1, (0, 2)))
    assert [part.shape for part in x.split(np.int64(3), 2)] == [(2, 3, 3), (2, 3, 1)]
    assert x.unfold(one, np.int64(2), one).shape == (2, 2, 4, 2)
    assert x.diagonal(one).shape == (4, 2)


def test_an_axis_is_split_where_another_has_no_elements() -> None:
    assert Tensor.zeros(0, 6).unflatten(1, (2, -1)).shape == (0, 2, 3)
    assert Tensor.zeros(6, 0).unflatten(0, [-1, 2]).shape == (3, 2, 0)


def test_parts_of_nothing_are_those_of_torch() -> None:
    empty, theirs = Tensor.zeros(0, 2), torch.zeros(0, 2)
    assert [part.shape for part in empty.chunk(3)] == [tuple(part.shape) for part in theirs.chunk(3)]
    assert [part.shape for part in empty.split(0)] == [tuple(part.shape) for part in theirs.split(0)]
    n = Variable("n", 1, 4).bind(2)
    assert [part.shape[1] for part in Tensor.ones(4, 6).contiguous()[:n].chunk(2, 1)] == [3, 3]


def test_parts_of_an_axis_are_views_as_in_torch() -> None:
    x, theirs = Tensor(X), torch.tensor(X)
    for arguments in ((0, 1, 1), (2, -3, 2), (-1, 0, 4), (1, 3, 0)):
        np.testing.assert_array_equal(x.narrow(*arguments).numpy(), theirs.narrow(*arguments).numpy())
    for axis, index in ((0, 1), (-1, -4), (1, 2)):
        np.testing.assert_array_equal(x.select(axis, index).numpy(), theirs.select(axis, index).numpy())
    for wrong in ((1, 2, 2), (1, -4, 1), (1, 0, -1), (1, 0, 1.5)):
        with pytest.raises(ShapeError, match="narrow: "):
            x.narrow(*wrong)
    n = Variable("n", 1, 3).bind(2)
    assert x.contiguous().narrow(1, 0, n).sum().item() == X[:, :2].sum()
    assert x.contiguous().select(1, n).sum().item() == X[:, 2].sum()
    part = x.select(1, 0)
    part.assign(part + 100)
    assert x.numpy()[0, 0].tolist() == [100, 101, 102, 103]


def test_a_new_axis_has_no_size_to_keep() -> None:
    with pytest.raises(ShapeError, match="a new axis has no size that -1 could keep"):
        Tensor([1, 2]).expand(-1, 2)


def test_the_axis_of_a_number_is_flattened_as_in_torch() -> None:
    assert Tensor(5).flatten(0, -1).shape == Tensor(5).ravel().shape == (1,)
    with pytest.raises(AxisError, match="flatten: axis 1 is out of range"):
        Tensor(5).flatten(1)


def test_none_keeps_the_size_of_an_axis() -> None:
    x = Tensor.zeros(2, 6)
    assert x.reshape(None, 2, 3).shape == (2, 2, 3)
    assert x.reshape((None, 3, -1)).shape == (2, 3, 2)
    assert x.view(2, None).shape == (2, 6)
    assert x.unsqueeze(0).expand(4, None, None).shape == (4, 2, 6)
    assert x.reshape(shape=(None, 6)).shape == (2, 6)


def test_all_axes_are_transposed_in_the_order_that_numpy_takes() -> None:
    x = Tensor(X)
    for transposed in (x.transpose(2, 0, 1), x.transpose((2, 0, 1)), x.transpose([-1, 0, 1])):
        np.testing.assert_array_equal(transposed.numpy(), X.transpose(2, 0, 1))
    # two are exchanged, as in PyTorch; as one sequence they are an order
    assert x[0].transpose(0, 1).shape == X[0].T.shape
    assert x[0].transpose((0, 1)).shape == X[0].shape
    assert x[0].transpose(np.array([1, 0])).shape == X[0].T.shape


def test_a_view_of_a_dtype_has_the_same_bits() -> None:
    values = np.array([1.0, -2.5], np.float32)
    for dtype in (dtypes.int32, np.int32, np.dtype("uint16"), np.uint8):
        as_numpy = np.dtype(dtype.name) if isinstance(dtype, DType) else np.dtype(dtype)
        found = Tensor(values).view(dtype).numpy()
        np.testing.assert_array_equal(found, values.view(as_numpy))
        assert found.dtype == as_numpy
    assert Tensor(values).view(np.int64(2), 1).shape == (2, 1)
    with pytest.raises(ShapeError, match="view: 'int32' \\(str\\) is no size of an axis"):
        Tensor(values).view("int32")
    with pytest.raises(ShapeError, match="no size of an axis"):
        Tensor(values).reshape(np.float32)


def test_two_axes_are_named_where_there_are_not_two() -> None:
    assert Tensor.zeros(2, 6).transpose().shape == (6, 2)
    with pytest.raises(ShapeError, match=r"transpose of shape \(2, 3, 4\): which axes"):
        Tensor.zeros(2, 3, 4).transpose()
