"""The place where cases are done: one device, its memory guarded, its launches counted."""

import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from plugrad.device import Device, OpenDevice
from plugrad.engine.compile import compile_kernels
from plugrad.events import KernelEvent, Subscription, subscribe
from plugrad.uop import Ops
from plugrad_conformance.case import Case, Check
from plugrad_conformance.compare import explain, worst_error
from plugrad_conformance.harness.facts import PluginFacts
from plugrad_conformance.harness.guard import GuardedAllocator
from plugrad_conformance.harness.values import array_of, sizes_of
from plugrad_conformance.requirements import unmet
from plugrad_conformance.tolerance import Tolerance

#: Cases whose kernels are compiled in one go.
BATCH = 48


class Bench:
    """A device on trial.

    Args:
        name: the device, as a user writes it.
        seed: of everything random.

    Attributes:
        load: how busy the machine was when the run began.
        launches: kernels launched, by device.
        worst_ulp: the largest error that the case in progress has shown.
        measurements: what `perf` cases found.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = Device.canonicalize(name)
        self.seed = seed
        self.load = load_average()
        self._default_before = Device._assigned
        # what names no device means the one on trial, and never the best of those installed; cases find out
        # whether it is there
        Device._assigned = self.name
        self.launches: Counter[str] = Counter()
        self.worst_ulp = 0.0
        self.widened: dict[str, Tolerance] = {}
        self.measurements: dict[str, dict[str, float]] = {}
        self.facts = PluginFacts(self.name)
        self._guards: dict[str, GuardedAllocator] = {}
        self._prepared: dict[str, Check | Exception] = {}
        self._batches: dict[str, list[Case]] = {}
        self._subscription: Subscription | None = None

    # --- the device ---

    @property
    def device(self) -> OpenDevice:
        """The device, open and guarded."""
        return self.open(self.name)

    def open(self, name: str) -> OpenDevice:
        """Return any device, open and guarded."""
        device = Device[name]
        if device.name not in self._guards:
            views = not device.can_compute or device.capabilities.supports_views
            self._guards[device.name] = GuardedAllocator(device.allocator, views=views)
            device.allocator = self._guards[device.name]
        return device

    @property
    def guard(self) -> GuardedAllocator:
        """The device's memory."""
        device = self.device
        return self._guards[device.name]

    @property
    def compiler_key(self) -> str:
        """Return a key that tells the device's compiler from others. It opens no device."""
        is_open = self.name in self._guards and self.device.can_compute
        return self.device.compiler.cache_key if is_open else ""

    def close(self) -> None:
        """Leave the devices as they were found."""
        self._prepared.clear()
        Device.DEFAULT = self._default_before
        if self._subscription is not None:
            self._subscription.close()
            self._subscription = None
        for name, guard in self._guards.items():
            guard.settle()
            Device[name].allocator = guard.inner
        self._guards.clear()

    def unmet_need(self, case: Case) -> str | None:
        """Return the reason that the device cannot do `case`, or None."""
        reasons = (unmet(need, self.name, self.device.capabilities) for need in case.needs)
        return next((reason for reason in reasons if reason is not None), None)

    # --- counting ---

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Count launches inside the block."""
        self._subscription = subscribe(KernelEvent, self._count)
        try:
            yield
        finally:
            self._stop_counting()

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """Remove all listeners inside the block: only such runs take replay's fast paths."""
        self._stop_counting()
        try:
            yield
        finally:
            self._subscription = subscribe(KernelEvent, self._count)

    def _count(self, event: KernelEvent) -> None:
        self.launches[event.device] += 1

    def _stop_counting(self) -> None:
        if self._subscription is not None:
            self._subscription.close()
            self._subscription = None

    # --- doing ---

    def plan(self, cases: Sequence[Case]) -> None:
        """Take the coming cases, to compile their kernels together."""
        buildable = [c for c in cases if c.build is not None]
        for start in range(0, len(buildable), BATCH):
            batch = buildable[start : start + BATCH]
            self._batches.update(dict.fromkeys((c.id for c in batch), batch))

    def do(self, case: Case) -> str | None:
        """Do one case: return what it has to say, or raise."""
        # oracles overflow and divide by zero on purpose
        with np.errstate(all="ignore"):
            if case.run is not None:
                return case.run(self)
            check = self._pop_prepared(case)
            self.compare(check, self.widened.get(case.id))
        return None

    def compare(self, check: Check, tolerance: Tolerance | None = None) -> None:
        """Compute what `check` asks for, and compare.

        Raises:
            AssertionError: an element is wrong; names it.
        """
        tolerance = tolerance or check.tolerance
        first, *others = check.outputs
        first.realize(*others)
        scales = check.scales or [None] * len(check.outputs)
        for output, exact, scale in zip(check.outputs, check.expected, scales, strict=True):
            got = array_of(output)
            assert got.shape == sizes_of(output), f"{output!r} came back with shape {got.shape}"
            want = check_shape(exact, got.shape)
            error, at = worst_error(got, want, output.dtype, scale)
            self.worst_ulp = max(self.worst_ulp, error)
            assert error <= tolerance.ulp, explain(got, want, output.dtype, at, error, tolerance)

    def _pop_prepared(self, case: Case) -> Check:
        if case.id not in self._prepared:
            self._prepare(self._batches.get(case.id, [case]))
        found = self._prepared.pop(case.id)
        if isinstance(found, Exception):
            raise found
        return found

    def _prepare(self, batch: Sequence[Case]) -> None:
        """Build a batch and compile its kernels in one go. The cases find failures again."""
        asts: list[Any] = []
        for case in batch:
            if self.unmet_need(case) is not None and case.profile != "minimal":
                continue
            assert case.build is not None
            try:
                check = case.build(self)
                first, *others = check.outputs
                steps = first.schedule(*others)
            except Exception as error:  # raised again when the case's turn comes
                self._prepared[case.id] = error
                continue
            self._prepared[case.id] = check
            asts += [s.ast for s in steps if s.ast.op is Ops.SINK and s.device == self.name]
        self._compile(list(dict.fromkeys(asts)))

    def _compile(self, asts: list[Any]) -> None:
        try:
            compile_kernels(self.device, asts)
        except Exception:  # whatever a backend raises: the case that needs the kernel shows it
            if len(asts) > 1:
                half = math.ceil(len(asts) / 2)
                self._compile(asts[:half])
                self._compile(asts[half:])


def load_average() -> float | None:
    """Return the processes that wanted a core in the last minute; None if unknown."""
    counted = getattr(os, "getloadavg", None)
    return None if counted is None else round(counted()[0], 2)


def check_shape(exact: Any, shape: tuple[int, ...]) -> Any:
    """Return `exact`, which must broadcast to `shape` without having more elements."""
    wanted = getattr(exact, "shape", ())
    assert wanted in ((), shape), f"expected shape {wanted}, got {shape}"
    return exact
