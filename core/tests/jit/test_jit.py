"""The JIT: replays do what the function does, and what they cannot do is refused."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, context
from plugrad.device import OpenDevice
from plugrad.errors import JitError
from plugrad.jit import TinyJit, jit
from plugrad.runtime.buffer import live_buffers
from plugrad.settings import settings
from plugrad_conformance.testing.replays import counted

CALLS = 6


def test_replays_compute_what_the_function_computes() -> None:
    function, runs = counted(lambda x, y: (x + y * 2).sum(1))
    rng = np.random.default_rng(1)
    for _ in range(CALLS):
        x, y = (rng.normal(size=(3, 4)).astype(np.float32) for _ in range(2))
        np.testing.assert_allclose(function(Tensor(x), Tensor(y)).numpy(), (x + y * 2).sum(1), rtol=1e-5)
    assert len(runs) == 2
    assert function.captures == 1


def test_several_kernels_and_a_realize_between_them() -> None:
    def function(x: Tensor) -> Tensor:
        total = x.sum(0).realize()
        return (x - total).max(1)

    jitted, runs = counted(function)
    for n in range(CALLS):
        x = np.arange(12, dtype=np.float32).reshape(3, 4) * (n + 1)
        np.testing.assert_allclose(jitted(Tensor(x)).numpy(), (x - x.sum(0)).max(1), rtol=1e-6)
    assert len(runs) == 2


def test_each_result_has_memory_of_its_own() -> None:
    function = jit(lambda x: x + 1)
    results = [function(Tensor([n])) for n in range(CALLS)]
    assert [r.tolist() for r in results] == [[n + 1] for n in range(CALLS)]


def test_a_capture_keeps_no_copy_of_its_inputs() -> None:
    function = jit(lambda x: x.sum())
    x = Tensor.ones(1 << 16).contiguous().realize()
    held = memory_held()
    for _ in range(CALLS):
        function(x)
    assert function.captures == 1
    assert memory_held() - held < x.nbytes


def memory_held() -> int:
    gc.collect()
    return sum(b.nbytes for b in live_buffers() if b.handle is not None)


def test_a_capture_keeps_no_input() -> None:
    function = jit(lambda x: x * 2)
    inputs: list[weakref.ref[Tensor]] = []
    for n in range(CALLS):
        x = Tensor([n]).realize()
        inputs.append(weakref.ref(x))
        function(x)
        del x
    assert [ref() for ref in inputs] == [None] * CALLS


def test_the_default_device_is_not_looked_up_for_inputs_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    function = jit(lambda x: x + 1)
    x = Tensor([1, 2], device="PYTHON").realize()
    monkeypatch.setenv("DEVICE", "NOWHERE")
    for _ in range(CALLS):
        assert function(x).tolist() == [2, 3]


def test_level_2_uses_no_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(OpenDevice, "graph", lambda device, launches: asked.append(len(launches)))
    for level in (2, 1):
        function = jit(lambda x: (x.sum(0).realize() + x).sum())
        with context(JIT=level):
            for n in range(CALLS):
                assert function(Tensor([n, n + 1])).item() == 3 * (2 * n + 1)
    assert asked == [2]


def test_arguments_and_results_are_trees() -> None:
    def function(batch: dict[str, Any], *, scale: Tensor) -> dict[str, Any]:
        first, (second, third) = batch["xs"]
        return {"sum": first + second, "more": [third * scale, (scale, 7)], "none": None}

    jitted, runs = counted(function)
    for n in range(CALLS):
        xs = Tensor([n]), [Tensor([n + 1]), Tensor([n + 2])]
        out = jitted({"xs": xs}, scale=Tensor([10]))
        assert out["sum"].tolist() == [2 * n + 1]
        assert out["more"][0].tolist() == [10 * (n + 2)]
        assert out["more"][1][0].tolist() == [10]
        assert out["more"][1][1] == 7
        assert out["none"] is None
    assert len(runs) == 2


def test_methods_are_jitted_for_each_instance() -> None:
    class Model:
        def __init__(self, by: int) -> None:
            self.by = Tensor([by]).realize()

        @jit
        def __call__(self, x: Tensor) -> Tensor:
            return x * self.by

    models = [Model(2), Model(3)]
    for n in range(CALLS):
        assert [model(Tensor([n])).tolist() for model in models] == [[2 * n], [3 * n]]
    assert Model.__call__.captures == 2


def test_an_unchanged_argument_comes_back_as_it_is() -> None:
    function = jit(lambda x, y: (x, x + y))
    for n in range(CALLS):
        x = Tensor([n])
        out = function(x, Tensor([1]))
        assert out[0].tolist() == [n]
        assert out[1].tolist() == [n + 1]


def test_a_tensor_outside_comes_back_as_itself() -> None:
    total = Tensor([0]).realize()

    @jit
    def function(x: Tensor) -> Tensor:
        return total.assign(total + x)

    for n in range(CALLS):
        assert function(Tensor([1])) is total
        assert total.tolist() == [n + 1]


def test_an_exception_of_the_function_comes_through() -> None:
    function = jit(lambda x, fail: 1 / 0 if fail else x + 1)
    for fail in (True, False, False, False, True):
        if fail:
            with pytest.raises(ZeroDivisionError):
                function(Tensor([1]), fail)
        else:
            assert function(Tensor([1]), fail).tolist() == [2]


def test_jit_0_runs_the_function() -> None:
    function, runs = counted(lambda x: x + 1)
    with context(JIT=0):
        for _ in range(CALLS):
            assert function(Tensor([1])).tolist() == [2]
    assert len(runs) == CALLS


def test_settings_that_change_between_calls_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    function, runs = counted(lambda x: x + 1)
    for _ in range(CALLS):
        function(Tensor([1]))
    assert len(runs) == 2
    with context(CHECK=1):
        function(Tensor([1]))
    assert len(runs) == 3
    function(Tensor([1]))
    assert len(runs) == 3
    monkeypatch.setenv("JIT", "0")
    settings.refresh()
    try:
        function(Tensor([1]))
        assert len(runs) == 4
    finally:
        monkeypatch.delenv("JIT")
        settings.refresh()
    function(Tensor([1]))
    assert len(runs) == 4


def test_a_jitted_function_inside_of_another_just_runs() -> None:
    inner, runs = counted(lambda x: x + 1)
    outer = jit(lambda x: inner(x) * 2)
    for n in range(CALLS):
        assert outer(Tensor([n])).tolist() == [2 * n + 2]
    assert len(runs) == 2
    assert inner.captures == 0


def test_reset_forgets_captures() -> None:
    function, runs = counted(lambda x: x + 1)
    for _ in range(3):
        function(Tensor([1]))
    function.reset()
    assert function.captures == 0
    assert function(Tensor([1])).tolist() == [2]
    assert len(runs) == 3


def test_a_jitted_function_keeps_its_name_and_docstring() -> None:
    @jit
    def function(x: Tensor) -> Tensor:
        """Do nothing."""
        return x

    assert isinstance(function, TinyJit)
    assert function.__name__ == "function"
    assert function.__doc__ == "Do nothing."


def test_what_is_no_function_is_refused() -> None:
    wrong: Any
    for wrong in (None, 3, "a"):
        with pytest.raises(JitError, match=r"^jit: .* is no function. Pass what computes"):
            jit(wrong)


def test_a_jitted_function_prints_its_name_and_captures() -> None:
    @jit
    def double(x: Tensor) -> Tensor:
        return x * 2

    for _ in range(3):
        double(Tensor([1.0]).realize())
    assert repr(double).startswith("<TinyJit of test_a_jitted_function_prints")
    assert repr(double).endswith("double: 1 captures>")
