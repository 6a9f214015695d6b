"""Comparisons and logic by name."""

import math

from plugrad import Tensor


def test_tensors_of_other_shapes_are_not_equal() -> None:
    assert not Tensor([1]).equal(Tensor([1, 1]))
    assert not Tensor([1]).equal(Tensor(1))


def test_nothing_equals_nothing() -> None:
    assert Tensor.ones(0, 2).equal(Tensor.zeros(0, 2))
    assert not Tensor.ones(0, 2).equal(Tensor.ones(2, 0))


def test_scalars_of_two_dtypes_may_be_equal() -> None:
    assert Tensor(2).equal(Tensor(2.0))


def test_nan_equals_nothing_and_is_true() -> None:
    t = Tensor([math.nan])
    assert not t.equal(t)
    assert t.logical_and(True).tolist() == [True]


def test_logic_takes_numbers() -> None:
    assert Tensor([0.0, 0.5]).logical_or(2).tolist() == [True, True]
    assert Tensor([0.0, 0.5]).logical_xor(0.1).tolist() == [True, False]
