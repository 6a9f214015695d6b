"""Core: rows of recorded kernels that a device runs by one `plugrad_graph` call."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plugrad import Tensor, Variable
from plugrad.dtype import dtypes
from plugrad.jit import jit
from plugrad_conformance.case import Case
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import array_of, memory_of, sample, tensor_of

_REPLAYS = 6


def _call(bench: Bench, number: int, function: Callable[..., Any], *arguments: Tensor) -> Any:
    """Call a function first while it is recorded, then as a silent graph."""
    if number < 3:
        return function(*arguments)
    with bench.unwatched():
        return function(*arguments)


def _realized_on(bench: Bench, *arrays: Any) -> list[Tensor]:
    return [tensor_of(x, dtypes.int32, bench.name).realize() for x in arrays]


def replays_other_inputs(bench: Bench) -> None:
    """Each run of a graph reads its own blocks, and writes none of earlier runs."""

    @jit
    def function(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        c = (a * 3 + b).contiguous()
        d = (c - c.sum(dtype="int32")).contiguous()
        return (d * b).realize(), d.max(1).realize()

    kept: list[tuple[Sequence[Tensor], Sequence[Any]]] = []
    for number in range(_REPLAYS):
        x, y = (sample(dtypes.int32, 20, 10 * number + s).reshape(4, 5) for s in (1, 2))
        c = x * 3 + y
        d = c - c.sum(dtype=np.int32)
        kept.append((_call(bench, number, function, *_realized_on(bench, x, y)), (d * y, d.max(1))))
    for number, (outputs, wanted) in enumerate(kept):
        for out, exact in zip(outputs, wanted, strict=True):
            assert (array_of(out) == exact).all(), f"run {number} gives {out.tolist()}, not {exact.tolist()}"


def replays_other_variables(bench: Bench) -> None:
    """Each run of a graph uses the current values of its variables and launch sizes."""
    base = tensor_of(np.arange(64), dtypes.int32, bench.name).realize()

    @jit
    def function(a: Tensor) -> Tensor:
        doubled = (a * 2).contiguous()
        return (doubled.sum() + doubled.max()).realize()

    n = Variable("n", 1, 64)
    for number, value in enumerate((3, 9, 40, 64, 1, 17, 30)):
        got = _call(bench, number, function, base[: n.bind(value)]).item()
        assert got == value * (value - 1) + 2 * (value - 1), f"with n = {value} a run gives {got}"


def replays_parts(bench: Bench) -> None:
    """A kernel reads its slice of an input from the block of its own run."""

    @jit
    def function(a: Tensor) -> Tensor:
        part = a[8:24].contiguous()
        return ((part + 1).contiguous() * a[40:].sum(dtype="int32")).realize()

    for number in range(_REPLAYS):
        x = sample(dtypes.int32, 64, number)
        out = _call(bench, number, function, *_realized_on(bench, x))
        wanted = (x[8:24] + 1) * x[40:].sum(dtype=np.int32)
        assert (array_of(out) == wanted).all(), f"run {number} gives {out.tolist()}"


def replays_what_it_wrote(bench: Bench) -> None:
    """A run sees the writes of the run before, and its launches run in order."""
    state = tensor_of(np.ones(8), dtypes.int32, bench.name).realize()

    @jit
    def step(a: Tensor) -> Tensor:
        state.assign((state * 2 + a).contiguous())
        return (state - state.max()).contiguous().sum().realize()

    wanted = np.ones(8, np.int32)
    for number in range(_REPLAYS):
        x = sample(dtypes.int32, 8, number)
        wanted = wanted * 2 + x
        got = _call(bench, number, step, *_realized_on(bench, x)).item()
        assert got == (wanted - wanted.max()).sum(), f"run {number} gives {got}"
        assert (array_of(state) == wanted).all(), f"after run {number} the state is {state.tolist()}"


def replays_after_a_copy(bench: Bench) -> None:
    """A run sees the host's writes since the run before."""

    @jit
    def function(a: Tensor) -> Tensor:
        return ((a * 2).contiguous() + a.max()).realize()

    (a,) = _realized_on(bench, np.zeros(16))
    for number in range(_REPLAYS):
        x = sample(dtypes.int32, 16, number)
        a.assign(Tensor(memory_of(x.astype(np.int32)).tobytes(), dtype=dtypes.int32, device=bench.name))
        out = _call(bench, number, function, a.realize())
        assert (array_of(out) == x * 2 + x.max()).all(), f"run {number} read what was there before"


def replays_on_several_devices(bench: Bench) -> None:
    """A function of two devices is a graph on each, with copies between them."""
    second = bench.open(f"{bench.name.partition(':')[0]}:1").name

    @jit
    def function(a: Tensor) -> Tensor:
        here = ((a * 3).contiguous() + a.sum(dtype="int32")).contiguous()
        there = ((here.to(second) - 1).contiguous() * 2).contiguous()
        return ((there.to(bench.name) + here).contiguous() * 2).realize()

    for number in range(_REPLAYS):
        x = sample(dtypes.int32, 12, number)
        here = x * 3 + x.sum(dtype=np.int32)
        out = _call(bench, number, function, *_realized_on(bench, x))
        assert (array_of(out) == ((here - 1) * 2 + here) * 2).all(), f"run {number} gives {out.tolist()}"


_TESTS = (
    replays_other_inputs,
    replays_other_variables,
    replays_parts,
    replays_what_it_wrote,
    replays_after_a_copy,
)

CASES = (
    *(Case(f"core/graphs/{t.__name__.replace('_', '-')}", run=t, needs=("graphs",)) for t in _TESTS),
    Case(
        "full/graphs/replays-on-several-devices",
        run=replays_on_several_devices,
        needs=("graphs", "second-device"),
        alone=False,
    ),
)
