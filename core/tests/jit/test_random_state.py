"""Random functions that read Python state, which changes at random: jitted as not jitted.

More than the tests run: `python core/tests/jit/test_random_state.py 0 2000`.
"""

import random
import sys
import warnings
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from plugrad import Tensor, jit
from plugrad.jit.jit import JitWarning

JIT: Any = sys.modules["plugrad.jit.jit"]
CALLS = 40
NUMBER = 0


class Counter:
    total = 0
    __slots__ = ("__dict__", "own")

    def __init__(self) -> None:
        self.own = 0

    @property
    def doubled(self) -> int:
        return 2 * self.own

    def weighed(self) -> int:
        return self.total + self.own


def number() -> int:
    return NUMBER


def values() -> list[Any]:
    return [0, 1, 2, True, 2.0, -0.0]


def make(rng: random.Random) -> tuple[Callable[[Tensor], Tensor], list[Callable[[], None]]]:
    """Return a function of a tensor, and what changes something that it may read."""
    one, two, holder = Counter(), Counter(), SimpleNamespace(n=0, items=[0, 1], w=Tensor([1.0]).realize())
    holder.counter, holder.act = one, abs
    table: dict[Any, Any] = {"a": 0, 1: [0]}
    queue: deque[int] = deque([0, 1], maxlen=2)
    marks: set[int] = set()
    array, scalar = np.zeros((2, 2), dtype=np.int64), [np.float32(0)]
    tensors = [Tensor([float(n)]).realize() for n in range(3)]
    state = 0

    def default(first: list[Any] = holder.items) -> Any:
        return first[0]

    readers: list[Callable[[], Any]] = [
        lambda: holder.n,
        lambda: len(holder.items),
        lambda: table["a"] + table[1][0],
        lambda: sum(queue),
        lambda: len(marks) + (1 in marks),
        lambda: int(array[1, 0]),
        lambda: float(scalar[0]),
        lambda: holder.counter.doubled,
        lambda: holder.counter.weighed(),
        lambda: getattr(holder, "late", 1),
        lambda: holder.act(state),
        number,
        default,
    ]
    used = rng.sample(readers, rng.randrange(1, 4))
    limit, with_tensor = rng.randrange(4), rng.random() < 0.5

    def function(x: Tensor) -> Tensor:
        level = sum(read() for read in used)
        y = x * level if level >= limit else x + 1
        return y * holder.w if with_tensor else y

    def set_state() -> None:
        nonlocal state
        state = rng.randrange(-2, 2)

    def pick() -> Any:
        return rng.choice(values())

    return function, [
        lambda: setattr(holder, "n", pick()),
        lambda: setattr(holder, "items", [pick()]),
        lambda: holder.items.append(pick()),
        lambda: holder.items.clear(),
        lambda: table.update(a=pick()),
        lambda: table[1].__setitem__(0, pick()),
        lambda: queue.append(rng.randrange(2)),
        lambda: marks.symmetric_difference_update({rng.randrange(3)}),
        lambda: array.__setitem__((rng.randrange(2), 0), rng.randrange(3)),
        lambda: scalar.__setitem__(0, np.float32(pick())),
        lambda: setattr(holder, "counter", rng.choice([one, two])),
        lambda: setattr(rng.choice([one, two]), "own", pick()),
        lambda: setattr(Counter, "total", pick()),
        lambda: setattr(one, "total", pick()),
        lambda: one.__dict__.pop("total", None),
        lambda: setattr(holder, "late", pick()),
        lambda: holder.__dict__.pop("late", None),
        lambda: setattr(holder, "act", rng.choice([abs, int, lambda n: n + 1])),
        lambda: setattr(holder, "w", rng.choice(tensors)),
        lambda: globals().update(NUMBER=pick()),
        set_state,
    ]


def run(seed: int) -> tuple[int, int, bool]:
    """Compare the calls of one program; return count them and those traced, and tell of a warning."""
    rng = random.Random(seed)
    function, changes = make(rng)
    chosen = rng.sample(changes, rng.randrange(1, 6))
    traced: list[object] = []
    trace = JIT.trace_call
    jitted = jit(function)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", JitWarning)
        for call in range(CALLS):
            if rng.random() < 0.4:
                rng.choice(chosen)()
            x = Tensor([float(call), 3.0]).realize()
            expected = _outcome(function, x)
            with mock.patch.object(JIT, "trace_call", lambda *args: traced.append(1) or trace(*args)):
                found = _outcome(jitted, x)
            assert found == expected, f"seed {seed}, call {call}: {found} is not {expected}"
    return CALLS, len(traced), bool(seen)


def _outcome(function: Callable[[Tensor], Tensor], x: Tensor) -> str:
    try:
        result = function(x)
    except (IndexError, TypeError) as error:
        return type(error).__name__
    return f"{result.dtype} {result.tolist()}"


@pytest.mark.parametrize("seed", range(12))
def test_a_random_function_of_changing_state_is_as_without_the_jit(seed: int) -> None:
    run(seed)


if __name__ == "__main__":
    totals = [run(seed) for seed in range(*map(int, sys.argv[1:3]))]
    calls, traces, ended = map(sum, zip(*totals, strict=True))
    print(f"{len(totals)} programs, {calls} calls, {traces} traced, {ended} programs left alone")
