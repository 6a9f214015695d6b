"""Trees of arguments: what is a tensor, and what tells two calls apart."""

from collections import namedtuple
from typing import Any

import pytest

from plugrad import Tensor, Variable
from plugrad.errors import JitError
from plugrad.jit.leaves import Leaves

Pair = namedtuple("Pair", ["first", "second"])


def key(value: Any) -> Any:
    return Leaves().collect(value)


def test_tensors_and_bound_variables_are_collected_in_order() -> None:
    a, b, c = (Tensor([n]) for n in range(3))
    n = Variable("n", 1, 8).bind(3)
    leaves = Leaves()
    leaves.collect({"x": [a, (b, 1)], "y": Pair(c, n)})
    assert [id(t) for t in leaves.tensors] == [id(a), id(b), id(c)]
    assert leaves.variables == [n]


def test_tensors_do_not_count_for_the_key_but_their_places_do() -> None:
    assert key([Tensor([1]), 2]) == key([Tensor([5.0]), 2])
    assert key([Tensor([1]), 2]) != key([2, Tensor([1])])
    assert key([Tensor([1])]) != key((Tensor([1]),))


@pytest.mark.parametrize("other", [1.0, True, "1", None, [1]])
def test_values_of_different_kinds_have_different_keys(other: object) -> None:
    assert key(1) != key(other)


def test_floats_are_told_apart_by_their_bits() -> None:
    assert key(0.0) != key(-0.0)
    assert key(float("nan")) == key(float("nan"))


def test_what_is_not_hashable_is_refused() -> None:
    with pytest.raises(JitError, match=r"got or returned \{1\} \(set\)"):
        key([{1}])
