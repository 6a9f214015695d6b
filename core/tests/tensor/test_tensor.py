import copy
import gc
import pickle
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import plugrad
from plugrad import Device, Tensor, Variable, dtypes
from plugrad.engine import storage
from plugrad.engine.realize import realize
from plugrad.errors import AxisError, DeviceError, DeviceNotFound, DtypeError, ShapeError
from plugrad.jit import jit
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def test_nothing_runs_until_a_value_is_needed() -> None:
    t = Tensor([1.0, 2.0]) * 3
    assert t.uop.op is Ops.MUL
    assert t.realize() is t
    assert t.uop.op is Ops.BUFFER
    assert t.schedule() == []


def test_realizing_one_of_two_equal_expressions_realizes_the_other() -> None:
    t = Tensor([1.0, 2.0])
    a, b = t * 4, t * 4
    assert a.uop is b.uop
    a.realize()
    assert b.uop.op is Ops.BUFFER
    assert a.uop is b.uop
    assert b.schedule() == []


def test_several_tensors_are_realized_in_one_schedule() -> None:
    x = Tensor([1.0, 2.0]).realize()
    a, b = x + 1, (x * 2).sum()
    a.realize(b)
    assert (a.uop.op, storage.base_of(b.uop).op) == (Ops.BUFFER, Ops.BUFFER)
    assert (a.tolist(), b.item()) == ([2.0, 3.0], 6.0)


def test_numbers_that_were_realized_on_one_device_stay_numbers_on_another() -> None:
    numbers = UOp.iota(4) * 3
    realize([numbers], "PYTHON:1")
    assert Tensor(numbers, device="PYTHON:1").uop.op is Ops.BUFFER
    here = Tensor(numbers, device="PYTHON")
    assert here.uop is numbers
    total = here + Tensor([1, 2, 3, 4], device="PYTHON").realize()
    assert {u.device for u in total.uop.toposort()} == {"PYTHON", None}
    assert total.tolist() == [1, 5, 9, 13]


def test_numbers_become_memory_of_their_own_when_they_are_written_to() -> None:
    numbers = UOp.iota(4) * 5
    one, other = Tensor(numbers, device="PYTHON"), Tensor(numbers, device="PYTHON:1")
    one[1], other[2] = 7, 8
    assert (one.tolist(), other.tolist()) == ([0, 7, 10, 15], [0, 5, 8, 15])
    assert (one.device, other.device) == ("PYTHON", "PYTHON:1")


def test_a_schedule_lists_kernels_with_their_buffers() -> None:
    x = Tensor([1.0, 2.0, 3.0]).realize()
    items = ((x + 1) * 2 - 1).relu().sum().schedule()
    assert len(items) == 1
    assert items[0].ast.op is Ops.SINK
    assert [buffer.size for buffer in items[0].bufs] == [1, 3]
    assert ((x + 1) * 2 - 1).relu().sum().item() == 15.0


def test_kernels_replace_the_graph_without_running() -> None:
    x = Tensor([1.0, 2.0]).realize()
    t = (x + 1).sum()
    assert t.kernelize() is t
    assert any(u.op is Ops.KERNEL for u in t.uop.toposort())
    assert t.item() == 5.0


def test_printing_never_computes() -> None:
    t = Tensor([[1.0, 2.0]]) + 1
    text = repr(t)
    assert text == f"<Tensor (1, 2) float32 on {Device.DEFAULT}, ADD not computed>"
    assert t.uop.op is Ops.ADD
    assert repr(t.realize()) == f"<Tensor (1, 2) float32 on {Device.DEFAULT}>"
    assert repr(Tensor(3)) == f"<Tensor () int32 on {Device.DEFAULT}, 3>"
    assert "requires_grad" in repr(Tensor([1.0], requires_grad=True))
    assert "(n,)" in repr(Tensor.ones(Variable("n", 1, 5)))
    assert f"{t}" == repr(t)
    assert f"{t.sum():.2f}" == "5.00"


