"""The JIT: replays do what the function does, and what they cannot do is refused."""

import dataclasses
import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, Variable, context
from plugrad.device import OpenDevice
from plugrad.errors import JitError
from plugrad.jit import TinyJit, jit
from plugrad.nn import BatchNorm, Dropout, Linear
from plugrad.nn.optim import SGD, Adam
from plugrad.nn.state import get_parameters, get_state_dict, load_state_dict
from plugrad.runtime.buffer import live_buffers

CALLS = 6


def counted(function: Callable[..., Any]) -> tuple[Any, list[int]]:
    """Return `function` jitted, and a list that grows each time its Python runs."""
    runs: list[int] = []

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        runs.append(1)
        return function(*args, **kwargs)

    return jit(wrapper), runs


def repeat(call: Callable[[int], None]) -> None:
    for n in range(CALLS):
        call(n)


# --- what a replay gives ---


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
    assert memory_held() - held < x.nbytes()


def memory_held() -> int:
    gc.collect()
    return sum(b.nbytes for b in live_buffers() if b.handle is not None)


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


# --- signatures ---


def test_a_new_shape_dtype_or_value_is_captured_again() -> None:
    function, runs = counted(lambda x, by: x * by)
    for _ in range(CALLS):
        assert function(Tensor([1, 2]), 3).tolist() == [3, 6]
        assert function(Tensor([1, 2, 3]), 3).tolist() == [3, 6, 9]
        assert function(Tensor([1.0, 2.0]), 3).tolist() == [3.0, 6.0]
        assert function(Tensor([1, 2]), 4).tolist() == [4, 8]
        assert function(Tensor([1, 2]), True).tolist() == [1, 2]
    assert function.captures == 5
    assert len(runs) == 10


def test_equal_numbers_of_different_kinds_are_told_apart() -> None:
    function = jit(lambda x, by: x * by)
    for _ in range(CALLS):
        assert function(Tensor([2]), 1).dtype.name == "int32"
        assert function(Tensor([2]), 1.0).dtype.name == "float32"
        assert str(function(Tensor([2.0]), 0.0).tolist()) == "[0.0]"
        assert str(function(Tensor([2.0]), -0.0).tolist()) == "[-0.0]"


def test_the_same_memory_twice_is_another_signature() -> None:
    function = jit(lambda x, y: x - y)
    x, y = Tensor([5]).realize(), Tensor([3]).realize()
    for _ in range(CALLS):
        assert function(x, x).tolist() == [0]
        assert function(x, y).tolist() == [2]
    assert function.captures == 2


def test_inputs_that_are_not_in_memory_are_realized_first() -> None:
    function, runs = counted(lambda x, y: x + y)
    base = Tensor([[1, 2], [3, 4]]).realize()
    for n in range(CALLS):
        assert function(base * n, Tensor(n)).tolist() == [[2 * n, 3 * n], [4 * n, 5 * n]]
        assert function(base.transpose(0, 1), base[0]).tolist() == [[2, 5], [3, 6]]
    assert function.captures == 2
    assert len(runs) == 4


def test_training_is_part_of_the_signature() -> None:
    function = jit(lambda x: Dropout(0.5)(x))
    for _ in range(CALLS):
        assert function(Tensor.ones(64)).tolist() == [1.0] * 64
        with Tensor.train():
            assert 0.0 in function(Tensor.ones(64)).tolist()


def test_a_bound_variable_can_have_another_value() -> None:
    size = Variable("size", 1, 8)
    base = Tensor.arange(8).realize()
    function, runs = counted(lambda x: (x * 2).sum())
    for n in range(1, 8):
        assert function(base[: size.bind(n)]).item() == n * (n - 1)
    assert len(runs) == 2


def test_arguments_that_are_not_hashable_are_refused() -> None:
    function = jit(lambda x, y: x)
    with pytest.raises(JitError, match=r"array\(\[1\]\) \(ndarray\), which is not hashable"):
        function(Tensor([1]), np.array([1]))


def test_signatures_that_are_never_used_again_are_forgotten() -> None:
    function = jit(lambda x, by: x * by)
    for n in range(300):
        function(Tensor([1]), n)
    assert len(function._states) <= 256


