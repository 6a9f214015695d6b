"""The whole surface between plugrad and a backend, on one page.

A backend is a module of functions marked `@hookimpl`, named by an entry point of the group
`plugrad.backends`; the entry point's name is the device's name in lower case:

    [project.entry-points."plugrad.backends"]
    mychip = "plugrad_mychip.plugin"

Importing the module must be cheap (under 50 ms), open no driver and start no thread. Every hook is a factory
that is called when a device opens or a kernel is loaded, never on the launch path. What it returns is checked
at once.

A distribution may implement some hooks only, to replace parts of a device that another distribution provides:
give the entry point that device's name and leave `plugrad_backend_info` out. Its hooks are asked first; where
they return None, the next plugin is asked.

A distribution may wrap hooks of every device, to log, to time, or to answer from elsewhere. Its entry point
has a name of its own, in a group of its own:

    [project.entry-points."plugrad.wrappers"]
    compile_log = "plugrad_compile_log"

    @hookimpl(wrapper=True)
    def plugrad_compiler(target):
        compiler = yield    # the device's own hook runs here; its error is raised here
        return compiler     # or something in its place

Wrappers are loaded with the first device that a plugin provides; the core's own devices are never wrapped.
Of several, the first in the order of the entry points' names is the outermost; `tryfirst=True` moves one
outward, `trylast=True` inward. `plugrad_backend_info` cannot be wrapped. An error of `plugrad.errors` that a
wrapper raises refuses the device. A wrapper that fails otherwise is left out from then on, with a warning:
hooks answer as if it were not installed.

Plugins may import `plugrad.errors settings dtype target events uop renderer runtime plugin`, and nothing else
of plugrad.
"""

from collections.abc import Sequence
from typing import Any

import pluggy

from plugrad.plugin.backend import BackendInfo, Probe
from plugrad.renderer.base import Renderer
from plugrad.runtime.allocator import Allocator
from plugrad.runtime.compiler import Compiler
from plugrad.runtime.graph import Graph, GraphLaunch
from plugrad.runtime.program import Program
from plugrad.runtime.runner import Runner
from plugrad.target import Target

#: MAJOR.MINOR of this page, independent of plugrad's own version. Same major and minor not newer is accepted:
#: a new optional hook or field raises the minor, any change to an existing one the major.
#: 1.1: `plugrad_graph`; `ProbedDevice.priority`.
#: 1.2: `Allocator.copy_from`.
#: 1.3: the group `plugrad.wrappers`; a wrapper of `plugrad_probe` is given the `Probe`, not a list of one.
SPEC_VERSION = "1.3"

PROJECT = "plugrad"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec(firstresult=True)
def plugrad_backend_info() -> BackendInfo:  # pyright: ignore[reportReturnType] - a specification has no body
    """(required) Return the identity of the backend, the same at each call.

    Loads no driver, opens nothing, cannot fail.

    `priority` is how far the automatic choice looks: no backend below the best device that it has found is
    probed. A backend whose probe is slow gives a lower one where a look at the system's files tells that it
    has no more to offer.
    """


@hookspec(firstresult=True)
def plugrad_probe() -> Probe:  # pyright: ignore[reportReturnType]
    """(required) List the present devices, or give a reason and a remedy.

    May load a driver's library and ask it for names, but opens no context and allocates nothing on a device.
    Called once, in a thread of its own; returns within a second, and is given up after twenty. Absence is no
    error: return a `Probe` without devices, with `reason` and `remedy`.

    Raises:
        SettingsError: the user set something for this backend that it cannot do. No other device is taken in
            its place.
    """


@hookspec(firstresult=True)
def plugrad_allocator(target: Target) -> Allocator[Any] | None:
    """(required) Open the memory of `target`.

    Called once when the device opens. The allocator may be used by several threads at the same time, and out
    of memory raises `DeviceOutOfMemory`. Where two devices can exchange bytes without the host, it overrides
    `Allocator.copy_from`. Return None for targets that are not yours.

    Raises:
        DeviceNotFound: the device cannot be opened; say what was tried and what would help.
    """


@hookspec(firstresult=True)
def plugrad_renderer(target: Target) -> Renderer | None:
    """(required to compute) Return what turns linear UOps into source for `target`, with its `Capabilities`.

    Needs no device: the renderer is picklable and gives the same text for the same UOps everywhere. What
    `Capabilities` says of a grid's compute units, registers and rates decides how many groups there are and
    how large; its defaults are those of a small GPU, so give what the device says of itself. A backend that
    only stores implements none of `plugrad_renderer`, `plugrad_compiler` and `plugrad_runner`.
    """


@hookspec(firstresult=True)
def plugrad_compiler(target: Target) -> Compiler | None:
    """(required to compute) Return what turns source into bytes for `target`.

    `Compiler.cache_key` names everything that the bytes depend on besides the source: toolchain, version,
    architecture, flags.

    Raises:
        DeviceNotFound: a tool is missing; say what was looked for, where, and how to install it.
    """


@hookspec(firstresult=True)
def plugrad_runner(target: Target, program: Program) -> Runner | None:
    """(required to compute) Load `program` on `target` and return what launches it.

    Called once for each kernel and device. The runner does not change `program`, keeps loaded what it needs,
    and may be called by several threads at the same time; launches of one device take effect in the order of
    their calls.

    Raises:
        DeviceError: the bytes do not load on this device.
    """


@hookspec(firstresult=True)
def plugrad_graph(target: Target, launches: Sequence[GraphLaunch]) -> Graph | None:
    """(optional) Prepare two or more launches of `target`, in their order, as one call.

    Called once for each row of kernels that the JIT recorded; launches nothing. The blocks of its first run
    are exchanged before it runs. Return None for launches that the device runs better one by one, or whose
    runners are another plugin's.

    Raises:
        DeviceError: the device refused them.
    """


HOOK_NAMES = frozenset(name for name in dir() if name.startswith("plugrad_"))
