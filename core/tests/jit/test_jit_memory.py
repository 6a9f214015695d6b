"""Jitted functions that read and write tensors outside."""

from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, Variable
from plugrad.jit import jit
from plugrad.nn import BatchNorm, Linear
from plugrad.nn.state import get_state_dict, load_state_dict
from plugrad_conformance.testing.replays import counted

CALLS = 6


@pytest.mark.parametrize("realized", [False, True])
def test_assigns_to_tensors_outside_are_repeated(realized: bool) -> None:
    seen = Tensor.zeros(3).realize()

    def function(x: Tensor) -> Tensor:
        seen.assign(seen + x)
        if realized:
            seen.realize()
        return x * 2

    jitted, runs = counted(function)
    for n in range(CALLS):
        assert jitted(Tensor([1.0, 2.0, 3.0])).tolist() == [2.0, 4.0, 6.0]
        assert seen.tolist() == [n + 1.0, 2 * n + 2.0, 3 * n + 3.0]
    assert len(runs) == 2


def test_batchnorm_tracks_its_statistics() -> None:
    plain, replayed = BatchNorm(3), BatchNorm(3)
    jitted, runs = counted(replayed)
    rng = np.random.default_rng(1)
    with Tensor.train():
        for _ in range(CALLS):
            x = rng.normal(size=(8, 3)).astype(np.float32)
            np.testing.assert_allclose(jitted(Tensor(x)).numpy(), plain(Tensor(x)).numpy(), rtol=1e-5)
    assert len(runs) < CALLS
    for name, tensor in get_state_dict(plain).items():
        np.testing.assert_allclose(get_state_dict(replayed)[name].numpy(), tensor.numpy(), rtol=1e-5)


def test_an_input_that_is_assigned_to_changes() -> None:
    function, runs = counted(lambda x, y: x.assign(x + y).sum())
    for n in range(CALLS):
        x = Tensor([n, n]).realize()
        assert function(x, Tensor([1, 2])).item() == 2 * n + 3
        assert x.tolist() == [n + 1, n + 2]
    assert len(runs) == 2


def test_values_that_wait_for_old_memory_are_computed_before_it_changes() -> None:
    w = Tensor([1.0]).realize()

    @jit
    def step(x: Tensor) -> None:
        w.assign(w + x)

    for n in range(CALLS):
        waiting = w * 10
        step(Tensor([1.0]))
        assert waiting.tolist() == [10.0 * (n + 1)]
        assert w.tolist() == [n + 2.0]


def test_values_that_waited_for_one_call_are_not_computed_again_by_the_next() -> None:
    w = Tensor([1.0]).realize()
    step = jit(lambda x: w.assign(w + x).sum())
    waiting: list[Tensor] = []
    for _ in range(CALLS):
        waiting.append(w * 10)
        step(Tensor([1.0]))
    assert [x.item() for x in waiting] == [10.0 * (n + 1) for n in range(CALLS)]
    assert step.captures == 1


def test_values_in_memory_that_a_call_overwrites_are_not_copied_again_by_the_next() -> None:
    x = Tensor([1.0]).realize()
    passed: list[tuple[Tensor, Tensor]] = []
    w = Tensor([0.0]).realize()

    @jit
    def step(y: Tensor) -> Tensor:
        return w.assign(w * 2 + y).sum()

    for n in range(CALLS):
        w.assign(x + n).realize()
        same = x + n
        passed.append((same, w * 1))
        step(Tensor([1.0]))
    assert [[y.item() for y in pair] for pair in passed] == [[n + 1.0] * 2 for n in range(CALLS)]


def test_an_assign_that_waits_is_done_before_a_replay() -> None:
    w = Tensor([1.0]).realize()
    function, runs = counted(lambda x: x * w)
    for n in range(CALLS):
        w.assign(Tensor([float(n)]))
        assert function(Tensor([2.0])).tolist() == [2.0 * n]
    assert len(runs) == 2


