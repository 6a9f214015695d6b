"""Tests of plugrad_onnx.conformance: the standard's own cases, a fixed tenth or on request all of them."""

import os

import pytest

from plugrad_onnx.conformance import Case, read_cases, run_case

CASES = [case for i, case in enumerate(read_cases()) if os.environ.get("EVERYTHING") or i % 10 == 3]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    result = run_case(case)
    assert result.verdict in ("passed", "refused"), result.reason
