"""Every test of arrays runs on PYTHON, and with EVERYTHING=1 on CPU, where other tests have each method."""

from collections.abc import Iterator

import pytest

from plugrad import context


@pytest.fixture(params=["PYTHON", pytest.param("CPU", marks=pytest.mark.wide)], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with context(DEVICE=request.param):
        yield request.param
