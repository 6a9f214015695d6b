"""The plugin without a Mac: it imports nothing of Metal by itself, and says what is missing."""

import importlib
import subprocess
import sys

import pytest

from plugrad.dtype import dtypes
from plugrad.errors import DeviceError, DeviceOutOfMemory
from plugrad.target import Target
from plugrad_metal import binding, plugin
from plugrad_metal.binding import DeviceLost
from plugrad_metal.capabilities import BUFFER_SLOTS, capabilities
from plugrad_metal.compiler import MAGIC, MetalCompiler, pack_image, unpack_image

OTHER = Target("PYTHON")


def _target(language="3.1", **detail):
    return Target("METAL", arch="apple9", detail=tuple(sorted({"language": language, **detail}.items())))


def test_importing_the_plugin_imports_no_framework():
    program = (
        "import sys, plugrad_metal.plugin as p; p.plugrad_backend_info();"
        "print([name for name in ('Metal', 'objc', 'Foundation') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_binding_is_explained(monkeypatch):
    def missing(name):
        raise ImportError(f"No module named {name!r}")

    binding.metal.cache_clear()
    monkeypatch.setattr(importlib, "import_module", missing)
    probe = plugin.plugrad_probe()
    assert probe.devices == ()
    assert probe.reason == "PyObjC's binding of Metal cannot be imported: No module named 'Metal'."
    assert probe.remedy == binding.REMEDY


def test_hooks_leave_targets_of_others_alone():
    assert plugin.plugrad_allocator(OTHER) is None
    assert plugin.plugrad_renderer(OTHER) is None
    assert plugin.plugrad_compiler(OTHER) is None


def test_capabilities_follow_what_the_gpu_said():
    can = capabilities(_target(workgroup="512", local_bytes="16384"))
    assert can.max_workgroup == 512
    assert can.local_memory_bytes == 16384
    assert can.max_buffers == BUFFER_SLOTS - 1
    assert can.max_lanes == 4


def test_there_is_no_float64_and_bfloat16_is_only_stored():
    can = capabilities(_target())
    assert dtypes.float64 not in can.storage_dtypes
    assert dtypes.bfloat16 in can.storage_dtypes - can.compute_dtypes
    assert dtypes.float16 in can.compute_dtypes


def test_cache_keys_name_the_gpu_and_the_language():
    targets = (_target(), _target("3.0"), _target(device="Apple M1"))
    assert len({MetalCompiler(target).cache_key for target in targets}) == 3


@pytest.mark.parametrize("image", [b"", b"nonsense", MAGIC + b"\xff" * 8, pack_image("kernel", b"")[:-1]])
def test_bytes_that_are_no_image_are_refused(image):
    with pytest.raises(DeviceError, match="are no kernel for Metal, or a part of one"):
        unpack_image(image)


class _Error:
    def __init__(self, code):
        self._code = code

    def code(self):
        return self._code

    def localizedDescription(self):
        return "what the system says"


@pytest.mark.parametrize(("code", "kind"), [(8, DeviceOutOfMemory), (4, DeviceLost), (3, DeviceError)])
def test_errors_of_command_buffers_are_typed_and_name_the_kernel(code, kind):
    error = binding.failure(_Error(code), "running my_kernel", "METAL:1")
    assert type(error) is kind
    assert str(error).startswith(f"METAL:1: running my_kernel failed: what the system says (code {code})")
    assert error.device == "METAL:1"
