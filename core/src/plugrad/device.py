"""Find the devices of this process by name, open each once, and choose the default.

    Device.DEFAULT          # what is used where no device is named; assign to change it
    Device["NAME:1"]        # the open device; opened by the first who asks

A name is `NAME`, or `NAME:INDEX` where there are several; aliases and lower case are accepted and made
canonical, and so are words in place of the index: `NAME:words` is the first device that describes itself with
them.

This module can itself be called: `plugrad.device("cpu")` returns the canonical name, which every `device=`
takes.
"""

import os
import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from plugrad._util import dataclasses, make_callable
from plugrad.dtype import DType
from plugrad.errors import DeviceError, DeviceNotFound, ForkError
from plugrad.plugin.backend import BackendInfo, ProbedDevice
from plugrad.plugin.manager import PluginManager, plugins
from plugrad.plugin.source import PluginSource
from plugrad.renderer.base import Renderer
from plugrad.runtime.allocator import Allocator
from plugrad.runtime.buffer import Buffer, disown_all
from plugrad.runtime.compiler import Compiler
from plugrad.runtime.graph import Graph, GraphLaunch
from plugrad.runtime.origin import Origin
from plugrad.runtime.program import Program
from plugrad.runtime.runner import Runner
from plugrad.settings import is_overridden, settings
from plugrad.target import Capabilities, Evidence, Target

if TYPE_CHECKING:
    from plugrad.plugin.hook_calls import Backend

# what is longer is something else, which a message does not repeat
_LONGEST_NAME = 4096


