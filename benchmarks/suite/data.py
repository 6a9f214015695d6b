"""Inputs that all libraries get alike."""

import numpy as np
import numpy.typing as npt


def floats(*shape: int, seed: int = 0) -> npt.NDArray[np.float32]:
    """Return normally distributed numbers, the same in each process."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def labels(count: int) -> npt.NDArray[np.int64]:
    """Return class numbers below ten."""
    return np.random.default_rng(1).integers(0, 10, count)
