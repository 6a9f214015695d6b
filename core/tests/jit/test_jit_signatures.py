"""What makes a call another one: shapes, dtypes, values, memory given twice."""

import numpy as np
import pytest

from plugrad import Tensor, Variable
from plugrad.errors import JitError, ShapeError
from plugrad.jit import jit
from plugrad.nn import Dropout
from plugrad_conformance.testing.replays import counted

CALLS = 6


def test_a_new_shape_dtype_or_value_is_captured_again() -> None:
    function, runs = counted(lambda x, by: x * by)
    for _ in range(CALLS):
        assert function(Tensor([1, 2]), 3).tolist() == [3, 6]
        assert function(Tensor([1, 2, 3]), 3).tolist() == [3, 6, 9]
        assert function(Tensor([1.0, 2.0]), 3).tolist() == [3.0, 6.0]
        assert function(Tensor([1, 2]), 4).tolist() == [4, 8]
        assert function(Tensor([1, 2]), True).tolist() == [1, 2]
    assert function.captures == 5
    assert len(runs) == 10


def test_equal_numbers_of_different_kinds_are_told_apart() -> None:
    function = jit(lambda x, by: x * by)
    for _ in range(CALLS):
        assert function(Tensor([2]), 1).dtype.name == "int32"
        assert function(Tensor([2]), 1.0).dtype.name == "float32"
        assert str(function(Tensor([2.0]), 0.0).tolist()) == "[0.0]"
        assert str(function(Tensor([2.0]), -0.0).tolist()) == "[-0.0]"


def test_the_same_memory_twice_is_another_signature() -> None:
    function = jit(lambda x, y: x - y)
    x, y = Tensor([5]).realize(), Tensor([3]).realize()
    for _ in range(CALLS):
        assert function(x, x).tolist() == [0]
        assert function(x, y).tolist() == [2]
    assert function.captures == 2


def test_inputs_that_are_not_in_memory_are_realized_first() -> None:
    function, runs = counted(lambda x, y: x + y)
    base = Tensor([[1, 2], [3, 4]]).realize()
    for n in range(CALLS):
        assert function(base * n, Tensor(n)).tolist() == [[2 * n, 3 * n], [4 * n, 5 * n]]
        assert function(base.transpose(0, 1), base[0]).tolist() == [[2, 5], [3, 6]]
    assert function.captures == 2
    assert len(runs) == 4


def test_training_is_part_of_the_signature() -> None:
    function = jit(lambda x: Dropout(0.5)(x))
    for _ in range(CALLS):
        assert function(Tensor.ones(64)).tolist() == [1.0] * 64
        with Tensor.train():
            assert 0.0 in function(Tensor.ones(64)).tolist()


def test_a_bound_variable_can_have_another_value() -> None:
    size = Variable("size", 1, 8)
    base = Tensor.arange(8).realize()
    function, runs = counted(lambda x: (x * 2).sum())
    for n in range(1, 8):
        assert function(base[: size.bind(n)]).item() == n * (n - 1)
    assert len(runs) == 2


def test_a_variable_of_two_values_is_refused() -> None:
    size = Variable("size", 1, 8)
    base = Tensor.arange(8).realize()
    short, long = base[: size.bind(2)], base[: size.bind(3)]
    assert (short.sum() * 10 + long.sum()).item() == 13
    with pytest.raises(JitError, match="variable size is bound to 3 and to another value in the arguments"):
        jit(lambda x, y: x.sum() + y.sum())(short, long)
    with pytest.raises(JitError, match=r"uses the variable size bound to \d and to another value"):
        jit(lambda: short.sum() + long.sum())()
    with pytest.raises(JitError, match="uses the variable size bound to 3 and to another value"):
        jit(lambda: (short.sum().realize(), long.sum()))()


def test_of_several_conditions_a_replay_names_the_one_that_comes_first() -> None:
    size = Variable("size", 1, 40)
    bases = [Tensor.arange(length).realize() for length in (29, 28, 27, 26, 25)]

    def total(x: Tensor) -> Tensor:
        n = x.shape[0]
        return sum((base.shrink(((0, n),)) * x).sum() for base in bases)

    with pytest.raises(ShapeError) as of_a_call:
        total(Tensor.ones(40).shrink(((0, size.bind(35)),))).realize()
    function = jit(total)
    for n in range(1, 1 + CALLS):
        function(Tensor.ones(40).shrink(((0, size.bind(n)),)))
    with pytest.raises(ShapeError) as of_a_replay:
        function(Tensor.ones(40).shrink(((0, size.bind(35)),)))
    assert str(of_a_call.value) == f"realize: {of_a_replay.value}"


def test_numbers_of_symbolic_shape_are_arguments_like_others() -> None:
    size = Variable("size", 1, 20)
    function, runs = counted(lambda x: (x * 2).sum())
    for n in range(1, 8):
        assert function(Tensor.full((size.bind(n),), 3.0)).item() == 6 * n
    assert len(runs) == 2


def test_arguments_that_are_not_hashable_are_refused() -> None:
    function = jit(lambda x, y: x)
    with pytest.raises(JitError, match=r"array\(\[1\]\) \(ndarray\), which is not hashable"):
        function(Tensor([1]), np.array([1]))


def test_signatures_that_are_never_used_again_are_forgotten() -> None:
    function = jit(lambda x, by: x * by)
    # each number is another kernel, which the interpreter need not compile
    x = Tensor([1], device="PYTHON")
    for n in range(300):
        function(x, n)
    assert len(function._states) <= 256
