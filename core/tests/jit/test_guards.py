"""Python values that change around a jitted function: it computes what it would compute without the JIT."""

import dataclasses
import itertools
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from functools import cached_property
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from plugrad import Tensor, jit
from plugrad.jit.guards import Guards
from plugrad.jit.jit import JitWarning

Function = Callable[[Tensor], Tensor]
# A function, and what sets the step that it reads in some way.
Case = tuple[Function, Callable[[int], None]]

LAST = 8
STEP = 0
TABLE: dict[str, int] = {"step": 0}


def here(*values: float) -> Tensor:
    return Tensor(list(values)).realize()


def at(x: Tensor, step: Any) -> Tensor:
    return x * 2 if step >= LAST else x + 1


class Config:
    step: Any = 0

    @property
    def now(self) -> Any:
        return self.step

    def advanced(self, x: Tensor) -> Tensor:
        return at(x, self.step)


class Hidden:
    __slots__ = ("_step",)

    def __init__(self) -> None:
        self._step = 0

    @property
    def now(self) -> int:
        return self._step


class Touched(Config):
    def __getattr__(self, name: str) -> Any:
        return self.table[name]

    def __init__(self) -> None:
        self.table = {"number": 0}


def _helper(x: Tensor) -> Tensor:
    return at(x, STEP)


def set_global(step: int) -> None:
    globals()["STEP"] = step


def by_global() -> Case:
    return lambda x: at(x, STEP), set_global


def by_global_of_a_helper() -> Case:
    return lambda x: _helper(x), set_global


def by_global_in_a_nested_function() -> Case:
    return lambda x: (lambda: at(x, STEP))(), set_global


def by_closure() -> Case:
    step = 0

    def change(new: int) -> None:
        nonlocal step
        step = new

    return lambda x: at(x, step), change


def by_attribute() -> Case:
    config = Config()
    return lambda x: at(x, config.step), lambda new: setattr(config, "step", new)


def by_class_attribute() -> Case:
    class Own(Config):
        step = 0

    own = Own()
    return lambda x: at(x, own.step), lambda new: setattr(Own, "step", new)


def by_attribute_that_hides_the_class() -> Case:
    config = Config()

    def change(new: int) -> None:
        if new % 2:
            config.step = new
        else:
            config.__dict__.pop("step", None)

    return lambda x: at(x, config.step), change


def by_module_attribute() -> Case:
    module: Any = ModuleType("settings_of_a_user")
    module.step = 0
    return lambda x: at(x, module.step), lambda new: setattr(module, "step", new)


def by_item_of_a_dict() -> Case:
    table = {"step": 0}
    return lambda x: at(x, table["step"]), lambda new: table.update(step=new)


def by_number_as_a_key() -> Case:
    table = {1: {2: 0}}
    return lambda x: at(x, table[1][2]), lambda new: table[1].update({2: new})


def by_item_of_a_list() -> Case:
    items = [0, 5]
    return lambda x: at(x, items[0]), lambda new: items.__setitem__(0, new)


def by_item_of_a_queue() -> Case:
    items = deque([0], maxlen=1)
    return lambda x: at(x, items[0]), items.append


def by_length_of_a_list() -> Case:
    items: list[float] = []
    return lambda x: at(x, len(items)), lambda new: items.__setitem__(slice(None), [0.5] * new)


def by_length_of_a_dict() -> Case:
    items: dict[int, int] = {}
    return lambda x: at(x, len(items)), lambda new: items.update({new: new})


def by_state_of_a_default() -> Case:
    state = [0]

    def function(x: Tensor, *, state: Any = state) -> Tensor:
        return at(x, state[0])

    return function, lambda new: state.__setitem__(0, new)


def by_property() -> Case:
    config = Config()
    return lambda x: at(x, config.now), lambda new: setattr(config, "step", new)


def by_property_of_a_slot() -> Case:
    hidden = Hidden()
    return lambda x: at(x, hidden.now), lambda new: setattr(hidden, "_step", new)


