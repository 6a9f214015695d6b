"""Tests of plugrad._util."""

from plugrad._util import closest, did_you_mean


def test_the_closest_name_ignores_case() -> None:
    assert closest("debgu", ["DEVICE", "DEBUG"]) == "DEBUG"


def test_nothing_is_close_to_an_unrelated_name() -> None:
    assert closest("zebra", ["DEVICE", "DEBUG"]) is None
    assert did_you_mean("zebra", ["DEVICE", "DEBUG"]) == ""


def test_did_you_mean_starts_with_a_space() -> None:
    assert did_you_mean("DEVCE", ["DEVICE", "DEBUG"]) == " Did you mean 'DEVICE'?"
