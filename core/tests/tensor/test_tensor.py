import copy
import gc
import pickle
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

import plugrad
from plugrad import Device, Tensor, Variable, dtypes
from plugrad.engine import storage
from plugrad.engine.realize import realize
from plugrad.errors import ArgumentError, AxisError, GradientError, ShapeError
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def test_nothing_runs_until_a_value_is_needed() -> None:
    t = Tensor([1.0, 2.0]) * 3
    assert t.uop.op is Ops.MUL
    assert t.realize() is t
    assert t.uop.op is Ops.BUFFER
    assert t.schedule() == []


def test_realizing_one_of_two_equal_expressions_computes_the_other() -> None:
    t = Tensor([1.0, 2.0])
    a, b = t * 4, t * 4
    assert a.uop is b.uop
    a.realize()
    # a gradient may want to know how it is computed
    assert b.uop.op is Ops.MUL
    assert b.schedule() == []
    assert b.realize().uop is a.uop


def test_several_tensors_are_realized_in_one_schedule() -> None:
    x = Tensor([1.0, 2.0]).realize()
    a, b = x + 1, (x * 2).sum()
    a.realize(b)
    assert (a.uop.op, storage.viewed(b.uop).op) == (Ops.BUFFER, Ops.BUFFER)
    assert (a.tolist(), b.item()) == ([2.0, 3.0], 6.0)


def test_numbers_that_were_realized_on_one_device_stay_numbers_on_another() -> None:
    numbers = UOp.iota(4) * 3
    realize([numbers], "PYTHON:1")
    assert Tensor(numbers, device="PYTHON:1").realize().uop.op is Ops.BUFFER
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


def test_sizes() -> None:
    t = Tensor.zeros(2, 3, dtype="float16")
    assert (t.numel(), t.nbytes(), t.element_size(), t.ndim) == (6, 12, 2, 2)
    assert (t.size(), t.size(-1)) == ((2, 3), 3)


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


def test_asking_for_the_graph_changes_nothing() -> None:
    x = Tensor([1.0, 2.0]).realize()
    one, other = x * 2, x * 2
    one.realize(other)
    assert other.uop is one.uop
    assert (one._storage.is_memory, other._storage.is_memory) == (True, False)
    del one
    gc.collect()
    memory = other.uop
    assert not other._storage.is_memory
    assert other.assign([5.0, 6.0]).realize()._storage.is_memory
    assert storage.buffer_of(other.uop) is storage.buffer_of(memory)


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


@pytest.mark.parametrize("is_view_first", [False, True])
def test_what_shares_memory_shares_the_copy_in_one_deepcopy(is_view_first: bool) -> None:
    for base in (Tensor([1.0, 2.0, 3.0]), Tensor([1.0, 2.0, 3.0]).realize(), Tensor.arange(1, 4) * 1.0):
        shown = (base, base[1:], base.flip(0), base.detach())
        again = copy.deepcopy(shown[::-1])[::-1] if is_view_first else copy.deepcopy(shown)
        again[1][0] = 7.0
        assert [t.tolist() for t in again] == [[1, 7, 3], [7, 3], [3, 7, 1], [1, 7, 3]]
        again[0].assign(again[0] * 10).realize()
        assert [t.tolist() for t in again] == [[10, 70, 30], [70, 30], [30, 70, 10], [10, 70, 30]]
        assert [t.tolist() for t in shown] == [[1, 2, 3], [2, 3], [3, 2, 1], [1, 2, 3]]


def test_a_deepcopy_has_gradients_of_its_own() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    result = w * 3
    result.sum().backward()
    again, tied, detached, value = copy.deepcopy((w, w, w.detach(), result))
    assert again is tied
    assert (again.requires_grad, detached.requires_grad, value.requires_grad) == (True, False, False)
    (again * 2).sum().backward()
    assert again.grad is not None
    assert w.grad is not None
    assert (again.grad.tolist(), w.grad.tolist()) == ([5, 5], [3, 3])
    detached.assign([8.0, 9.0]).realize()
    assert (again.tolist(), w.tolist()) == ([8, 9], [1, 2])


