"""Tests of plugrad_conformance.harness.result and .bench: how a case goes."""

from dataclasses import replace

import numpy as np

from plugrad import Tensor
from plugrad.dtype import dtypes
from plugrad_conformance.case import Case, Check
from plugrad_conformance.claims import Claims
from plugrad_conformance.harness.result import run_case
from plugrad_conformance.harness.values import tensor_of


def three(bench):
    return Check([tensor_of(np.array([1, 2]), dtypes.int32, bench.name) + 1], [np.array([2, 3])])


def wrong(bench):
    return Check([tensor_of(np.array([1, 2]), dtypes.int32, bench.name) + 1], [np.array([2, 4])])


def test_a_case_that_computes_the_values_passes(bench):
    row = run_case(bench, Case("core/x/three", build=three), Claims())
    assert (row.outcome, row.launches) == ("pass", 1)


def test_a_wrong_element_is_named(bench):
    row = run_case(bench, Case("core/x/wrong", build=wrong), Claims())
    assert row.outcome == "fail"
    assert "element (1,) of int32[2] is np.int32(3)" in row.reason


def test_a_case_that_launches_nothing_fails(bench):
    row = run_case(bench, Case("core/x/idle", run=lambda bench: None), Claims())
    assert (row.outcome, row.reason) == ("fail", "AssertionError: no kernel ran on PYTHON")


def test_a_case_that_uses_no_memory_fails(bench):
    row = run_case(bench, Case("core/x/idle", run=lambda bench: None, layer="memory"), Claims())
    assert row.reason == "AssertionError: the case did not use the device's memory"


def test_kernels_on_another_device_fail_the_case(bench):
    def elsewhere(bench):
        (Tensor([1], device="PYTHON:1") + 1).realize()
        (Tensor([1], device="PYTHON") + 1).realize()

    row = run_case(bench, Case("core/x/elsewhere", run=elsewhere), Claims())
    assert row.reason == "AssertionError: kernels ran on another device: {'PYTHON:1': 1}"


def test_an_exception_of_any_kind_is_a_failure(bench):
    def broken(bench):
        raise ZeroDivisionError("no")

    assert run_case(bench, Case("core/x/broken", run=broken), Claims()).reason == "ZeroDivisionError: no"


def test_an_expected_failure_that_passes_is_xpass(bench):
    claims = Claims(xfail={"core/x/three": "later", "core/x/wrong": "later"})
    assert run_case(bench, Case("core/x/three", build=three), claims).outcome == "xpass"
    assert run_case(bench, Case("core/x/wrong", build=wrong), claims).outcome == "xfail"


def test_a_claim_of_no_support_is_not_run(bench):
    claims = Claims(unsupported={"core/x/wrong": "never"})
    assert run_case(bench, Case("core/x/wrong", build=wrong), claims).outcome == "unsupported"


def test_a_missing_capability_is_unsupported_above_minimal_and_a_failure_in_it(bench):
    needs = ("buffers:99", "dtype:float32")
    assert run_case(bench, Case("core/x/three", build=three, needs=needs), Claims()).outcome == "pass"
    bench.device.renderer.capabilities, kept = _with_few_buffers(bench), bench.device.renderer.capabilities
    try:
        assert (
            run_case(bench, Case("core/x/three", build=three, needs=needs), Claims()).outcome == "unsupported"
        )
        assert run_case(bench, Case("minimal/x/three", build=three, needs=needs), Claims()).outcome == "fail"
    finally:
        bench.device.renderer.capabilities = kept


def _with_few_buffers(bench):
    return replace(bench.device.capabilities, max_buffers=4)


def test_a_batch_with_one_broken_case_spoils_no_other(bench):
    def unbuildable(bench):
        raise TypeError("cannot build")

    cases = [
        Case("core/x/three", build=three),
        Case("core/x/unbuildable", build=unbuildable),
        Case("core/x/wrong", build=wrong),
    ]
    bench.plan(cases)
    assert [run_case(bench, case, Claims()).outcome for case in cases] == ["pass", "fail", "fail"]


def test_closing_leaves_the_device_as_it_was(bench):
    guarded = bench.device.allocator
    assert guarded is bench.guard
    inner = bench.guard.inner
    device = bench.device
    bench.close()
    assert device.allocator is inner
