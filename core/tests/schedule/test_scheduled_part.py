import pytest

from plugrad.dtype import dtypes
from plugrad.schedule import create, scheduled_part
from plugrad.schedule.create import Schedule, create_schedule
from plugrad.schedule.fusion import CostModel
from plugrad.schedule.parts import GraphPart, Input, PartKey
from plugrad.schedule.scheduled_part import ScheduledPart
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

COST = {"PYTHON": CostModel(cores=2, runs_loops=True, row_bytes=1 << 20)}


class Known:
    """A table of parts that notes what it is asked for."""

    def __init__(self) -> None:
        self.parts: dict[PartKey, ScheduledPart] = {}

    def get(self, key: PartKey) -> ScheduledPart | None:
        return self.parts.get(key)

    def put(self, key: PartKey, part: ScheduledPart) -> None:
        self.parts[key] = part


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def network(layers: int) -> UOp:
    """Return a deep network whose layers share the memory of their biases, and update it."""
    x, biases = buffer(8, 64), buffer(64 * layers)
    for layer in range(layers):
        w, bias = buffer(64, 64), biases.shrink(((64 * layer, 64 * layer + 64),))
        product = (
            x.reshape((8, 1, 64)).expand((8, 64, 64)) * w.reshape((1, 64, 64)).expand((8, 64, 64))
        ).reduce_axis(Ops.ADD, (2,))
        spread = bias.reshape((1, 64)).expand((8, 64))
        x = ((product.reshape((8, 64)) + spread).exp2() * x.sin()).contiguous()
    total = x.reduce_axis(Ops.ADD, (0, 1)).reshape((1,)).expand((64 * layers,))
    return UOp.sink(x, biases.assign(biases - total))


def schedule(sink: UOp, known: Known | None = None) -> Schedule:
    return create_schedule(sink, COST, "PYTHON", known=known)


def test_parts_have_the_kernels_that_the_whole_graph_has(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = network(5)
    by_parts = schedule(sink)

    def unsplit(graph: UOp, stored: frozenset[UOp], takes_parts: object) -> list[GraphPart]:
        nodes = graph.toposort()
        return [
            GraphPart(
                graph, stored, {u: u for u in nodes}, {u: Input(u, u) for u in nodes if u.op is Ops.BUFFER}
            )
        ]

    monkeypatch.setattr(create, "split", unsplit)
    whole = schedule(sink)
    assert by_parts == whole


def test_equal_parts_are_scheduled_once() -> None:
    known = Known()
    made = schedule(network(5), known)
    # the layers, and the update
    assert len(known.parts) == 2
    assert len(made.calls) > len({call.ast for call in made.calls})


def test_a_known_part_is_not_scheduled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Known()
    first = schedule(network(3), known)
    monkeypatch.setattr(scheduled_part, "Rangeify", None)
    again = schedule(network(3), known)
    assert [call.ast for call in again.calls] == [call.ast for call in first.calls]
    assert all(part.walk is None for part in known.parts.values())