def test_python_numbers_come_out() -> None:
    t = Tensor([[5]])
    assert (t.item(), int(t), float(t), complex(t)) == (5, 5, 5.0, 5 + 0j)
    assert [10, 20, 30][Tensor(2)] == 30
    assert type(Tensor(1.5).item()) is float
    assert type((Tensor([1]) > 0).item()) is bool
    assert bool(Tensor([1]) == Tensor([1])) is True


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"item\(\) of shape \(2,\): it has 2 elements"):
        Tensor([1, 2]).item()
    with pytest.raises(ShapeError, match=r"neither true nor false. Use \.any\(\) or \.all\(\)"):
        bool(Tensor([1, 2]) == Tensor([1, 2]))
    with pytest.raises(DtypeError, match="float32 is no index"):
        [1, 2][Tensor(1.0)]  # type: ignore[call-overload]
    with pytest.raises(ShapeError, match=r"a tensor of shape \(\) has no length"):
        len(Tensor(1.0))


# large enough to be shared and not copied
N = 10_000


def ones() -> Tensor:
    return (Tensor.zeros(N) + 1).contiguous().realize()


def test_data_and_asarray_are_the_memory_itself_and_read_only() -> None:
    t = ones()
    first, second = np.asarray(t.data()), np.asarray(t)
    assert np.shares_memory(first, second)
    assert (first.flags.writeable, second.flags.writeable) == (False, False)
    assert t.data().readonly
    with pytest.raises(ValueError, match="read-only"):
        second[0] = 5
    assert np.shares_memory(np.asarray(t.reshape(100, 100)), second)


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.assign(t + 1).realize(),
        lambda t: t.assign(Tensor.zeros(N)).realize(),
        lambda t: t.__setitem__(slice(5, 9), 7.0) or t.realize(),
        lambda t: t.reshape(100, 100)[3:5].assign(Tensor.zeros(2, 100)).realize(),
    ],
)
@pytest.mark.parametrize("size", [N, 10])
def test_what_was_read_stays_as_it_was_whatever_is_written(write: Callable[[Tensor], Any], size: int) -> None:
    t = ones()
    part = t[:size].contiguous().realize() if size < N else t
    arrays = [np.asarray(part), np.asarray(part.data()), part.numpy()]
    for _ in range(3):
        write(t)
        assert any(value != 1 for value in t.tolist())
        if size < N:
            part.assign(part + 1).realize()
    for array in arrays:
        assert (array == 1).all()


def test_what_was_read_outlives_the_tensor() -> None:
    array = np.asarray(ones())
    others = [ones() * 2 for _ in range(5)]
    Tensor.realize(*others)
    assert (array == 1).all()


def test_memory_that_nobody_looks_at_any_more_is_overwritten_in_place() -> None:
    t = ones()
    handle = storage.buffer_of(t.uop).handle
    array = np.asarray(t)
    assert array[0] == 1
    del array
    t.assign(t + 1).realize()
    assert storage.buffer_of(t.uop).handle == handle
    array = np.asarray(t)
    t.assign(t + 1).realize()
    assert storage.buffer_of(t.uop).handle != handle
    assert (array[0], t[0].item()) == (2, 3)


def test_numpy_is_the_callers_own() -> None:
    for t in (ones(), Tensor(2.0), Tensor([1, 2]), Tensor.zeros(0, 3), Tensor([1.5], dtype="bfloat16")):
        before = t.tolist()
        array = t.numpy()
        assert array.flags.writeable
        assert array.flags.owndata
        array[...] = 9
        assert t.tolist() == before


def test_numpy_asks_for_a_copy_or_for_none() -> None:
    t = ones()
    assert t.__array__(copy=False).flags.writeable is False
    mine = np.array(t)
    mine[:] = 7
    assert t.numpy().max() == 1
    for tensor, dtype in ((t, np.float64), (Tensor([1.5], dtype="bfloat16"), None)):
        with pytest.raises(ValueError, match="copy"):
            tensor.__array__(dtype, copy=False)
    assert np.asarray(t, np.float64).dtype == np.float64


