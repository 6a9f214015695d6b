"""Random programs give what NumPy gives on the compiled device too."""

import pytest

from plugrad_conformance.programs.check import difference
from plugrad_conformance.programs.generate import random_program


@pytest.mark.parametrize("seed", range(1000, 1020))
def test_the_compiled_device_agrees_with_numpy(seed: int) -> None:
    program = random_program(seed)
    assert difference(program, "CPU") is None, f"\n{program}"
