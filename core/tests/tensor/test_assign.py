"""Writing to tensors and to views of them, whatever was computed before."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.device import Device
from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.errors import DeviceNotFound, GradientError, ViewError
from plugrad.jit import TinyJit, jit

X = np.arange(24, dtype=np.int32).reshape(4, 6)
CALLS = 4

View = Callable[[Any], Any]

# each is a view in NumPy as well
VIEWS: dict[str, View] = {
    "rows": lambda x: x[0:2],
    "element": lambda x: x[1, 2, ...],
    "column": lambda x: x[:, 3],
    "transposed": lambda x: x.T,
    "row of the transposed": lambda x: x.T[1],
    "reversed": lambda x: x[::-1],
    "steps": lambda x: x[:, ::2],
    "steps that stick out": lambda x: x[::3, ::4],
    "steps back that stick out": lambda x: x[::-3, ::-4],
    "steps of steps": lambda x: x[:, ::4][:, ::-1].T[1],
    "reshaped": lambda x: x.reshape(2, 12),
    "part of the reshaped": lambda x: x.reshape(3, 8)[1:, 3:5],
    "part of the transposed reshaped": lambda x: x[1:3].reshape(4, 3).T[1:, ::2],
    "with a new axis": lambda x: x[:, None, 2:4],
    "all": lambda x: x[:],
}


@pytest.fixture(params=["PYTHON", "CPU"], autouse=True)
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    try:
        name = Device.canonicalize(request.param)
    except DeviceNotFound as error:
        pytest.skip(str(error))
    monkeypatch.setattr(Device, "DEFAULT", name)
    return name


# how a tensor may have come about when it is written to
MADE: dict[str, Callable[[], Tensor]] = {
    "data": lambda: Tensor(X),
    "realized": lambda: Tensor(X).realize(),
    "computed": lambda: Tensor(X) * 2 - X,
    "computed and realized": lambda: (Tensor(X) * 2 - X).realize(),
    "assigned": lambda: Tensor.zeros(4, 6, dtype="int32").assign(X),
    "assigned and realized": lambda: Tensor.zeros(4, 6, dtype="int32").assign(X).realize(),
    "numbers": lambda: Tensor.arange(24).reshape(4, 6).contiguous(),
    "numbers without memory": lambda: Tensor.arange(24).reshape(4, 6) + 0,
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("view", VIEWS)
def test_a_write_through_a_view_is_that_of_numpy(view: str, made: str) -> None:
    ours, theirs = MADE[made](), X.copy()
    part = VIEWS[view](theirs)
    value = np.arange(part.size, dtype=np.int32).reshape(part.shape) + 100
    VIEWS[view](ours).assign(Tensor(value))
    part[...] = value
    np.testing.assert_array_equal(ours.numpy(), theirs)


@pytest.mark.parametrize("view", VIEWS)
def test_a_write_through_a_view_is_replayed(view: str) -> None:
    ours, theirs = Tensor(X), X.copy()

    @jit
    def function(x: Tensor) -> Tensor:
        VIEWS[view](ours).assign(VIEWS[view](ours) * 2 + x)
        return ours.sum()

    for n in range(CALLS):
        part = VIEWS[view](theirs)
        part[...] = part * 2 + n
        assert function(Tensor(n)).item() == theirs.sum()
        np.testing.assert_array_equal(ours.numpy(), theirs)
    assert function.captures == 1


@pytest.mark.parametrize("view", VIEWS)
def test_a_write_through_a_view_of_an_argument_is_replayed(view: str) -> None:
    @jit
    def function(x: Tensor, y: Tensor) -> None:
        VIEWS[view](x).assign(VIEWS[view](y))

    for n in range(CALLS):
        ours, theirs = Tensor(X), X.copy()
        VIEWS[view](theirs)[...] = VIEWS[view](X * n)
        function(ours, Tensor(X * n))
        np.testing.assert_array_equal(ours.numpy(), theirs)
    assert function.captures == 1


# --- what was realized does not matter ---


def _nothing(*tensors: Tensor) -> None:
    pass


def _realize(*tensors: Tensor) -> None:
    Tensor.realize(*tensors)


@pytest.mark.parametrize("between", [_nothing, _realize])
@pytest.mark.parametrize("before", [_nothing, _realize])
def test_views_see_writes_before_and_after_they_are_computed(before: Any, between: Any) -> None:
    x = Tensor([[1, 2], [3, 4]]) * 1
    flipped, row = x.flip(0), x[0]
    before(x)
    x.assign([[5, 6], [7, 8]])
    between(x)
    assert (flipped.tolist(), row.tolist()) == ([[7, 8], [5, 6]], [5, 6])
    row.assign([10, 20])
    between(flipped)
    assert (x.tolist(), flipped.tolist()) == ([[10, 20], [7, 8]], [[7, 8], [10, 20]])
    flipped[0] = 0
    between(row)
    assert (x.tolist(), row.tolist()) == ([[10, 20], [0, 0]], [10, 20])


@pytest.mark.parametrize("realized", ["none", "view", "whole", "both"])
def test_a_view_writes_through_whichever_was_realized_first(realized: str) -> None:
    y = Tensor(X) * 1
    v = y.permute(1, 0)
    if realized in ("view", "both"):
        v.realize()
    if realized in ("whole", "both"):
        y.realize()
    v.assign(v + 1)
    np.testing.assert_array_equal(y.numpy(), X + 1)
    np.testing.assert_array_equal(v.numpy(), X.T + 1)


@pytest.mark.parametrize("between", [_nothing, _realize])
def test_values_keep_what_they_were_computed_from(between: Any) -> None:
    x = Tensor([1, 2, 3]).realize()
    computed, padded, joined = x + 0, x.pad((1, 1)), Tensor.cat(x)
    between(computed, padded, joined)
    part = padded[1:3]
    x.assign([7, 8, 9])
    between(x)
    x[0] = 5
    assert x.tolist() == [5, 8, 9]
    assert (computed.tolist(), joined.tolist()) == ([1, 2, 3], [1, 2, 3])
    assert (padded.tolist(), part.tolist()) == ([0, 1, 2, 3, 0], [1, 2])


def test_a_padded_value_is_written_without_what_it_was_made_of() -> None:
    x = Tensor([1, 2]).realize()
    padded = x.pad((1, 0))
    padded[1:] = 9
    assert (padded.tolist(), x.tolist()) == ([0, 9, 9], [1, 2])
    joined = Tensor.cat(x)
    joined.assign([5, 6])
    assert (joined.tolist(), x.tolist()) == ([5, 6], [1, 2])


def test_a_detached_tensor_shows_the_same_memory() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    x.detach()[0] = 5.0
    assert x.tolist() == [5.0, 2.0]
    (x * x.detach().realize()).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [5.0, 2.0]


def test_a_tensor_of_a_tensor_shows_the_same_memory() -> None:
    for x in (Tensor([1, 2]) * 1, (Tensor([1, 2]) * 1).realize()):
        Tensor(x).assign([3, 4])
        assert x.tolist() == [3, 4]


def test_a_tensor_of_memory_shows_what_others_show() -> None:
    x = Tensor([1, 2, 3]).realize()
    Tensor(x.uop)[1:].assign([5, 6])
    Tensor(x[:1].realize().uop).assign([4])
    assert x.tolist() == [4, 5, 6]


def test_a_view_outlives_what_it_shows() -> None:
    x = Tensor([1, 2, 3]) * 2
    row = x[1:]
    other = x[:2]
    del x
    row.assign([8, 9])
    assert (row.tolist(), other.tolist()) == ([8, 9], [2, 8])


# --- tensors that are computed alike ---


@pytest.mark.parametrize("write", ["assign", "setitem", "view"])
@pytest.mark.parametrize("order", ["none", "a", "b", "a b", "b a", "together"])
def test_equal_computations_are_told_apart_when_one_is_written(order: str, write: str) -> None:
    t = Tensor([1, 2, 3])
    a, b, reader, view = t * 4, t * 4, t * 4 + 1, (t * 4)[1:]
    named = {"a": a, "b": b}
    if order == "together":
        a.realize(b)
    elif order != "none":
        for name in order.split():
            named[name].realize()
    if write == "assign":
        a.assign([0, 0, 0])
    elif write == "setitem":
        a[:] = 0
    else:
        a.flip(0)[:] = 0
    a.realize()
    again = t * 4
    assert a.tolist() == [0, 0, 0]
    assert (b.tolist(), reader.tolist(), view.tolist()) == ([4, 8, 12], [5, 9, 13], [8, 12])
    assert again.tolist() == [4, 8, 12]
    b.assign(b + 1)
    assert (a.tolist(), b.tolist(), again.tolist()) == ([0, 0, 0], [5, 9, 13], [4, 8, 12])


def test_arguments_that_were_computed_alike_are_told_apart() -> None:
    def change(x: Tensor, y: Tensor) -> Tensor:
        x.assign(x + 1)
        return x + y

    replayed = jit(change)
    t = Tensor([1, 2])
    for _ in range(CALLS):
        a, b = t * 3, t * 3
        a.realize(b)
        assert replayed(a, b).tolist() == [7, 13]
        assert (a.tolist(), b.tolist()) == ([4, 7], [3, 6])


def test_an_argument_that_is_written_is_told_apart_from_its_twin() -> None:
    replayed = TinyJit(lambda x: x.assign(x + 1).sum())
    t = Tensor([1, 2])
    for _ in range(CALLS):
        a, b = t * 3, t * 3
        a.realize(b)
        assert replayed(b).item() == 11
        assert (a.tolist(), b.tolist()) == ([3, 6], [4, 7])


def test_results_that_were_computed_alike_are_told_apart() -> None:
    @jit
    def function(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        out = x * 2
        return out, x * 2, out[1:]

    for n in range(CALLS):
        a, b, part = function(Tensor([n, n + 1]))
        a.assign([100, 200])
        assert (a.tolist(), b.tolist(), part.tolist()) == ([100, 200], [2 * n, 2 * n + 2], [200])


# --- what cannot be written ---


def test_repeated_elements_are_not_written() -> None:
    x = Tensor([[1], [2]])
    for wide in (x.expand(2, 3), x.expand(2, 3)[0], x.expand(2, 3).T):
        with pytest.raises(ViewError, match="shows elements of its memory more than once"):
            wide.assign(wide + 1)
        with pytest.raises(ViewError, match=r"\.contiguous\(\)"):
            wide[0] = 5
    own = x.expand(2, 3).contiguous()
    own[0] = 5
    assert (own.tolist(), x.tolist()) == ([[5, 5, 5], [2, 2, 2]], [[1], [2]])


def test_nothing_is_written_where_there_are_no_elements() -> None:
    row = Tensor.zeros(1, 0)
    rows = row.expand(3, 0)
    rows += 1
    rows[1] = 2
    assert rows.assign(rows * 2).shape == (3, 0)
    assert row.tolist() == [[]]


def test_views_of_tracked_tensors_are_not_written() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    y = w * 2
    with pytest.raises(GradientError, match="its gradient is tracked"):
        y[0].assign(5.0)
    w[0].assign(5.0)
    assert w.tolist() == [5.0, 2.0]
    d = y.detach()
    d[0] = 7.0
    assert d.tolist() == [7.0, 4.0]


# --- memory ---


def test_a_write_through_a_view_stays_in_the_memory() -> None:
    x = Tensor(X).realize()
    memory = storage.buffer_of(x.uop)
    x[1:].T[0].assign(5)
    x.realize()
    assert storage.buffer_of(x.uop) is memory


def test_a_part_of_a_value_is_computed_alone() -> None:
    big = Tensor.arange(1 << 40, dtype="int64")
    assert big[5:7].realize().tolist() == [5, 6]
    assert big[5:7].reshape(2, 1).realize()[1].item() == 6


def test_a_gradient_gives_a_view_memory_of_its_own() -> None:
    x = Tensor([1.0, 2.0, 3.0]).realize()
    w = x[1:]
    w.requires_grad = True
    w.assign([8.0, 9.0])
    assert (x.tolist(), w.tolist()) == ([1.0, 2.0, 3.0], [8.0, 9.0])


def test_numbers_are_written_in_memory_of_their_own() -> None:
    a, b = Tensor.zeros(3, dtype=dtypes.int32), Tensor.zeros(3, dtype=dtypes.int32)
    tail = a[1:].realize()
    a.assign([1, 2, 3])
    tail[0] = 5
    assert (a.tolist(), b.tolist(), tail.tolist()) == ([1, 5, 3], [0, 0, 0], [5, 3])


def test_a_part_of_a_value_whose_memory_was_overwritten_is_written_to_as_it_was() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    part = (x + 1)[-1]
    x *= 2
    x.realize()
    part[1] += 2
    assert part.tolist() == [4.0, 7.0]


def test_a_value_is_told_apart_from_memory_that_a_write_waits_for() -> None:
    x = Tensor([1.0, 2.0]).realize()
    first, made = x * 2, (x * 2).realize()
    made.assign(made + 5)
    later = made + 1
    # the write goes on waiting, for `later`
    del made
    assert (first + 1).tolist() == [3.0, 5.0]
    assert later.tolist() == [8.0, 10.0]
    assert first.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("realized", [False, True])
@pytest.mark.parametrize("made", [lambda: Tensor([1.0, -2.0, 3.0]), lambda: Tensor([2.0, -4.0, 6.0]) / 2])
def test_a_bitcast_of_equal_size_writes_through(made: Any, realized: bool) -> None:
    x = made()
    copy, twice = x.bitcast("int32") + 0, x * 2
    bits = x.bitcast("uint32")
    if realized:
        bits.realize()
    bits[1:] &= 0x7FFFFFFF
    x[0] = 0.5
    assert x.tolist() == [0.5, 2.0, 3.0]
    assert bits.tolist() == np.array([0.5, 2.0, 3.0], np.float32).view(np.uint32).tolist()
    bits.flip(0).bitcast("float32")[::2].assign([8.0, 9.0])
    assert x.tolist() == [9.0, 2.0, 8.0]
    assert copy.tolist() == np.array([1.0, -2.0, 3.0], np.float32).view(np.int32).tolist()
    assert twice.tolist() == [2.0, -4.0, 6.0]
    x.bitcast("float32").assign([1.0, 1.0, 1.0])
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_a_jitted_function_writes_through_a_bitcast() -> None:
    outside = Tensor([1.0, -1.0]).realize()

    @jit
    def flip_signs(bits: Tensor) -> Tensor:
        bits.assign(bits ^ 0x80000000)
        view = outside.bitcast("uint32")
        view ^= 0x80000000
        return bits.bitcast("float32")

    for sign in (-1.0, 1.0, -1.0, 1.0):
        x = Tensor([1.0, 2.0]).realize()
        out = flip_signs(x.bitcast("uint32"))
        assert x.tolist() == out.tolist() == [-1.0, -2.0]
        assert outside.tolist() == [sign, -sign]


def test_a_jitted_function_returns_a_bitcast_of_its_argument_as_a_view() -> None:
    function = jit(lambda x: x.bitcast("int32").bitcast("uint32"))
    for _ in range(CALLS):
        x = Tensor([1, 2], dtype="int32").realize()
        function(x)[0] = 7
        assert x.tolist() == [7, 2]


def test_a_bitcast_of_what_is_trained_is_a_value() -> None:
    w = Tensor([1.0, -2.0], requires_grad=True)
    bits = (w * 2).bitcast("int32")
    bits[0] = 0
    assert bits.tolist() == [0, np.float32(-4).view(np.int32).item()]
    assert (w * 2).tolist() == [2.0, -4.0]
