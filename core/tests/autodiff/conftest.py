"""Evaluate small tensor graphs by the oracle; buffers without a value hold zeros."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from plugrad.dtype import to_numpy
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.tensor_oracle import value_of

Array = np.ndarray[Any, np.dtype[Any]]
Evaluate = Callable[[UOp, Mapping[UOp, Array]], Array]


@pytest.fixture(scope="session")
def evaluate() -> Evaluate:
    """Return the function from a graph and the values of its buffers to the graph's value."""

    def value(root: UOp, values: Mapping[UOp, Array]) -> Array:
        buffers = [u for u in root.toposort() if u.op is Ops.BUFFER]
        return value_of(root, {u: np.zeros(u.shape, to_numpy(u.dtype)) for u in buffers} | dict(values))

    return value
