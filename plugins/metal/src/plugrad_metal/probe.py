"""Find the GPUs, and describe each as plain data, without a queue or memory."""

from typing import Any

from plugrad.errors import DeviceNotFound
from plugrad.plugin.backend import Probe, ProbedDevice
from plugrad.target import Evidence, Target
from plugrad_metal.binding import REMEDY, metal, stand_in

NAME = "METAL"

# Numbers of GPU families (enum MTLGPUFamily).
_APPLE = 1000  # Apple's own generations: 1007 is the M1's
_NEWEST_APPLE, _OLDEST_APPLE = 15, 7
_MAC2 = 2002


def look() -> Probe:
    """Return the devices, or why there are none."""
    try:
        found = [describe(index, device) for index, device in enumerate(devices())]
    except DeviceNotFound as missing:
        return Probe(reason=str(missing).removesuffix(REMEDY).strip(), remedy=REMEDY)
    usable = tuple(probed for probed in found if probed.target.arch)
    if usable:
        return Probe(usable)
    names = ", ".join(probed.description for probed in found)
    looked = (
        f"{names} belongs to none of the GPU families Apple7 and newer, or Mac2"
        if names
        else "macOS lists no GPU (MTLCopyAllDevices)"
    )
    return Probe(reason=looked, remedy="Use a Mac with Apple silicon, or an Intel Mac of 2017 or newer.")


def devices() -> list[Any]:
    """Return Metal's object of each GPU, in the order of their index.

    Raises:
        DeviceNotFound: the binding is not installed.
    """
    return list(metal().MTLCopyAllDevices())


def describe(index: int, device: Any) -> ProbedDevice:
    """Describe one GPU by its own answers."""
    arch = family(device)
    language = language_version()
    threads = int(device.maxThreadsPerThreadgroup().width)
    name = str(device.name())
    memory = int(device.recommendedMaxWorkingSetSize())
    detail = (
        ("device", name),
        ("language", language),
        ("local_bytes", str(device.maxThreadgroupMemoryLength())),
        ("memory_bytes", str(memory)),
        ("workgroup", str(threads)),
    )
    notes = [("family", arch or "too old"), ("language", f"MSL {language}")]
    if simulated := stand_in():
        notes.append(("simulated", simulated))
    return ProbedDevice(
        Target(NAME, index, arch, detail),
        description=name,
        evidence=Evidence.E2 if simulated else Evidence.E3,
        memory_bytes=0 if device.hasUnifiedMemory() else memory,
        notes=tuple(notes),
    )


def family(device: Any) -> str:
    """Return the newest family of a GPU: apple7 and up, mac2, or empty."""
    for generation in range(_NEWEST_APPLE, _OLDEST_APPLE - 1, -1):
        if device.supportsFamily_(_APPLE + generation):
            return f"apple{generation}"
    return "mac2" if device.supportsFamily_(_MAC2) else ""


def language_version() -> str:
    """Return the newest version of the Metal Shading Language that this macOS compiles.

    It is what fresh compile options ask for, as major and minor in the halves of one number.
    """
    version = int(metal().MTLCompileOptions.alloc().init().languageVersion())
    return f"{version >> 16}.{version & 0xFFFF}"
