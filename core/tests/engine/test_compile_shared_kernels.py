"""From the second size on, one kernel serves small graphs of all sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, Variable
from plugrad.engine.compile import clear_loaded
from plugrad.events import CompileEvent, KernelEvent
from plugrad.jit import jit
from plugrad.settings import context
from plugrad_conformance.testing import recorded_events, temporary_cache

pytestmark = pytest.mark.usefixtures("cold_kernels")

Run = Callable[[], Any]


def _compiled(run: Run) -> tuple[int, Any]:
    """Return the number of kernels that `run` compiles, and its result."""
    with temporary_cache(), recorded_events(CompileEvent) as compiled:
        result = run()
    return len(compiled), result


def test_prefixes_of_all_lengths_share_a_kernel(device: str) -> None:
    array = np.arange(30, dtype=np.float32)
    x = Tensor(array, device=device).realize()
    count, sums = _compiled(lambda: [x[:n].sum().item() for n in range(1, 31)])
    assert sums == [array[:n].sum() for n in range(1, 31)]
    # of one element, of two, and of any other number
    assert count == 3


def test_elements_of_what_is_not_computed_share_a_kernel(device: str) -> None:
    array = np.arange(60, dtype=np.float32).reshape(20, 3)
    x = Tensor(array, device=device).realize() * 2
    count, rows = _compiled(lambda: [x[i].tolist() for i in range(20)])
    assert rows == (array * 2).tolist()
    assert count == 3
    count, elements = _compiled(lambda: [x[i, j].item() for i in range(20) for j in range(3)])
    assert elements == (array * 2).flatten().tolist()
    assert count == 2


def test_sentences_of_all_lengths_share_the_kernels_of_a_network(device: str) -> None:
    rng = np.random.default_rng(7)
    words, weight = (rng.standard_normal(shape).astype(np.float32) for shape in ((50, 16), (16, 8)))
    embedding, w = (Tensor(array, device=device).realize() for array in (words, weight))
    sentences = [rng.integers(0, 50, length) for length in range(3, 23)]

    def outputs(of: list[Any]) -> list[Any]:
        return [(embedding[Tensor(ids, device=device)] @ w).softmax(-1).mean(0).numpy() for ids in of]

    first, _ = _compiled(lambda: outputs(sentences[:1]))
    others, found = _compiled(lambda: outputs(sentences[1:]))
    assert others == first
    for ids, got in zip(sentences[1:], found, strict=True):
        weights = np.exp(words[ids] @ weight)
        np.testing.assert_allclose(got, (weights / weights.sum(-1, keepdims=True)).mean(0), rtol=1e-5)


def test_the_last_batch_takes_one_kernel_more_for_all_lengths(device: str) -> None:
    x = Tensor(np.arange(100, dtype=np.float32).reshape(25, 4), device=device).realize()

    def batches(size: int) -> list[Any]:
        return [(x[i : i + size] * 2).sum(1).tolist() for i in range(0, 25, size)]

    count, found = _compiled(lambda: [batches(size) for size in (8, 7, 6, 10)])
    assert [sum(rows, []) for rows in found] == [(x.numpy() * 2).sum(1).tolist()] * 4  # noqa: RUF017
    # batches of 8, all others, and the one row that is left of 25
    assert count == 3


def test_other_variables_keep_their_values(device: str) -> None:
    array = np.arange(12 * 40).reshape(12, 40)
    x = Tensor(array, device=device).realize()
    n = Variable("n", 1, 12)
    sizes = [(rows, columns) for columns in (5, 9, 31) for rows in (2, 7)]
    count, sums = _compiled(lambda: [x[: n.bind(r), :c].sum().item() for r, c in sizes])
    assert sums == [array[:r, :c].sum() for r, c in sizes]
    assert count == 2


def test_launches_are_of_the_size_that_was_asked_for(device: str) -> None:
    x = Tensor(np.arange(64, dtype=np.float32), device=device).realize()
    with temporary_cache(), recorded_events(KernelEvent) as ran:
        for n in (6, 10, 20):
            assert (x[:n] * 2).tolist() == (2.0 * np.arange(n)).tolist()
    assert [event.bytes_accessed for event in ran] == [8 * n for n in (6, 10, 20)]
    assert [event.flops for event in ran] == [6, 10, 20]


def test_jitted_functions_have_kernels_of_their_sizes(device: str) -> None:
    doubled = jit(lambda x: (x * 2).realize())
    inputs = [Tensor(np.arange(n, dtype=np.float32), device=device).realize() for n in (6, 10, 20)]
    count, _ = _compiled(lambda: [doubled(x).tolist() for x in inputs for _ in range(3)])
    assert count == 3


@pytest.mark.parametrize(("level", "expected"), [(1, 3), (2, 2)])
def test_large_kernels_are_shared_at_the_second_level(level: int, expected: int) -> None:
    array = np.ones((1024, 300), np.float32)
    x = Tensor(array, device="PYTHON").realize()
    with context(SHARE_SIZES=level):
        count, sums = _compiled(lambda: [x[:n].sum(1).tolist() for n in (800, 900, 1000)])
    assert sums == [[300.0] * n for n in (800, 900, 1000)]
    assert count == expected


@pytest.mark.parametrize("setting", [{"SHARE_SIZES": 0}, {"DETERMINISTIC": 1}, {"NOOPT": 1}])
def test_settings_ask_for_a_kernel_of_each_size(setting: dict[str, int]) -> None:
    x = Tensor(np.arange(30, dtype=np.float32), device="PYTHON").realize()
    with context(**setting):
        count, _ = _compiled(lambda: [x[:n].sum().item() for n in (5, 6, 7)])
    assert count == 3


def test_what_lies_on_disk_does_not_decide_which_kernels_run(device: str) -> None:
    x = Tensor(np.arange(30, dtype=np.float32), device=device).realize()

    def ran() -> list[str]:
        with recorded_events(KernelEvent) as events:
            for n in (5, 6, 7):
                x[:n].sum().realize()
        return [event.name for event in events]

    with temporary_cache():
        shared = ran()
        clear_loaded()
        with context(SHARE_SIZES=0):
            assert ran() != shared
        clear_loaded()
        assert ran() == shared
