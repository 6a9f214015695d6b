"""Choose the PTX version and target of a module: the oldest that suffices.

A driver takes no PTX that is newer than itself, and any that is older; it takes PTX for an older GPU too.

Source: PTX ISA, section "Release Notes" (versions, and the targets that came with each).
"""

from typing import NamedTuple


class Isa(NamedTuple):
    """The header of a module.

    Attributes:
        target: the compute capability it is for.
        version: the version of PTX it is written in.
        driver: the oldest driver that takes it, as drivers count: 12080 is CUDA 12.8.
    """

    target: tuple[int, int]
    version: tuple[int, int]
    driver: int

    @property
    def has_bfloat16(self) -> bool:
        """True if one instruction rounds to bfloat16."""
        return self.target >= (8, 0)

    @property
    def has_nan_maximum(self) -> bool:
        """True if the maximum of float32 has a form in which NaN wins."""
        return self.target >= (8, 0)


_EVERY = (
    Isa((7, 0), (6, 0), 9000),
    Isa((7, 2), (6, 1), 9010),
    Isa((7, 5), (6, 3), 10000),
    Isa((8, 0), (7, 0), 11000),
    Isa((8, 6), (7, 1), 11010),
    Isa((8, 7), (7, 4), 11040),
    Isa((8, 9), (7, 8), 11080),
    Isa((9, 0), (7, 8), 11080),
    Isa((10, 0), (8, 6), 12070),
    Isa((10, 3), (8, 8), 12090),
    Isa((12, 0), (8, 7), 12080),
    Isa((12, 1), (8, 8), 12090),
)


def choose(version: tuple[int, int], driver: int = 0) -> Isa:
    """Return the ISA for a compute capability of at least 7.0.

    Args:
        version: the compute capability of the GPU.
        driver: the CUDA version of the driver, as it says it; 0: there is none.

    Example:
        >>> choose((10, 0)).version, choose((10, 0), driver=12040).target
        ((8, 6), (9, 0))
    """
    return max(isa for isa in _EVERY if isa.target <= version and (not driver or isa.driver <= driver))
