"""Every test of transforms runs on each device that needs no hardware, and starts from one seed."""

from collections.abc import Iterator

import pytest

from plugrad import Tensor, context


@pytest.fixture(params=["PYTHON", "CPU"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with context(DEVICE=request.param):
        Tensor.manual_seed(7)
        yield request.param
