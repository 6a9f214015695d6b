from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, events
from plugrad.autodiff import with_rule
from plugrad.device import Device
from plugrad.engine import realize as realizing
from plugrad.engine import storage
from plugrad.engine.compile import clear_loaded
from plugrad.engine.realize import realize
from plugrad.engine.schedule_cache import clear_schedules, recipes
from plugrad.events import KernelEvent
from plugrad.runtime.buffer import live_buffers
from plugrad.settings import context
from plugrad.uop.uop import UOp
from plugrad_conformance.testing import recorded_events
from plugrad_conformance.testing.memory import get, put


@pytest.fixture(autouse=True)
def unknown(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # observers that DEBUG or GlobalCounters left ask for plans, which known forms have none of
    monkeypatch.setattr(events, "_subscriptions", ())
    monkeypatch.setattr(events, "active", False)
    clear_schedules()
    yield
    clear_schedules()


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The plans that were made."""
    made: list[object] = []
    make: Any = realizing.make_plan

    def count(*args: Any, **kwargs: Any) -> object:
        made.append(make(*args, **kwargs))
        return made[-1]

    monkeypatch.setattr(realizing, "make_plan", count)
    return made


def function_of(out: UOp, x: UOp) -> UOp:
    """Return `out` with a gradient of its own: a rule that no other graph has."""
    return with_rule([out], [x], lambda gradients, function: gradients)[0]


GRAPHS: dict[str, Callable[[UOp, UOp], list[UOp]]] = {
    "one kernel": lambda x, y: [x + y],
    "two results": lambda x, y: [x + y, x * y],
    "one value twice": lambda x, y: [x + y, x + y],
    "a value below": lambda x, y: [(x + y).contiguous() * 2],
    "both": lambda x, y: [(x + y).contiguous(), (x + y).contiguous() * 2],
    "a detached value": lambda x, y: [(x + y).detach()],
    "of a detached value": lambda x, y: [(x + y).detach() * x.detach()],
    "a function": lambda x, y: [function_of(x + y, x) * y],
    "memory in a function": lambda x, y: [function_of((x + y).contiguous(), x), function_of(x + y, x) * 2],
    "a function that gives memory": lambda x, y: [function_of(x, x) + function_of(y, x)],
    "a view": lambda x, y: [(x + y).permute((1, 0)), x.permute((1, 0))],
    "reshaped": lambda x, y: [(x + y).reshape((12,))],
    "a slice": lambda x, y: [x.shrink(((1, 2), (0, 4))) * y.shrink(((2, 3), (0, 4)))],
    "a copy": lambda x, y: [put(get(y) + 1, "PYTHON:1").copy_to_device(x.device or "") * x],
    "a copy that is asked for": lambda x, y: [
        moved := put(get(x) * 2, "PYTHON:1").copy_to_device("PYTHON"),
        moved + 1,
    ],
    "nothing": lambda x, y: [x.shrink(((1, 1), (0, 4))) + 1, x + 1],
}


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_graph_of_a_known_form_gives_what_a_plan_gives(graph: str, device: str, plans: list[Any]) -> None:
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for round_ in range(3):
        x, y = (put(each + round_, device) for each in values)
        roots = GRAPHS[graph](x, y)
        realize(roots, device)
        shown = [storage.is_view(storage.resolve(root)) for root in roots]
        with context(NOOPT=1):
            again = [put(each + round_, device) for each in values]
            expected = GRAPHS[graph](*again)
            realize(expected, device)
        assert shown == [storage.is_view(storage.resolve(root)) for root in expected]
        for root, wanted in zip(roots, expected, strict=True):
            np.testing.assert_array_equal(get(root), get(wanted))
    # a plan each for the two ways
    assert len(plans) == 2


def test_each_slice_of_memory_is_computed_by_one_recipe(device: str, plans: list[Any]) -> None:
    x = np.arange(40, dtype=np.float32).reshape(10, 4)
    rows = put(x, device)
    for i, j in [(3, 4), (5, 4), (4, 5), (0, 9)]:
        total = rows.shrink(((i, i + 1), (0, 4))) - rows.shrink(((j, j + 1), (0, 4))) * 2
        realize([total], device)
        np.testing.assert_array_equal(get(total)[0], x[i] - x[j] * 2)
    assert len(plans) == 1


def test_equal_graphs_share_the_memory_of_a_recipe() -> None:
    for _ in range(2):
        x = put([1.0, 2.0])
        y, z = x + 1, x + 1
        realize([y])
        assert storage.resolve(y) is storage.resolve(z)


def test_results_of_two_runs_lie_in_memory_of_their_own() -> None:
    x = put([1.0, 2.0])
    first, second, third = (x + 0.5, x * 0.5, x + 0.5 * 3)
    realize([first])
    y = put([5.0, 6.0])
    again = y + 0.5
    realize([again])
    np.testing.assert_array_equal(get(first), [1.5, 2.5])
    np.testing.assert_array_equal(get(again), [5.5, 6.5])
    assert second is not third


def test_a_recipe_keeps_no_memory() -> None:
    before = len([b for b in live_buffers("PYTHON") if b.handle is not None])
    for _ in range(3):
        ((Tensor([1.0, 2.0], device="PYTHON") + 1).contiguous().exp() * 3).realize()
    assert len(recipes)
    assert len([b for b in live_buffers("PYTHON") if b.handle is not None]) == before


def test_whoever_listens_hears_of_kernels_of_a_known_form() -> None:
    with recorded_events(KernelEvent) as kernels:
        realize([put([1.0]) + 1])
    realize([put([1.0]) + 1])
    with recorded_events(KernelEvent) as again:
        realize([put([1.0]) + 1])
    assert [event.name for event in again] == [event.name for event in kernels]


def test_other_settings_make_other_kernels(plans: list[Any]) -> None:
    for settings in ({}, {"NOOPT": 1}, {"DETERMINISTIC": 1}, {}, {"NOOPT": 1}):
        with context(**settings):
            realize([put([1.0]) + 1])
    assert len(plans) == 3


def test_kernels_that_are_forgotten_are_in_no_recipe() -> None:
    realize([put([1.0]) + 1])
    assert len(recipes)
    clear_loaded()
    assert not len(recipes)


def test_what_earlier_launches_computed_is_kept_when_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def graph() -> tuple[UOp, UOp]:
        x = put([1.0, 2.0])
        return (x + 1).contiguous(), (x + 1).contiguous().reshape((2, 1)).expand((2, 5000)).contiguous()

    realize(graph())
    (recipe,) = recipes._entries.values()  # pyright: ignore[reportPrivateUsage]
    kernel = recipe.steps[-1][0]
    assert kernel is not None
    runs: list[object] = []

    def fail(*_: object) -> None:
        runs.append(_)
        raise KeyboardInterrupt

    first, second = graph()
    with monkeypatch.context() as patch:
        patch.setattr(type(kernel.runner), "__call__", _failing(type(kernel.runner), kernel.runner, fail))
        with pytest.raises(KeyboardInterrupt):
            realize([first, second])
    assert runs
    assert storage.is_view(storage.resolve(first))
    assert not storage.is_view(storage.resolve(second))
    realize([first, second])
    np.testing.assert_array_equal(get(second)[:, 7], [2, 3])


def _failing(cls: Any, runner: object, fail: Callable[..., None]) -> Any:
    call = cls.__call__

    def run(self: object, *args: Any) -> Any:
        return fail() if self is runner else call(self, *args)

    return run


def test_tensors_with_gradients_are_as_they_were() -> None:
    for value in (1.0, 2.0, 3.0):
        w = Tensor([value, 2.0], requires_grad=True, device=Device.DEFAULT)
        loss = (w * w).sum().realize()
        loss.backward()
        assert w.grad is not None
        assert w.grad.tolist() == [2 * value, 4.0]