def by_cached_property() -> Case:
    class Own(Config):
        @cached_property
        def once(self) -> Any:
            return self.step

    own = Own()

    def change(new: int) -> None:
        own.step = new
        own.__dict__.pop("once", None)

    return lambda x: at(x, own.once), change


def by_getattr() -> Case:
    config = SimpleNamespace()
    return lambda x: at(x, getattr(config, "step", 0)), lambda new: setattr(config, "step", new)


def by_computed_attribute() -> Case:
    config = SimpleNamespace(step=0)
    return lambda x: at(x, getattr(config, "pets"[::-1])), lambda new: setattr(config, "step", new)


def by_getattr_of_the_class() -> Case:
    touched = Touched()
    return lambda x: at(x, touched.number), lambda new: touched.table.update(number=new)


def by_numpy_scalar() -> Case:
    config = SimpleNamespace(step=np.int64(0))
    return lambda x: at(x, config.step), lambda new: setattr(config, "step", np.int64(new))


def by_numpy_element() -> Case:
    steps = np.zeros((2, 2))[:, ::2]
    return lambda x: at(x, steps[1, 0]), lambda new: steps.__setitem__((1, 0), new)


def by_member_of_a_set() -> Case:
    steps: set[int] = set()
    return lambda x: at(x, LAST if LAST in steps else 0), steps.add


def by_method() -> Case:
    config = Config()
    return config.advanced, lambda new: setattr(config, "step", new)


def by_field_of_a_dataclass() -> Case:
    @dataclasses.dataclass
    class Own:
        step: int

    own = Own(0)
    return lambda x: at(x, own.step), lambda new: setattr(own, "step", new)


def by_another_frozen_object() -> Case:
    class Own(NamedTuple):
        step: int

    config = SimpleNamespace(own=Own(0))
    return lambda x: at(x, config.own.step), lambda new: setattr(config, "own", Own(new))


def by_another_function() -> Case:
    config = SimpleNamespace(act=lambda x: x + 1)
    return lambda x: config.act(x), lambda new: setattr(config, "act", lambda x: at(x, new))


def by_order_of_keys() -> Case:
    keys = OrderedDict(a=1, b=2)
    return lambda x: at(
        x, LAST if next(iter(keys)) == "b" else 0
    ), lambda new: keys.move_to_end("a") if new == LAST else None