def test_a_tensor_outside_that_is_exchanged_is_noticed() -> None:
    model = {"w": Tensor([2.0]).realize()}
    function, runs = counted(lambda x: x * model["w"])
    for _ in range(CALLS):
        assert function(Tensor([3.0])).tolist() == [6.0]
    model["w"] = Tensor([5.0]).realize()
    for _ in range(CALLS):
        assert function(Tensor([3.0])).tolist() == [15.0]
    assert len(runs) == 4


def test_a_tensor_outside_that_is_exchanged_is_noticed_while_another_shows_its_memory() -> None:
    model = {"w": Tensor([2.0, 3.0]).realize()}
    kept = [model["w"][1:]]
    written = jit(lambda x: model["w"].assign(x).sum())
    read = jit(lambda: model["w"].flip(0))
    for n in range(CALLS):
        model["w"] = model["w"] + 1 if n > 3 else model["w"]
        kept.append(model["w"][1:])
        assert written(Tensor([n, 5.0])).item() == n + 5.0
        assert model["w"].tolist() == [n, 5.0]
        assert read().tolist() == [5.0, n]


def test_a_tensor_outside_that_comes_back_as_itself_can_be_exchanged() -> None:
    model = {"w": Tensor([1.0, 2.0])}
    function = jit(lambda: (model["w"], model["w"].sum()))
    for n in range(2 * CALLS):
        if n % 4 == 3:
            model["w"] = Tensor([n, 5.0])
        weights, total = function()
        assert weights is model["w"]
        assert total.item() == sum(weights.tolist())
        del weights


def test_numbers_outside_that_are_exchanged_are_noticed() -> None:
    model = {"w": Tensor.full((2,), 2.0)}
    twice = model["w"] * 2
    function = jit(lambda x: x + model["w"])
    for _ in range(CALLS):
        assert function(Tensor([1.0, 2.0])).tolist() == [3.0, 4.0]
    model["w"] = model["w"] + 1
    for _ in range(CALLS):
        assert function(Tensor([1.0, 2.0])).tolist() == [4.0, 5.0]
    assert twice.tolist() == [4.0, 4.0]


def test_a_result_without_kernels_is_of_what_its_tensor_is_now() -> None:
    w, other = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    function = jit(lambda: w[1:])
    for _ in range(CALLS):
        assert function().tolist() == [2.0]
    w.replace(other)
    for n in range(CALLS):
        function().assign([n])
        assert other.tolist() == [3.0, n]


def test_a_result_shows_memory_outside_where_a_variable_says() -> None:
    cache = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    row = jit(lambda at: cache[at])
    for n in range(CALLS):
        shown = row(Variable("at", 0, 2).bind(n % 3))
        assert shown.tolist() == cache[n % 3].tolist()
        shown.assign([n, n])
        assert cache[n % 3].tolist() == [n, n]


def test_a_loaded_state_is_used_by_replays() -> None:
    layer = Linear(2, 1, bias=False)
    function, runs = counted(layer)
    for _ in range(CALLS):
        function(Tensor([1.0, 2.0])).tolist()
    before = len(runs)
    load_state_dict(layer, {"weight": Tensor([[10.0, 100.0]])})
    assert function(Tensor([1.0, 2.0])).tolist() == [210.0]
    assert len(runs) == before


def test_a_result_shows_a_value_outside_that_was_computed_like_another() -> None:
    t = Tensor([1, 2])
    one, other = t * 2, t * 2
    Tensor.realize(one, other)
    function = jit(lambda: other.flip(0))
    for n in range(CALLS):
        out = function()
        out.assign([n, n + 1])
        assert (one.tolist(), other.tolist()) == ([2, 4], [n + 1, n])
        other.assign(t * 2)
        assert out.tolist() == [4, 2]


def test_a_value_outside_stays_what_it_is_when_what_it_was_made_of_changes() -> None:
    for tracked in (False, True):
        w = Tensor([1.0, 2.0]).realize()
        w.requires_grad = tracked
        waiting = w * 2
        function = jit(lambda x, value=waiting: x + value)
        for _ in range(CALLS):
            assert function(Tensor([0.0, 1.0])).tolist() == [2.0, 5.0]
        w.assign([5.0, 6.0])
        assert function(Tensor([0.0, 1.0])).tolist() == [2.0, 5.0]
        w.realize()
        assert function(Tensor([0.0, 1.0])).tolist() == [2.0, 5.0]


