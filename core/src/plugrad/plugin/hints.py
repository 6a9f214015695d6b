"""Name the distributions that provide well-known devices.

The one place in the core that knows backends by name. It only helps messages: nothing here is needed to find,
load or run a backend, and a backend that is missing here works like any other.
"""

from plugrad._frozen import frozen
from plugrad._util import closest


@frozen
class Hint:
    """A backend that is known to exist.

    Attributes:
        device: its name.
        requirement: what to give to pip.
        summary: what it needs, in a few words.
        aliases: other names that people try.
    """

    device: str
    requirement: str
    summary: str
    aliases: tuple[str, ...] = ()

    @property
    def install_line(self) -> str:
        """The command that installs it."""
        return (
            f"pip install '{self.requirement}'"
            if "[" in self.requirement
            else f"pip install {self.requirement}"
        )


HINTS = (
    Hint(
        "CPU",
        "plugrad-plugin-cpu-clang[zig]",
        "any processor; brings its own compiler",
        ("CLANG", "LLVM", "HOST"),
    ),
    Hint("CUDA", "plugrad-plugin-cuda", "NVIDIA GPUs", ("NV", "NVIDIA", "GPU")),
    Hint("METAL", "plugrad-plugin-metal", "Apple GPUs", ("MPS", "APPLE")),
    Hint("OPENCL", "plugrad-plugin-opencl", "any device with an OpenCL driver", ("CL",)),
)

#: The devices that PyTorch's `Tensor.cpu()` and `Tensor.cuda()` name.
PROCESSOR, NVIDIA = "CPU", "CUDA"

_BY_NAME = {name: hint for hint in HINTS for name in (hint.device, *hint.aliases)}

#: What to recommend to somebody who has nothing that compiles.
FIRST = HINTS[0]


def hint_for(device: str) -> Hint | None:
    """Return the hint for `device`, by its name or an alias, or None."""
    return _BY_NAME.get(device.upper())


def nearest_name(device: str, installed: tuple[str, ...]) -> str | None:
    """Return the device, installed or known, that `device` was probably meant to be, or None."""
    return closest(device.upper(), (*installed, *_BY_NAME))
