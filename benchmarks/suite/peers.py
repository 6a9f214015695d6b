"""The libraries that are compared: how to import them, their first result, their settings."""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version


@dataclass(frozen=True, slots=True)
class Peer:
    """One library. Its work is in the module `suite.with_NAME`.

    Attributes:
        name: of the library.
        distribution: that it is installed from.
        importing: what a user's program begins with.
        first: a program that prints `(a + b).relu().sum()`.
        environment: settings for its processes.
        cache_variable: the setting that says where it keeps compiled kernels, if it does.
        cache_name: the file or folder for that, in a folder of the benchmark's.
    """

    name: str
    distribution: str
    importing: str
    first: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    cache_variable: str = ""
    cache_name: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether it can be measured here."""
        return importlib.util.find_spec(self.name) is not None

    @property
    def version(self) -> str:
        """The installed version."""
        return version(self.distribution)


_A, _B = "[1.0, 2.0, 3.0]", "[4.0, -5.0, -6.0]"

PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            "plugrad",
            "plugrad-core",
            "from plugrad import Tensor",
            f"from plugrad import Tensor\nprint((Tensor({_A}) + Tensor({_B})).relu().sum().item())",
            cache_variable="PLUGRAD_CACHE",
            cache_name="plugrad",
        ),
        Peer(
            "tinygrad",
            "tinygrad",
            "from tinygrad import Tensor",
            f"from tinygrad import Tensor\nprint((Tensor({_A}) + Tensor({_B})).relu().sum().item())",
            environment={"DEV": "CPU:CLANG"},
            cache_variable="CACHEDB",
            cache_name="tinygrad.db",
        ),
        Peer(
            "torch",
            "torch",
            "import torch",
            f"import torch\nprint((torch.tensor({_A}) + torch.tensor({_B})).relu().sum().item())",
        ),
        Peer(
            "jax",
            "jax",
            "import jax",
            "import jax, jax.numpy as jnp\n"
            "f = jax.jit(lambda a, b: jax.nn.relu(a + b).sum())\n"
            f"print(f(jnp.array({_A}), jnp.array({_B})))",
        ),
        Peer(
            "numpy",
            "numpy",
            "import numpy",
            "import numpy as np\n"
            f"a, b = np.array({_A}, np.float32), np.array({_B}, np.float32)\n"
            "print(np.maximum(a + b, 0).sum())",
        ),
    )
}
