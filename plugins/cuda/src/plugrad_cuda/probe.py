"""Find the GPUs, and describe each as plain data, without opening a context."""

from plugrad.errors import DeviceNotFound
from plugrad.plugin.backend import Probe, ProbedDevice
from plugrad.target import Evidence, Target
from plugrad_cuda.capabilities import OLDEST
from plugrad_cuda.driver import REMEDY, Driver, driver, version_text
from plugrad_cuda.native import ffi

NAME = "CUDA"

# Numbers of the driver API (enum CUdevice_attribute).
_MULTIPROCESSORS = 16
_MAJOR = 75
_MINOR = 76
_SHARED_OPT_IN = 97
_CLOCK = 13
_MEMORY_CLOCK = 36
_MEMORY_BITS = 37
_SHARED_OF_A_UNIT = 81
_REGISTERS_OF_A_UNIT = 82


def look() -> Probe:
    """Return the devices, or why there are none."""
    try:
        opened = driver()
    except DeviceNotFound as missing:
        return Probe(reason=str(missing).removesuffix(REMEDY).strip(), remedy=REMEDY)
    count = ffi.new("int *")
    opened.check(opened.library.cuDeviceGetCount(count), "counting the devices")
    found = [describe(opened, ordinal) for ordinal in range(count[0])]
    usable = tuple(device for device in found if _is_new_enough(device.target))
    if usable:
        return Probe(usable)
    names = ", ".join(f"{device.description} ({device.target.arch})" for device in found)
    oldest = ".".join(map(str, OLDEST))
    looked = f"{names} is older than compute capability {oldest}" if names else "the driver has no devices"
    return Probe(reason=looked, remedy="" if names else REMEDY)


def describe(opened: Driver, ordinal: int) -> ProbedDevice:
    """Describe one device by the driver's answers."""
    library = opened.library
    device = ffi.new("int *")
    opened.check(library.cuDeviceGet(device, ordinal), f"asking for device {ordinal}")
    name = ffi.new("char[]", 256)
    opened.check(library.cuDeviceGetName(name, 256, device[0]), "asking for its name")
    memory = ffi.new("size_t *")
    opened.check(library.cuDeviceTotalMem_v2(memory, device[0]), "asking for its memory")
    major, minor, units, shared = (
        opened.attribute(device[0], number) for number in (_MAJOR, _MINOR, _MULTIPROCESSORS, _SHARED_OPT_IN)
    )
    clock, memory_clock, memory_bits, unit_shared, unit_registers = (
        opened.attribute(device[0], number)
        for number in (_CLOCK, _MEMORY_CLOCK, _MEMORY_BITS, _SHARED_OF_A_UNIT, _REGISTERS_OF_A_UNIT)
    )
    # newer drivers may not tell the memory's clock, which moves two bits a line
    bandwidth = 2 * 1000 * memory_clock * memory_bits // 8
    detail = (
        ("bandwidth", str(bandwidth)),
        ("clock", str(clock)),
        ("driver", str(opened.version)),
        ("memory_bytes", str(int(memory[0]))),
        ("shared_bytes", str(shared)),
        ("unit_memory_bytes", str(unit_shared)),
        ("unit_registers", str(unit_registers)),
        ("units", str(units)),
    )
    notes = [("driver", f"CUDA {version_text(opened.version)}"), ("multiprocessors", str(units))]
    if opened.stand_in:
        notes.append(("simulated", opened.stand_in))
    return ProbedDevice(
        Target(NAME, ordinal, f"sm_{major}{minor}", detail),
        description=bytes(ffi.string(name)).decode(errors="replace"),
        evidence=Evidence.E2 if opened.stand_in else Evidence.E3,
        memory_bytes=int(memory[0]),
        notes=tuple(notes),
    )


def _is_new_enough(target: Target) -> bool:
    digits = target.arch.removeprefix("sm_")
    return (int(digits[:-1]), int(digits[-1])) >= OLDEST