class OpenDevice:
    """A device that is open: its memory, and what makes and runs its kernels."""

    def __init__(self, name: str, probed: ProbedDevice, backend: "Backend") -> None:
        self.name = name
        self.probed = probed
        self.target: Target = probed.target
        self.info: BackendInfo = backend.info
        self._backend = backend
        self.allocator: Allocator[Any] = backend.allocator(self.target)
        self._renderer = backend.renderer(self.target) if backend.can_compute else None
        self._compiler = backend.compiler(self.target) if backend.can_compute else None
        self._opened_by = os.getpid()
        self._is_inherited = False

    def __repr__(self) -> str:
        return f"<OpenDevice {self.name} {self.target.arch}".rstrip() + f" of {self.info.distribution}>"

    @property
    def plugins(self) -> tuple[PluginSource, ...]:
        """The device's own plugin, then those that replace or wrap parts of it."""
        return tuple(plugin.source for plugin in self._backend.plugins)

    @property
    def evidence(self) -> Evidence:
        """The evidence that its kernels are correct."""
        return self.probed.evidence

    @property
    def can_compute(self) -> bool:
        """True for a device that runs kernels, False for one that only stores data."""
        return self._renderer is not None

    @property
    def renderer(self) -> Renderer:
        """The renderer that writes its source."""
        return self._renderer or self._refuse_to_compute()

    @property
    def compiler(self) -> Compiler:
        """The compiler of its source."""
        return self._compiler or self._refuse_to_compute()

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of its kernels."""
        return self.renderer.capabilities

    def runner(self, program: Program) -> Runner:
        """Load a compiled kernel.

        Raises:
            DeviceError: the device only stores data, or refused the kernel.
            ForkError: this process was forked from the one that opened the device.
        """
        self.check_fork()
        if not self.can_compute:
            self._refuse_to_compute()
        return self._backend.runner(self.target, program)

    def graph(self, launches: Sequence[GraphLaunch]) -> Graph | None:
        """Prepare launches to be run by one call, or return None without support for them.

        Raises:
            ForkError: this process was forked from the one that opened the device.
        """
        self.check_fork()
        return self._backend.graph(self.target, launches)

    def new_buffer(self, size: int, dtype: DType, label: str | Origin = "") -> Buffer:
        """Return a buffer of `size` elements here, not allocated yet."""
        return Buffer(self.name, size, dtype, self.allocator, label=label)

    def synchronize(self) -> None:
        """Return when everything that was launched here has finished."""
        self.allocator.synchronize()

    def check_fork(self) -> None:
        """Raise ForkError in a process that was forked from the one that opened the device."""
        if self._is_inherited:
            raise fork_error(self.name, self._opened_by)

    def inherit(self) -> None:
        """Refuse everything from now on: called in a forked child."""
        self._is_inherited = True
        self.allocator = InheritedAllocator(self.name, self._opened_by)

    def _refuse_to_compute(self) -> NoReturn:
        raise DeviceError(
            f"{self.name} stores data and runs no kernels. Move the tensor to a device that computes first: "
            ".to(...).",
            device=self.name,
        )


class InheritedAllocator(Allocator[Any]):
    """The allocator of an inherited device after a fork: every method raises ForkError."""

    def __init__(self, device: str, opened_by: int) -> None:
        self._device = device
        self._opened_by = opened_by

    def _refuse(self, *_: object) -> NoReturn:
        raise fork_error(self._device, self._opened_by)

    _any: Any = _refuse  # takes the arguments of all of these
    alloc = free = copyin = copyout = offset = as_memoryview = from_host = synchronize = free_cache = _any


def fork_error(device: str, opened_by: int) -> ForkError:
    """Return the error for a device that process `opened_by` opened before the fork."""
    return ForkError(
        f"process {opened_by} opened {device} and then forked this one ({os.getpid()}); drivers, threads "
        "and memory of a device do not survive that. Start workers with "
        "multiprocessing.get_context('spawn'), or fork before the first use of a device."
    )


class DeviceRegistry:
    """All devices by name. There is one for each process, `Device`; tests make their own.

    Example:
        >>> Device.canonicalize("python")
        'PYTHON'
        >>> "PYTHON" in Device.devices()
        True
    """

    def __init__(self, manager: PluginManager = plugins) -> None:
        self._manager = manager
        self._lock = threading.RLock()
        self._watches_forks = False
        self._opened: dict[str, OpenDevice] = {}
        self.clear()

    def clear(self) -> None:
        """Forget the default and all open devices. Buffers on them stay valid.

        Example:
            >>> registry = DeviceRegistry()
            >>> registry["PYTHON"].name
            'PYTHON'
            >>> registry.clear()
            >>> registry.opened()
            ()
        """
        self._assigned = ""
        self._chosen = ""
        self._canonical: dict[str, str] = {}
        self._present: dict[str, str] = {}
        self._opened.clear()

    def __repr__(self) -> str:
        # asking for the default would look for devices
        return f"<Device, open: {', '.join(sorted(self._opened)) or 'none yet'}>"

    @property
    def DEFAULT(self) -> str:
        """The device of tensors that name none.

        In this order: `context(DEVICE=...)`, what was assigned here, the environment variable `DEVICE`, and
        the best device that is present.

        Raises:
            DeviceNotFound: the one that was asked for is not there; no other is taken in its place.

        Example:
            >>> Device.DEFAULT in Device.devices()
            True
        """
        if self._assigned and not is_overridden("DEVICE"):
            return self._assigned
        wanted = settings.DEVICE
        if wanted:
            return self.present(wanted)
        if not self._chosen:
            self._chosen = self._manager.choose()
        return self._chosen

    @DEFAULT.setter
    def DEFAULT(self, name: str) -> None:
        self._assigned = self.present(name) if name else ""

    def canonicalize(self, name: str | None) -> str:
        """Return the canonical name of a device: upper case, no alias, no index 0.

        None is the default device.

        Opens nothing, but loads the plugin of the device.

        Raises:
            DeviceNotFound: there is no such backend.
            PluginError: its plugin cannot be used.

        Example:
            >>> Device.canonicalize("python:0")
            'PYTHON'
        """
        if name is None:
            return self.DEFAULT
        # what is no string may have no hash either
        found = self._canonical.get(name) if isinstance(name, str) else None  # pyright: ignore
        if found is None:
            backend, suffix = self._parse(name)
            found = f"{backend.info.name}:{suffix}" if suffix else backend.info.name
            self._canonical[name] = found
        return found

    def present(self, name: str | None) -> str:
        """Return the canonical name of a device that is there. Opens nothing.

        Raises:
            DeviceNotFound: it is not there; the message says what was looked for and what would help.

        Example:
            >>> Device.present("python:0")
            'PYTHON'
        """
        found = self._present.get(name) if isinstance(name, str) else self.canonicalize(name)
        if found is None:
            found = self.canonicalize(name)
            self._find(found, *self._parse(found))
            self._present[str(name)] = found
        return found

    def __getitem__(self, name: str | None) -> OpenDevice:
        """Return the device with this name, opening it the first time.

        Raises:
            DeviceNotFound: it is not there; the message says what was looked for and what would help.
            PluginError: its plugin cannot be used.
            ForkError: this process was forked from the one that opened it.
        """
        # names of open devices are canonical
        found = self._opened.get(name) if type(name) is str else None
        if found is not None:
            found.check_fork()
            return found
        canonical = self.canonicalize(name)
        device = self._opened.get(canonical)
        if device is None:
            with self._lock:
                device = self._opened.get(canonical) or self._open(canonical)
                self._opened[canonical] = device
        device.check_fork()
        return device

    def devices(self) -> tuple[str, ...]:
        """Return the names of all present devices, best first.

        This loads every plugin, and opens no device.

        Example:
            >>> "PYTHON" in Device.devices()
            True
        """
        found = [backend for backend in self._manager.backends() if self._manager.is_present(backend)]
        return tuple(device.target.name for backend in found for device in backend.probe().devices)

    def opened(self) -> tuple[OpenDevice, ...]:
        """Return the devices that are open.

        Example:
            >>> Device["PYTHON"] in Device.opened()
            True
        """
        return tuple(self._opened.values())

    def _parse(self, name: object) -> "tuple[Backend, str]":
        """Return the backend, and what follows the colon where that says more than index 0."""
        base, _, suffix = name.partition(":") if isinstance(name, str) else ("", "", "")
        if not 0 < len(base.strip()) <= _LONGEST_NAME:
            raise DeviceNotFound(
                f"{name!r:.200} is no name of a device. Pass a string such as 'NAME' or 'NAME:1'; `plugrad "
                "devices` lists those that are there."
            )
        backend = self._manager.backend(base.strip())
        if backend.info.takes_resource:
            return backend, suffix
        suffix = suffix.strip()
        if suffix and not suffix.isdecimal():
            return backend, str(_index_by_words(str(name), backend, suffix) or "")
        return backend, str(int(suffix or 0) or "")

    def _open(self, name: str) -> OpenDevice:
        backend, suffix = self._parse(name)
        probed = self._find(name, backend, suffix)
        device = OpenDevice(name, probed, backend)
        if not self._watches_forks and hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)
            self._watches_forks = True
        return device

    def _find(self, name: str, backend: "Backend", suffix: str) -> ProbedDevice:
        probe = backend.probe()
        if not probe.devices:
            reason = probe.reason.rstrip(".") or "its probe found nothing"
            raise DeviceNotFound(f"{name} is not there: {reason}. {probe.remedy}".rstrip(), device=name)
        if backend.info.takes_resource:
            first = probe.devices[0]
            return dataclasses.replace(
                first, target=dataclasses.replace(first.target, detail=(("resource", suffix),))
            )
        index = int(suffix or 0)
        for probed in probe.devices:
            if probed.target.index == index:
                return probed
        if probe.any_index:
            return dataclasses.replace(
                probe.devices[0], target=dataclasses.replace(probe.devices[0].target, index=index)
            )
        raise DeviceNotFound(f"{name} is not there. {_offer(backend)}", device=name)

    def _after_fork(self) -> None:
        self._lock = threading.RLock()  # a thread of the parent may have held the old one
        for device in self._opened.values():
            device.inherit()
        if self._opened:
            disown_all(InheritedAllocator(", ".join(self._opened), os.getppid()))


def _index_by_words(name: str, backend: "Backend", words: str) -> int:
    """Return the index of the first device whose description or notes contain `words`."""
    pattern = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE)
    for probed in backend.probe().devices:
        if any(pattern.search(text) for text in (probed.description, *(value for _, value in probed.notes))):
            return probed.target.index
    raise DeviceNotFound(
        f"{name!r}: {words!r} is no index, and no device of {backend.info.name} calls itself so. "
        f"{_offer(backend)}",
        device=name,
    )


def _offer(backend: "Backend") -> str:
    """Describe the devices of a backend, or the reason for none and the remedy."""
    probe = backend.probe()
    if not probe.devices:
        return f"{backend.info.name} has no devices: {probe.reason.rstrip('.')}. {probe.remedy}".rstrip()
    names = [d.target.name for d in probe.devices]
    present = [f"{d.target.name} ({d.description or d.target.arch})" for d in probe.devices]
    wish = f"Ask for {names[0]}" if len(names) == 1 else f"Ask for one of {', '.join(names)}"
    return f"{backend.info.name} has {', '.join(present)}. {wish}."


#: The devices of this process.
Device = DeviceRegistry()

make_callable(__name__, Device.canonicalize)
