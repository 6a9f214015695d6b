"""Recorded steps run again on other buffers."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from plugrad import Tensor, Variable, events
from plugrad.device import OpenDevice
from plugrad.engine import execute, storage
from plugrad.engine.capture import capturing
from plugrad.errors import ForkError
from plugrad.jit import replay as module
from plugrad.jit.replay import Replay
from plugrad.runtime.graph import GraphLaunch


def buffer(tensor: Tensor) -> storage.Buffer:
    return storage.buffer_of(storage.viewed(tensor.realize().uop))


def test_open_buffers_are_exchanged_and_others_stay() -> None:
    x, w = Tensor([1.0, 2.0]).realize(), Tensor([10.0, 100.0]).realize()
    with capturing() as capture:
        out = (x * w).realize()
    replay = Replay(capture.steps, [buffer(x), buffer(out)])
    other, result = Tensor([3.0, 4.0]), Tensor([0.0, 0.0])
    replay.run([buffer(other), buffer(result)], {})
    assert result.tolist() == [30.0, 400.0]
    assert out.tolist() == [10.0, 200.0]


def test_copies_between_devices_are_repeated() -> None:
    x = Tensor([1, 2], device="PYTHON").realize()
    with capturing() as capture:
        out = (x.to(None if Tensor([1]).device == "PYTHON" else Tensor([1]).device) + 1).realize()
    replay = Replay(capture.steps, [buffer(x), buffer(out)])
    other, result = Tensor([5, 6], device="PYTHON"), Tensor([0, 0])
    replay.run([buffer(other), buffer(result)], {})
    assert result.tolist() == [6, 7]


@pytest.mark.parametrize(("size", "titles"), [(1, []), (1 << 26, ["launching 1 again"])])
def test_replays_of_much_work_show_that_they_run(
    monkeypatch: pytest.MonkeyPatch, size: int, titles: list[str]
) -> None:
    shown: list[str] = []

    @contextmanager
    def progress(what: str, total: int | None) -> Generator[None]:
        assert total is None
        shown.append(what)
        yield

    monkeypatch.setattr(module, "progress", progress)
    monkeypatch.setattr(execute, "_SHOWN_FROM", (1 << 26) // size)
    x = Tensor([1.0, 2.0]).realize()
    with capturing() as capture:
        out = (x * 3 + 1).realize()
    Replay(capture.steps, [buffer(x), buffer(out)]).run([buffer(x), buffer(out)], {})
    assert shown == titles


def test_observers_see_the_launches_of_a_replay() -> None:
    x = Tensor([1.0, 2.0]).realize()
    with capturing() as capture:
        out = (x + 1).realize()
    replay = Replay(capture.steps, [buffer(x), buffer(out)])
    other, result, seen = Tensor([3.0, 4.0]), Tensor([0.0, 0.0]), []
    buffers = [buffer(other), buffer(result)]
    with events.subscribe(events.KernelEvent, seen.append):
        replay.run(buffers, {})
    assert len(seen) == 1
    assert seen[0].replayed
    assert result.tolist() == [4.0, 5.0]


class Graph:
    """A graph that any device could have: it launches one by one."""

    runs = 0

    def __init__(self, launches: Sequence[GraphLaunch]) -> None:
        self.launches = [[one.runner, list(one.handles), one.values, (), ()] for one in launches]
        for number, one in enumerate(launches):
            self.set_sizes(number, one.values, one.global_size, one.local_size)

    def set_handle(self, launch: int, slot: int, handle: Any) -> None:
        self.launches[launch][1][slot] = handle

    def set_sizes(self, launch: int, *sizes: tuple[int, ...]) -> None:
        self.launches[launch][2:] = sizes

    def __call__(self, wait: bool = False) -> float | None:
        Graph.runs += 1
        for runner, handles, *sizes in self.launches:
            runner(tuple(handles), *sizes)
        return None


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give all devices graphs; the list gets the length of each."""
    lengths: list[int] = []

    def graph(device: OpenDevice, launches: Sequence[GraphLaunch]) -> Graph:
        lengths.append(len(launches))
        return Graph(launches)

    monkeypatch.setattr(OpenDevice, "graph", graph)
    monkeypatch.setattr(Graph, "runs", 0)
    return lengths


def test_kernels_in_a_row_are_one_graph(graphs: list[int]) -> None:
    x = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
    with capturing() as capture:
        middle = (x * 2).realize()
        out = (middle + x).realize()
    replay = Replay(capture.steps, [buffer(x), buffer(out)])
    assert (graphs, replay.graphs) == ([2], 1)
    for start in (5.0, 6.0):
        other, result = Tensor([start] * 4), Tensor([0.0] * 4)
        replay.run([buffer(other), buffer(result)], {})
        assert result.tolist() == [3 * start] * 4
    assert Graph.runs == 2


def test_single_kernels_and_those_beside_copies_are_no_graph(graphs: list[int]) -> None:
    x = Tensor([1.0, 2.0], device="PYTHON").realize()
    with capturing() as capture:
        out = ((x + 1).to("NULL") + 1).realize()
    assert Replay(capture.steps, [buffer(x), buffer(out)]).graphs == 0
    assert graphs == []


def test_graphs_may_be_declined(graphs: list[int]) -> None:
    x = Tensor([1.0, 2.0]).realize()
    with capturing() as capture:
        ((x * 2).realize() + 1).realize()
    assert Replay(capture.steps, [], use_graphs=False).graphs == 0
    assert graphs == []


def test_the_variables_of_a_graph_get_their_values(graphs: list[int]) -> None:
    n = Variable("n", 1, 8)
    x = Tensor.arange(8).realize()
    with capturing() as capture:
        middle = (x[: n.bind(3)] * 2).realize()
        out = middle.sum().realize()
    replay = Replay(capture.steps, [buffer(out)], capture.values)
    assert graphs == [2]
    result = Tensor([0], dtype=out.dtype).reshape(())
    replay.run([buffer(result)], {"n": 5})
    assert result.item() == 2 * (0 + 1 + 2 + 3 + 4)


def test_a_forked_child_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    x = Tensor([1.0]).realize()
    with capturing() as capture:
        (x + 1).realize()
    replay = Replay(capture.steps, [])
    device = capture.steps[0].kernel.device
    monkeypatch.setattr(device, "_is_inherited", True)
    with pytest.raises(ForkError):
        replay.run([], {})


def test_a_launch_on_one_buffer_gets_the_handle_of_each_run() -> None:
    x = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
    with capturing() as capture:
        x.assign(x * 2).realize()
    replay = Replay(capture.steps, [buffer(x)], use_graphs=False)
    other = Tensor([1.0, 2.0, 3.0, 5.0]).realize()
    for factor in (2.0, 4.0):
        replay.run([buffer(other)], {})
        assert other.tolist() == [factor, 2 * factor, 3 * factor, 5 * factor]
    assert x.tolist() == [2.0, 4.0, 6.0, 8.0]
