from collections.abc import Callable

import pytest

from plugrad import Tensor, Variable
from plugrad.dtype import dtypes
from plugrad.engine.sizes.skeleton import Hole, fill, skeleton_of
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

KernelOf = Callable[[Tensor], UOp]
Memory = Callable[..., Tensor]

GRAPHS: dict[str, Callable[[Memory], Tensor]] = {
    "elementwise": lambda m: (m(3, 4) * 2 + 1).relu(),
    "sum": lambda m: m(7).sum(),
    "product": lambda m: m(3, 4) @ m(4, 5),
    "padding": lambda m: m(5).pad(((1, 2),)).contiguous(),
    "gather": lambda m: m(6)[m(4).cast(dtypes.int32)],
    "scatter": lambda m: m(6).scatter_reduce(0, m(4).cast(dtypes.int32), m(4), "sum"),
    "maximum": lambda m: m(5, 6).argmax(1),
    "variable": lambda m: m(9)[: Variable("n", 1, 9).bind(4)].sum(),
    "negative zero": lambda m: m(3) - 0.0,
    "random": lambda m: Tensor.rand(5),
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_a_skeleton_with_its_numbers_is_the_kernel(
    graph: Callable[[Memory], Tensor], kernel_of: KernelOf, memory: Memory
) -> None:
    ast = kernel_of(graph(memory))
    assert simplify(fill(*skeleton_of(ast))) is ast


def test_sizes_and_positions_are_no_part_of_a_skeleton(kernel_of: KernelOf, memory: Memory) -> None:
    asts = [kernel_of(memory(30)[:n].sum()) for n in (5, 6)]
    (first, five), (second, six) = map(skeleton_of, asts)
    assert first == second
    assert five != six
    assert {(a, b) for a, b in zip(five, six, strict=True) if a != b} == {(5, 6)}
    places = [skeleton_of(kernel_of((memory(4, 6) * 2)[i]))[0] for i in (1, 2)]
    assert places[0] == places[1]


def test_numbers_that_are_equal_today_are_apart(kernel_of: KernelOf, memory: Memory) -> None:
    square, oblong = (skeleton_of(kernel_of(memory(n, 20).sum(1))) for n in (20, 7))
    assert square[0] == oblong[0]


def test_a_mean_of_a_power_of_two_is_a_quotient_too(kernel_of: KernelOf, memory: Memory) -> None:
    by_three, by_four = (skeleton_of(kernel_of(memory(n).mean())) for n in (3, 4))
    assert by_three[0] == by_four[0]
    assert 4.0 in [
        number for kind, number in zip(by_four[0].holes, by_four[1], strict=True) if kind is Hole.VALUE
    ]


def test_constants_that_are_no_factors_stay(kernel_of: KernelOf, memory: Memory) -> None:
    exponents = [skeleton_of(kernel_of(memory(3) ** power))[0] for power in (5.5, 6.5)]
    assert exponents[0] != exponents[1]
    fractions = [skeleton_of(kernel_of(memory(3) * factor))[0] for factor in (0.3, 0.7)]
    assert fractions[0] != fractions[1]


def test_axes_that_an_optimisation_has_taken_keep_their_size() -> None:
    def kernel(lanes: int) -> UOp:
        out = UOp(Ops.PARAM, dtypes.float32, (), (0, 8))
        r = UOp.range(lanes, 0, AxisType.UPCAST)
        return UOp.sink(out.index(r).store(UOp.const(dtypes.float32, 1.0), r), arg=KernelInfo("mine"))

    assert skeleton_of(kernel(2))[0] != skeleton_of(kernel(4))[0]
    assert fill(*skeleton_of(kernel(2))) is kernel(2)


@pytest.mark.parametrize("name", ["reduce_3_20", "map", "conv3x3_2", "a_007", "_"])
def test_names_are_given_back(name: str) -> None:
    out = UOp(Ops.PARAM, dtypes.float32, (), (0, 1)).index(UOp.const(dtypes.index, 0))
    ast = UOp.sink(out.store(UOp.const(dtypes.float32, 1.0)), arg=KernelInfo(name))
    assert fill(*skeleton_of(ast)) is ast
