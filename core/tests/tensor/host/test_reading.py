"""Values of tensors as numbers, lists, memory and arrays."""

import operator
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, Variable, events
from plugrad.engine import storage
from plugrad.errors import DtypeError, JitError, ShapeError
from plugrad.jit import jit


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


@pytest.mark.parametrize("read", [float, int, complex, operator.index])
def test_several_elements_are_no_number_as_in_numpy(read: Any) -> None:
    with pytest.raises(TypeError, match=r"it has 2 elements"):
        read(Tensor([1, 2]))


@pytest.mark.parametrize("read", [len, list])
def test_a_tensor_without_axes_has_no_parts_as_in_numpy(read: Any) -> None:
    with pytest.raises(TypeError, match=r"has no length"):
        read(Tensor(1.0))


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


@pytest.mark.parametrize("dtype", ["int32", "float32", "bfloat16", "fp8e4m3", "bool"])
def test_of_a_symbolic_shape_the_elements_of_today_are_read(dtype: str) -> None:
    whole = Tensor([[i + j for i in range(6)] for j in range(5)], dtype=dtype).realize()
    n, m = Variable("n", 0, 5), Variable("m", 1, 6)
    for rows, columns in ((2, 3), (5, 6), (0, 1), (1, 1)):
        known = whole[:rows, :columns]
        for t in (
            whole[: n.bind(rows), : m.bind(columns)],
            (whole[: n.bind(rows)] | False if dtype == "bool" else whole[: n.bind(rows)] * 1)[:, :columns],
            whole.flatten()[: n.bind(rows) * 6].reshape(n.bind(rows), 6)[:, :columns],
            whole.contiguous()[: n.bind(rows), : m.bind(columns)].contiguous().realize(),
        ):
            np.testing.assert_array_equal(t.numpy(), known.numpy())
            assert t.numpy().dtype == known.numpy().dtype
            assert t.numpy().flags.owndata
            assert t.numpy().flags.writeable
            assert t.tolist() == known.tolist()
            assert bytes(t) == bytes(known)
            assert t.data().tobytes() == known.data().tobytes()
            assert t.data().shape == known.data().shape
            np.testing.assert_array_equal(np.asarray(t), np.asarray(known))
            np.testing.assert_array_equal(np.array(t), np.asarray(known))
            if dtype != "fp8e4m3":
                np.testing.assert_array_equal(t.to_torch().float().numpy(), known.float().numpy())
            if rows * columns == 1:
                assert t.item() == known.item()
            else:
                with pytest.raises(ShapeError, match=rf"it has {rows * columns} elements"):
                    t.item()


def test_reading_a_symbolic_shape_compiles_nothing_for_another_value() -> None:
    x, names = Tensor(np.arange(40, dtype=np.float32).reshape(8, 5)).realize(), []
    with events.subscribe(events.CompileEvent, lambda event: names.append(event)):
        for value in (7, 3, 8):
            before = len(names)
            assert x[: Variable("n", 1, 8).bind(value)].numpy().shape == (value, 5)
            doubled = (x[: Variable("n", 1, 8).bind(value)] * 2).numpy()
            np.testing.assert_array_equal(doubled, 2 * x.numpy()[:value])
            assert value == 7 or len(names) == before


def test_a_jitted_function_reads_no_elements_of_a_symbolic_shape() -> None:
    @jit
    def read(x: Tensor, n: Any) -> Tensor:
        return x + len(x[:n].tolist())

    x, n = Tensor.ones(4).contiguous(), Variable("n", 0, 4)
    for value in (3, 0):
        with pytest.raises(JitError, match="a jitted function reads the elements"):
            read(x, n.bind(value))


def test_a_size_without_a_value_has_no_array() -> None:
    n = Variable("n", 1, 5)
    for name in ("numpy", "tolist", "data", "item"):
        with pytest.raises(ShapeError, match=rf"{name}: the shape \(n,\) has a variable without a"):
            getattr(Tensor.ones(n), name)()


@pytest.mark.parametrize(("dtype", "fmt"), [("fp8e4m3", "B"), ("float16", "H"), ("bfloat16", "H")])
def test_short_floats_show_their_bits_in_their_shape(dtype: str, fmt: str) -> None:
    t = Tensor([[1.0, 2.0], [-3.0, 0.0]], dtype=dtype)
    seen = t.data()
    assert (seen.format, seen.shape) == (fmt, (2, 2))
    assert seen.tolist() == t.bitcast("uint8" if fmt == "B" else "uint16").tolist()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Six rows of four int32, from 0 up."""
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(24, dtype=np.int32).tobytes())
    return path


@pytest.mark.parametrize(
    ("read", "want", "nbytes"),
    [
        (lambda x: x[1:3], [[4, 5, 6, 7], [8, 9, 10, 11]], 32),
        (lambda x: x[5], [20, 21, 22, 23], 16),
        (lambda x: x[2, 3], 11, 4),
        (lambda x: x[1, 1:].contiguous(), [5, 6, 7], 12),
        (lambda x: x[:, 1], [1, 5, 9, 13, 17, 21], 96),
        (lambda x: x[1, :2] + x[3, 2:], [18, 20], 96),
        (lambda x: x[0] + x.sum(), [276, 277, 278, 279], 96),
    ],
    ids=["rows", "row", "element", "memory of its own", "column", "computed", "row and all"],
)
def test_no_more_of_a_file_is_read_than_slices_that_are_asked_for(
    file: Path, read: Callable[[Tensor], Tensor], want: object, nbytes: int
) -> None:
    copied: list[int] = []
    with events.subscribe(events.CopyEvent, lambda event: copied.append(event.nbytes)):
        lazy = Tensor(file, dtype="int32").reshape(6, 4).to("PYTHON")
        assert read(lazy).tolist() == want
    assert sum(copied) == nbytes


def test_parts_that_were_read_alone_are_parts_all_the_same(file: Path) -> None:
    lazy = Tensor(file, dtype="int32").to("PYTHON")
    part = lazy[2:5]
    assert part.tolist() == [2, 3, 4]
    part += 100
    assert lazy[:6].tolist() == [0, 1, 102, 103, 104, 5]
    lazy[4:6] = 7
    assert part.tolist() == [102, 103, 7]


def test_what_is_computed_with_is_loaded_once(file: Path) -> None:
    copied: list[int] = []
    lazy = Tensor(file, dtype="int32").to("PYTHON")
    with events.subscribe(events.CopyEvent, lambda event: copied.append(event.nbytes)):
        for number in range(3):
            assert (lazy[2:4] + number).tolist() == [2 + number, 3 + number]
        assert lazy[5:6].tolist() == [5]
    assert copied == [96]


def test_parts_of_a_file_are_read_in_any_order(file: Path) -> None:
    stored = Tensor(file, dtype="int32")
    assert stored.device.startswith("DISK:")
    assert stored[3:5].tolist() == [3, 4]
    assert stored.flip(0)[::11].numpy().tolist() == [23, 12, 1]
    assert stored.reshape(6, 4).T[1].tolist() == [1, 5, 9, 13, 17, 21]
