"""The native pool that runs kernels, compiled once and kept in the cache."""

import contextlib
import hashlib
import os
import threading
from pathlib import Path
from typing import Any

from plugrad.errors import PlugradError
from plugrad.runtime.disk_cache import kernel_cache
from plugrad.settings import settings
from plugrad_cpu_clang.compiler import CpuCompiler
from plugrad_cpu_clang.library import load_kept
from plugrad_cpu_clang.machine import available_threads
from plugrad_cpu_clang.toolchain import choose_toolchain

_SOURCE = Path(__file__).with_name("pool.c")
_lock = threading.Lock()
_pool: Any = None
# a child that is forked while another thread compiles would wait for it for ever
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


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


def prepare_pool() -> None:
    """Begin to compile the pool where the cache has none, beside lowering."""
    if _pool is None and kernel_cache().get(_key(_compiler(), _SOURCE.read_text())) is None:
        threading.Thread(target=_prepare, name="plugrad pool").start()


def _prepare() -> None:
    # whoever launches a kernel is told
    with contextlib.suppress(PlugradError):
        pool()


def _load() -> Any:
    source, compiler = _SOURCE.read_text(), _compiler()
    key = _key(compiler, source)
    data = kernel_cache().get(key)
    if data is None:
        data = compiler.compile(source, "pool")
        kernel_cache().put(key, data)
    library = load_kept(data)
    library.plugrad_set_threads(settings.THREADS or available_threads())
    os.register_at_fork(after_in_child=library.plugrad_after_fork)
    return library


def _compiler() -> CpuCompiler:
    return CpuCompiler(choose_toolchain().toolchain)


def _key(compiler: CpuCompiler, source: str) -> bytes:
    return hashlib.sha256(f"pool\0{compiler.cache_key}\0{source}".encode()).digest()
