"""Random programs of writes, views and values: what they leave is what NumPy says.

A program is a list of steps with numbers that pick tensors and details; it runs once on tensors and once on
`Model`, which has elements in arrays and views as positions in them.
"""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from plugrad import Tensor
from plugrad.device import Device
from plugrad.errors import DeviceNotFound, JitError, ViewError
from plugrad.jit import jit

MOST = 9
CALLS = 5
Array = NDArray[np.int32]


class Model:
    """What programs use of a tensor: `places` are the elements of `memory` that it shows."""

    def __init__(
        self, memory: Array, places: NDArray[np.int64] | None = None, is_expanded: bool = False
    ) -> None:
        # in order, so that writing into its elements one after the other is no writing into a copy
        self.memory = np.ascontiguousarray(memory) if places is None else memory
        self.is_expanded = is_expanded
        self.places = np.arange(memory.size).reshape(memory.shape) if places is None else places

    @property
    def shape(self) -> tuple[int, ...]:
        return self.places.shape

    @property
    def ndim(self) -> int:
        return self.places.ndim

    def numpy(self) -> Array:
        return np.asarray(self.memory.reshape(-1)[self.places])

    def numel(self) -> int:
        return self.places.size

    def _view(self, places: Any, is_expanded: bool = False) -> "Model":
        return Model(self.memory, np.asarray(places), is_expanded or self.is_expanded)

    T = property(lambda self: self._view(self.places.T))

    def __getitem__(self, index: Any) -> "Model":
        return self._view(self.places[index])

    def reshape(self, *shape: int) -> "Model":
        return self._view(self.places.reshape(*shape))

    def flip(self, axis: int) -> "Model":
        return self._view(np.flip(self.places, axis))

    def expand(self, *shape: int) -> "Model":
        return self._view(np.broadcast_to(self.places, shape), True)

    def bitcast(self, dtype: str) -> "Model":
        return self._view(self.places)

    def detach(self) -> "Model":
        return self._view(self.places)

    def __add__(self, other: "Model | int") -> "Model":
        return Model(self.numpy() + (other.numpy() if isinstance(other, Model) else np.int32(other)))

    def __mul__(self, other: int) -> "Model":
        return Model(self.numpy() * np.int32(other))

    def sum(self, *, dtype: str) -> "Model":
        return Model(self.numpy().sum(dtype=dtype, keepdims=False)[...])

    def pad(self, widths: Sequence[tuple[int, int]]) -> "Model":
        return Model(np.pad(self.numpy(), widths))

    def contiguous(self) -> "Model":
        return Model(self.numpy())

    def realize(self, *others: "Model") -> None:
        pass

    def assign(self, value: "Model | int") -> None:
        self[...] = value

    def __setitem__(self, index: Any, value: "Model | int") -> None:
        if self.is_expanded:
            raise ViewError("elements are shown more than once")
        new = value.numpy() if isinstance(value, Model) else np.int32(value)
        self.memory.reshape(-1)[self.places[index]] = new


VIEWS: list[Callable[[Any], Any]] = [
    lambda x: x.T,
    lambda x: x.flip(0),
    lambda x: x[1:],
    lambda x: x[::2],
    lambda x: x[::-3],
    lambda x: x[0],
    lambda x: x[..., :-1],
    lambda x: x.reshape(-1),
    lambda x: x.reshape(-1, 2),
    lambda x: x[:, None],
    lambda x: x.detach(),
    lambda x: x.reshape(1, *x.shape).expand(2, *x.shape),
    lambda x: x.bitcast("float32").bitcast("int32"),
]
PARTS: list[Any] = [0, slice(1, None), slice(None, None, 2), slice(None, None, -3), (..., slice(1, 3)), ...]

Step = tuple[str, int, int, int]
KINDS = ["value", "view", "assign", "part"] * 2 + ["view", "update", "add to part"]
EAGER = [*KINDS, "realize", "realize", "realize both", "forget", "pad", "copy", "read"]
INSIDE = [*KINDS, "realize", "pad", "copy"]


def steps(kinds: list[str], most: int) -> st.SearchStrategy[list[Step]]:
    number = st.integers(0, 12)
    return st.lists(st.tuples(st.sampled_from(kinds), number, number, number), min_size=2, max_size=most)


def fitted(y: Any, shape: tuple[int, ...]) -> Any:
    """Return `y`, or something made of it, that can be written to `shape`."""
    if y.shape == shape:
        return y
    return y.reshape(shape) if y.numel() == int(np.prod(shape)) else y.sum(dtype="int32")


def run(program: Iterable[Step], pool: list[Any]) -> list[Any]:
    """Run a program on the tensors in `pool`, which grows; return what it computed on the way."""
    seen: list[Any] = []
    for kind, first, second, detail in program:
        x, y = pool[first % len(pool)], pool[second % len(pool)]
        if kind == "value":
            new = x * 2 + detail % 2 if detail < 8 else x + fitted(y, x.shape)
        elif kind == "view":
            new = viewed(x, detail)
        elif kind == "pad":
            new = x.pad([(1, 0)] * x.ndim) if x.ndim and x.numel() < 40 else x
        elif kind == "copy":
            new = x.contiguous()
        else:
            if not act(kind, x, y, detail, pool, seen):
                seen.append("refused")
            continue
        pool.append(new)
        if len(pool) > MOST:
            # the first ones stay: they are looked at in the end
            del pool[3]
    return seen


