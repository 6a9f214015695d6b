"""Tests of plugrad.tensor.host.interop: memory goes to and comes from NumPy and PyTorch."""

import array
import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad.dtype import dtypes
from plugrad.errors import ArgumentError, DtypeError, SharingError
from plugrad.jit import jit
from plugrad.tensor import Tensor
from plugrad.tensor.host import dlpack

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64", "bfloat16"]
FLOAT8 = {"fp8e4m3": "float8_e4m3fn", "fp8e5m2": "float8_e5m2"}
# large enough to be shared and not copied
COUNT = 10_000


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)], ids=str)
def test_torch_gets_and_gives_every_dtype(dtype: str, shape: Any) -> None:
    values = (np.arange(int(np.prod(shape))) % 2).reshape(shape)
    t = Tensor(values.tolist() if 0 not in shape else np.zeros(shape), dtype=dtype)
    theirs = torch.from_dlpack(t)
    assert (tuple(theirs.shape), theirs.dtype) == (shape, getattr(torch, dtype))
    np.testing.assert_array_equal(theirs.double().numpy(), values)
    back = Tensor.from_dlpack(theirs)
    assert (back.shape, back.dtype.name) == (shape, dtype)
    np.testing.assert_array_equal(back.cast("float64").numpy(), values)


@pytest.mark.parametrize("dtype", sorted(FLOAT8))
def test_floats_of_a_byte_keep_their_bits(dtype: str) -> None:
    t = Tensor([1.5, -2.0, 0.25], dtype=dtype)
    theirs = t.to_torch()
    assert theirs.dtype == getattr(torch, FLOAT8[dtype])
    assert theirs.float().tolist() == [1.5, -2.0, 0.25]
    assert Tensor.from_torch(theirs).tolist() == [1.5, -2.0, 0.25]


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bfloat16"])
def test_numpy_gets_and_gives_every_dtype(dtype: str) -> None:
    array = np.array([[0, 1], [1, 0]]).astype(dtype)
    t = Tensor.from_dlpack(array)
    assert t.dtype.name == dtype
    back = np.from_dlpack(t)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_large_memory_is_shared_both_ways() -> None:
    t = (Tensor.arange(COUNT) * 2).realize()
    theirs = torch.from_dlpack(t)
    array = np.from_dlpack(t)
    assert theirs.data_ptr() == array.ctypes.data == np.asarray(t).ctypes.data
    assert not array.flags.writeable
    source = torch.arange(COUNT)
    assert np.asarray(Tensor.from_dlpack(source)).ctypes.data == source.data_ptr()
    assert np.asarray(Tensor.from_torch(source)).ctypes.data != source.data_ptr()


def test_an_assign_leaves_what_was_shared_as_it_is() -> None:
    t = Tensor.ones(COUNT).contiguous().realize()
    theirs, array = torch.from_dlpack(t), np.from_dlpack(t)
    t.assign(t + 1).realize()
    assert (theirs == 1).all()
    assert (array == 1).all()
    source = torch.ones(COUNT)
    mine = Tensor.from_dlpack(source)
    mine.assign(mine + 1).realize()
    assert (source == 1).all()
    assert mine[0].item() == 2


def test_shared_memory_outlives_the_tensor() -> None:
    t = (Tensor.arange(COUNT) + 1).realize()
    theirs = torch.from_dlpack(t)
    del t
    gc.collect()
    again = (Tensor.zeros(COUNT, dtype="int32") + 7).realize()
    assert theirs[:3].tolist() == [1, 2, 3]
    assert again[0].item() == 7


def test_memory_of_others_is_held_as_long_as_the_tensor() -> None:
    class Owner(np.ndarray):
        pass

    array = np.ones(COUNT).view(Owner)
    gone = weakref.ref(array)
    t = Tensor.from_dlpack(array)
    del array
    gc.collect()
    assert gone() is not None
    assert t.sum().item() == COUNT
    del t
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("asks", [{"copy": True}, {"max_version": (1, 0)}], ids=str)
def test_a_capsule_that_nobody_takes_frees_its_memory(asks: Any) -> None:
    memory = _Freed()
    capsule = dlpack.export_memory(
        memoryview(memory), (4,), dtypes.uint8, is_versioned="max_version" in asks, is_copied="copy" in asks
    )
    gone = weakref.ref(memory)
    del memory
    gc.collect()
    assert gone() is not None
    del capsule
    gc.collect()
    assert gone() is None


