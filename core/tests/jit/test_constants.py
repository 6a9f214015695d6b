"""Constant steps of a trace run once, and again when what they read was written."""

import ctypes
import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Device, Tensor, events, memory, nn
from plugrad.jit import TinyJit, jit
from plugrad.runtime.buffer import live_buffers
from plugrad.runtime.origin import CONSTANT

CALLS = 3


def weights(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32)).realize()


def transposed(w: Tensor) -> Tensor:
    return w.permute(1, 0).contiguous()


def launched(call: Callable[[], Any]) -> int:
    """Return the number of kernels that a call launches."""
    seen: list[events.KernelEvent] = []
    with events.subscribe(events.KernelEvent, seen.append):
        call()
    return len(seen)


def captured(function: Callable[[Tensor], Tensor], x: Tensor) -> TinyJit[[Tensor], Tensor]:
    jitted = jit(function)
    for _ in range(CALLS):
        jitted(x)
    assert jitted.captures == 1
    return jitted


def constants() -> list[int]:
    gc.collect()
    return [b.nbytes for b in live_buffers() if b.label == CONSTANT and b.handle is not None]


X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)).realize()


def test_what_is_computed_from_weights_alone_runs_once() -> None:
    w = weights(3, 4)
    function = captured(lambda x: x + transposed(w)[0, :3], X)
    assert launched(lambda: function(X)) == 1
    np.testing.assert_allclose(function(X).numpy(), X.numpy() + w.numpy()[:, 0])


def test_chains_of_constant_steps_run_once() -> None:
    w = weights(3, 4)
    function = captured(lambda x: x + (transposed(w) * 2 + transposed(w).sum()).contiguous()[0, :3], X)
    assert launched(lambda: function(X)) == 1
    expected = X.numpy() + w.numpy()[:, 0] * 2 + w.numpy().sum()
    np.testing.assert_allclose(function(X).numpy(), expected, rtol=1e-5)


def test_parts_of_what_is_computed_once_are_read_where_it_lies() -> None:
    w, x = weights(16, 4), Tensor.ones(16).realize()
    function = captured(lambda x: x * transposed(w)[1] + transposed(w)[3], x)
    assert launched(lambda: function(x)) == 1
    for _ in range(3):
        w.assign(w * 2).realize()
        np.testing.assert_allclose(function(x).numpy(), w.numpy()[:, 1] + w.numpy()[:, 3])


def test_values_realized_inside_of_the_function_run_once() -> None:
    w = weights(3, 4)
    function = captured(lambda x: x + transposed(w).realize()[0, :3], X)
    assert launched(lambda: function(X)) == 1


def assign(w: Tensor) -> None:
    w.assign(w * 2 + 1)


def assign_and_realize(w: Tensor) -> None:
    w.assign(w * 2 + 1).realize()


def write_a_view(w: Tensor) -> None:
    w[1].assign(Tensor([5.0, 6.0, 7.0, 8.0]))


def set_an_item(w: Tensor) -> None:
    w[0, 0] = 9.0


def load(w: Tensor) -> None:
    nn.state.load_state_dict({"w": w}, {"w": Tensor.ones(3, 4)}, verbose=False)


def optimize(w: Tensor) -> None:
    w.grad = Tensor.ones(3, 4)
    with Tensor.train():
        nn.optim.SGD([w], lr=0.5).step()


def write_by_a_replay(w: Tensor) -> None:
    step = jit(lambda x: w.assign(w + x).sum())
    for n in range(CALLS + 1):
        step(Tensor([float(n)]))


def exchange_memory(w: Tensor) -> None:
    w.replace(Tensor.full((3, 4), 3.0).contiguous().realize())


WRITES = (
    assign,
    assign_and_realize,
    write_a_view,
    set_an_item,
    load,
    optimize,
    write_by_a_replay,
    exchange_memory,
)


@pytest.mark.parametrize("write", WRITES)
def test_they_run_again_after_a_write(write: Callable[[Tensor], None]) -> None:
    w = weights(3, 4)
    function = captured(lambda x: x + (transposed(w) * 3).contiguous()[0, :3], X)
    for _ in range(CALLS):
        write(w)
        np.testing.assert_allclose(function(X).numpy(), X.numpy() + w.numpy()[:, 0] * 3, rtol=1e-6)


def test_they_run_again_after_a_write_to_memory_that_numpy_shows() -> None:
    w = weights(64, 64)
    function = captured(lambda x: x + transposed(w)[0, :3], X)
    shown = w.numpy()
    w.assign(w + 1)
    np.testing.assert_allclose(function(X).numpy(), X.numpy() + shown[:3, 0] + 1, rtol=1e-6)


def test_memory_that_others_write_is_read_at_each_replay() -> None:
    owner = (ctypes.c_float * 12)(*range(12))
    w = Tensor.from_blob(ctypes.addressof(owner), (3, 4))
    function = captured(lambda x: x + transposed(w)[0, :3], X)
    owner[0] = 100.0
    # a device that cannot read the host's memory made a copy
    now = w.numpy()[:, 0]
    np.testing.assert_allclose(function(X).numpy(), X.numpy() + now)


