import array
import ctypes
import gc
import weakref
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Device, Tensor, dtypes
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.events import CopyEvent, KernelEvent
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing import recorded_events


def test_a_number_is_a_constant_without_memory() -> None:
    for value, dtype in (
        (3.0, dtypes.float32),
        (3, dtypes.int32),
        (True, dtypes.bool),
        (1 << 40, dtypes.int64),
    ):
        t = Tensor(value)
        assert t.uop is UOp.const(dtype, value)
        assert t.shape == ()
        assert t.item() == value
        assert t.device == Device.DEFAULT


def test_a_list_starts_as_a_copy_from_the_python_device(device: str) -> None:
    uop = Tensor([1, 2]).uop
    if device == "PYTHON":
        assert uop.op is Ops.BUFFER
    else:
        assert uop.op is Ops.COPY
        assert uop.src[0].op is Ops.BUFFER
        assert uop.src[0].device == "PYTHON"


def test_bytes_are_uint8_or_what_they_are_said_to_be() -> None:
    assert Tensor(b"\x01\xff").tolist() == [1, 255]
    assert Tensor(b"\x00\x00\x80\x3f", dtype=dtypes.float32).tolist() == [1.0]
    with pytest.raises(ShapeError, match="3 bytes are no whole number of float32, of 4 bytes each"):
        Tensor(b"abc", dtype=dtypes.float32)


@pytest.mark.parametrize(
    "name", ["bool", "int8", "uint8", "int16", "uint32", "int64", "float16", "float32", "float64"]
)
def test_arrays_come_and_go_unchanged(name: str) -> None:
    array = (np.arange(12).reshape(3, 4) % 5).astype(name)
    for given in (array, array.T, array[::2, ::-1], np.asfortranarray(array), array[:0], array[1, 2]):
        t = Tensor(given)
        out = t.numpy()
        assert t.dtype.name == name
        assert out.dtype == given.dtype
        np.testing.assert_array_equal(out, given)


def test_foreign_byte_order_is_made_native() -> None:
    np.testing.assert_array_equal(Tensor(np.array([1, 2, 3], ">i4")).numpy(), [1, 2, 3])


def test_an_array_is_copied_so_that_later_changes_do_not_show() -> None:
    array = np.ones(4, np.float32)
    t = Tensor(array)
    array[:] = 5
    assert t.tolist() == [1.0] * 4
    out = t.numpy()
    out[:] = 7
    assert t.tolist() == [1.0] * 4


def test_an_array_is_copied_once_at_once_and_straight_to_the_device() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    with recorded_events(CopyEvent) as copies, recorded_events(KernelEvent) as kernels:
        for given in (array, array.T, array.astype(">f4"), array[::2, ::-1], bytearray(array.tobytes())):
            t = Tensor(given)
            assert t.uop.op is Ops.BUFFER
            t.realize().numpy()
    assert not copies
    assert not kernels


def test_bytes_that_may_change_are_copied_at_once() -> None:
    data = bytearray(b"\x01\x02")
    tensors = [Tensor(data), Tensor(memoryview(data)), Tensor(memoryview(data).cast("b"))]
    data[0] = 9
    assert [t.tolist() for t in tensors] == [[1, 2]] * 3


