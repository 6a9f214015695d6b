"""The plugin without a GPU: it loads nothing by itself, and says what is missing."""

import subprocess
import sys
from types import SimpleNamespace

import _cffi_backend
import pytest

from plugrad.errors import DeviceNotFound
from plugrad.target import Target
from plugrad_cuda import plugin
from plugrad_cuda.capabilities import capabilities, version_of
from plugrad_cuda.driver import PATH_VARIABLE, Driver, open_driver
from plugrad_cuda.native import ffi
from plugrad_cuda.nvrtc import Nvrtc

OTHER = Target("PYTHON")
OTHER_LIBRARY = _cffi_backend.__file__


def test_importing_the_plugin_loads_no_library():
    program = (
        "import plugrad_cuda.plugin as p; p.plugrad_backend_info();"
        "maps = open('/proc/self/maps').read(); print('libcuda' in maps, 'nvrtc' in maps)"
    )
    if sys.platform != "linux":
        pytest.skip("only Linux lists the libraries of a process in /proc")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_missing_driver_is_explained(monkeypatch, tmp_path):
    monkeypatch.setenv(PATH_VARIABLE, str(tmp_path / "libcuda.so.1"))
    probe = plugin.plugrad_probe()
    assert probe.devices == ()
    assert f"looked for {tmp_path}/libcuda.so.1" in probe.reason
    assert "driver 525 or newer" in probe.remedy
    assert probe.remedy not in probe.reason


def test_a_library_that_is_no_driver_is_refused(tmp_path):
    text = tmp_path / "libcuda.so.1"
    text.write_text("not a library " * 100)
    with pytest.raises(DeviceNotFound, match=r"there is no CUDA driver.*invalid ELF header"):
        open_driver(str(text))


def test_another_library_is_not_taken_for_the_driver():
    with pytest.raises(DeviceNotFound, match=r"is not the CUDA driver, or too old: .*cuInit"):
        open_driver(OTHER_LIBRARY)


def test_the_driver_needs_not_say_that_it_stands_in_for_nothing(monkeypatch):
    library = SimpleNamespace(cuInit=lambda _: 0, cuDriverGetVersion=lambda out: out.__setitem__(0, 12040))
    opened = ffi.dlopen(OTHER_LIBRARY)

    class WithoutTheName:
        def __getattr__(self, name):
            return getattr(library, name, None) or getattr(opened, name)

    found = Driver(WithoutTheName())
    assert (found.stand_in, found.version) == ("", 12040)


def test_another_library_is_not_taken_for_nvrtc():
    with pytest.raises(DeviceNotFound, match=r"NVRTC at .* does not load: .*nvrtcVersion"):
        Nvrtc(OTHER_LIBRARY)


def test_hooks_leave_targets_of_others_alone():
    assert plugin.plugrad_allocator(OTHER) is None
    assert plugin.plugrad_renderer(OTHER) is None
    assert plugin.plugrad_compiler(OTHER) is None


@pytest.mark.parametrize(
    ("arch", "shared_kilobytes"),
    [
        ("sm_70", 96),
        ("sm_75", 64),
        ("sm_80", 163),
        ("sm_89", 99),
        ("sm_90", 227),
        ("sm_100", 227),
    ],
)
def test_shared_memory_follows_the_compute_capability(arch, shared_kilobytes):
    assert capabilities(Target("CUDA", arch=arch)).local_memory_bytes == shared_kilobytes << 10


def test_what_the_driver_says_of_shared_memory_comes_first():
    target = Target("CUDA", arch="sm_90", detail=(("shared_bytes", "1234"),))
    assert capabilities(target).local_memory_bytes == 1234


@pytest.mark.parametrize("arch", ["", "gfx90a", "sm_", "sm_9"])
def test_other_architectures_are_refused(arch):
    with pytest.raises(DeviceNotFound, match="is no architecture of NVIDIA's GPUs"):
        version_of(arch)