def test_what_the_function_writes_is_no_constant() -> None:
    w = weights(3, 4)

    def function(x: Tensor) -> Tensor:
        out = (x + transposed(w)[0, :3]).realize()
        w.assign(w + 1)
        return out

    jitted = captured(function, X)
    for _ in range(CALLS):
        expected = X.numpy() + w.numpy()[:, 0]
        np.testing.assert_allclose(jitted(X).numpy(), expected, rtol=1e-6)


def test_a_result_has_memory_of_its_own_in_each_call() -> None:
    w = weights(3, 4)
    function = captured(lambda x: transposed(w), X)
    first, second = function(X), function(X)
    first.assign(first * 0).realize()
    np.testing.assert_array_equal(second.numpy(), w.numpy().T)


def test_random_numbers_are_drawn_at_each_call() -> None:
    function = captured(lambda x: x + Tensor.rand(3).contiguous(), X)
    assert function(X).tolist() != function(X).tolist()


def test_what_is_larger_than_its_inputs_is_computed_at_each_call() -> None:
    held = sum(constants())
    half = weights(256, 256).half().realize()
    function = captured(lambda x: x + half.float().permute(1, 0).contiguous()[0, :3], X)
    assert launched(lambda: function(X)) == 2
    assert sum(constants()) == held


def test_numbers_that_stay_what_they_are_may_become_four_times_as_many() -> None:
    held = sum(constants())
    w = weights(100, 256)
    function = captured(lambda x: x + w.reshape(100, 1, 256).expand(100, 3, 256).contiguous()[0, 0, :3], X)
    assert launched(lambda: function(X)) == 1
    assert sum(constants()) == held + 3 * w.nbytes
    wide = captured(lambda x: x + w.reshape(100, 1, 256).expand(100, 5, 256).contiguous()[0, 0, :3], X)
    assert launched(lambda: wide(X)) == 2


def test_captures_share_them_and_free_them() -> None:
    held = sum(constants())
    w = weights(8, 8)
    functions = [captured(lambda x: x.sum() + transposed(w), Tensor.ones(n)) for n in (2, 3)]
    results = [function(Tensor.ones(n)) for function, n in zip(functions, (2, 3), strict=True)]
    np.testing.assert_allclose(results[1].numpy(), w.numpy().T + 3, rtol=1e-6)
    assert sum(constants()) - held == w.nbytes
    functions.clear()
    gc.collect()
    assert sum(constants()) == held


def test_the_table_of_memory_shows_them() -> None:
    w = weights(24, 17)
    function = captured(lambda x: x.sum() + transposed(w), X)
    function(X)
    assert CONSTANT in str(memory())


def test_a_step_that_failed_on_the_way_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    w = weights(3, 4)
    function = captured(lambda x: x + transposed(w)[0, :3], X)
    function(X)
    w.assign(w + 1).realize()
    (result,) = next(iter(function._states.values())).captured[0]._constants._results

    class Broken:
        def run(self, values: Any) -> None:
            raise KeyboardInterrupt

    step = result._step
    result._step = Broken()
    with pytest.raises(KeyboardInterrupt):
        function(X)
    result._step = step
    np.testing.assert_allclose(function(X).numpy(), X.numpy() + w.numpy()[:, 0], rtol=1e-6)


@pytest.mark.parametrize("groups", [1, 2])
def test_filters_of_short_rows_are_packed_once(groups: int) -> None:
    # of one group, several blocks of filters
    conv = nn.Conv2d(8 * groups, 256, 3, padding=1, groups=groups)
    x = Tensor.randn(1, 8 * groups, 7, 7).realize()
    function = captured(lambda x: conv(x), x)
    function(x)
    expected = conv(x).numpy()
    np.testing.assert_allclose(function(x).numpy(), expected, rtol=1e-4, atol=1e-5)
    conv.weight.assign(conv.weight * 2)
    np.testing.assert_allclose(function(x).numpy(), conv(x).numpy(), rtol=1e-4, atol=1e-5)


def test_filters_are_packed_where_lanes_gain_and_nobody_trains() -> None:
    target = Device[Device.DEFAULT].capabilities
    if (lanes := target.vector_bits // 32) <= 1 or target.grid_dims:
        pytest.skip("the default device has no loops of vectors")
    conv = nn.Conv2d(8, 32, 3, padding=1)
    held = sum(constants())
    for size, training, nbytes in (
        (lanes - 1, False, conv.weight.nbytes),
        (2 * lanes, False, 0),
        (lanes - 1, True, 0),
    ):
        x = Tensor.randn(1, 8, size, size).realize()
        with Tensor.train(training):
            function = captured(lambda x: conv(x), x)
            function(x)
        assert sum(constants()) - held == nbytes, (size, training)
        del function
