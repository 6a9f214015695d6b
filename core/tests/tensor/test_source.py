import numpy as np
import pytest
import torch

from plugrad import Device, Tensor, dtypes
from plugrad.errors import DtypeError, ShapeError
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


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
    with pytest.raises(DtypeError, match="complex64 has no plugrad dtype"):
        Tensor(np.zeros(2, np.complex64))


def test_a_tensor_of_a_tensor_is_the_same_graph() -> None:
    t = Tensor([1, 2])
    assert Tensor(t).uop is t.uop
    assert Tensor(t.uop).uop is t.uop
