"""Tests of plugrad.jit.guards: a name of another tensor is noticed, whoever holds the one before."""

import functools
import sys
import unittest.mock
from collections import deque
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from plugrad import Tensor, Variable, dtypes, jit, nn
from plugrad.jit.guards import Guards
from plugrad.jit.jit import JitWarning

jit_module: Any = sys.modules["plugrad.jit.jit"]
Exchange = Callable[[Tensor], None]


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with each trace, without being a name in a function."""
    calls: list[int] = []
    trace_call = jit_module.trace_call

    def counted(*args: Any) -> Any:
        calls.append(1)
        return trace_call(*args)

    monkeypatch.setattr(jit_module, "trace_call", counted)
    return calls


def here(*values: float) -> Tensor:
    return Tensor(list(values)).realize()


class Slotted:
    __slots__ = ("__own", "w")

    def __init__(self, w: Tensor) -> None:
        self.w = self.__own = w

    def own(self) -> Tensor:
        return self.__own

    def exchange(self, w: Tensor) -> None:
        self.__own = w


class Shared:
    w: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        return x * self.w


class Model:
    def __init__(self, w: Tensor) -> None:
        self.layers = [SimpleNamespace(w=w)]

    @jit
    def jitted(self, x: Tensor) -> Tensor:
        return x * self.layers[0].w

    def plain(self, x: Tensor) -> Tensor:
        return x * self.layers[0].w


TABLE = here(0.0)


def by_global(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    def exchange(new: Tensor) -> None:
        globals()["TABLE"] = new

    exchange(w)
    return jit(lambda x: x * TABLE), exchange


def by_called_function(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    def exchange(new: Tensor) -> None:
        globals()["TABLE"] = new

    exchange(w)
    return jit(lambda x: _times_table(x)), exchange


def _times_table(x: Tensor) -> Tensor:
    return x * TABLE


def by_closure(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    def exchange(new: Tensor) -> None:
        nonlocal w
        w = new

    return jit(lambda x: x * w), exchange


def by_attribute(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    holder = SimpleNamespace(w=w)
    return jit(lambda x: x * holder.w), lambda new: setattr(holder, "w", new)


def by_slot(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    holder = Slotted(w)
    return jit(lambda x: x * holder.w), lambda new: setattr(holder, "w", new)


def by_slot_of_its_own(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    holder = Slotted(w)
    return jit(lambda x: x * holder.own()), holder.exchange


def by_class(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    Shared.w = w
    holder = Shared()
    return jit(lambda x: holder(x)), lambda new: setattr(Shared, "w", new)


def by_item(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    items = [w]
    return jit(lambda x: x * items[0]), lambda new: items.__setitem__(0, new)


def by_fewer_items(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    items = [here(0.0), w]

    def exchange(new: Tensor) -> None:
        items[:] = [new]

    return jit(lambda x: x * items[-1]), exchange


def by_queue(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    items = deque([w], maxlen=1)
    return jit(lambda x: x * items[0]), items.append


def by_key(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    items = {"w": w}
    return jit(lambda x: x * items["w"]), lambda new: items.update(w=new)


def by_layer(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    model = Model(w)
    return jit(lambda x: model.plain(x)), lambda new: model.layers.__setitem__(0, SimpleNamespace(w=new))


def by_model(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    holder = SimpleNamespace(model=Model(w))
    return jit(lambda x: holder.model.plain(x)), lambda new: setattr(holder, "model", Model(new))


def by_bound_method(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    model = Model(w)
    return jit(model.plain), lambda new: setattr(model, "layers", [SimpleNamespace(w=new)])


def by_self(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    model = Model(w)
    return model.jitted, lambda new: setattr(model.layers[0], "w", new)


def by_layer_of_ours(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    layer = nn.Linear(1, 1, bias=False)
    layer.weight = w.reshape(1, 1)
    return jit(lambda x: layer(x)), lambda new: setattr(layer, "weight", new.reshape(1, 1))


def by_argument_of_partial(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    items = [w]
    return jit(functools.partial(lambda some, x: x * some[0], items)), lambda new: items.__setitem__(0, new)


def by_default(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    items = [w]

    def function(x: Tensor, *, some: Any = items) -> Tensor:
        return x * some[0]

    return jit(function), lambda new: items.__setitem__(0, new)


def by_wrapped(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    inner, exchange = by_attribute(w)
    return jit(lambda x: inner(x)), exchange


def by_module(w: Tensor) -> tuple[Callable[..., Tensor], Exchange]:
    module: Any = ModuleType("constants_of_a_user")
    module.w = w
    return jit(lambda x: x * module.w), lambda new: setattr(module, "w", new)


WAYS = [value for name, value in tuple(globals().items()) if name.startswith("by_")]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_name_of_another_tensor_is_noticed_while_the_old_one_is_held(way: Any) -> None:
    old = here(2.0)
    function, exchange = way(old)
    x = here(3.0)
    assert [function(x).tolist() for _ in range(4)] == [[6.0]] * 4
    exchange(here(5.0))
    assert [function(x).tolist() for _ in range(4)] == [[15.0]] * 4
    exchange(old)
    assert function(x).tolist() == [6.0]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_nothing_is_recorded_again_while_names_stay(way: Any) -> None:
    function, _ = way(here(2.0))
    jitted: Any = getattr(function, "__func__", function)
    before = jitted.captures
    for n in range(6):
        assert function(here(float(n))).tolist() == [2.0 * n]
    assert jitted.captures == before + 1


SCALE = 2


class Scaled:
    scale = 2
    steps = 0

    def __init__(self) -> None:
        self.config: dict[str, Any] = {"scale": 2, "name": "x"}

    def by_attribute(self, x: Tensor) -> Tensor:
        return x * self.scale

    def by_key(self, x: Tensor) -> Tensor:
        return x * self.config["scale"]

    def by_called(self, x: Tensor) -> Tensor:
        return _scaled(x)


def _scaled(x: Tensor) -> Tensor:
    return x * SCALE


def scale_by_attribute() -> tuple[Callable[..., Tensor], Callable[[Any], None]]:
    holder = Scaled()
    return jit(holder.by_attribute), lambda new: setattr(holder, "scale", new)


def scale_by_class() -> tuple[Callable[..., Tensor], Callable[[Any], None]]:
    class Own(Scaled):
        scale = 2

    return jit(Own().by_attribute), lambda new: setattr(Own, "scale", new)


def scale_by_key() -> tuple[Callable[..., Tensor], Callable[[Any], None]]:
    holder = Scaled()
    return jit(holder.by_key), lambda new: holder.config.update(scale=new)


def scale_by_called_function() -> tuple[Callable[..., Tensor], Callable[[Any], None]]:
    globals()["SCALE"] = 2
    return jit(Scaled().by_called), lambda new: globals().update(SCALE=new)


def scale_by_closure() -> tuple[Callable[..., Tensor], Callable[[Any], None]]:
    scale: Any = 2

    def exchange(new: Any) -> None:
        nonlocal scale
        scale = new

    return jit(lambda x: x * scale), exchange


def scale_by_self() -> tuple[Callable[..., Tensor], Callable[[Any], None]]:
    class Model:
        scale: Any = 2

        @jit
        def __call__(self, x: Tensor) -> Tensor:
            return x * self.scale

    model = Model()
    return model, lambda new: setattr(model, "scale", new)


def scale_by_tensor_of_a_class() -> tuple[Callable[..., Tensor], Callable[[Any], None]]:
    class Own(Scaled):
        scale: Any = here(2.0)

    holder = Own()
    return jit(holder.by_attribute), lambda new: setattr(holder, "scale", new)


SCALES = [value for name, value in tuple(globals().items()) if name.startswith("scale_by_")]


@pytest.mark.parametrize("way", SCALES, ids=lambda way: way.__name__)
def test_a_number_that_changed_is_noticed(way: Any) -> None:
    function, exchange = way()
    x = here(3.0)
    for scale in (2, 5, 5.5, 2, True, 0):
        exchange(scale)
        assert [function(x).tolist() for _ in range(4)] == [[3.0 * scale]] * 4


def test_a_number_of_another_type_is_another() -> None:
    scale: Any = 2
    function = jit(lambda x: x * scale)
    x = Tensor([3]).realize()
    for _ in range(4):
        assert function(x).dtype is dtypes.int32
    scale = 2.0
    assert [function(x).dtype for _ in range(4)] == [dtypes.float32] * 4


def test_a_number_of_a_layer_is_noticed() -> None:
    layer = nn.Dropout(0.0)
    function = jit(lambda x: layer(x))
    with Tensor.train():
        for _ in range(4):
            assert function(here(1.0, 1.0)).tolist() == [1.0, 1.0]
        layer.p = 1.0
        assert function(here(1.0, 1.0)).tolist() == [0.0, 0.0]


def test_a_variable_in_a_closure_is_noticed() -> None:
    n = Variable("n", 1, 4).bind(2)
    function = jit(lambda x: x[:n].sum())
    x = here(1.0, 2.0, 3.0, 4.0)
    for _ in range(4):
        assert function(x).item() == 3
    n = Variable("n", 1, 4).bind(3)
    assert function(x).item() == 6


def test_another_function_is_noticed() -> None:
    holder: Any = SimpleNamespace(act=Tensor.relu)
    function = jit(lambda x: holder.act(x))
    for _ in range(4):
        assert function(here(-2.0)).tolist() == [0.0]
    holder.act = Tensor.abs
    assert function(here(-2.0)).tolist() == [2.0]
    holder.act = Scaled().by_attribute
    assert function(here(-2.0)).tolist() == [-4.0]


def test_another_object_without_tensors_is_noticed() -> None:
    class Half:
        def __call__(self, x: Tensor) -> Tensor:
            return x / 2

    class Double:
        def __call__(self, x: Tensor) -> Tensor:
            return x * 2

    holder: Any = SimpleNamespace(act=Half())
    function = jit(lambda x: holder.act(x))
    for _ in range(4):
        assert function(here(2.0)).tolist() == [1.0]
    holder.act = Double()
    assert function(here(2.0)).tolist() == [4.0]


def test_more_layers_are_noticed() -> None:
    for kind in (list, deque):
        layers: Any = kind([here(2.0)])

        @jit
        def function(x: Tensor, layers: Any) -> Tensor:
            for layer in layers():
                x = x * layer
            return x

        def all_of(layers: Any = layers) -> Any:
            return layers

        for _ in range(4):
            assert function(here(3.0), all_of).tolist() == [6.0]
        layers.append(here(5.0))
        assert function(here(3.0), all_of).tolist() == [30.0]
    by_name = {"a": here(2.0)}
    total = jit(lambda x: x * sum(by_name.values()))
    for _ in range(4):
        assert total(here(3.0)).tolist() == [6.0]
    by_name["b"] = here(1.0)
    assert total(here(3.0)).tolist() == [9.0]


def test_no_code_of_what_is_looked_into_is_run() -> None:
    class Touchy:
        w = here(2.0)

        def __getattribute__(self, name: str) -> Any:
            if name == "times":
                return object.__getattribute__(self, name)
            raise RuntimeError(f"{name} was asked for")

        def times(self, x: Tensor) -> Tensor:
            return x * Touchy.w

    touchy, lying = Touchy(), unittest.mock.Mock(spec=Tensor)
    function = jit(lambda x: touchy.times(x) if lying else x)
    for n in range(5):
        assert function(here(float(n))).tolist() == [2.0 * n]
    assert function.captures == 1


def test_a_counter_that_changes_at_each_call_is_named_in_one_warning() -> None:
    holder = Scaled()

    @jit
    def step(x: Tensor) -> Tensor:
        if holder.steps < 0:
            x = -x
        return x * holder.scale

    def run() -> None:
        for n in range(50):
            assert step(here(float(n))).tolist() == [2.0 * n]
            holder.steps += 1

    with pytest.warns(JitWarning, match=r"holder\.steps has ever new values.*Pass it as an argument") as seen:
        run()
    assert len(seen) == 1
    holder.scale = 3
    assert step(here(1.0)).tolist() == [3.0]
    assert step.captures == 0


def test_what_a_function_itself_counts_is_no_reason_to_run_it_again() -> None:
    runs = 0

    @jit
    def step(x: Tensor) -> Tensor:
        nonlocal runs
        runs += 1
        return x * 2

    for n in range(6):
        assert step(here(float(n))).tolist() == [2.0 * n]
    assert runs == 2


def test_values_that_come_again_are_not_traced_again(traced: list[int]) -> None:
    holder = Scaled()
    function = jit(lambda x: x * holder.scale)
    for scale in (2, 3, 4) * 5:
        holder.scale = scale
        assert function(here(1.0)).tolist() == [scale]
    # two calls agree for each value
    assert len(traced) == 6


def test_a_name_that_is_gone_is_noticed() -> None:
    holder: Any = SimpleNamespace(w=here(2.0))
    old = holder.w
    function = jit(lambda x: x * getattr(holder, "w", 1.0))
    for _ in range(4):
        function(here(3.0))
    del holder.w
    assert function(here(3.0)).tolist() == [3.0]
    assert old.tolist() == [2.0]


def test_arguments_are_no_names() -> None:
    def function(x: Tensor) -> Tensor:
        return x * 2

    x = here(1.0)
    assert Guards((function, (x,), {}), [x]).hold((function, (here(2.0),), {}))
    runs: list[int] = []

    @jit
    def counted(xs: list[Tensor]) -> Tensor:
        runs.append(1)
        return xs[0] + xs[1]

    for n in range(5):
        assert counted([here(float(n)), x]).tolist() == [n + 1.0]
    assert len(runs) == 2