def test_shapes_without_elements_and_scalars_are_copied() -> None:
    for t in (Tensor.zeros(0, 3), Tensor(5), Tensor.ones(3).expand(2, 3), Tensor([[1, 2], [3, 4]]).T):
        again = copy.deepcopy(t)
        assert (again.shape, again.dtype, again.tolist()) == (t.shape, t.dtype, t.tolist())
    with pytest.raises(ShapeError, match=r"deepcopy: the shape .* is symbolic"):
        copy.deepcopy(Tensor.ones(4).contiguous()[: Variable("n", 1, 4).bind(2)])


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


def test_a_gradient_is_asked_for_in_place() -> None:
    t = Tensor([1.0])
    assert t.requires_grad_() is t
    assert t.requires_grad
    assert not t.requires_grad_(False).requires_grad


@pytest.mark.parametrize("axis", [2, -3, 1.0, "a", (0, 1)])
def test_sizes_of_axes_that_do_not_exist_are_refused(axis: Any) -> None:
    with pytest.raises(AxisError, match=r"^size: "):
        Tensor.ones(2, 3).size(axis)


def test_a_value_is_in_a_tensor_where_an_element_equals_it() -> None:
    matrix = [[1.0, 2.0], [3.0, float("nan")]]
    for value in (3, 5.0, float("nan")):
        assert (value in Tensor(matrix)) is (value in torch.tensor(matrix))
    assert Tensor([1.0, 9.0]) in Tensor(matrix)
    assert 1 in Tensor(1.0)
    assert "a" not in Tensor(matrix)
    assert 1.0 not in Tensor([])


def test_a_tensor_is_made_with_flags_only() -> None:
    with pytest.raises(ArgumentError, match=r"requires_grad='a' \(str\) is neither True nor False"):
        Tensor([1.0], requires_grad="a")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match=r"copy=None \(NoneType\) is neither True nor False"):
        Tensor([1.0], copy=None)  # pyright: ignore[reportArgumentType]
    for switch in (Tensor.train, Tensor.no_grad):
        with pytest.raises(ArgumentError, match="mode='a'"), switch("a"):  # pyright: ignore[reportArgumentType]
            pass
    with pytest.raises(ArgumentError, match=r"keepdim='a' \(str\) is neither True nor False"):
        Tensor([1.0]).sum(0, "a")  # pyright: ignore[reportArgumentType]


def test_a_second_name_is_the_same_function() -> None:
    assert Tensor.arcsin is Tensor.asin
    assert Tensor.concatenate is Tensor.concat is Tensor.cat
    assert Tensor.__lt__ is Tensor.less is Tensor.lt


def test_writing_through_data_changes_the_tensor_and_no_gradient() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    assert w.grad is not None
    w.data -= 0.5 * w.grad
    assert w.tolist() == [0.0, 0.0]
    w.data = [3.0, 4.0]
    w.data[0] = 5
    assert (w.tolist(), w.requires_grad, w.data.requires_grad) == ([5.0, 4.0], True, False)
    w.data[...] = w.data * 2
    assert w.data.assign(w.data + 1).tolist() == w.tolist() == [11.0, 9.0]
    w.grad = None
    (w * w).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [22.0, 18.0]


def test_what_is_computed_from_data_is_a_plain_tensor() -> None:
    data = Tensor([[1.0, 2.0]], requires_grad=True).data
    for result in (
        data * 2,
        data[0],
        data.T,
        data.sum(),
        copy.deepcopy(data),
        pickle.loads(pickle.dumps(data)),
    ):
        assert type(result) is Tensor
    assert data().tolist() == [[1.0, 2.0]]


def test_values_with_a_history_refuse_data_to_be_set() -> None:
    y = Tensor([1.0], requires_grad=True) * 2
    with pytest.raises(GradientError, match=r"its gradient is tracked"):
        y.data -= 1
    assert y.data.tolist() == [2.0]
