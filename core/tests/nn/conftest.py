"""Models are compared with PyTorch's on PYTHON, and on CPU those of the first test of each module.

EVERYTHING=1 runs all tests on both.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from plugrad import context
from plugrad.tensor import Tensor


@pytest.fixture(params=["PYTHON", "CPU"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Start each test from the same random numbers, and leave training as it was."""
    with context(DEVICE=request.param), Tensor.train(False):
        Tensor.manual_seed(1)
        yield request.param


@pytest.hookimpl(tryfirst=True)  # before wide tests are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    names = {item.nodeid for item in items}
    first: dict[Path, str] = {}
    for item in items:
        function, _, case = item.nodeid.partition("[CPU")
        if not case or f"{function}[PYTHON{case}" not in names or not item.path.is_relative_to(here):
            continue
        if first.setdefault(item.path, function) != function:
            item.add_marker(pytest.mark.wide)
