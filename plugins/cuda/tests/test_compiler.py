"""NVRTC compiles what the renderer writes, with no driver and no GPU."""

import os
import shutil

import pytest

from plugrad.errors import CompileError, DeviceNotFound
from plugrad.target import Target
from plugrad_cuda import nvrtc
from plugrad_cuda.compiler import CudaCompiler

pytestmark = pytest.mark.usefixtures("nvrtc_library")
SOURCE = 'extern "C" __global__ void k(float *p) { p[threadIdx.x] = fmaf(p[1], p[2], p[3]); }'


def test_machine_code_is_an_elf_file_with_the_kernel(arch):
    lib = CudaCompiler(Target("CUDA", arch=arch)).compile(SOURCE, "k")
    assert lib[:4] == b"\x7fELF"
    assert b".text.k" in lib


def test_kernels_compiled_together_share_bytes(arch):
    sources = [
        f"#define DYNAMIC_SHARED_BYTES {65536 + n}\nextern __shared__ unsigned char shared_memory[];\n"
        f'extern "C" __global__ void k{n}(float *p) {{ p[threadIdx.x] = shared_memory[{n}]; }}\n'
        for n in range(3)
    ]
    libs = CudaCompiler(Target("CUDA", arch=arch)).compile_many([(f"k{n}", s) for n, s in enumerate(sources)])
    assert len(libs) == 3
    assert len(set(libs)) == 1
    assert all(f".text.k{n}".encode() in libs[0] for n in range(3))


def test_ptx_is_its_own_listing_and_machine_code_has_one():
    compiler = CudaCompiler(Target("CUDA", arch="sm_199"))
    assert ".entry k" in compiler.disassemble(compiler.compile(SOURCE, "k"))
    compiler = CudaCompiler(Target("CUDA", arch="sm_90"))
    lib = compiler.compile(SOURCE, "k")
    assert (f"{len(lib)} bytes" in compiler.disassemble(lib)) == (shutil.which("nvdisasm") is None)


def test_the_log_of_a_refused_kernel_is_in_the_error(arch):
    with pytest.raises(CompileError, match="COMPILATION") as caught:
        CudaCompiler(Target("CUDA", arch=arch)).compile('extern "C" __global__ void k() { nonsense; }', "k")
    assert "nonsense" in caught.value.log
    assert f"-arch={arch}" in caught.value.command


def test_cache_keys_name_version_and_arch():
    keys = {CudaCompiler(Target("CUDA", arch=a)).cache_key for a in ("sm_80", "sm_90", "sm_100")}
    assert len(keys) == 3
    assert all(key.startswith("nvrtc 1") and "-arch=sm_" in key for key in keys)


def test_an_arch_that_nvrtc_does_not_know_gets_ptx():
    compiler = CudaCompiler(Target("CUDA", arch="sm_199"))
    assert compiler.is_ptx
    assert b".entry k" in compiler.compile(SOURCE, "k")


def test_ptx_newer_than_the_driver_is_refused():
    version = nvrtc.libraries()[-1].version
    older = 1000 * version[0] + 10 * version[1] - 10
    if version[1] == 0:
        pytest.skip(f"NVRTC {version} is the first of its major version")
    with pytest.raises(DeviceNotFound, match="does not compile for sm_199"):
        CudaCompiler(Target("CUDA", arch="sm_199", detail=(("driver", str(older)),)))


def test_machine_code_for_another_major_version_of_the_driver_is_refused():
    with pytest.raises(DeviceNotFound, match=r"newer than the driver, which knows CUDA 9\.2"):
        CudaCompiler(Target("CUDA", arch="sm_80", detail=(("driver", "9020"),)))


def test_a_library_that_does_not_load_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(os.environ, nvrtc.PATH_VARIABLE, str(tmp_path / "libnvrtc.so"))
    with pytest.raises(DeviceNotFound, match=r"libnvrtc\.so does not load.*pip install"):
        CudaCompiler(Target("CUDA", arch="sm_80"))


def test_without_any_library_the_places_are_listed(monkeypatch):
    monkeypatch.setattr(nvrtc, "_paths", lambda: iter(()))
    with pytest.raises(DeviceNotFound, match=r"site-packages/nvidia.*pip install nvidia-cuda-nvrtc"):
        nvrtc.libraries.__wrapped__()
