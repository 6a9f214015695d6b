"""Tests of plugrad_conformance.claims."""

import pytest

from plugrad_conformance.case import Case
from plugrad_conformance.claims import find_claims, load_claims, read_claims

CASES = [
    Case("core/elementwise/sin-float16"),
    Case("core/elementwise/sin-float32"),
    Case("minimal/kernels/chain"),
]


def test_a_pattern_claims_each_case_it_matches():
    claims = read_claims({"unsupported": {"core/*/sin-*": "no sine"}}, CASES)
    assert claims.unsupported == dict.fromkeys([c.id for c in CASES[:2]], "no sine")
    assert claims.problems == ()


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        (
            {"xfail": {"core/elementwise/gone": "later"}},
            "[xfail] 'core/elementwise/gone' is stale: no case has this id",
        ),
        (
            {"xfail": {"core/elementwise/sin-float16": " "}},
            "[xfail] 'core/elementwise/sin-float16' has no reason",
        ),
        (
            {"unsupported": {"minimal/*": "no"}},
            "[unsupported] minimal/kernels/chain cannot be waived: every backend has to pass it",
        ),
        ({"skip": {}}, "[skip] is no table of claims"),
        (
            {"tolerance": {"core/elementwise/sin-float16": "2"}},
            "[tolerance] 'core/elementwise/sin-float16' needs { ulp = NUMBER, reason = TEXT }",
        ),
        (
            {"xfail": {"*/sin-float16": "a"}, "unsupported": {"*/sin-float16": "b"}},
            "core/elementwise/sin-float16 is both unsupported and xfail",
        ),
    ],
)
def test_what_is_wrong_with_claims_is_said(tables, problem):
    assert problem in read_claims(tables, CASES).problems


def test_a_wider_tolerance_is_kept_with_its_reason():
    claims = read_claims({"tolerance": {"*/sin-float16": {"ulp": 2, "reason": "the chip's own"}}}, CASES)
    assert claims.tolerance["core/elementwise/sin-float16"].ulp == 2
    assert claims.problems == ()


def test_a_backend_without_a_file_claims_nothing():
    assert find_claims("plugrad.builtin.python") is None
    assert load_claims(None, CASES).problems == ()


def test_a_file_is_read(tmp_path):
    path = tmp_path / "conformance.toml"
    path.write_text('[xfail]\n"core/elementwise/sin-float32" = "large angles"\n')
    assert load_claims(path, CASES).xfail == {"core/elementwise/sin-float32": "large angles"}
