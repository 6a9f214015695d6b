"""Tests of plugrad.tensor.beyond: operators of tensors beside complex numbers."""

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.errors import DtypeError
from plugrad.tensor.compound import Compound


class Other(Compound):
    """What knows what it is beside a tensor."""

    def __radd__(self, other: object) -> str:
        return "added"

    def __gt__(self, other: object) -> str:
        return "compared"


def test_a_compound_says_what_it_is_beside_a_tensor() -> None:
    assert Tensor([1]) + Other() == "added"
    assert (Tensor([1]) < Other()) == "compared"
    assert (Tensor([1]) == Other()) is False


def test_beside_complex_numbers_a_tensor_is_an_array_of_them() -> None:
    t = Tensor([1.0, 2.0])
    for number in (2j, np.complex64(2j), np.complex128(2j), np.array([2j, 2j])):
        assert (t + number).tolist() == (number + t).tolist() == [1 + 2j, 2 + 2j]
    assert (t == 1j).tolist() == [False, False]
    assert (t / np.array(2j)).tolist() == [-0.5j, -1j]


def test_methods_and_writing_take_none() -> None:
    t = Tensor([1.0, 2.0])
    with pytest.raises(DtypeError, match="add: cannot compute with 1j"):
        t.add(1j)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DtypeError):
        t[0] = 1j
    with pytest.raises(DtypeError):
        t += 1j
    assert t.tolist() == [1.0, 2.0]