def viewed(x: Any, detail: int) -> Any:
    view = VIEWS[detail % len(VIEWS)]
    if x.ndim == 0 or 0 in x.shape or (detail % len(VIEWS) == 9 and x.ndim > 2):
        return x
    if (detail % len(VIEWS) == 8 and x.numel() % 2) or (detail % len(VIEWS) == 11 and x.numel() > 40):
        return x
    return view(x)


def act(kind: str, x: Any, y: Any, detail: int, pool: list[Any], seen: list[Any]) -> bool:
    """Do a step that changes something; say whether it was allowed."""
    part = PARTS[detail % len(PARTS)]
    with contextlib.suppress(ViewError):
        if kind == "assign":
            x.assign(fitted(y, x.shape))
        elif kind == "update":
            x.assign(x * 2 + fitted(y, x.shape))
        elif kind == "part" and fits(part, x):
            x[part] = fitted(y, x[part].shape) if detail % 2 else detail
        elif kind == "add to part" and fits(part, x):
            x[part] += 1 + detail
        elif kind == "realize":
            x.realize()
        elif kind == "realize both":
            x.realize(y)
        elif kind == "read":
            seen.append(x.numpy())
        elif kind == "forget" and len(pool) > 3:
            del pool[-1]
        return True
    return False


def fits(part: Any, x: Any) -> bool:
    return x.ndim > 0 and 0 not in x.shape


def same(ours: Sequence[Any], theirs: Sequence[Any]) -> None:
    assert len(ours) == len(theirs)
    for number, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        if isinstance(y, str):
            assert x == y
        else:
            got, want = (v if isinstance(v, np.ndarray) else v.numpy() for v in (x, y))
            assert got.shape == want.shape
            np.testing.assert_array_equal(got, want, f"number {number}")


def beginning(shift: int = 0) -> list[Array]:
    shapes = [(3, 4), (4,), (3,)]
    return [np.arange(120, 120 + int(np.prod(s)), dtype=np.int32).reshape(s) + shift for s in shapes]


DEVICES = ["PYTHON", "CPU"]


@pytest.fixture(autouse=True, params=DEVICES)
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    try:
        name = Device.canonicalize(request.param)
    except DeviceNotFound as error:
        pytest.skip(str(error))
    monkeypatch.setattr(Device, "DEFAULT", name)
    return name


EXAMPLES = {"PYTHON": 60, "CPU": 15}


@pytest.mark.parametrize("made", ["data", "values"])
def test_programs_leave_what_numpy_says(device: str, made: str) -> None:
    @settings(max_examples=EXAMPLES[device])
    @given(steps(EAGER, 16))
    def check(program: list[Step]) -> None:
        ours: list[Any] = [Tensor(x) if made == "data" else Tensor(x) + 0 for x in beginning()]
        theirs: list[Any] = [Model(x) for x in beginning()]
        same(run(program, ours), run(program, theirs))
        same(ours, theirs)

    check()


@pytest.mark.parametrize("realized", [False, True])
def test_programs_in_a_jitted_function_leave_what_numpy_says(device: str, realized: bool) -> None:
    @settings(max_examples=EXAMPLES[device])
    @given(steps(EAGER, 4), steps(EAGER, 4), steps(INSIDE, 8), steps(EAGER, 4), steps(EAGER, 4))
    def check(
        before: list[Step],
        making: list[Step],
        program: list[Step],
        after: list[Step],
        between: list[Step],
    ) -> None:
        ours: list[Any] = [Tensor(x) for x in beginning()]
        theirs: list[Any] = [Model(x) for x in beginning()]
        if realized:
            Tensor.realize(*ours)
        same(run(before, ours), run(before, theirs))

        @jit
        def function(*arguments: Tensor) -> list[Tensor]:
            pool = [*arguments, *ours]
            run(program, pool)
            return pool[:MOST]

        for call in range(CALLS):
            # views of each other, values computed alike, realized or not
            passed: list[Any] = [Tensor(x) for x in beginning(call)]
            model: list[Any] = [Model(x) for x in beginning(call)]
            same(run(making, passed), run(making, model))
            pool = [*model, *theirs]
            run(program, pool)
            try:
                out = function(*passed)
            except JitError:
                # refused, not wrong
                return
            returned = pool[:MOST]
            same(out, returned)
            # what is returned shares memory as it does where nothing is replayed
            same(run(after, out), run(after, returned))
            same([*out, *passed, *ours], [*returned, *model, *theirs])
            del out, passed
            same(run(between, [*ours]), run(between, [*theirs]))

    check()
