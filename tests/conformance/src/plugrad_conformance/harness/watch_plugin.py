"""Import and probe one plugin, and print the changes of this process as JSON.

Run in a fresh process by `facts`, as `python -P watch_plugin.py NAME ENTRY_POINT SETUP`.
"""

import contextlib
import hashlib
import importlib
import json
import os
import shutil
import sys
import time
from typing import Any

import numpy as np
import pluggy

from plugrad.plugin import discovery, hook_calls, hook_guards
from plugrad.plugin.manager import plugins
from plugrad.renderer import cstyle
from plugrad.runtime import transfer

# what a plugin may import without it being counted: the core and what it brings, the standard library's
# compressors and hashes, and tools for foreign code
_BROUGHT = (shutil, hashlib, np, pluggy, discovery, hook_calls, hook_guards, cstyle, transfer)
for _tool in ("ctypes", "cffi", "_cffi_backend"):
    with contextlib.suppress(ImportError):
        importlib.import_module(_tool)

_PROC = "/proc/self"


def libraries() -> set[str]:
    """Return the shared objects that are mapped."""
    try:
        with open(f"{_PROC}/maps", encoding="utf-8") as file:
            lines = [line.split(None, 5) for line in file]
    except OSError:
        return set()
    return {parts[5].strip() for parts in lines if len(parts) == 6 and ".so" in parts[5]}


def state() -> dict[str, Any]:
    """Return the threads, the open device files, and the child processes."""
    children = f"{_PROC}/task/{os.getpid()}/children"
    started: list[str] = []
    with contextlib.suppress(OSError), open(children, encoding="ascii") as file:
        started = file.read().split()
    tasks = len(os.listdir(f"{_PROC}/task")) if os.path.isdir(f"{_PROC}/task") else 0
    return {"threads": tasks, "devices": sorted(_device_files()), "children": started}


def settled_state(threads: int) -> dict[str, Any]:
    """Return the state once there are no more than `threads`, or after half a second.

    A probe runs in a thread of its own, which the system counts a moment longer than Python does.
    """
    deadline = time.perf_counter() + 0.5
    while (found := state())["threads"] > threads and time.perf_counter() < deadline:
        time.sleep(0.001)
    return found


def _device_files() -> set[str]:
    found: set[str] = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f"{_PROC}/fd"):
            with contextlib.suppress(OSError):
                found.add(os.readlink(f"{_PROC}/fd/{name}"))
    ordinary = ("/dev/null", "/dev/tty", "/dev/urandom")
    return {f for f in found if f.startswith("/dev/") and f not in ordinary and not f.startswith("/dev/pts")}


def watch_import(value: str) -> dict[str, Any]:
    """Import the plugin's module."""
    before, known = state(), libraries()
    started, cpu = time.perf_counter(), time.process_time()
    importlib.import_module(value.partition(":")[0])
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    modules = {os.path.realpath(file) for file in files if file}
    opened = sorted(lib for lib in libraries() - known if os.path.realpath(lib) not in modules)
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "libraries": opened,
        "before": before,
        "after": state(),
    }


def watch_probe(name: str) -> dict[str, Any]:
    """Find the plugin's devices."""
    before = state()
    started = time.perf_counter()
    failure, devices, reason, remedy = "", 0, "", ""
    try:
        probe = plugins.backend(name).probe()
        devices, reason, remedy = len(probe.devices), probe.reason, probe.remedy
    except Exception as error:  # whatever a plugin raises is what there is to report
        failure = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - started
    return {
        "seconds": seconds,
        "before": before,
        "after": settled_state(before["threads"]),
        "failure": failure,
        "devices": devices,
        "reason": reason,
        "remedy": remedy,
    }


if __name__ == "__main__":
    _name, _value, _setup = sys.argv[1:4]
    if _setup:
        exec(_setup)  # backends that are not installed, such as mutants, are made known here
    print(json.dumps({"import": watch_import(_value), "probe": watch_probe(_name)}))