# --- memory outside ---


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


def test_a_loaded_state_is_used_by_replays() -> None:
    layer = Linear(2, 1, bias=False)
    function, runs = counted(layer)
    for _ in range(CALLS):
        function(Tensor([1.0, 2.0])).tolist()
    before = len(runs)
    load_state_dict(layer, {"weight": Tensor([[10.0, 100.0]])})
    assert function(Tensor([1.0, 2.0])).tolist() == [210.0]
    assert len(runs) == before


# --- gradients, optimizers, random numbers ---


class Net:
    def __init__(self) -> None:
        # a bias before a norm has no gradient but rounding errors, which Adam makes large
        self.first, self.norm, self.second = Linear(4, 8, bias=False), BatchNorm(8), Linear(8, 3)

    def __call__(self, x: Tensor) -> Tensor:
        return self.second(self.norm(self.first(x)).relu())


@pytest.mark.parametrize("make", [lambda p: SGD(p, lr=0.1, momentum=0.9), lambda p: Adam(p, lr=0.1)])
@pytest.mark.parametrize("zero_first", [True, False])
def test_a_training_step_takes_the_same_path_as_without_jit(make: Any, zero_first: bool) -> None:
    def train(jitted: bool) -> tuple[list[float], dict[str, Any], int]:
        Tensor.manual_seed(3)
        net = Net()
        optimizer = make(get_parameters(net))
        runs: list[int] = []

        def step(x: Tensor, y: Tensor) -> Tensor:
            runs.append(1)
            if zero_first:
                optimizer.zero_grad()
            loss = net(x).sparse_categorical_crossentropy(y)
            loss.backward()
            optimizer.step()
            if not zero_first:
                optimizer.zero_grad()
            return loss

        function = jit(step) if jitted else step
        rng = np.random.default_rng(1)
        losses: list[float] = []
        with Tensor.train():
            for n in range(8):
                if n == 6:
                    optimizer.lr = 0.01
                x, y = rng.normal(size=(5, 4)).astype(np.float32), rng.integers(0, 3, 5)
                losses.append(function(Tensor(x), Tensor(y)).item())
        return losses, {name: t.numpy() for name, t in get_state_dict(net).items()}, len(runs)

    expected, state, _ = train(False)
    losses, replayed, runs = train(True)
    assert runs < 6
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    for name, value in state.items():
        np.testing.assert_allclose(replayed[name], value, rtol=1e-3, atol=1e-5)


def test_gradients_are_left_on_tensors_outside_and_on_arguments() -> None:
    w = Tensor([2.0], requires_grad=True).realize()

    def function(x: Tensor) -> Tensor:
        w.grad = None
        loss = (x * w * w).sum()
        loss.backward()
        return loss

    jitted, runs = counted(function)
    kept: list[tuple[float, Tensor]] = []
    for n in range(CALLS):
        x = Tensor([float(n)], requires_grad=True)
        assert jitted(x).item() == 4.0 * n
        assert w.grad is not None
        assert x.grad is not None
        assert x.grad.tolist() == [4.0]
        kept.append((4.0 * n, w.grad))
    assert [grad.tolist() for _, grad in kept] == [[expected] for expected, _ in kept]
    assert len(runs) < CALLS


def test_gradients_that_add_up_across_calls_are_refused() -> None:
    w = Tensor([2.0], requires_grad=True).realize()

    @jit
    def function(x: Tensor) -> Tensor:
        return (x * w).sum().backward()

    def check(n: int) -> None:
        function(Tensor([1.0]))
        assert w.grad is not None
        assert w.grad.tolist() == [n + 1.0]

    with pytest.raises(JitError, match="zero_grad"):
        repeat(check)


def test_gradients_cleared_outside_are_noticed() -> None:
    w = Tensor([2.0], requires_grad=True).realize()
    function = jit(lambda x: (x * w).sum().backward())
    for n in range(CALLS):
        w.grad = None
        function(Tensor([float(n)]))
        assert w.grad is not None
        assert w.grad.tolist() == [float(n)]
    function(Tensor([1.0]))
    assert w.grad.tolist() == [CALLS - 1 + 1.0]


