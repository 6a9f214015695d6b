"""The machine's processor and features, as LLVM names them."""

import os
from dataclasses import dataclass
from functools import cache

from plugrad.settings import settings
from plugrad_llvm.llvm import llvm


@dataclass(frozen=True, slots=True)
class Machine:
    """The processor of this process.

    Attributes:
        triple: LLVM's name of the platform.
        cpu: LLVM's name of the processor.
        features: its extensions, as `+avx2,-sse4a,...`, sorted.
    """

    triple: str
    cpu: str
    features: str

    @property
    def arch(self) -> str:
        """Instruction set and processor, such as `x86_64-znver4`."""
        return f"{self.triple.partition('-')[0]}-{self.cpu}"

    def has(self, *features: str) -> bool:
        """Say whether the processor has all of these extensions."""
        return set(self.features.split(",")).issuperset(f"+{feature}" for feature in features)

    @property
    def vector_bits(self) -> int:
        """The width of a vector register.

        Example:
            >>> Machine("x86_64-pc-linux-gnu", "haswell", "+avx,+avx2,+fma").vector_bits
            256
        """
        if self.has("avx512f", "avx512bw", "avx512dq", "avx512vl"):
            return 512
        return 256 if self.has("avx2", "fma") else 128

    @property
    def vector_registers(self) -> int:
        """Return the number of vector registers."""
        return 16 if self.arch.startswith("x86_64") and self.vector_bits < 512 else 32

    @property
    def converts_halves(self) -> bool:
        """Whether float16 converts by an instruction; elsewhere LLVM calls functions that nobody brings."""
        return not self.arch.startswith("x86_64") or self.has("f16c")


@cache
def this_machine() -> Machine:
    """Return the machine this process runs on."""
    binding = llvm()
    features: str = binding.get_host_cpu_features().flatten(sort=True)
    return Machine(binding.get_process_triple(), binding.get_host_cpu_name(), features)


def available_threads() -> int:
    """Return the number of processors, each of which runs a piece of a kernel."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return settings.THREADS or own
