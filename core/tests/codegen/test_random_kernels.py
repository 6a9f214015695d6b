"""The decisive test: whatever optimisations do to a kernel, it writes what its graph means."""

import pytest

from plugrad_conformance.testing.kernel_search import MATRIX_TARGETS, TARGETS, check_kernel, check_product


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("first", range(0, 32, 8))
def test_any_optimisation_of_any_kernel_writes_the_same(target: str, first: int) -> None:
    for seed in range(first, first + 8):
        assert not check_kernel(seed, target, seed * 3 + 1, seed * 3 + 2), f"kernel {seed}"


@pytest.mark.parametrize("target", MATRIX_TARGETS)
@pytest.mark.parametrize("first", range(0, 40, 10))
def test_any_matrix_instruction_computes_any_product(target: str, first: int) -> None:
    for seed in range(first, first + 10):
        assert not check_product(seed, target), f"product {seed}"