def test_random_numbers_are_drawn_as_without_jit() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        return x + Tensor.rand(4), Tensor.randn(3)

    def drawn(call: Callable[..., Any]) -> list[Any]:
        Tensor.manual_seed(5)
        return [[t.tolist() for t in call(Tensor.zeros(4))] for _ in range(CALLS)]

    jitted, runs = counted(function)
    assert drawn(jitted) == drawn(function)
    assert len(runs) == 2


def test_seeding_and_unused_draws_are_refused() -> None:
    def seeds(x: Tensor) -> Tensor:
        Tensor.manual_seed(7)
        return x + Tensor.rand(2)

    def wastes(x: Tensor) -> Tensor:
        Tensor.rand(2)
        return x + 1

    for function in (jit(seeds), jit(wastes)):
        with pytest.raises(JitError, match="random numbers"):
            repeat(lambda n, function=function: function(Tensor([0.0, 0.0])))


# --- refusals and switches ---


@pytest.mark.parametrize("read", [Tensor.item, Tensor.tolist, Tensor.numpy, Tensor.data, float, bool])
def test_reading_elements_inside_is_refused(read: Callable[[Tensor], Any]) -> None:
    function = jit(lambda x: x * 2 if read(x.sum()) else x)
    with pytest.raises(JitError, match="a jitted function reads the elements"):
        function(Tensor([1]))


def test_a_python_value_that_changes_is_refused() -> None:
    calls: list[int] = []

    @jit
    def function(x: Tensor) -> Tensor:
        calls.append(1)
        return x * len(calls)

    def check(n: int) -> None:
        assert function(Tensor([1.0])).tolist() == [n + 1.0]

    with pytest.raises(JitError, match=r"cannot be jitted: step 0 .* differs from one call to the next"):
        repeat(check)


def test_host_data_that_changes_is_refused() -> None:
    calls: list[int] = []

    @jit
    def function(x: Tensor) -> Tensor:
        calls.append(1)
        return x * Tensor([float(len(calls))])

    def check(n: int) -> None:
        assert function(Tensor([1.0])).tolist() == [n + 1.0]

    with pytest.raises(JitError, match="differs from one call to the next"):
        repeat(check)


def test_host_data_that_stays_is_not() -> None:
    function, runs = counted(lambda x: x * Tensor([1.0, 2.0]))
    for n in range(CALLS):
        assert function(Tensor([float(n)] * 2)).tolist() == [1.0 * n, 2.0 * n]
    assert len(runs) == 2


def test_a_tensor_that_is_kept_outside_is_refused() -> None:
    kept: list[Tensor] = []

    @jit
    def function(x: Tensor) -> Tensor:
        kept.append(x + 1)
        return x * 2

    with pytest.raises(JitError, match="it keeps <Tensor"):
        repeat(lambda n: function(Tensor([1])))


def test_a_tensor_outside_that_gets_new_memory_is_refused() -> None:
    @dataclasses.dataclass(eq=False)
    class State:
        total: Tensor

    state = State(Tensor([0]).realize())

    @jit
    def function(x: Tensor) -> Tensor:
        state.total = state.total + x
        return x

    def check(n: int) -> None:
        function(Tensor([1]))
        assert state.total.tolist() == [n + 1]

    with pytest.raises(JitError, match="it keeps <Tensor"):
        repeat(check)


def test_an_argument_that_is_also_used_from_outside_is_refused_when_assigned() -> None:
    w = Tensor([1]).realize()

    @jit
    def function(x: Tensor) -> Tensor:
        w.assign(w + 1)
        return x * 2

    with pytest.raises(JitError, match="also uses it from outside"):
        function(w)


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


def test_a_result_that_shows_a_parameter_passes_no_gradient_on() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    function = jit(lambda: (w.detach(), w[1:]))
    for _ in range(CALLS):
        w.grad = None
        whole, part = function()
        (w * whole).sum().backward()
        assert w.grad is not None
        assert w.grad.tolist() == w.tolist()
        part.assign(part + 1)
        assert w.tolist() == whole.tolist()
    assert w.tolist() == [1.0, 2.0 + CALLS]


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


# --- values outside ---


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