def test_views_in_another_order_are_copied() -> None:
    source = torch.arange(12).reshape(3, 4)
    for view in (source.T, source[:, 1:3], source[::2], source[1], source.flip(0)):
        assert Tensor.from_dlpack(view).tolist() == view.tolist()
    array = np.arange(6)[::-1]
    assert Tensor.from_dlpack(array).tolist() == array.tolist()
    assert torch.from_dlpack(Tensor([[1, 2], [3, 4]]).T).tolist() == [[1, 3], [2, 4]]
    with pytest.raises(SharingError, match=r"from_dlpack\(copy=False\)"):
        Tensor.from_dlpack(source.T, copy=False)


def test_copies_are_the_callers_own() -> None:
    t = Tensor.ones(COUNT).contiguous().realize()
    theirs = t.to_torch()
    theirs[0] = 5
    array = np.from_dlpack(t, copy=True)
    array[0] = 6
    assert t[0].item() == 1
    source = np.ones(COUNT)
    mine = Tensor.from_dlpack(source, copy=True)
    source[0] = 7
    assert mine[0].item() == 1


def test_callers_that_cannot_see_the_mark_get_a_copy() -> None:
    t = Tensor.ones(COUNT).contiguous().realize()

    class Old:
        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

        def __dlpack__(self) -> Any:
            return t.__dlpack__()

    mine = Tensor.from_dlpack(Old())
    assert mine.tolist() == t.tolist()
    with pytest.raises(SharingError, match=r"before 1\.0 cannot say"):
        t.__dlpack__(copy=False)


def test_a_tensor_of_a_tensor_is_the_same_memory() -> None:
    t = Tensor([1, 2]).realize()
    assert Tensor.from_dlpack(t).uop is t.uop


def test_jitted_functions_take_shared_memory() -> None:
    @jit
    def double(x: Tensor) -> Tensor:
        return (x * 2).realize()

    for k in range(5):
        source = torch.full((COUNT,), float(k))
        assert torch.from_dlpack(double(Tensor.from_dlpack(source)))[0] == 2 * k


def test_gradients_are_left_behind() -> None:
    source = torch.ones(3, requires_grad=True)
    assert Tensor.from_torch(source * 2).tolist() == [2.0, 2.0, 2.0]
    assert Tensor([1.0], requires_grad=True).to_torch().tolist() == [1.0]


def test_wrong_arguments_are_refused() -> None:
    t = Tensor([1.0])
    with pytest.raises(SharingError, match="has no __dlpack__"):
        Tensor.from_dlpack([1, 2])
    with pytest.raises(SharingError, match="has no plugrad dtype"):
        Tensor.from_torch(torch.zeros(2, dtype=torch.int32).view(torch.complex32))
    with pytest.raises(SharingError, match=r"memory on \(2, 0\)"):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(SharingError, match="stream=1"):
        t.__dlpack__(stream=1)
    with pytest.raises(ArgumentError, match=r"max_version='1\.0'"):
        t.__dlpack__(max_version="1.0")  # pyright: ignore[reportArgumentType]
    for call in (
        lambda: Tensor.from_dlpack(np.ones(2), copy="no"),  # pyright: ignore[reportArgumentType]
        lambda: t.__dlpack__(copy=2),  # pyright: ignore[reportArgumentType]
    ):
        with pytest.raises(
            ArgumentError, match=r"\(copy=.*\): pass True, False|copy=.* is neither True nor False"
        ):
            call()
    with pytest.raises(DtypeError, match="no PyTorch tensor"):
        Tensor.from_torch([1.0])
    with pytest.raises(ArgumentError, match=r"version '2019\.1' of the array API"):
        t.__array_namespace__(api_version="2019.1")
    assert t.__dlpack_device__() == (1, 0)
    assert t.__array_namespace__(api_version="2024.12").float32 is dtypes.float32


@pytest.mark.parametrize("asks", [{}, {"max_version": (1, 0)}], ids=str)
def test_whoever_cannot_take_a_capsule_says_why(asks: Any) -> None:
    class Asked:
        """What is asked in one way only."""

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

        def __dlpack__(self, **options: Any) -> Any:
            return Tensor([1.0], dtype="bfloat16").__dlpack__(**asks)

    # NumPy has no such dtype
    with pytest.raises(RuntimeError, match="Unsupported dtype"):
        np.from_dlpack(Asked())


def test_what_pytorch_does_not_hand_over_is_refused_with_its_words() -> None:
    for theirs, why in (
        (torch.eye(2).to_sparse(), "layout other than torch.strided"),
        (torch.zeros(2, device="meta"), "meta tensor"),
        (torch.zeros(2, dtype=torch.complex64).conj(), "conjugate bit"),
    ):
        with pytest.raises(SharingError, match=f"from_torch: (PyTorch|torch) does not hand over .*{why}"):
            Tensor.from_torch(theirs)