def test_numbers_outside_that_become_memory_are_noticed() -> None:
    z = Tensor.zeros(2)
    function = jit(lambda x: x + z)
    for _ in range(CALLS):
        assert function(Tensor([1.0, 2.0])).tolist() == [1.0, 2.0]
    z.assign([5.0, 6.0])
    for _ in range(CALLS):
        assert function(Tensor([1.0, 2.0])).tolist() == [6.0, 8.0]
    z[0] = 0.0
    assert function(Tensor([1.0, 2.0])).tolist() == [1.0, 8.0]


def test_what_was_computed_outside_is_computed_anew_when_it_would_be_something_else() -> None:
    t = Tensor([1.0, 2.0]).realize()
    # the function writes down the same, and finds it in memory
    held = (t * 2, t * 2 + 1)
    held[0].realize()
    function = jit(lambda x: x + t * 2)
    for _ in range(CALLS):
        assert function(Tensor([0.0, 0.0])).tolist() == [2.0, 4.0]
    t.assign([5.0, 6.0])
    for _ in range(CALLS):
        assert function(Tensor([0.0, 0.0])).tolist() == [10.0, 12.0]


@pytest.mark.parametrize("make", [list[float], lambda data: np.array(data, np.float32)])
def test_data_of_python_that_is_written_to_is_there_again_at_each_call(make: Any) -> None:
    def part(x: Tensor) -> Tensor:
        t = Tensor(make([1.0, 2.0, 3.0]))
        t[0] = x
        return t

    def whole(x: Tensor) -> Tensor:
        t = Tensor(make([1.0, 2.0, 3.0])).realize()
        shown = t[1:]
        t += x
        shown += 1
        return t.sum() * 1

    functions = jit(part), jit(whole)
    for n in range(CALLS):
        first, total = [function(Tensor(float(n)).realize()) for function in functions]
        assert first.tolist() == [n, 2.0, 3.0]
        assert total.item() == 8 + 3 * n


def test_results_computed_like_a_value_outside_are_computed_anew_when_they_would_be_something_else() -> None:
    w = Tensor([1.0, 2.0]).realize()
    held = w * 2
    function = jit(lambda: (w * 2, held))
    results = [function() for _ in range(CALLS)]
    w.assign([5.0, 6.0])
    results.append(function())
    assert [[x.tolist() for x in pair] for pair in results] == [
        *[[[2.0, 4.0], [2.0, 4.0]]] * CALLS,
        [[10.0, 12.0], [2.0, 4.0]],
    ]


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        (lambda w: w, [7.0, 8.0]),
        (lambda w: w[1:], [8.0]),
        (lambda w: w.pad((1, 0)), [0.0, 7.0, 8.0]),
        (lambda w: Tensor.cat(w), [7.0, 8.0]),
    ],
)
def test_a_result_without_kernels_follows_what_it_shows(show: Any, expected: list[float]) -> None:
    w = Tensor([1.0, 2.0]).realize()
    function = jit(lambda: show(w))
    for _ in range(CALLS):
        function()
    w.assign([7.0, 8.0])
    assert function().tolist() == expected
    w.realize()
    assert function().tolist() == expected


def test_results_that_show_one_value_share_its_memory() -> None:
    @jit
    def function(x: Tensor) -> tuple[Tensor, ...]:
        padded, twice = x.pad((1, 0)), x * 2
        return padded, padded.flip(0), twice, twice[1:], x * 2

    for _ in range(CALLS):
        x = Tensor([1, 2])
        padded, flipped, twice, part, again = function(x)
        flipped.assign([7, 8, 9])
        part.assign([0])
        assert (x.tolist(), padded.tolist(), flipped.tolist()) == ([1, 2], [9, 8, 7], [7, 8, 9])
        assert (twice.tolist(), part.tolist(), again.tolist()) == ([2, 0], [0], [2, 4])