def test_memory_that_a_jitted_function_uses_is_copied_and_stays_where_it_is() -> None:
    w = ones()
    before = np.asarray(w)

    @jit
    def step(x: Tensor) -> Tensor:
        w.assign(w + x).realize()
        return (w * 2).realize()

    for _ in range(4):
        step(ones())
        seen = np.asarray(w)
        view = w.data()
    assert (before == 1).all()
    assert (seen == 5).all()
    step(ones())
    assert (seen == 5).all()
    assert view[3] == 5
    assert w.tolist() == [6.0] * N


def test_an_input_that_a_jitted_function_writes_to_leaves_what_was_read() -> None:
    @jit
    def step(x: Tensor) -> Tensor:
        return x.assign(x + 1).realize()

    x = ones()
    for turn in range(4):
        before, view = np.asarray(x), x.data()
        step(x)
        assert (before == turn + 1).all()
        assert view[7] == turn + 1
        assert x.tolist() == [turn + 2.0] * N


def test_results_of_a_jitted_function_that_were_read_stay() -> None:
    @jit
    def double(x: Tensor) -> Tensor:
        return (x * 2).realize()

    found = [np.asarray(double(ones() * k)) for k in range(5)]
    assert [array[0] for array in found] == [0, 2, 4, 6, 8]


