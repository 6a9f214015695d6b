"""What a traced call notes."""

from collections.abc import Callable
from typing import Any

import pytest

from plugrad import Tensor
from plugrad.jit.inputs import read_inputs
from plugrad.jit.trace import Trace
from plugrad.jit.tracer import trace_call


def trace(function: Callable[..., Any], *args: Any) -> Trace:
    return trace_call(function, args, {}, read_inputs(args, {}))


def test_calls_that_do_the_same_agree() -> None:
    def function(x: Tensor) -> Tensor:
        return (x + 1).sum()

    assert trace(function, Tensor([1, 2])).agreement == trace(function, Tensor([3, 4])).agreement


def test_results_of_no_elements_agree() -> None:
    first, second = (trace(lambda x: x.exp(), Tensor.zeros(2, 0)) for _ in range(2))
    assert first.agreement == second.agreement


def test_other_numbers_other_data_and_other_memory_do_not() -> None:
    outside = [Tensor([1, 1]).realize(), Tensor([1, 1]).realize()]
    x = Tensor([1, 2])
    for make in (lambda n: x + n, lambda n: x + Tensor([n, n]), lambda n: x + outside[n]):
        agreements = [trace(lambda x, n=n, make=make: make(n), x).agreement for n in (0, 1)]
        assert agreements[0] != agreements[1]


def test_memory_outside_is_told_from_inputs() -> None:
    w = Tensor([1, 2]).realize()
    noted = trace(lambda x: w.assign(w + x), Tensor([1, 1]))
    assert len(noted.outside) == len(noted.written) == 1
    assert noted.written_inputs == ()
    assert [watched.tensor() is w for watched in noted.watched] == [True]
    assert noted.same[0] is not None
    assert noted.same[0]() is w


def test_inputs_that_are_written_change_after_the_call() -> None:
    x = Tensor([1, 2]).realize()
    waiting = x * 10
    noted = trace(lambda x: x.assign(x + 1), x)
    assert noted.written_inputs == (0,)
    assert x.tolist() == [2, 3]
    assert waiting.tolist() == [10, 20]


def test_inputs_that_were_written_before_an_exception_have_changed() -> None:
    def function(x: Tensor, y: Tensor) -> None:
        x.assign(x + 1).realize()
        y[0] = x[1]
        raise KeyError

    x, y, unchanged = Tensor([1, 2]), Tensor([5, 6]), Tensor([1])
    with pytest.raises(KeyError):
        trace(lambda x, y, _: function(x, y), x, y, unchanged)
    assert [x.tolist(), y.tolist(), unchanged.tolist()] == [[2, 3], [3, 6], [1]]
    with pytest.raises(KeyError):
        trace(lambda: {}["nothing"])


def test_a_computed_tensor_that_is_kept_is_a_problem() -> None:
    kept: list[Tensor] = []
    assert "it keeps <Tensor (1,)" in trace(lambda x: kept.append(x + 1), Tensor([1])).problem
    assert trace(lambda x: kept.clear(), Tensor([1])).problem == ""


def test_random_draws_are_noted_in_their_order() -> None:
    def function() -> Tensor:
        first, second = Tensor.rand(3), Tensor.rand(5)
        return second.sum() + first.sum()

    noted = trace(function)
    assert len(noted.draws) == 2
    first, second = (int.from_bytes(bytes(draw.as_memoryview())[8:], "little") for draw in noted.draws)
    assert second == first + 3
