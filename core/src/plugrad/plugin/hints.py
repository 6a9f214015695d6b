"""Name the distributions that provide well-known devices and commands.

The one place in the core that knows them by name. It only helps messages: nothing here is needed to find,
load or run a backend, and a backend that is missing here works like any other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plugrad._frozen import frozen
from plugrad._util import LazyModule, closest, json, metadata, pathlib, shlex

if TYPE_CHECKING:
    import urllib.request as request
else:
    request = LazyModule("urllib.request")

# the top of a checkout, where this package lies in core/src/plugrad
_TOP = os.path.join(os.path.dirname(__file__), *[os.pardir] * 4)


@frozen
class Hint:
    """A backend that is known to exist, or a program on top of the core.

    Attributes:
        device: its name; of a program, that of its command and module.
        requirement: what to give to pip.
        folder: where its distribution lies in a checkout.
        summary: what it needs, in a few words.
        aliases: its other names, as its plugin declares them.
        attempts: names that people try.
    """

    device: str
    requirement: str
    folder: str
    summary: str
    aliases: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()

    @property
    def install_line(self) -> str:
        """The command that installs it: from the checkout, where plugrad runs from one."""
        return install_line(self.requirement, self.folder)


def install_line(requirement: str, folder: str) -> str:
    """Return the command that installs a distribution from where plugrad was installed."""
    source = requirement
    for top in _checkouts():
        if (top / folder / "pyproject.toml").is_file():
            place = f"./{folder}" if pathlib.Path.cwd() == top else str(top / folder)
            _, bracket, extras = requirement.partition("[")
            source = place + bracket + extras
            break
    return f"pip install {shlex.quote(source)}"


def _checkouts() -> Iterator[pathlib.Path]:
    """Yield the tops of checkouts that this runs in, or was installed from."""
    yield pathlib.Path(_TOP).resolve()
    try:
        origin = metadata.distribution("plugrad-core").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return
    url = json.loads(origin)["url"] if origin else ""
    if url.startswith("file:"):
        yield pathlib.Path(request.url2pathname(url.removeprefix("file://"))).parent


HINTS = (
    Hint(
        "CPU",
        "plugrad-plugin-cpu-clang[zig]",
        "plugins/cpu_clang",
        "any processor; brings its own compiler",
        ("CLANG",),
        ("LLVM", "HOST"),
    ),
    Hint("CUDA", "plugrad-plugin-cuda", "plugins/cuda", "NVIDIA GPUs", ("NV",), ("NVIDIA", "GPU")),
    Hint("METAL", "plugrad-plugin-metal", "plugins/metal", "Apple GPUs", ("MPS",), ("APPLE",)),
    Hint("OPENCL", "plugrad-plugin-opencl", "plugins/opencl", "any device with an OpenCL driver", ("CL",)),
)

_CONFORMANCE = "plugrad-conformance", "tests/conformance"

#: Commands of other distributions.
PROGRAMS = {
    hint.device: hint
    for hint in (
        Hint("onnx", "plugrad-onnx", "apps/onnx", "runs ONNX models"),
        Hint("viz", "plugrad-viz", "apps/viz", "shows recordings in a browser"),
        Hint("conformance", *_CONFORMANCE, "runs the conformance suite on a device"),
        Hint("report", *_CONFORMANCE, "compares conformance reports"),
        Hint("new-backend", *_CONFORMANCE, "writes a backend that works, to start from"),
    )
}

#: Those that are modules of `plugrad` as well.
ADDED_MODULES = {"onnx": PROGRAMS["onnx"]}

#: The devices that PyTorch's `Tensor.cpu()` and `Tensor.cuda()` name.
PROCESSOR, NVIDIA = "CPU", "CUDA"

_BY_NAME = {name: hint for hint in HINTS for name in (hint.device, *hint.aliases, *hint.attempts)}

#: What to recommend to somebody who has nothing that compiles.
FIRST = HINTS[0]


def hint_for(device: str) -> Hint | None:
    """Return the hint for `device`, by its name or an alias, or None."""
    return _BY_NAME.get(device.upper())


def nearest_name(device: str, installed: tuple[str, ...]) -> str | None:
    """Return the device, installed or known, that `device` was probably meant to be, or None."""
    return closest(device.upper(), (*installed, *_BY_NAME))
