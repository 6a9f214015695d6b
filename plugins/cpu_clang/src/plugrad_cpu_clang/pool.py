"""The native pool that runs kernels, compiled once and kept in the cache."""

import hashlib
import os
import threading
from pathlib import Path
from typing import Any

from plugrad.runtime.disk_cache import kernel_cache
from plugrad.settings import settings
from plugrad_cpu_clang.compiler import CpuCompiler
from plugrad_cpu_clang.library import load_kept
from plugrad_cpu_clang.machine import available_threads
from plugrad_cpu_clang.toolchain import choose_toolchain

_SOURCE = Path(__file__).with_name("pool.c")
_lock = threading.Lock()
_pool: Any = None


def pool() -> Any:
    """Return the pool's functions (see `_native`); the first call loads or compiles them.

    Raises:
        DeviceNotFound: it has to be compiled, and there is no compiler.
    """
    global _pool
    if _pool is None:
        with _lock:
            if _pool is None:
                _pool = _load()
    return _pool


def _load() -> Any:
    source = _SOURCE.read_text()
    compiler = CpuCompiler(choose_toolchain().toolchain)
    key = hashlib.sha256(f"pool\0{compiler.cache_key}\0{source}".encode()).digest()
    data = kernel_cache().get(key)
    if data is None:
        data = compiler.compile(source, "pool")
        kernel_cache().put(key, data)
    library = load_kept(data)
    library.plugrad_set_threads(settings.THREADS or available_threads())
    os.register_at_fork(after_in_child=library.plugrad_after_fork)
    return library
