"""Versions are accepted within one major, up to our minor; hooks are those of the page."""

import pytest

from plugrad.plugin import contracts, hookspecs
from plugrad.plugin.contracts import check_spec_version


@pytest.mark.parametrize("version", ["3.0", "3.1", "3.2"])
def test_the_same_major_and_no_newer_minor_is_accepted(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(contracts, "SPEC_VERSION", "3.2")
    assert check_spec_version(version) is None


@pytest.mark.parametrize("version", ["3.3", "2.9", "4.0", "3", "3.2.1", "", "3.x", None, 3.2])
def test_anything_else_is_refused(monkeypatch: pytest.MonkeyPatch, version: object) -> None:
    monkeypatch.setattr(contracts, "SPEC_VERSION", "3.2")
    assert check_spec_version(version) is not None


def test_the_names_of_hooks_are_those_that_are_specified() -> None:
    specified = {name for name in vars(hookspecs) if hasattr(getattr(hookspecs, name), "plugrad_spec")}
    assert specified == hookspecs.HOOK_NAMES


def test_every_hook_says_what_it_promises() -> None:
    for name in hookspecs.HOOK_NAMES:
        assert (getattr(hookspecs, name).__doc__ or "").startswith(("(required", "(optional)"))
