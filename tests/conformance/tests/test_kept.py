"""Functions that are built again while what they gave the first time is kept."""

from dataclasses import replace

import numpy as np
import pytest

from plugrad_conformance.programs.__main__ import main
from plugrad_conformance.programs.kept import OPS, Function, difference


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_what_is_kept_changes_neither_values_nor_gradients(seed: int, requires_grad: bool) -> None:
    assert difference(seed, "PYTHON", requires_grad=requires_grad) is None


def test_derivatives_come_from_complex_numbers() -> None:
    x, y = np.array([[1.0, 2.0]]), np.array([[3.0, -5.0]])
    steps = (("reciprocal", (0,)), ("maximum", (2, 1)), ("detach", (1,)), ("mul", (3, 4)))
    dx, dy = Function((x, y), steps, (5, 2)).gradients()
    np.testing.assert_allclose(dx, [[-1, -0.25 + 5 * 0.25]])
    np.testing.assert_allclose(dy, [[3, 0]])


def test_a_wrong_operation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in {*OPS} - {"double", "sin", "mul"}:
        monkeypatch.delitem(OPS, name)
    monkeypatch.setitem(OPS, "double", replace(OPS["double"], on_tensor=lambda x: x * 2 + x.detach() - x))
    problems = [difference(seed, "PYTHON", requires_grad=False) for seed in range(5)]
    assert any(p is not None and "and should be" in p and " = double(v" in p for p in problems)


def test_the_command_says_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kept", "--count", "1", "--device", "PYTHON"]) == 0
    assert capsys.readouterr().out == "1 functions built again on PYTHON: 0 differ\n"
