"""The machine's limits on all cores, by a C program built with the compiler that plugrad chooses.

`python -m suite.machine SECONDS` prints them as JSON.
"""

import ctypes
import json
import mmap
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plugrad_cpu_clang.compiler import compiler_flags
from plugrad_cpu_clang.machine import available_threads, this_machine
from plugrad_cpu_clang.toolchain import choose_toolchain

_SOURCE = Path(__file__).with_name("limits.c")
_FLOATS = 1 << 24
_ROUNDS = 1_000_000


def describe() -> dict[str, str]:
    """Say what machine, compiler and Python this is."""
    return {
        "processor": this_machine().model,
        "cores": str(available_threads()),
        "vectors": f"{this_machine().vector_bits} bits",
        "system": f"{platform.system()} {platform.machine()}",
        "compiler": choose_toolchain().toolchain.name,
        "Python": platform.python_version(),
    }


def measure(seconds: float) -> dict[str, float]:
    """Return "fma" in flop/s, "copy" (read and written) and "read" in bytes/s."""
    library = _build()
    lanes, threads = _lanes(), available_threads()
    source, target = _memory(), _memory()
    part = _FLOATS // threads // 1024 * 1024
    starts = [4 * part * i for i in range(threads)]

    def each(call: Callable[[int], object]) -> Callable[[], None]:
        return lambda: list(pool.map(call, starts)) and None

    with ThreadPoolExecutor(threads) as pool:
        moved = 4 * part * threads
        fma = (
            2 * 12 * lanes * _ROUNDS * threads / _best(each(lambda _: library.multiply_add(_ROUNDS)), seconds)
        )
        plain = _best(each(lambda start: library.copy(target + start, source + start, part)), seconds)
        past = _best(
            each(lambda start: library.copy_past_caches(target + start, source + start, part)), seconds
        )
        read = _best(each(lambda start: library.read_all(source + start, part)), seconds)
    return {
        "fma": fma,
        "copy": 2 * moved / min(plain, past),
        "copy_through_caches": 2 * moved / plain,
        "read": moved / read,
    }


def _best(call: Callable[[], None], seconds: float) -> float:
    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        started = time.perf_counter()
        call()
        now = time.perf_counter()
        best = min(best, now - started)
        if now > end:
            return best


def _lanes() -> int:
    return max(this_machine().vector_bits, 128) // 32


_kept: list[mmap.mmap] = []


def _memory() -> int:
    """Return the address of memory in huge pages, written to once."""
    memory = mmap.mmap(-1, 4 * _FLOATS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    _kept.append(memory)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    ctypes.memset(address, 1, 4 * _FLOATS)
    return address


def _build() -> ctypes.CDLL:
    toolchain = choose_toolchain().toolchain
    flags = (
        *compiler_flags(toolchain, this_machine()),
        "-ffp-contract=fast",
        f"-DVECTOR_BYTES={4 * _lanes()}",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "limits.so")
        subprocess.run([*toolchain.command, *flags, "-o", path, str(_SOURCE)], check=True)
        library = ctypes.CDLL(path)
    library.multiply_add.argtypes = [ctypes.c_longlong]
    library.multiply_add.restype = library.read_all.restype = ctypes.c_float
    library.copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong]
    library.copy_past_caches.argtypes = library.copy.argtypes
    library.read_all.argtypes = [ctypes.c_void_p, ctypes.c_longlong]
    return library


if __name__ == "__main__":
    print(json.dumps({**describe(), **measure(float(sys.argv[1]))}))
