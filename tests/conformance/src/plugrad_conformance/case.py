"""A case of the suite, as data: its id, its needs, and its check.

There are two ways to do one. A case with `build` gives tensors and the values they must have; the bench
compiles many of them together, runs each and compares. A case with `run` acts on the bench itself and raises
where something is wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from plugrad import Tensor
from plugrad_conformance.tolerance import EXACT, Tolerance

if TYPE_CHECKING:
    from plugrad_conformance.harness.bench import Bench

#: Each profile contains those before it, but for `perf`, which measures and judges nothing.
PROFILES = ("contract", "minimal", "core", "full", "edges", "dtypes", "perf")
#: What a case must have used to count: nothing of a device, its memory, or kernels launched on it.
Layer = Literal["plugin", "memory", "kernel"]


@dataclass(frozen=True, slots=True)
class Check:
    """Tensors, and what their elements must be.

    Attributes:
        outputs: what to compute, in one schedule.
        expected: exact values, float64 or wider for floats, in the outputs' shapes.
        tolerance: how far off floats may be.
        scales: magnitudes to measure errors by, where the result may cancel; None: those of the results.
    """

    outputs: Sequence[Tensor]
    expected: Sequence[Any]
    tolerance: Tolerance = EXACT
    scales: Sequence[Any] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    Attributes:
        id: `profile/area/name`, as claims, reports and the command line spell it.
        build: makes the check of a case that compares values.
        run: does any other case; returns a line for the report, or None.
        needs: capabilities it asks for, such as "dtype:float64"; a device without one is unsupported.
        layer: what must have been used for the case to count.
        alone: whether kernels on other devices are wrong while it runs.
    """

    id: str
    build: "Callable[[Bench], Check] | None" = None
    run: "Callable[[Bench], str | None] | None" = None
    needs: tuple[str, ...] = ()
    layer: Layer = "kernel"
    alone: bool = True

    @property
    def profile(self) -> str:
        """The smallest profile that contains it."""
        return self.id.partition("/")[0]

    @property
    def area(self) -> str:
        """Return its area, for tables."""
        return self.id.split("/")[1]


def needs_dtypes(*names: str) -> tuple[str, ...]:
    """Return the requirements of a case that stores these dtypes."""
    return tuple(f"dtype:{name}" for name in dict.fromkeys(names))
