"""Models are compared with PyTorch's on the device that tests run on."""

from collections.abc import Iterator

import pytest

from plugrad.tensor import Tensor


@pytest.fixture(autouse=True)
def _seed() -> Iterator[None]:
    """Start each test from the same random numbers, and leave training as it was."""
    Tensor.manual_seed(1)
    with Tensor.train(False):
        yield