def test_threads_read_while_others_write() -> None:
    t = ones()
    wrong: list[Any] = []

    def read() -> None:
        for _ in range(60):
            array = np.asarray(t)
            first, again = array.copy(), array.copy()
            if (first != first[0]).any() or (again != first).any():
                wrong.append(first)

    def write() -> None:
        for _ in range(60):
            t.assign(t + 1).realize()

    threads = [threading.Thread(target=work) for work in (read, read, write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_lists_and_memory_come_out_without_numpy() -> None:
    values = [[1.5, -2.0], [3.0, 4.0]]
    for name in ("float16", "bfloat16", "float32", "float64"):
        assert Tensor(values, dtype=name).tolist() == values
    view = Tensor(values).data()
    assert (view.shape, view.format, view[1, 0], view.readonly) == ((2, 2), "f", 3.0, True)
    assert Tensor(7).data()[()] == 7
    assert Tensor([[], []]).data().nbytes == 0
    assert Tensor([1.0], dtype="bfloat16").data().tolist() == [0x3F80]
    assert np.asarray(Tensor([1, 2])).tolist() == [1, 2]
    assert np.asarray(Tensor([1, 2]), np.float64).dtype == np.float64


def test_symbolic_shapes_have_no_array() -> None:
    n = Variable("n", 1, 5)
    for read in (Tensor.numpy, Tensor.tolist, Tensor.data):
        with pytest.raises(ShapeError, match=rf"{read.__name__}: the shape \(n,\) is symbolic"):
            read(Tensor.ones(n.bind(2)))


def test_sizes() -> None:
    t = Tensor.zeros(2, 3, dtype="float16")
    assert (t.numel(), t.nbytes(), t.element_size(), t.ndim) == (6, 12, 2, 2)
    assert (t.size(), t.size(-1)) == ((2, 3), 3)


# --- devices ---


def test_tensors_move_between_devices() -> None:
    t = Tensor([1.0, 2.0])
    assert t.to(None) is t
    assert t.to(t.device) is t
    other = "NULL" if Device.DEFAULT == "PYTHON" else "PYTHON"
    moved = t.to(other)
    assert moved.device == other
    assert moved.uop.op is Ops.COPY
    if other == "PYTHON":
        assert (moved + 1).tolist() == [2.0, 3.0]
    assert Tensor(1.0).to(other).device == other


def test_tensors_of_two_devices_do_not_mix() -> None:
    a, b = Tensor([1.0], device="PYTHON"), Tensor([1.0], device="NULL")
    for mix in (lambda: a + b, lambda: a.cat(b), lambda: a @ b, lambda: a.assign(b)):
        with pytest.raises(DeviceError, match=r"on (PYTHON|NULL)"):
            mix()


def test_constants_go_anywhere() -> None:
    out = Tensor(2.0) * Tensor([1.0], device="NULL")
    assert out.device == "NULL"
    assert (Tensor.ones(2) + Tensor.zeros(2)).device == Device.DEFAULT
    assert Tensor.ones(2, device="NULL").realize().uop.device == "NULL"


def test_a_device_that_is_not_there_is_refused_at_once() -> None:
    with pytest.raises(DeviceNotFound, match="NOWHERE"):
        Tensor([1], device="NOWHERE")


# --- assign ---


def test_assigning_writes_the_same_memory() -> None:
    t = Tensor([1.0, 2.0]).realize()
    buffer = storage.buffer_of(t.uop)
    assert t.assign(t + 1) is t
    assert t.tolist() == [2.0, 3.0]
    assert storage.buffer_of(t.uop) is buffer
    t.assign(5.0)
    t.assign(t * 2)
    assert t.tolist() == [10.0, 10.0]
    assert t.assign([1.0, 2.0]).tolist() == [1.0, 2.0]


def test_what_was_computed_before_keeps_the_old_value_whenever_it_is_read() -> None:
    t = Tensor([1.0, 2.0]).realize()
    before, total = t * 10, (t + 1).sum()
    t.assign(Tensor([5.0, 6.0])).realize()
    after = t * 10
    assert after.tolist() == [50.0, 60.0]
    assert before.tolist() == [10.0, 20.0]
    assert total.item() == 5.0


def test_an_expression_is_computed_anew_after_an_assign() -> None:
    t = Tensor([1.0, 2.0]).realize()
    first = (t * 3).realize()
    t.assign(t + 1).realize()
    second = (t * 3).realize()
    t.assign(t + 1).realize()
    third = t * 3
    assert [x.tolist() for x in (first, second, third)] == [[3.0, 6.0], [6.0, 9.0], [9.0, 12.0]]


def test_the_same_assign_runs_each_time() -> None:
    t = Tensor([0.0]).realize()
    held: list[Any] = []
    for _ in range(5):
        t.assign(t + 1)
        held.append(t + 0.5)
        t.realize()
    assert t.item() == 5.0
    assert [h.item() for h in held] == [1.5, 2.5, 3.5, 4.5, 5.5]


def test_views_see_an_assign() -> None:
    t = Tensor([1.0, 2.0, 3.0]).realize()
    view = t[1:]
    t.assign(Tensor([4.0, 5.0, 6.0])).realize()
    assert view.tolist() == [5.0, 6.0]
    assert (view + 1).tolist() == [6.0, 7.0]
    t.assign(Tensor([7.0, 8.0, 9.0])).realize()
    assert (view + 1).tolist() == [9.0, 10.0]


def test_two_values_may_change_places() -> None:
    a, b = Tensor([1.0]).realize(), Tensor([2.0]).realize()
    old = a + 0
    a.assign(b + 0)
    b.assign(old)
    a.realize(b)
    assert (a.item(), b.item()) == (2.0, 1.0)


def test_a_constant_gets_memory_of_its_own_when_assigned() -> None:
    a, b = Tensor.zeros(2), Tensor.zeros(2)
    a.assign(Tensor([1.0, 2.0]))
    assert (a.tolist(), b.tolist()) == ([1.0, 2.0], [0.0, 0.0])
    m, v = Tensor.zeros(2).contiguous().realize(), Tensor.zeros(2).contiguous().realize()
    m.assign(m + 1)
    v.assign(v + 2)
    m.realize(v)
    assert (m.tolist(), v.tolist()) == ([1.0, 1.0], [2.0, 2.0])


def test_an_equal_tensor_is_not_written_by_an_assign_to_its_twin() -> None:
    t = Tensor([1.0, 2.0])
    a, b = t * 2, t * 2
    a.realize()
    a.assign(a + 1).realize()
    assert (a.tolist(), b.tolist()) == ([3.0, 5.0], [2.0, 4.0])


def test_an_assign_inside_a_function_is_seen_outside() -> None:
    count = Tensor.zeros(1, dtype="int32").contiguous()

    def layer(x: Tensor) -> Tensor:
        count.assign(count + 1)
        return x * 2

    for _ in range(3):
        layer(Tensor([1.0])).realize()
    assert count.tolist() == [3]


def test_wrong_assigns_are_refused() -> None:
    t = Tensor([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"cannot assign shape \(3,\) to \(2,\): it does not broadcast"):
        t.assign(Tensor([1.0, 2.0, 3.0]))
    with pytest.raises(DtypeError, match=r"cannot assign int32 to float32: memory keeps its dtype"):
        t.assign(Tensor([1, 2]))


# --- life ---


def test_memory_goes_with_the_last_tensor_that_needs_it() -> None:
    t = (Tensor([1.0, 2.0]) + 1).realize()
    buffer = weakref.ref(storage.buffer_of(t.uop))
    view = t[1:]
    del t
    gc.collect()
    assert buffer() is not None
    del view
    gc.collect()
    assert buffer() is None


def test_all_living_tensors_are_known() -> None:
    t = Tensor([1.0]) + 1
    assert t in Tensor._live
    assert t._uop in Tensor.held_graphs()
    t.assign([5.0])
    assert t.uop in Tensor.held_graphs()
    assert t.realize().uop not in Tensor.held_graphs()


def test_threads_may_build_and_realize_at_the_same_time() -> None:
    results: dict[int, list[float]] = {}
    device = Device.DEFAULT

    def work(number: int) -> None:
        t = Tensor([float(number), 1.0], device=device)
        for _ in range(5):
            t = (t * 2 + 1).realize()
        results[number] = t.tolist()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: [32.0 * n + 31, 63.0] for n in range(4)}


PICKLED: list[Callable[[], Tensor]] = [
    lambda: Tensor([[1.0, 2.0], [3.0, float("nan")]]),
    lambda: Tensor([1, 2, 3])[1:] * 2,
    lambda: Tensor(3),
    lambda: Tensor([]),
    lambda: Tensor.zeros(2, 0, 3),
    lambda: Tensor([True, False]),
    lambda: Tensor([1.5, -2.0], dtype=dtypes.bfloat16),
    lambda: Tensor([1, 2], device="PYTHON"),
]


@pytest.mark.parametrize("make", PICKLED)
@pytest.mark.parametrize("renew", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_a_pickled_or_copied_tensor_has_the_elements_and_its_own_memory(
    make: Callable[[], Tensor], renew: Callable[[Tensor], Tensor]
) -> None:
    t = make()
    again = renew(t)
    assert (again.shape, again.dtype, again.device) == (t.shape, t.dtype, t.device)
    assert again.data().tobytes() == t.data().tobytes()
    if t.dtype is not dtypes.bool:
        before = t.data().tobytes()
        again.assign(again * 0).realize()
        assert t.data().tobytes() == before


def test_another_process_reads_a_pickled_tensor() -> None:
    sent = pickle.dumps([Tensor([7.0, 8.0]).realize(), Tensor([1.0, 2.0], requires_grad=True)])
    code = (
        "import pickle, sys; from plugrad import Tensor; "
        "mine = [Tensor([0.0, 0.0]).realize() for _ in range(99)]; "
        "a, b = pickle.loads(sys.stdin.buffer.read()); print(a.tolist(), b.tolist(), b.requires_grad)"
    )
    out = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert out.stdout.split() == b"[7.0, 8.0] [1.0, 2.0] True".split()


def test_a_copied_parameter_keeps_what_an_optimizer_needs() -> None:
    w = Tensor([2.0], requires_grad=True)
    (w * w).sum().backward()
    again = copy.deepcopy(w)
    assert again.requires_grad
    assert again.grad is not None
    assert again.grad is not w.grad
    assert again.grad.tolist() == [4.0]


def test_importing_plugrad_and_reading_a_list_takes_no_numpy() -> None:
    code = "import sys, plugrad; print('numpy' in sys.modules, 'plugrad.builtin.python' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]


def test_the_package_exports_what_users_need() -> None:
    for name in ("Tensor", "Device", "dtypes", "Variable", "context"):
        assert hasattr(plugrad, name)
    assert Tensor([1]).dtype is dtypes.int32


def test_a_tensor_that_is_replaced_shows_the_other_ones_memory() -> None:
    memory = Tensor([1.0, 2.0, 3.0]).realize()
    view = Tensor([0.0, 0.0], requires_grad=True).replace(memory[1:])
    assert view.requires_grad
    memory.assign(memory * 2).realize()
    assert view.tolist() == [4.0, 6.0]
    view.assign(view.detach() + 1).realize()
    assert memory.tolist() == [2.0, 5.0, 7.0]
    with pytest.raises(ShapeError, match=r"cannot replace a tensor of shape \(2,\) by one of \(3,\)"):
        view.replace(memory)


@pytest.mark.parametrize(("dtype", "fmt"), [("fp8e4m3", "B"), ("float16", "H"), ("bfloat16", "H")])
def test_short_floats_show_their_bits_in_their_shape(dtype: str, fmt: str) -> None:
    t = Tensor([[1.0, 2.0], [-3.0, 0.0]], dtype=dtype)
    seen = t.data()
    assert (seen.format, seen.shape) == (fmt, (2, 2))
    assert seen.tolist() == t.bitcast("uint8" if fmt == "B" else "uint16").tolist()


def test_tensors_move_to_a_device_a_dtype_or_another_tensor() -> None:
    t = Tensor([1, 2])
    assert (
        t.to(dtypes.float16).dtype is t.to(None, "half").dtype is t.to(dtype="half").dtype is dtypes.float16
    )
    other = Tensor([0.5], device="PYTHON", dtype="float64")
    assert (t.to(other).device, t.to(other).dtype) == ("PYTHON", dtypes.float64)
    assert (t.to("PYTHON", "int8").device, t.to("PYTHON", "int8").tolist()) == ("PYTHON", [1, 2])
    assert t.to(None) is t.to() is t


def test_a_parameter_moves_in_place_with_its_gradient(device: str) -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    (w * 3).sum().backward()
    target = "CPU" if device == "PYTHON" else "PYTHON"
    assert w.to_(device) is w
    assert w.to_(target) is w
    assert (w.device, w.grad.device, w.tolist(), w.grad.tolist()) == (target, target, [1.0, 2.0], [3.0, 3.0])
    (w * 2).sum().backward()
    assert w.grad.tolist() == [5.0, 5.0]
    assert w.assign(w.detach() - 1).tolist() == [0.0, 1.0]


def test_what_was_computed_moves_in_place_with_its_history(device: str) -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    y = w * 2
    y.to_("CPU" if device == "PYTHON" else "PYTHON").sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]


def test_a_gradient_is_asked_for_in_place() -> None:
    t = Tensor([1.0])
    assert t.requires_grad_() is t
    assert t.requires_grad
    assert not t.requires_grad_(False).requires_grad


@pytest.mark.parametrize("axis", [2, -3, 1.0, "a", (0, 1)])
def test_sizes_of_axes_that_do_not_exist_are_refused(axis: Any) -> None:
    with pytest.raises(AxisError, match=r"^size: "):
        Tensor.ones(2, 3).size(axis)
