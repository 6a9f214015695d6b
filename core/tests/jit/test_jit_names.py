"""Tests of plugrad.jit.names: a name of another tensor is noticed, whoever holds the one before."""

import functools
from collections import deque
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from plugrad import Tensor, jit, nn
from plugrad.jit.names import names_of

Exchange = Callable[[Tensor], None]


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
    assert names_of((function, (x,), {}), []).ends == ()
    runs: list[int] = []

    @jit
    def counted(xs: list[Tensor]) -> Tensor:
        runs.append(1)
        return xs[0] + xs[1]

    for n in range(5):
        assert counted([here(float(n)), x]).tolist() == [n + 1.0]
    assert len(runs) == 2
