"""Identify the processor and its extensions, without running anything.

Linux tells in `/proc/cpuinfo` and sysfs; elsewhere the architecture's name has to do. `PLUGRAD_CPU` restricts
kernels to a level of x86-64.

Source: x86-64 psABI, "Micro-Architecture Levels", for the extensions of each level.
"""

import hashlib
import os
from functools import cache
from pathlib import Path

from plugrad._frozen import frozen
from plugrad._util import dataclasses
from plugrad.errors import SettingsError
from plugrad.settings import settings

# the extensions that each level of x86-64 adds to the ones below, as Linux calls them
_LEVELS = {
    "x86-64": "cmov cx8 fpu fxsr mmx sse sse2",
    "x86-64-v2": "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
    "x86-64-v3": "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave",
    "x86-64-v4": "avx512bw avx512cd avx512dq avx512f avx512vl",
}
# what a unit multiplies in a cycle, by vendor and family, where vectors may be wider: Zen 4 takes two cycles
_UNIT_BITS = {("AuthenticAMD", "25"): 256}
_CPUINFO_KEYS = (
    "vendor_id",
    "cpu family",
    "model",
    "model name",
    "flags",
    "CPU implementer",
    "CPU part",
    "Features",
)
_CPUINFO_BYTES = (
    1 << 14
)  # the first processor's block, with room; reading all blocks takes long on big machines


@frozen
class Machine:
    """One kind of processor.

    Attributes:
        arch: instruction set family, such as "x86_64" or "aarch64".
        model: the name on the box, as far as the system tells it.
        flags: instruction set extensions, in the system's words.
        vector_bits: width of the widest vector registers that have float arithmetic.
        vector_registers: how many of them there are.
        vector_unit_bits: what a unit multiplies in a cycle; wider vectors take several.
        cache_bytes: sizes of the first- and second-level data cache of one core.
        last_level_bytes: size of the cache that cores share.
        level: the level of x86-64 whose extensions these are; empty: all that the processor has.
    """

    arch: str
    model: str
    flags: frozenset[str]
    vector_bits: int
    vector_registers: int
    cache_bytes: tuple[int, int]
    last_level_bytes: int = 32 << 20
    vector_unit_bits: int = 512
    level: str = ""

    @property
    def fingerprint(self) -> str:
        """A short text that differs wherever code compiled for the host may differ."""
        text = "\n".join((self.arch, self.model, self.level, *sorted(self.flags)))
        return f"{self.arch}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def this_machine() -> Machine:
    """Return the machine this process runs on, with no more extensions than `PLUGRAD_CPU` allows.

    Raises:
        SettingsError: `PLUGRAD_CPU` names no level, or one that the processor does not reach.
    """
    return at_level(_host(), settings.PLUGRAD_CPU)


@cache
def at_level(machine: Machine, level: str) -> Machine:
    """Return a machine with only the extensions of a level of x86-64, if any.

    Raises:
        SettingsError: there is no such level, or `machine` does not reach it.
    """
    if not level:
        return machine
    if level not in _LEVELS:
        known = ", ".join(_LEVELS)
        raise SettingsError(
            f"PLUGRAD_CPU={level!r} is no level: there are {known}. Name one, or unset it.",
            name="PLUGRAD_CPU",
        )
    names = list(_LEVELS)
    levels = [_LEVELS[name].split() for name in names[: names.index(level) + 1]]
    flags = frozenset(flag for added in levels for flag in added)
    missing = ", ".join(sorted(flags - machine.flags))
    if missing:
        raise SettingsError(
            f"PLUGRAD_CPU={level!r}: this processor ({machine.model}) lacks {missing}. Name a lower level, "
            "or unset it.",
            name="PLUGRAD_CPU",
        )
    bits, registers = vector_unit(machine.arch, flags)
    return dataclasses.replace(
        machine, flags=flags, vector_bits=bits, vector_registers=registers, level=level
    )


@cache
def _host() -> Machine:
    fields = _read_cpuinfo(Path("/proc/cpuinfo"))
    flags = frozenset((fields.get("flags") or fields.get("Features") or "").split())
    arch = os.uname().machine
    bits, registers = vector_unit(arch, flags)
    model = fields.get("model name") or fields.get("CPU part") or arch
    caches = (_cache_bytes(0, 32 << 10), _cache_bytes(2, 1 << 20))
    unit = _UNIT_BITS.get((fields.get("vendor_id", ""), fields.get("cpu family", "")), bits)
    return Machine(arch, model, flags, bits, registers, caches, _cache_bytes(3, 32 << 20), unit)


def vector_unit(arch: str, flags: frozenset[str]) -> tuple[int, int]:
    """Return (bits, registers) of the vector unit.

    Example:
        >>> vector_unit("x86_64", frozenset({"avx2", "fma"}))
        (256, 16)
    """
    if arch not in ("x86_64", "AMD64", "i686"):
        return 128, 32  # NEON, RVV's and POWER's common ground
    if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags:
        return 512, 32
    return (256, 16) if {"avx2", "fma"} <= flags else (128, 16)


def available_threads() -> int:
    """Return the number of processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_cpuinfo(path: Path) -> dict[str, str]:
    try:
        with path.open("rb") as file:
            text = file.read(_CPUINFO_BYTES).decode(errors="replace")
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    found = {key.strip(): value.strip() for key, _, value in lines}
    return {key: found[key] for key in _CPUINFO_KEYS if key in found}


def _cache_bytes(index: int, default: int) -> int:
    try:
        text = Path(f"/sys/devices/system/cpu/cpu0/cache/index{index}/size").read_text().strip()
    except OSError:
        return default
    unit = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:], 1)
    digits = text.rstrip("KM")
    return int(digits) * unit if digits.isdigit() else default
