from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, dtypes
from plugrad.errors import DtypeError, ShapeError

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_repeating() -> None:
    np.testing.assert_array_equal(Tensor(X).repeat(2, 1, 3).numpy(), np.tile(X, (2, 1, 3)))
    np.testing.assert_array_equal(Tensor(X).repeat((2, 1, 1, 2)).numpy(), np.tile(X, (2, 1, 1, 2)))
    assert Tensor(X).repeat(0, 1, 1).shape == (0, 3, 4)
    with pytest.raises(ShapeError, match="Give at least 3"):
        Tensor(X).repeat(2)


@pytest.mark.parametrize("split", [1, 2, 3, 10, [1, 2], [3], [0, 3]])
def test_splitting(split: Any) -> None:
    for ours, theirs in zip(Tensor(X).split(split, 1), torch.tensor(X).split(split, 1), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_splits_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"sizes \(1, 1\) add up to 2, axis 1 has 3"):
        Tensor(X).split([1, 1], 1)
    with pytest.raises(ShapeError, match="parts of 0 elements"):
        Tensor(X).split(0)
    with pytest.raises(ShapeError, match="chunk: 0 parts"):
        Tensor(X).chunk(0)


@pytest.mark.parametrize("chunks", [1, 2, 3, 4, 7])
def test_chunks_are_those_of_torch(chunks: int) -> None:
    for ours, theirs in zip(Tensor(X).chunk(chunks, -1), torch.tensor(X).chunk(chunks, -1), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_joining(axis: int) -> None:
    parts = [X, X[:, :, ::-1], X * 2]
    tensors = [Tensor(part) for part in parts]
    np.testing.assert_array_equal(Tensor.cat(*tensors, axis=axis).numpy(), np.concatenate(parts, axis))
    np.testing.assert_array_equal(tensors[0].stack(*tensors[1:], axis=axis).numpy(), np.stack(parts, axis))


def test_joining_keeps_every_bit() -> None:
    parts = [[-0.0, float("nan")], [float("inf"), -0.0], [1.0]]
    out = Tensor.cat(*[Tensor(part) for part in parts]).numpy()
    expected = np.concatenate([np.array(part, np.float32) for part in parts])
    np.testing.assert_array_equal(out, expected)
    assert np.signbit(out).tolist() == np.signbit(expected).tolist()
    assert Tensor.cat(Tensor([True]), Tensor([False])).tolist() == [True, False]


def test_joining_promotes_and_takes_empty_parts() -> None:
    out = Tensor.cat(Tensor([1, 2]), Tensor([0.5]))
    assert out.dtype is dtypes.float32
    assert out.tolist() == [1.0, 2.0, 0.5]
    assert Tensor.cat(Tensor([1.0]), Tensor([]), Tensor([2.0])).tolist() == [1.0, 2.0]
    assert Tensor.cat(Tensor([1.0])).tolist() == [1.0]


def test_shapes_that_do_not_join_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"cat: shapes \(2, 3, 4\) and \(3, 4\) differ in more than axis 0"):
        Tensor(X).cat(Tensor(X[0]))
    with pytest.raises(ShapeError, match=r"stack: shapes \(2,\) and \(3,\) differ"):
        Tensor([1, 2]).stack(Tensor([1, 2, 3]))


def test_joining_what_is_no_tensor_says_how_to_join() -> None:
    a: Any = Tensor([1, 2])
    for join in (Tensor.cat, Tensor.stack):
        with pytest.raises(DtypeError, match="Pass tensors"):
            join(a, [a])
        with pytest.raises(DtypeError, match=r"of 3 \(int\)"):
            join(a, 3)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_slices_are_those_of_torch(axis: int) -> None:
    for ours, theirs in zip(Tensor(X).unbind(axis), torch.tensor(X).unbind(axis), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
