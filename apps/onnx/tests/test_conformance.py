"""Tests of plugrad_onnx.conformance: the standard's own cases, a fixed tenth or on request all of them."""

import os

import pytest

from plugrad_onnx.conformance import Case, read_cases, run_case

# the package compares these to 1e-7, which is less than a unit in the last place of its own numbers
_NOISE = {"test_attention_4d_causal_fp16_expanded", "test_dft_inverse", "test_dft_inverse_opset19"}

CASES = [case for i, case in enumerate(read_cases()) if os.environ.get("EVERYTHING") or i % 10 == 3]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    result = run_case(case)
    if result.verdict == "failed" and case.name in _NOISE:
        pytest.skip("differs by less than the rounding of what it is compared with")
    assert result.verdict in ("passed", "refused"), result.reason
