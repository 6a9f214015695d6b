"""Compilers and hooks with a defect."""

import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plugrad.errors import CompileError
from plugrad.plugin.backend import Probe
from plugrad.renderer.base import Renderer
from plugrad.runtime.compiler import Compiler
from plugrad.uop import UOp
from plugrad_conformance.mutants.mutant import Mutant

_PLUGIN = "contract/plugin/"
_DTYPES = re.compile(r"\b(bool|u?int\d+|b?float\d+)\b")


class WrappedCompiler(Compiler):
    """A compiler that hands everything on."""

    def __init__(self, inner: Compiler) -> None:
        self.inner = inner
        self.cache_key = inner.cache_key

    def compile(self, source: str, name: str) -> bytes:
        """Hand on."""
        return self.inner.compile(source, name)

    def compile_many(self, units: Sequence[tuple[str, str]]) -> list[bytes]:
        """Hand on."""
        return self.inner.compile_many(units)


class _ErrorsSwallowed(WrappedCompiler):
    def compile(self, source: str, name: str) -> bytes:
        try:
            return self.inner.compile(source, name)
        except CompileError:
            return b"\x7f"

    def compile_many(self, units: Sequence[tuple[str, str]]) -> list[bytes]:
        return [self.compile(source, name) for name, source in units]


class _KeyWithoutDtype(WrappedCompiler):
    """Remembers binaries under their source, without the names and the dtypes in it."""

    def __init__(self, inner: Compiler) -> None:
        super().__init__(inner)
        self._known: dict[str, bytes] = {}

    def compile(self, source: str, name: str) -> bytes:
        lines = source.splitlines()[1:]
        key = _DTYPES.sub("T", re.sub(r"0x[0-9a-f]+|\d+\.\d+|True|False", "C", "\n".join(lines)))
        if key not in self._known:
            self._known[key] = self.inner.compile(source, name)
        return self._known[key]

    def compile_many(self, units: Sequence[tuple[str, str]]) -> list[bytes]:
        return [self.compile(source, name) for name, source in units]


class _WrongOrder(WrappedCompiler):
    def compile_many(self, units: Sequence[tuple[str, str]]) -> list[bytes]:
        return self.inner.compile_many(units)[::-1]


def _key_without_architecture(inner: Compiler) -> Compiler:
    wrapped = WrappedCompiler(inner)
    wrapped.cache_key = "a compiler"
    return wrapped


def _fast_math(inner: Any) -> Compiler:
    """Assume that there is no NaN and no infinity."""
    inner.flags = (*inner.flags, "-ffast-math")
    wrapped = WrappedCompiler(inner)
    wrapped.cache_key += " -ffast-math"
    return wrapped


class _WrappedRenderer(Renderer):
    def __init__(self, inner: Renderer) -> None:
        self.inner = inner
        self.capabilities = inner.capabilities
        self.extra_rules = inner.extra_rules

    def render(self, uops: Sequence[UOp], name: str) -> str:
        """Hand on."""
        return self.inner.render(uops, name)


class _Undetermined(_WrappedRenderer):
    def render(self, uops: Sequence[UOp], name: str) -> str:
        return f"{self.inner.render(uops, name)}\n// {hash(name)}\n"


class _Unpicklable(_WrappedRenderer):
    def __init__(self, inner: Renderer) -> None:
        super().__init__(inner)
        self.lock = threading.Lock()


class _SupportsNothing(_WrappedRenderer):
    def __init__(self, inner: Renderer) -> None:
        super().__init__(inner)
        nothing: frozenset[Any] = frozenset()
        self.capabilities = replace(inner.capabilities, storage_dtypes=nothing, compute_dtypes=nothing)


_contexts: list[threading.Thread] = []


def _opens_context(probe: Probe) -> Probe:
    """Start the thread that a driver's context brings."""
    forever = threading.Event()
    _contexts.append(threading.Thread(target=forever.wait, daemon=True))
    _contexts[-1].start()
    return probe


def _unexplained(probe: Probe) -> Probe:
    return Probe()


def _listed_twice(probe: Probe) -> Probe:
    return replace(probe, devices=probe.devices * 2)


def _ranked_above(probe: Probe) -> Probe:
    """Rank devices above the backend's promise, so that they are never found."""
    return replace(probe, devices=tuple(replace(device, priority=99) for device in probe.devices))


MUTANTS = (
    Mutant(
        "compile-error-swallowed",
        "what does not compile gives an empty binary",
        (_PLUGIN + "compile-error-is-typed",),
        compiler=_ErrorsSwallowed,
    ),
    Mutant(
        "cache-key-without-architecture",
        "the cache key is the same on every machine",
        (_PLUGIN + "cache-key-names-the-architecture",),
        base="CPU",
        compiler=_key_without_architecture,
    ),
    Mutant(
        "cache-key-without-dtype",
        "kernels that differ in dtypes only share a binary",
        (_PLUGIN + "every-binary-has-its-own-kernel", "minimal/kernels/kernels-of-two-dtypes"),
        compiler=_KeyWithoutDtype,
    ),
    Mutant(
        "batch-in-wrong-order",
        "compile_many returns binaries backwards",
        ("minimal/kernels/chain", "minimal/kernels/every-size-int32"),
        compiler=_WrongOrder,
    ),
    Mutant(
        "fast-math",
        "the compiler assumes that nothing is NaN",
        ("core/elementwise/isnan-float32", "core/elementwise/max-of-nan-float32"),
        base="CPU",
        compiler=_fast_math,
    ),
    Mutant(
        "rendering-undetermined",
        "a process writes another text than the next",
        (_PLUGIN + "rendering-is-deterministic",),
        base="CPU",
        renderer=_Undetermined,
    ),
    Mutant(
        "renderer-does-not-pickle",
        "the renderer holds a lock",
        (_PLUGIN + "renderer-pickles",),
        renderer=_Unpicklable,
    ),
    Mutant(
        "supports-nothing",
        "no dtype is claimed, so nothing is asked for",
        (_PLUGIN + "capabilities-are-consistent", "minimal/kernels/add-float32"),
        renderer=_SupportsNothing,
    ),
    Mutant(
        "probe-opens-a-context",
        "probing starts a driver's thread",
        (_PLUGIN + "probe-opens-nothing",),
        probe=_opens_context,
    ),
    Mutant(
        "probe-explains-nothing",
        "no device is found, without a word",
        (_PLUGIN + "probe-explains",),
        probe=_unexplained,
    ),
    Mutant(
        "probe-lists-a-device-twice",
        "two devices have one name",
        (_PLUGIN + "probe-lists-each-device-once",),
        probe=_listed_twice,
    ),
    Mutant(
        "device-above-its-backend",
        "a device ranks above the priority that its backend says",
        (_PLUGIN + "probe-lists-each-device-once",),
        probe=_ranked_above,
    ),
    Mutant(
        "import-loads-a-driver",
        "importing the plugin loads a shared library",
        (_PLUGIN + "import-opens-nothing",),
        module="plugrad_conformance.mutants.imports_a_driver",
    ),
    Mutant(
        "import-is-slow",
        "importing the plugin takes 60 ms",
        (_PLUGIN + "import-is-quick",),
        module="plugrad_conformance.mutants.imports_slowly",
    ),
)
