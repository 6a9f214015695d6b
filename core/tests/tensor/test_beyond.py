"""Tests of plugrad.tensor.beyond: operators of tensors beside complex numbers."""

from plugrad import Tensor
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