def test_memory_that_is_shared_when_the_interpreter_ends_does_no_harm() -> None:
    code = (
        "import torch, numpy as np\n"
        "from plugrad import Tensor\n"
        "a = torch.from_dlpack(Tensor.arange(9000).realize())\n"
        "b = Tensor.from_dlpack(torch.arange(9000))\n"
        "c = np.from_dlpack(Tensor.arange(9000).realize())\n"
        "d = Tensor([1]).__dlpack__()\n"
        "print(a.sum().item(), b.sum().item())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("dtype", [*DTYPES, *FLOAT8])
def test_bytes_are_those_of_the_elements(dtype: str) -> None:
    for t in (Tensor([[1, 0], [1, 1]], dtype=dtype).T, Tensor(1, dtype=dtype), Tensor([], dtype=dtype)):
        assert bytes(t) == bytes(t.contiguous().data())
    assert bytes(Tensor([3])) == bytes(np.array([3], np.int32))


def test_the_array_interface_is_the_memory_itself() -> None:
    t = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    array = np.asarray(_OnlyInterface(t))
    assert np.shares_memory(array, t.__array__(copy=False))
    assert array.flags.writeable is False
    t.assign(t * 2).realize()
    del t
    gc.collect()
    np.testing.assert_array_equal(array, [[1, 2], [3, 4]])


def test_a_slice_is_shared_where_it_lies_and_an_assign_leaves_it_as_it_is() -> None:
    t = Tensor([[0, 1, 2, 3], [4, 5, 6, 7]]).realize()
    row = t[1].__array__(copy=False)
    assert np.shares_memory(row, t.__array__(copy=False))
    t.assign(t * 2).realize()
    assert row.tolist() == [4, 5, 6, 7]
    assert t[1].tolist() == [8, 10, 12, 14]


@pytest.mark.parametrize("view", [lambda t: t[:, ::2], lambda t: t.T, lambda t: t[0].expand(2, 4)])
def test_views_in_another_order_are_not_shared(view: Callable[[Tensor], Tensor]) -> None:
    shown = view(Tensor([[0, 1, 2, 3], [4, 5, 6, 7]]).realize())
    assert np.asarray(shown).tolist() == shown.tolist()
    with pytest.raises(ValueError, match="do not lie in row-major order"):
        np.asarray(shown, copy=False)
    with pytest.raises(BufferError, match="do not lie in row-major order"):
        shown.__dlpack__(copy=False, max_version=(1, 0))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64"])
def test_the_array_interface_tells_shape_and_type(dtype: str) -> None:
    array = np.asarray(_OnlyInterface(Tensor([[1, 0, 1]], dtype=dtype)))
    assert (array.shape, array.dtype.name) == ((1, 3), dtype)
    assert array.tolist() == [[1, 0, 1]]


def test_what_numpy_cannot_share_has_no_array_interface() -> None:
    t = Tensor([1.0, 2.0], dtype="bfloat16")
    assert not hasattr(t, "__array_interface__")
    np.testing.assert_array_equal(np.asarray(t), np.array([1, 2], np.float32))


class _OnlyInterface:
    """What NumPy can only take by the array interface."""

    def __init__(self, t: Tensor) -> None:
        self.__array_interface__ = t.__array_interface__


class _Freed(array.array):  # type: ignore[type-arg]
    """Memory that can be watched."""

    def __new__(cls) -> Any:
        return super().__new__(cls, "B", [1, 2, 3, 4])


def test_buffers_are_what_data_gives_and_read_only() -> None:
    t = Tensor([[1, 2], [3, 4]])
    assert t.__buffer__(0).tolist() == [[1, 2], [3, 4]]
    assert Tensor.zeros(0, 3).__buffer__(0).shape == (0, 3)
    with pytest.raises(BufferError, match="gives read-only memory"):
        t.__buffer__(1)
    for dtype in ("float16", "bfloat16", "fp8e4m3"):
        with pytest.raises(BufferError, match=f"memoryview has no {dtype}"):
            t.cast(dtype).__buffer__(0)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python asks for __buffer__ from 3.12 on")
def test_memoryview_reads_a_tensor() -> None:
    view = memoryview(Tensor([[1.0, 2.0], [3.0, 4.0]]))  # pyright: ignore[reportArgumentType]
    assert (view.shape, view.format, view.readonly) == ((2, 2), "f", True)
    assert view.tolist() == [[1.0, 2.0], [3.0, 4.0]]
