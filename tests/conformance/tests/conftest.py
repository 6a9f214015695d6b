"""What the kit's own tests share."""

import pytest

from plugrad_conformance.harness.bench import Bench


@pytest.fixture
def bench():
    """A bench on PYTHON that leaves the device as it was."""
    made = Bench("PYTHON")
    yield made
    made.close()