CASES = [value for name, value in tuple(globals().items()) if name.startswith("by_")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_step_that_counts_up_is_noticed(case: Callable[[], Case]) -> None:
    function, change = case()
    jitted = jit(function)
    x = here(3.0)
    for step in (*range(LAST + 3), LAST + 2, LAST + 2):
        change(step)
        assert jitted(x).tolist() == function(x).tolist()
    assert jitted.captures == 1


@pytest.mark.parametrize("values", [(1, True, 1.0), (0.0, -0.0), (float("nan"), float("inf"))])
def test_values_that_only_compare_equal_are_told_apart(values: tuple[Any, ...]) -> None:
    value: Any = values[0]

    def function(x: Tensor) -> Tensor:
        return x * (value if "0.0" not in repr(value) else 2.0 if repr(value) == "0.0" else 3.0)

    jitted = jit(function)
    for value in (*values, *values, *values):  # noqa: B007
        result, expected = jitted(Tensor([3])), function(Tensor([3]))
        assert (result.dtype, repr(result.tolist())) == (expected.dtype, repr(expected.tolist()))


def test_equal_values_in_other_objects_are_not_traced_again() -> None:
    config: Any = SimpleNamespace(sizes=[1, {"a": (2, 3.5)}], scale=np.float32(2))
    jitted = jit(lambda x: x * config.sizes[1]["a"][0] * float(config.scale))
    for _ in range(50):
        config.sizes, config.scale = [1, {"a": (2, float("3.5"))}], np.float32(2)
        assert jitted(here(1.0)).tolist() == [4.0]
    assert jitted.captures == 1
    config.sizes[1]["a"] = (3, 3.5)
    assert jitted(here(1.0)).tolist() == [6.0]


class Named:
    """An object with attributes of any name."""


def test_attributes_of_any_name_are_compared_until_they_are_gone() -> None:
    item, name = Named(), 'it\'s {a} "name"\n'
    setattr(item, name, 1)
    call: Any = (lambda x: x * getattr(item, name), (), {})
    guards = Guards(call, ())
    assert [guards.hold(call), guards.hold(call)] == [True, True]
    setattr(item, name, True)
    assert not guards.hold(call)
    setattr(item, name, 1)
    assert guards.hold(call)
    vars(item).clear()
    assert not guards.hold(call)


def test_another_class_and_an_emptied_variable_are_noticed() -> None:
    class Other(Named):
        pass

    item, value = Named(), 12.5
    function: Any = lambda x: (item, x * value)  # noqa: E731 - its cells are looked at
    call: Any = (function, (), {})
    guards = Guards(call, ())
    assert guards.hold(call)
    item.__class__ = Other
    assert not guards.hold(call)
    item.__class__ = Named
    assert guards.hold(call)
    (cell,) = [cell for cell in function.__closure__ if cell.cell_contents is value]
    del cell.cell_contents
    assert not guards.hold(call)


def test_an_argument_of_its_own_equality_is_looked_into() -> None:
    @dataclasses.dataclass(unsafe_hash=True)
    class Model:
        name: str
        scale: float = dataclasses.field(compare=False)

    jitted = jit(lambda model, x: x * model.scale)
    model = Model("a", 2.0)
    for _ in range(4):
        assert jitted(model, here(1.0)).tolist() == [2.0]
    assert jitted(Model("a", 3.0), here(1.0)).tolist() == [3.0]
    model.scale = 4.0
    assert jitted(model, here(1.0)).tolist() == [4.0]


def test_a_tensor_that_is_named_and_not_used_may_be_exchanged() -> None:
    config = SimpleNamespace(scale=2.0, last=here(0.0))
    jitted = jit(lambda x: x * config.scale if config.last.shape == (1,) else x)
    for n in range(50):
        config.last = jitted(here(float(n)))
        assert config.last.tolist() == [2.0 * n]
    assert jitted.captures == 1
    config.last = here(1.0, 2.0)
    assert jitted(here(3.0)).tolist() == [3.0]


@pytest.mark.parametrize("make", [itertools.count, lambda: (n for n in range(99)), lambda: iter(range(99))])
def test_a_function_that_names_an_iterator_is_left_alone(make: Callable[[], Iterator[int]]) -> None:
    steps = make()
    jitted = jit(lambda x: at(x, next(steps)))
    with pytest.warns(JitWarning, match="steps cannot be read again") as seen:
        results = [jitted(here(3.0)).item() for _ in range(LAST + 2)]
    assert results == [4.0] * LAST + [6.0] * 2
    assert len(seen) == 1


def test_more_objects_than_can_be_compared_leave_a_function_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugrad.jit.guards._MOST_OBJECTS", 10)
    items = [SimpleNamespace(step=0) for _ in range(20)]
    jitted = jit(lambda x: at(x, items[19].step))

    def run() -> None:
        for items[19].step in range(LAST + 2):
            assert jitted(here(3.0)).item() == (6.0 if items[19].step >= LAST else 4.0)

    with pytest.warns(JitWarning, match="items"):
        run()


def test_new_values_now_and_then_do_not_end_replaying() -> None:
    config = SimpleNamespace(step=0)
    jitted = jit(lambda x: x * config.step)
    # a new value now and then costs a trace, and most calls are replayed
    for config.step in range(60):
        for _ in range(4):
            assert jitted(here(1.0)).item() == config.step
    assert jitted.captures == 1
