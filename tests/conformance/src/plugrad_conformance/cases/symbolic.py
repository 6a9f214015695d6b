"""Core: shapes and places that are variables, bound one after another in a kernel."""

import numpy as np

from plugrad import Tensor, Variable
from plugrad.dtype import dtypes
from plugrad.engine.compile import compile_kernels
from plugrad.uop import Ops
from plugrad_conformance.case import Case
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import array_of, sample, tensor_of


def _numbers(bench: Bench, shape: tuple[int, ...]) -> tuple[Tensor, np.ndarray]:  # pyright: ignore[reportMissingTypeArgument, reportUnknownParameterType]
    x = sample(dtypes.int32, int(np.prod(shape))).reshape(shape)
    return tensor_of(x, dtypes.int32, bench.name).realize(), x


def prefix_sums(bench: Bench) -> None:
    """A reduction over a variable number of elements."""
    t, x = _numbers(bench, (64,))
    n = Variable("n", 1, 64)
    for value in (1, 2, 17, 63, 64, 5):
        got = t[: n.bind(value)].sum().item()
        assert got == x[:value].sum(), f"a sum of the first {value} is {got}, not {x[:value].sum()}"


def places(bench: Bench) -> None:
    """A variable as an index, and as both ends of a slice."""
    t, x = _numbers(bench, (20, 5))
    i = Variable("i", 0, 16)
    for value in (0, 7, 16):
        bound = i.bind(value)
        assert t[bound].tolist() == x[value].tolist(), f"row {value} is another row"
        assert t[bound : bound + 4].sum(0).tolist() == x[value : value + 4].sum(0).tolist(), (
            f"rows from {value} on are wrong"
        )


def elementwise(bench: Bench) -> None:
    """An output of variable size, padded back to a fixed one."""
    t, x = _numbers(bench, (40,))
    n = Variable("n", 1, 40)
    for value in (1, 39, 40, 12):
        got = array_of((t[: n.bind(value)] * 3).pad(((0, 40 - n.bind(value)),)).reshape(40).realize())
        assert got.tolist() == [*(x[:value] * 3), *[0] * (40 - value)], f"{value} elements of 40 went wrong"


def two_variables(bench: Bench) -> None:
    """Two variables in one kernel keep their roles: what one bounds, the other does not."""
    t, x = _numbers(bench, (12, 30))
    rows, columns = Variable("rows", 1, 12), Variable("columns", 1, 30)
    for r, c in ((1, 30), (12, 1), (3, 20), (7, 7), (12, 30)):
        got = t[: rows.bind(r), : columns.bind(c)].sum().item()
        assert got == x[:r, :c].sum(), f"a sum over {r} rows and {c} columns is {got}, not {x[:r, :c].sum()}"


def names_out_of_order(bench: Bench) -> None:
    """Variables reach a kernel by name, not by the order in which they were used."""
    t, x = _numbers(bench, (10, 10))
    z, a = Variable("z", 0, 9), Variable("a", 0, 9)
    for first, second in ((2, 8), (9, 0)):
        got = (t[z.bind(first), a.bind(second)] * 2).item()
        expected = x[first, second] * 2
        assert got == expected, f"twice element ({first}, {second}) is {got}, not {expected}"


def one_kernel_for_all_values(bench: Bench) -> str:
    """Other values need no other kernel."""
    t, _ = _numbers(bench, (32,))
    n = Variable("n", 1, 32)
    kernels = set()
    for value in (3, 9, 32):
        asts = [s.ast for s in t[: n.bind(value)].sum().schedule() if s.ast.op is Ops.SINK]
        kernels.update(compile_kernels(bench.device, asts))
    t[: n.bind(4)].sum().realize()
    assert len(kernels) == 1, f"three values of one variable made {len(kernels)} kernels"
    return "one kernel"


def matmul(bench: Bench) -> None:
    """A product whose inner size is a variable, as in attention over a growing context."""
    a, x = _numbers(bench, (6, 24))
    b, y = _numbers(bench, (24, 5))
    n = Variable("n", 1, 24)
    for value in (1, 13, 24):
        k = n.bind(value)
        got = array_of((a[:, :k] @ b[:k]).realize())
        assert (got == x[:, :value] @ y[:value]).all(), f"a product over {value} inner elements is wrong"


_TESTS = (
    prefix_sums,
    places,
    elementwise,
    two_variables,
    names_out_of_order,
    one_kernel_for_all_values,
    matmul,
)

CASES = tuple(Case(f"core/symbolic/{t.__name__.replace('_', '-')}", run=t) for t in _TESTS)
