from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, Variable
from plugrad.errors import ArgumentError, AxisError, ShapeError

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


@pytest.mark.parametrize("k", [-9, -2, -1, 0, 1, 3, 9])
def test_triangles_are_those_of_numpy(k: int) -> None:
    np.testing.assert_array_equal(Tensor.tri(3, 5, k).numpy(), np.tri(3, 5, k, dtype=np.float32))
    np.testing.assert_array_equal(Tensor(X).tril(k).numpy(), np.tril(X, k))
    np.testing.assert_array_equal(Tensor(X).triu(k).numpy(), np.triu(X, k))
    np.testing.assert_array_equal(Tensor(X[0] > 7).triu(k).numpy(), np.triu(X[0] > 7, k))


@pytest.mark.parametrize("value", [0, 2, 4])
def test_triangles_end_at_symbolic_diagonals(value: int) -> None:
    place = Variable("place", 0, 4).bind(value)
    for symbolic, k in ((place, value), (place + 1, value + 1), (-place, -value)):
        np.testing.assert_array_equal(Tensor.tri(3, 5, symbolic).numpy(), np.tri(3, 5, k, dtype=np.float32))
        np.testing.assert_array_equal(Tensor(X).tril(symbolic).numpy(), np.tril(X, k))
        np.testing.assert_array_equal(Tensor(X).triu(symbolic).numpy(), np.triu(X, k))
    mask = Tensor.full((1, 2, place + 2), -1).triu(place + 1)
    np.testing.assert_array_equal(mask.numpy(), np.triu(np.full((1, 2, value + 2), -1), value + 1))


def test_triangles_have_symbolic_sizes() -> None:
    n, m = Variable("n", 1, 4).bind(3), Variable("m", 1, 6).bind(5)
    for found, sizes in (
        (Tensor.tri(n), (3, 3)),
        (Tensor.tri(n, m, 1), (3, 5, 1)),
        (Tensor.tri(2, m), (2, 5)),
    ):
        np.testing.assert_array_equal(found.numpy(), np.tri(*sizes, dtype=np.float32))


def test_triangles_keep_nan_out_and_have_any_size() -> None:
    assert Tensor([[1.0, float("nan")], [2.0, 3.0]]).tril().tolist() == [[1.0, 0.0], [2.0, 3.0]]
    assert Tensor.tri(2, dtype="bool").tolist() == [[True, False], [True, True]]
    assert Tensor.zeros(0, 3).triu().shape == (0, 3)
    n = Variable("n", 1, 4).bind(3)
    assert Tensor(X[0])[:n].tril().sum().item() == np.tril(X[0, :3]).sum()
    with pytest.raises(ShapeError, match=r"tril of shape \(3,\): a matrix has two axes"):
        Tensor([1, 2, 3]).tril()
    with pytest.raises(ShapeError, match="negative size"):
        Tensor.tri(-1)


@pytest.mark.parametrize("offset", [-2, 0, 1])
@pytest.mark.parametrize("axes", [(0, 1), (2, 0)])
def test_a_diagonal_shows_what_is_written_and_may_be_written_to(offset: int, axes: tuple[int, int]) -> None:
    x, expected = Tensor(X), X.copy()
    diagonal = x.diagonal(offset, *axes)
    x += 1
    np.testing.assert_array_equal(diagonal.numpy(), np.diagonal(X + 1, offset, *axes))
    diagonal[...] = -7
    expected += 1
    shown = np.moveaxis(expected, axes, (-2, -1))
    rows, columns = np.indices(shown.shape[-2:])
    shown[..., columns - rows == offset] = -7
    np.testing.assert_array_equal(x.numpy(), expected)


@pytest.mark.parametrize("offset", [-5, -3, -1, 0, 1, 4, 7])
@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (2, 0), (-1, -2)])
def test_diagonals_are_those_of_numpy(offset: int, axes: tuple[int, int]) -> None:
    expected = np.diagonal(X, offset, *axes)
    out = Tensor(X).diagonal(offset, *axes)
    assert out.shape == expected.shape
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("offset", [-2, 0, 1])
def test_diagonals_are_put_in_as_in_torch(offset: int) -> None:
    np.testing.assert_array_equal(
        Tensor(X).diag_embed(offset).numpy(), torch.tensor(X).diag_embed(offset).numpy()
    )
    np.testing.assert_array_equal(Tensor(X[0, 0]).diag(offset).numpy(), np.diag(X[0, 0], offset))
    np.testing.assert_array_equal(Tensor(X[0]).diag(offset).numpy(), np.diag(X[0], offset))
    empty = np.zeros((2, 0), np.int32)
    np.testing.assert_array_equal(
        Tensor(empty).diag_embed(offset).numpy(), torch.tensor(empty).diag_embed(offset).numpy()
    )


def test_gradients_flow_to_what_lies_there() -> None:
    t, x = Tensor(X), torch.tensor(X, requires_grad=True)
    ours = t.diagonal(1, 1, 2).square().sum() + t.tril(-1).exp().sum() + t.diag_embed().square().sum()
    theirs = x.diagonal(1, 1, 2).square().sum() + x.tril(-1).exp().sum() + x.diag_embed().square().sum()
    (expected,) = torch.autograd.grad(theirs, x)
    np.testing.assert_allclose(ours.gradient(t)[0].numpy(), expected.numpy(), rtol=1e-5)


def test_what_has_no_diagonal_is_refused() -> None:
    with pytest.raises(AxisError, match="axes 1 and -2 are the same"):
        Tensor(X).diagonal(0, 1, -2)
    with pytest.raises(AxisError, match="diagonal: axis 1 is out of range"):
        Tensor([1, 2]).diagonal()
    with pytest.raises(ShapeError, match=r"diag of shape \(3, 4, 5\): it takes one axis or two"):
        Tensor(X).diag()
    with pytest.raises(ShapeError, match=r"diag_embed of shape \(\)"):
        Tensor(1).diag_embed()


@pytest.mark.parametrize("indexing", ["ij", "xy"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_grids_are_those_of_numpy(indexing: Any, count: int) -> None:
    given = [np.arange(n, dtype=np.int32) for n in (2, 3, 4)][:count]
    tensors = [Tensor(x) for x in given]
    found = tensors[0].meshgrid(*tensors[1:], indexing=indexing)
    for ours, theirs in zip(found, np.meshgrid(*given, indexing=indexing), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)


def test_grids_of_scalars_and_wrong_ones() -> None:
    assert [x.shape for x in Tensor.meshgrid(Tensor(1), Tensor([1, 2]))] == [(1, 2), (1, 2)]
    wrong: Any = "ji"
    with pytest.raises(ArgumentError, match="indexing='ji' is none of 'ij', 'xy'"):
        Tensor([1]).meshgrid(indexing=wrong)
    with pytest.raises(ShapeError, match=r"meshgrid of shape \(2, 1\)"):
        Tensor([1]).meshgrid(Tensor([[1], [2]]))


@pytest.mark.parametrize("axes", [(0, 1), (0, 2), (2, 0), (-1, -2), (1, -1)])
@pytest.mark.parametrize("offset", [0, 1, -2])
def test_diagonals_are_embedded_along_any_axes(axes: tuple[int, int], offset: int) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = torch.diag_embed(torch.tensor(x), offset, *axes).numpy()
    np.testing.assert_array_equal(Tensor(x).diag_embed(offset, *axes).numpy(), expected)
    assert Tensor(x).diag_embed(offset, dim1=axes[0], dim2=axes[1]).shape == expected.shape
