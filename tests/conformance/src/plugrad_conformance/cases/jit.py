"""Core: recorded kernels on other inputs without listeners to events, on the fast path."""

import numpy as np

from plugrad import Tensor, Variable
from plugrad.dtype import dtypes
from plugrad.jit import jit
from plugrad_conformance.case import Case
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import array_of, sample, tensor_of


def replays_new_inputs(bench: Bench) -> None:
    """Each replay reads the inputs of its own call, and its result stays."""

    @jit
    def function(a: Tensor, b: Tensor) -> Tensor:
        return ((a * 3 + b).contiguous().sum(0) - a.max(0)).realize()

    kept: list[tuple[Tensor, np.ndarray]] = []  # pyright: ignore[reportMissingTypeArgument, reportUnknownVariableType]
    for call in range(7):
        x, y = (sample(dtypes.int32, 20, 10 * call + s).reshape(4, 5) for s in (1, 2))
        a, b = (tensor_of(v, dtypes.int32, bench.name).realize() for v in (x, y))
        if call < 3:
            out = function(a, b)
        else:
            with bench.unwatched():
                out = function(a, b)
        kept.append((out, (x * 3 + y).sum(0) - x.max(0)))
        assert (array_of(out) == kept[-1][1]).all(), (
            f"call {call} gives {out.tolist()}, not {kept[-1][1].tolist()}"
        )
    assert function.captures == 1, "the function was not captured"
    for call, (out, wanted) in enumerate(kept):
        assert (array_of(out) == wanted).all(), f"the result of call {call} changed in a later one"


def replays_assignments(bench: Bench) -> None:
    """A tensor that is assigned inside changes at every replay."""
    total = tensor_of(np.zeros(6), dtypes.int32, bench.name).realize()

    @jit
    def add(a: Tensor) -> Tensor:
        total.assign(total + a)
        return (total * 2).realize()

    wanted = np.zeros(6, np.int64)
    for call in range(8):
        x = sample(dtypes.int32, 6, call)
        wanted += x
        a = tensor_of(x, dtypes.int32, bench.name).realize()
        if call < 3:
            out = add(a)
        else:
            with bench.unwatched():
                out = add(a)
        assert array_of(out).tolist() == (wanted * 2).tolist(), (
            f"call {call} returned something else than twice the total"
        )
        assert array_of(total).tolist() == wanted.tolist(), f"after call {call} the total is wrong"


def replays_variables(bench: Bench) -> None:
    """A bound variable takes its value from each call."""
    base = tensor_of(np.arange(32), dtypes.int32, bench.name).realize()

    @jit
    def prefix(a: Tensor) -> Tensor:
        return (a.sum() * 2).realize()

    n = Variable("n", 1, 32)
    for call, value in enumerate((3, 9, 32, 1, 17, 30)):
        if call < 3:
            got = prefix(base[: n.bind(value)]).item()
        else:
            with bench.unwatched():
                got = prefix(base[: n.bind(value)]).item()
        assert got == value * (value - 1), f"with n = {value} a replay gives {got}"


def replays_random_numbers(bench: Bench) -> None:
    """Each replay draws new numbers: those that the program itself would have drawn."""

    @jit
    def draw() -> Tensor:
        return Tensor.rand(16, device=bench.name).realize()

    Tensor.manual_seed(5)
    replayed = [array_of(draw()) for _ in range(6)]
    Tensor.manual_seed(5)
    plain = [array_of(Tensor.rand(16, device=bench.name).realize()) for _ in range(6)]
    for call, (a, b) in enumerate(zip(replayed, plain, strict=True)):
        assert (a == b).all(), f"call {call} drew other numbers than the program would have"


def replays_chains(bench: Bench) -> None:
    """Kernels that feed each other run in order, twenty replays in a row without waiting."""

    @jit
    def steps(a: Tensor) -> Tensor:
        for _ in range(6):
            a = (a * 2 - a.sum(dtype="int32")).contiguous()
        return a.realize()

    x = sample(dtypes.int32, 8, 3)
    t = tensor_of(x, dtypes.int32, bench.name).realize()
    wanted = x.astype(np.int32)
    with np.errstate(all="ignore"):
        for _ in range(6):
            wanted = (wanted * 2 - wanted.sum(dtype=np.int32)).astype(np.int32)
    for _ in range(3):
        steps(t)
    with bench.unwatched():
        outputs = [steps(t) for _ in range(20)]
    assert all((array_of(out) == wanted).all() for out in outputs), "a replayed chain of kernels went wrong"


_TESTS = (replays_new_inputs, replays_assignments, replays_variables, replays_random_numbers, replays_chains)

CASES = tuple(
    Case(
        f"core/jit/{t.__name__.replace('_', '-')}",
        run=t,
        needs=("dtype:uint64",) if "random" in t.__name__ else (),
    )
    for t in _TESTS
)
