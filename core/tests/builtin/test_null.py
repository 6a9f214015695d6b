"""NULL compiles like a GPU, runs nothing, and owns up to it."""

import pickle

import pytest

from plugrad import Tensor, context
from plugrad.builtin import null
from plugrad.device import DeviceRegistry
from plugrad.dtype import dtypes
from plugrad.errors import DeviceError
from plugrad.runtime.program import Program

devices = DeviceRegistry()


def test_it_opens_by_any_index() -> None:
    assert devices["NULL:7"].target.index == 7


def test_it_looks_like_a_gpu_to_codegen() -> None:
    capabilities = devices["NULL"].capabilities
    assert capabilities.grid_dims == 3
    assert capabilities.max_workgroup > 0
    assert capabilities.local_memory_bytes > 0


def test_its_renderer_survives_pickling() -> None:
    renderer = devices["NULL"].renderer
    assert pickle.loads(pickle.dumps(renderer)).capabilities == renderer.capabilities


def test_its_binary_is_its_source() -> None:
    compiler = devices["NULL"].compiler
    assert compiler.disassemble(compiler.compile("text", "k")) == "text"


def test_its_memory_costs_nothing() -> None:
    buffer = devices["NULL"].new_buffer(1 << 50, dtypes.float32).ensure_allocated()
    assert buffer.view(4, dtypes.float32, 1 << 40).ensure_allocated().handle.offset_bytes == 1 << 40


def test_reading_a_value_is_refused() -> None:
    buffer = devices["NULL"].new_buffer(4, dtypes.uint8).copyin(memoryview(b"abcd"))
    with pytest.raises(DeviceError, match="runs nothing"):
        buffer.as_memoryview()


def test_a_launch_takes_no_time() -> None:
    runner = devices["NULL"].runner(Program("k", "", b""))
    assert runner((), (), (1,), (1,), wait=True) == 0.0
    assert runner((), (), (1,), (1,)) is None


def test_it_is_never_chosen_automatically() -> None:
    assert null.plugrad_backend_info().priority < 0


def test_kernels_with_workgroups_come_out_as_source() -> None:
    with context(DEVICE="NULL"):
        t = (Tensor.empty(256, 256) @ Tensor.empty(256, 256)).relu()
        assert t.realize().uop.device == "NULL"
