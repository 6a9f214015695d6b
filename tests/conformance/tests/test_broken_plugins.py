"""Broken plugins: each plugin says by name what is wrong with it, in this process or in one of its own."""

import warnings

import pytest

from plugrad.errors import PluginError
from plugrad.plugin.hookspecs import HOOK_NAMES
from plugrad.plugin.report import State, backend_reports
from plugrad.runtime.program import Program
from plugrad_conformance.broken_plugins import BROKEN, site

__all__ = ["site"]

CONTAINED = [broken for broken in BROKEN.values() if broken.shows != "process"]


def use(manager, broken):
    """Use a plugin up to where it fails."""
    backend = manager.backend(broken.entry_point)
    target = backend.probe().devices[0].target
    match broken.shows:
        case "runner":
            backend.runner(target, Program("k", "", b""))
        case "graph":
            backend.graph(target, ())
        case "compute":
            _ = backend.can_compute
        case "allocator" | "renderer" | "compiler":
            getattr(backend, broken.shows)(target)
        case _:
            raise AssertionError(f"{broken.name} shows nothing")


@pytest.mark.parametrize("broken", CONTAINED, ids=lambda broken: broken.name)
def test_a_broken_plugin_is_named_with_what_is_wrong_and_a_good_one_goes_on(site, broken):
    site.install_good(**{"priority=50": "priority=60"})
    site.install_broken(broken, "2.5")
    manager = site.manager()
    manager.register_builtin("NULL", "plugrad.builtin.null")
    if broken.entry_point == "null":
        manager.sources()
        (failure,) = manager.failures
        said = f"{failure.source} is not used: {failure.reason}"
    else:
        with pytest.raises(PluginError) as caught:
            use(manager, broken)
        said = str(caught.value)
        assert caught.value.plugin == broken.entry_point
        assert caught.value.distribution == f"{broken.distribution} 2.5"
    place = f"plugin {broken.entry_point!r} ({broken.value or broken.module} of {broken.distribution} 2.5)"
    for part in (place, *broken.says):
        assert part in said
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert manager.choose() == "CHIP"
    assert manager.backend("CHIP").allocator(manager.backend("CHIP").probe().devices[1].target).alloc(4)


def test_the_list_of_devices_has_a_line_for_each_that_shows_before_a_device_opens(site):
    site.install_good()
    site.install_slow()
    site.install_rivals()
    early = [broken for broken in CONTAINED if broken.shows in ("load", "probe")]
    for broken in early:
        site.install_broken(broken)
    manager = site.manager()
    manager.register_builtin("NULL", "plugrad.builtin.null")
    reports = {report.distribution: report for report in backend_reports(manager)}
    assert all(reports[a.distribution].state is State.FAILED for a in early)
    assert all(part in reports[a.distribution].reason for a in early for part in a.says)
    assert reports["plugrad-chip"].state is reports["plugrad-slow"].state is State.READY
    assert reports["plugrad-slow"].import_ms >= 300
    for rival in ("plugrad-contested-first", "plugrad-contested-second"):
        assert "both provide the device CONTESTED" in reports[rival].reason
        assert "PLUGRAD_PREFER" in reports[rival].remedy


def test_ids_are_unique_and_every_hook_is_answered_wrongly():
    assert len({broken.module for broken in BROKEN.values()}) == len(BROKEN)
    said = " ".join(part for broken in BROKEN.values() for part in broken.says)
    assert [hook for hook in HOOK_NAMES if f"{hook} must return" not in said] == []
