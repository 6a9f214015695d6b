"""Find the devices of all drivers, and describe each as plain data.

Everything that the renderer and compiler need is in the `Target`, so that neither asks a device, and both can
be tried for devices that are not there.
"""

import os
import sys
from functools import cache
from typing import Any

from plugrad.plugin.backend import Probe, ProbedDevice
from plugrad.target import Evidence, Target
from plugrad_opencl.capabilities import ATOMICS_OF_64_BITS
from plugrad_opencl.driver import opencl, remedy

NAME = "OPENCL"
POCL = "Portable Computing Language"
# platforms that execute kernels instruction by instruction, and are no hardware
_SIMULATORS = frozenset({"Oclgrind"})
# A GPU is above the CPU's own backend and below what its maker's backend makes of it. Any other device is
# below the CPU's: it may be the same CPU, by a longer way.
GPU_PRIORITY, PRIORITY = 20, 5
_RANKS = ("gpu", "accelerator", "cpu")
# How the names begin of the files in /dev by which Linux gives programs access to GPUs: the graphics stack's,
# NVIDIA's (also Tegra's), AMD's, Windows' (in WSL), ARM's, Qualcomm's, Imagination's.
_GPU_FILES = ("dri", "nvidia", "nvhost", "nvgpu", "kfd", "dxg", "mali", "kgsl", "pvr")
# LLVM's names of the processors with 512-bit vectors
_CPUS_WITH_512_BITS = frozenset(
    (
        *("skylake-avx512", "cascadelake", "cooperlake", "cannonlake", "icelake-client", "icelake-server"),
        *("tigerlake", "rocketlake", "sapphirerapids", "emeraldrapids", "graniterapids", "knl", "knm"),
        *("znver4", "znver5", "x86-64-v4"),
    )
)


@cache
def found_devices() -> tuple[tuple[Any, ProbedDevice], ...]:
    """Return (pyopencl's device, description) of each device, GPUs first, in the order of their index.

    Raises:
        DeviceNotFound: pyopencl is not installed.
    """
    kinds_devices = [
        (_kind(device), platform, device) for platform in _platforms() for device in _devices(platform)
    ]
    kinds_devices.sort(key=lambda found: _RANKS.index(found[0]))
    return tuple(
        (device, describe(index, kind, platform, device))
        for index, (kind, platform, device) in enumerate(kinds_devices)
    )


def may_have_gpu() -> bool:
    """Say whether this machine may have a GPU, without loading a driver."""
    if sys.platform != "linux":
        return True
    try:
        return any(name.startswith(_GPU_FILES) for name in os.listdir("/dev"))
    except OSError:
        return True


def look() -> Probe:
    """Return the devices, or why there are none."""
    devices = tuple(probed for _, probed in found_devices())
    if devices:
        return Probe(devices)
    names = ", ".join(str(platform.name) for platform in _platforms())
    looked = f"the drivers {names} have no devices" if names else "the OpenCL loader knows no driver"
    return Probe(reason=looked, remedy=remedy())


def describe(index: int, kind: str, platform: Any, device: Any) -> ProbedDevice:
    """Describe one device by its own answers."""
    extensions = str(device.extensions).split()
    cpu = llvm_cpu(device.version) if platform.name == POCL else ""
    native_bits = 32 * (int(device.native_vector_width_float) or 4)
    detail = {
        "align": max(1, device.mem_base_addr_align // 8),
        "c": str(device.opencl_c_version).removeprefix("OpenCL C ").split(" ", maxsplit=1)[0],
        "device": str(device.name).strip(),
        "divide": "exact" if int(device.single_fp_config) & _bit("CORRECTLY_ROUNDED_DIVIDE_SQRT") else "",
        "driver": str(device.driver_version),
        "fp16": "yes" if "cl_khr_fp16" in extensions else "",
        "fp64": "yes" if "cl_khr_fp64" in extensions else "",
        "int64_atomics": " ".join(sorted({*ATOMICS_OF_64_BITS.values()}.intersection(extensions))),
        "kind": kind,
        "local_bytes": int(device.local_mem_size),
        "parameter_bytes": int(device.max_parameter_size),
        # asked for an executable, PoCL compiles each kernel once more, for groups of any size; it keeps those
        # that it launches in a cache of its own
        "lib": "object" if platform.name == POCL else "executable",
        "profile": str(device.profile),
        "platform": f"{platform.name}, {platform.version}",
        "units": int(device.max_compute_units),
        "vector_bits": vector_bits(native_bits, cpu) if kind == "cpu" else 0,
        "workgroup": int(device.max_work_group_size),
        "workgroup_dims": "x".join(str(size) for size in device.max_work_item_sizes[:3]),
    }
    name = str(device.name).strip()
    return ProbedDevice(
        Target(NAME, index, cpu or name, tuple(sorted((key, str(value)) for key, value in detail.items()))),
        description=f"{name} ({platform.name})",
        evidence=Evidence.E2 if platform.name in _SIMULATORS else Evidence.E3,
        memory_bytes=0 if device.host_unified_memory else int(device.global_mem_size),
        notes=(
            ("driver", f"{platform.version}, {device.driver_version}"),
            ("kind", kind),
            ("units", str(device.max_compute_units)),
            ("lacks", ", ".join(what for what in ("fp16", "fp64") if not detail[what]) or "nothing"),
        ),
        priority=None if kind == "gpu" else PRIORITY,
    )


def llvm_cpu(version: str) -> str:
    """Return the processor that PoCL compiles for, as LLVM calls it.

    Example:
        >>> llvm_cpu("OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-znver3")
        'znver3'
    """
    triple = version.strip().rpartition(" ")[2]
    system, found, cpu = triple.partition("-linux-gnu-")
    return cpu if found else system.rpartition("-")[2]


def vector_bits(native_bits: int, cpu: str) -> int:
    """Return the width of the vectors that a CPU device really has.

    PoCL answers by the processor's flags, and compiles for the model that its LLVM knows: a processor newer
    than that has 512 bits and gets code for 256, in which wider vectors spill.
    """
    return min(native_bits, 256) if cpu and cpu not in _CPUS_WITH_512_BITS else native_bits


def _platforms() -> list[Any]:
    cl = opencl()
    try:
        return list(cl.get_platforms())
    except cl.Error:  # the loader's way to say that it knows no driver
        return []


def _devices(platform: Any) -> list[Any]:
    cl = opencl()
    try:
        return [device for device in platform.get_devices() if device.available]
    except cl.Error:  # a driver without its hardware
        return []


def _kind(device: Any) -> str:
    types = opencl().device_type
    if device.type & types.GPU:
        return "gpu"
    return "cpu" if device.type & types.CPU else "accelerator"


def _bit(name: str) -> int:
    return int(getattr(opencl().device_fp_config, name))
