"""What a jitted function cannot repeat, it refuses."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from plugrad import Tensor
from plugrad.errors import JitError
from plugrad.jit import jit
from plugrad_conformance.testing.replays import counted

CALLS = 6


def repeat(call: Callable[[int], None]) -> None:
    for n in range(CALLS):
        call(n)


@pytest.mark.parametrize("read", [Tensor.item, Tensor.tolist, Tensor.numpy, lambda x: x.data(), float, bool])
def test_reading_elements_inside_is_refused(read: Callable[[Tensor], Any]) -> None:
    function = jit(lambda x: x * 2 if read(x.sum()) else x)
    with pytest.raises(JitError, match="a jitted function reads the elements"):
        function(Tensor([1]))


def test_a_python_value_that_changes_is_refused() -> None:
    calls: list[int] = []

    @jit
    def function(x: Tensor) -> Tensor:
        calls.append(1)
        return x * len(calls)

    def check(n: int) -> None:
        assert function(Tensor([1.0])).tolist() == [n + 1.0]

    with pytest.raises(JitError, match=r"cannot be jitted: step 0 .* differs from one call to the next"):
        repeat(check)


def test_host_data_that_changes_is_refused() -> None:
    calls: list[int] = []

    @jit
    def function(x: Tensor) -> Tensor:
        calls.append(1)
        return x * Tensor([float(len(calls))])

    def check(n: int) -> None:
        assert function(Tensor([1.0])).tolist() == [n + 1.0]

    with pytest.raises(JitError, match="differs from one call to the next"):
        repeat(check)


def test_host_data_that_stays_is_not() -> None:
    function, runs = counted(lambda x: x * Tensor([1.0, 2.0]))
    for n in range(CALLS):
        assert function(Tensor([float(n)] * 2)).tolist() == [1.0 * n, 2.0 * n]
    assert len(runs) == 2


def test_a_tensor_that_is_kept_outside_is_refused() -> None:
    kept: list[Tensor] = []

    @jit
    def function(x: Tensor) -> Tensor:
        kept.append(x + 1)
        return x * 2

    with pytest.raises(JitError, match="it keeps <Tensor"):
        repeat(lambda n: function(Tensor([1])))


def test_a_tensor_outside_that_gets_new_memory_is_refused() -> None:
    @dataclasses.dataclass(eq=False)
    class State:
        total: Tensor

    state = State(Tensor([0]).realize())

    @jit
    def function(x: Tensor) -> Tensor:
        state.total = state.total + x
        return x

    def check(n: int) -> None:
        function(Tensor([1]))
        assert state.total.tolist() == [n + 1]

    with pytest.raises(JitError, match="it keeps <Tensor"):
        repeat(check)


def test_an_argument_that_is_also_used_from_outside_is_refused_when_assigned() -> None:
    w = Tensor([1]).realize()

    @jit
    def function(x: Tensor) -> Tensor:
        w.assign(w + 1)
        return x * 2

    with pytest.raises(JitError, match="also uses it from outside"):
        function(w)
