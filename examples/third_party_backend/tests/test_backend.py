"""Tests of the compiler, the loader and the device of plugrad_llvm."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from plugrad import Tensor, context
from plugrad.device import Device
from plugrad.errors import CompileError, DeviceError
from plugrad.events import CompileEvent, subscribe
from plugrad.target import Target
from plugrad_llvm import machine
from plugrad_llvm.compiler import LlvmCompiler
from plugrad_llvm.library import Library
from plugrad_llvm.renderer import LlvmRenderer, llvm_capabilities

NOTHING = "define void @nothing() {\n  ret void\n}\n"


def test_a_source_that_is_wrong_is_shown_with_the_words_of_llvm() -> None:
    with pytest.raises(CompileError, match="expected") as caught:
        LlvmCompiler().compile("define void @k() { ret i32", "k")
    assert caught.value.source == "define void @k() { ret i32"


def test_object_files_load_without_the_source() -> None:
    assert Library(LlvmCompiler().compile(NOTHING, "nothing"), "nothing").address


@pytest.mark.parametrize("data", [b"", b"this is no object file", b"\x7fELF" + b"\0" * 100])
def test_bytes_that_are_no_kernel_are_refused(data: bytes) -> None:
    with pytest.raises(DeviceError, match="cannot load the kernel k"):
        Library(data, "k")


def test_a_function_that_is_not_there_is_refused() -> None:
    with pytest.raises(DeviceError, match="cannot load the kernel other"):
        Library(LlvmCompiler().compile(NOTHING, "nothing"), "other")


def test_kernels_of_one_name_do_not_meet() -> None:
    data = LlvmCompiler().compile(NOTHING, "nothing")
    assert Library(data, "nothing").address != 0
    kept = [Library(data, "nothing") for _ in range(3)]
    assert len({library.address for library in kept}) == 3


def test_the_renderer_needs_the_target_only() -> None:
    wide = Target("LLVM", detail=(("threads", "8"), ("vector_bits", "512"), ("vector_registers", "32")))
    assert LlvmRenderer(wide).capabilities.threads == 8
    assert llvm_capabilities(wide).vector_registers == 32


def test_without_an_instruction_for_it_float16_is_not_stored() -> None:
    capabilities = llvm_capabilities(Target("LLVM", detail=(("float16", ""),)))
    assert "float16" not in {dtype.name for dtype in capabilities.storage_dtypes}


@pytest.mark.parametrize(
    ("triple", "features", "expected"),
    [
        ("x86_64-pc-linux-gnu", "+sse2", (128, 16, False)),
        ("x86_64-pc-linux-gnu", "+avx2,+f16c,+fma", (256, 16, True)),
        ("x86_64-pc-linux-gnu", "+avx512bw,+avx512dq,+avx512f,+avx512vl,+f16c", (512, 32, True)),
        ("aarch64-apple-darwin", "+neon", (128, 32, True)),
    ],
)
def test_registers_are_as_wide_as_the_machine(
    triple: str, features: str, expected: tuple[int, int, bool]
) -> None:
    m = machine.Machine(triple, "some", features)
    assert (m.vector_bits, m.vector_registers, m.converts_halves) == expected


def test_kernels_have_vectors_in_machine_code() -> None:
    with context(CACHELEVEL=1):
        seen: list[CompileEvent] = []
        with subscribe(CompileEvent, seen.append):
            x = Tensor(np.arange(4096, dtype=np.float32), device="LLVM")
            np.testing.assert_array_equal((x * 3 - 1).numpy(), np.arange(4096, dtype=np.float32) * 3 - 1)
    lanes = Device["LLVM"].capabilities.lanes(x.dtype)
    assert f"<{lanes} x float>" in seen[-1].source


def test_threads_may_launch_at_the_same_time() -> None:
    x = Tensor(np.arange(1 << 18, dtype=np.float32), device="LLVM").contiguous().realize()

    def total(factor: int) -> float:
        return float((x * factor).max().numpy())

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(total, range(24))) == [factor * float((1 << 18) - 1) for factor in range(24)]
