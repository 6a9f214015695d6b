"""Kernels of small graphs, as the scheduler makes them."""

from collections.abc import Callable

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.uop.uop import UOp


@pytest.fixture
def kernel_of() -> Callable[[Tensor], UOp]:
    """Return the last kernel of a graph."""
    return lambda value: value.schedule()[-1].ast


@pytest.fixture
def memory() -> Callable[..., Tensor]:
    """Return a realized tensor of a shape."""
    return lambda *shape: Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape)).realize()