@pytest.mark.parametrize("format_", list("?bBhHiIlLqQnNfd"))
def test_a_memoryview_of_elements_has_their_shape_and_dtype(format_: str) -> None:
    for data in (bytes(range(48)), bytearray(range(48))):
        width = memoryview(data).cast(format_).itemsize
        view = memoryview(data).cast("B").cast(format_, (2, 24 // width))
        t = Tensor(view)
        assert t.shape == view.shape
        assert t.dtype.itemsize == width
        assert t.tolist() == view.tolist()
        assert Tensor(view.cast("B")).tolist() == list(data)


def test_a_memoryview_in_any_order_is_read_in_that_order() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    for given in (
        array.T,
        np.asfortranarray(array),
        array[:, ::2],
        array[::-1],
        array.astype(">f4"),
        array[:0],
    ):
        t = Tensor(given.data)
        assert t.dtype is dtypes.float32
        np.testing.assert_array_equal(t.numpy(), given)
    half = np.ones((2, 2), np.float16)
    assert Tensor(half.data).dtype is dtypes.float16
    assert Tensor(memoryview(b"\x01\x00\x00\x00").cast("i", ())).tolist() == 1


def test_a_dtype_casts_elements_and_reads_bytes() -> None:
    numbers = array.array("i", [1, 2])
    assert Tensor(memoryview(numbers), dtype="float32").tolist() == [1.0, 2.0]
    assert Tensor(numbers, dtype="float32").tolist() == [1.0, 2.0]
    for given in (b"\x01\x00\x02\x00", bytearray(b"\x01\x00\x02\x00"), memoryview(b"\x01\x00\x02\x00")):
        assert Tensor(given, dtype="int16").tolist() == [1, 2]
    square: Any = memoryview(bytes(4)).cast("B", (2, 2))
    assert Tensor(square).shape == (2, 2)
    with pytest.raises(ShapeError, match=r"bytes of shape \(2, 2\) as int16: only bytes in a row"):
        Tensor(square, dtype="int16")


def test_a_memoryview_that_was_released_is_refused() -> None:
    view = memoryview(b"ab")
    view.release()
    with pytest.raises(DtypeError, match="operation forbidden on released memoryview"):
        Tensor(view)


@pytest.mark.parametrize(
    "given",
    [
        np.zeros(2, [("a", "i4")]),
        np.array([1, 2], object),
        np.array(["1"]),
        np.array([b"1"]),
        np.array(["2020-01-01"], "M8[D]"),
        np.zeros(2, "m8[s]"),
        np.zeros(2, "V3"),
        np.array(["a"], np.dtypes.StringDType()),
        np.str_("1"),
    ],
    ids=lambda given: str(given.dtype),
)
def test_arrays_of_no_numbers_are_refused_whatever_they_are_to_be_cast_to(given: Any) -> None:
    for dtype in (None, "float32", "bfloat16"):
        with pytest.raises(DtypeError, match=r"NumPy's .* has no plugrad dtype"):
            Tensor(given, dtype=dtype)
    with pytest.raises(DtypeError, match=r"NumPy's .* has no plugrad dtype"):
        Tensor(given, copy=False)


@pytest.mark.parametrize("given", [np.array(["1"]), np.str_("1"), np.zeros(2, "m8[s]")])
def test_arrays_of_no_numbers_are_no_operands(given: Any) -> None:
    with pytest.raises(DtypeError, match=r"NumPy's .* has no plugrad dtype|cannot compute with"):
        Tensor([1.0]) + given


def test_wide_floats_of_numpy_are_rounded_only_when_that_is_asked_for() -> None:
    wide = np.array([0.5, 1.5], np.longdouble)
    assert Tensor(wide, dtype="float64").tolist() == [0.5, 1.5]
    with pytest.raises(DtypeError, match="has no plugrad dtype"):
        Tensor(wide)


def test_an_array_with_masked_elements_is_refused() -> None:
    assert Tensor(np.ma.array([1, 2], mask=[False, False])).tolist() == [1, 2]
    for copy in (True, False):
        with pytest.raises(DtypeError, match=r"tensors have no masks. Fill it: .filled\(value\)"):
            Tensor(np.ma.array([1, 2], mask=[False, True]), copy=copy)


def test_tensors_in_lists_are_refused_as_their_gradients_would_be_lost() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    for given in ([w, w], [w[0], 1.0], [[w[0]]], [np.ones(2), w], (w,)):
        for dtype in (None, "float64"):
            with pytest.raises(DtypeError, match=r"Tensor\.stack"):
                Tensor(given, dtype=dtype)


def test_lists_of_arrays_and_lists_are_joined() -> None:
    ones = np.ones(2, np.float32)
    for given in ([ones, [1.0, 2.0]], [[1.0, 2.0], ones]):
        assert Tensor(given).shape == (2, 2)
    assert Tensor([np.array(1.0), 2]).tolist() == [1.0, 2.0]


def test_an_object_that_is_an_array_to_numpy_is_one_here() -> None:
    class Ones:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ones(2, np.float32)

    assert Tensor(Ones()).tolist() == [1.0, 1.0]
    given: Any = Ones()
    assert (Tensor([1.0, 2.0]) + given).tolist() == [2.0, 3.0]


def an_aligned_array(size: int) -> Any:
    raw = np.zeros(size + 64, np.float32)
    begin = -raw.ctypes.data % 64 // 4
    return raw[begin : begin + size]


def test_without_a_copy_a_tensor_is_the_memory_of_the_array() -> None:
    array = an_aligned_array(10_000)
    array[:] = 3
    t = Tensor(array, copy=False)
    assert np.shares_memory(np.asarray(t), array)
    assert (t + 1).sum().item() == 40_000


def test_an_array_that_is_used_where_it_is_is_never_written() -> None:
    for write in (
        lambda t: t.assign(t + 1).realize(),
        lambda t: t.__setitem__(slice(0, 2), 5.0),
        lambda t: t.reshape(10, 1000).assign(Tensor.ones(10, 1000)).realize(),
    ):
        array = an_aligned_array(10_000)
        array.flags.writeable = False
        t = Tensor(array, copy=False)
        before = t * 2
        write(t)
        assert t.numpy().any()
        assert not before.numpy().any()
        assert not array.any()


def test_an_array_that_is_used_where_it_is_lives_as_long_as_the_tensor() -> None:
    array = an_aligned_array(10_000)
    owner = weakref.ref(array.base)
    t = Tensor(array, copy=False)
    del array
    assert owner() is not None
    assert t.sum().item() == 0
    del t
    gc.collect()
    assert owner() is None


def test_where_a_copy_is_needed_and_refused_that_is_an_error(device: str) -> None:
    array = an_aligned_array(64).reshape(8, 8)
    for given, dtype, message in (
        (array.T, None, r"array \(8, 8\): .*row-major"),
        (array.astype(">f4"), None, "native byte order"),
        (array[:0], None, "it is empty"),
        (array, dtypes.float64, "its dtype is float32, not float64"),
        ([1.0, 2.0], None, "copy=False takes a NumPy array, not list"),
    ):
        with pytest.raises(ArgumentError, match=message):
            Tensor(given, dtype=dtype, copy=False)
    if device == "CPU":
        with pytest.raises(ArgumentError, match="CPU does not use the host's memory, or not at this align"):
            Tensor(array.reshape(-1)[1:], copy=False)


def test_an_array_is_converted_to_the_dtype_asked_for() -> None:
    t = Tensor(np.array([1.5, 2.5]), dtype=dtypes.float16)
    assert t.dtype is dtypes.float16
    assert t.tolist() == [1.5, 2.5]
    assert Tensor(np.array([1.5, 2.5]), dtype="bfloat16").tolist() == [1.5, 2.5]


def test_whatever_numpy_takes_as_an_array_is_taken() -> None:
    assert Tensor(torch.tensor([[1.0, 2.0]])).tolist() == [[1.0, 2.0]]
    assert Tensor(np.float32(2.5)).item() == 2.5


def test_data_that_is_none_is_refused() -> None:
    with pytest.raises(
        DtypeError, match=r"cannot make a tensor of \{\} \(dict\)\. Pass a number, nested lists"
    ):
        Tensor({})
    with pytest.raises(DtypeError, match="join tensors with"):
        Tensor([Tensor([1]), Tensor([2])])


def test_a_tensor_of_a_tensor_is_the_same_graph() -> None:
    t = Tensor([1, 2])
    assert Tensor(t).uop is t.uop
    assert Tensor(t.uop).uop is t.uop


def test_lists_of_arrays_are_joined_as_by_numpy() -> None:
    t = Tensor([np.array([1, 2], "int16"), np.array([3, 4], "int16")])
    assert (t.tolist(), t.dtype) == ([[1, 2], [3, 4]], dtypes.int16)
    with pytest.raises(DtypeError, match="cannot make a tensor of this list: setting an array element"):
        Tensor([np.array([1, 2]), np.array([3])])


def test_ranges_are_lists() -> None:
    assert Tensor(range(2, 6)).tolist() == [2, 3, 4, 5]
    assert Tensor([range(2), (2, 3)]).tolist() == [[0, 1], [2, 3]]
    assert Tensor(range(0)).shape == (0,)
    x = Tensor.zeros(2, 3).contiguous()
    x[1] = range(3)
    assert x.tolist() == [[0, 0, 0], [0, 1, 2]]


def test_whatever_is_a_buffer_is_taken() -> None:
    t = Tensor(array.array("f", [1, 2]))
    assert (t.tolist(), t.dtype) == ([1.0, 2.0], dtypes.float32)
    assert Tensor((ctypes.c_int16 * 3)(1, 2, 3), dtype="int64").tolist() == [1, 2, 3]


def test_arrays_that_numpy_does_not_understand_are_refused_with_its_reason() -> None:
    with pytest.raises(DtypeError, match="Got unsupported ScalarType BFloat16"):
        Tensor(torch.ones(2, dtype=torch.bfloat16))
    with pytest.raises(DtypeError, match="Can't call numpy"):
        Tensor(torch.ones(2, requires_grad=True))
