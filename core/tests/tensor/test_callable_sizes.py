"""Tests of plugrad.tensor.callable_sizes: numbers that answer as attributes and as methods."""

import copy
import pickle

import pytest

from plugrad import Tensor, Variable
from plugrad.errors import ShapeError


def test_a_size_is_a_number_and_answers_as_a_method() -> None:
    t = Tensor.ones(3, 4)
    assert t.size == 12
    assert isinstance(t.size, int)
    assert (t.size(), t.size(0), t.size(-1), t.size(axis=1), t.size(dim=1)) == ((3, 4), 3, 4, 4, 4)
    assert (Tensor(5).size, Tensor(5).size(), Tensor.ones(0, 2).size) == (1, (), 0)


def test_sizes_are_copied_and_pickled_with_their_shape() -> None:
    size = Tensor.ones(3, 4).size
    assert pickle.loads(pickle.dumps(size))() == copy.deepcopy(size)() == (3, 4)


def test_a_symbolic_shape_is_told_and_its_number_is_not_known() -> None:
    v = Variable("v", 1, 8).bind(3)
    size = Tensor.ones(8, 2)[:v].size
    assert size()[0] is size(0)
    assert size(1) == size(dim=-1) == 2
    assert "symbolic shape (v, 2)" in repr(size)
    with pytest.raises(ShapeError, match=r"size: the shape \(v, 2\) is symbolic"):
        range(size)


def test_a_number_of_bytes_is_one_called_or_not() -> None:
    count = Tensor.ones(3, 4, dtype="float16").nbytes
    assert count == count() == 24
    assert isinstance(count, int)
    assert type(count()) is int
    assert pickle.loads(pickle.dumps(count))() == copy.deepcopy(count)() == 24
    assert (repr(count), Tensor([], dtype="int64").nbytes) == ("24", 0)
