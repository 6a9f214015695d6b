"""Tests of graphs as expressions for people."""

import pytest

from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

i, n = UOp.variable("i", 0, 9), UOp.variable("n", 1, 5)
x = UOp(Ops.PARAM, dtypes.float32, (), (1, 16))
k = UOp.range(4, 0, AxisType.REDUCE)


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        ((i + 1) * 4 + i // 2, "(i+1)*4+i//2"),
        (i - (n + 1), "i+(n+1)*-1"),
        (i.alu(Ops.SUB, n.alu(Ops.SUB, i)), "i-(n-i)"),
        ((i < n) & (n < 4), "(i < n) & (n < 4)"),
        ((i < n).where(i, 0), "i if i < n else 0"),
        ((i < n).where(i, 0) * 2, "(i if i < n else 0)*2"),
        (n.bind(3) + 1, "n+1"),
        (x.index(k * 2).load().reduce(Ops.ADD, k), "sum(p1[r0*2], r0)"),
        (x.index(i).store(x.index(n).load().cast(dtypes.float16), k), "p1[i] = float16(p1[n])"),
        (x.index(i).load().exp2().maximum(-x.index(n).load()), "max(exp2(p1[i]), -p1[n])"),
    ],
)
def test_graphs_are_written_as_python_with_as_few_parentheses_as_needed(graph: UOp, text: str) -> None:
    assert graph.render(simplify=False) == text


def test_what_is_rendered_is_simplified_unless_asked_otherwise() -> None:
    assert (i * 2 + i * 3).simplify() is i * 5
    assert (i * 2 + i * 3).render() == "i*5"


def test_a_graph_that_uses_nodes_again_and_again_is_cut() -> None:
    graph = i
    for _ in range(200):
        graph = (graph + n) * graph
    assert len(graph.render(simplify=False)) < 3000
