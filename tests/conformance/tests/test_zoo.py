"""The zoo: each animal says by name what is wrong with it, in this process or in one of its own."""

import warnings

import pytest

from plugrad.errors import PluginError
from plugrad.plugin.explain import State, explain
from plugrad.plugin.hookspecs import HOOK_NAMES
from plugrad.runtime.program import Program
from plugrad_conformance.zoo import ANIMALS, zoo

__all__ = ["zoo"]

CONTAINED = [animal for animal in ANIMALS.values() if animal.shows != "process"]


def use(manager, animal):
    """Use a plugin up to where it fails."""
    backend = manager.backend(animal.entry_point)
    target = backend.probe().devices[0].target
    match animal.shows:
        case "runner":
            backend.runner(target, Program("k", "", b""))
        case "graph":
            backend.graph(target, ())
        case "compute":
            _ = backend.can_compute
        case "allocator" | "renderer" | "compiler":
            getattr(backend, animal.shows)(target)
        case _:
            raise AssertionError(f"{animal.name} shows nothing")


@pytest.mark.parametrize("animal", CONTAINED, ids=lambda animal: animal.name)
def test_a_broken_plugin_is_named_with_what_is_wrong_and_a_good_one_goes_on(zoo, animal):
    zoo.install_good(**{"priority=50": "priority=60"})
    zoo.install_animal(animal, "2.5")
    manager = zoo.manager()
    manager.register_builtin("NULL", "plugrad.builtin.null")
    if animal.entry_point == "null":
        manager.sources()
        (failure,) = manager.failures
        said = f"{failure.source} is not used: {failure.reason}"
    else:
        with pytest.raises(PluginError) as caught:
            use(manager, animal)
        said = str(caught.value)
        assert caught.value.plugin == animal.entry_point
        assert caught.value.distribution == f"{animal.distribution} 2.5"
    place = f"plugin {animal.entry_point!r} ({animal.value or animal.module} of {animal.distribution} 2.5)"
    for part in (place, *animal.says):
        assert part in said
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert manager.choose() == "CHIP"
    assert manager.backend("CHIP").allocator(manager.backend("CHIP").probe().devices[1].target).alloc(4)


def test_the_list_of_devices_has_a_line_for_each_that_shows_before_a_device_opens(zoo):
    zoo.install_good()
    zoo.install_slow()
    zoo.install_rivals()
    early = [animal for animal in CONTAINED if animal.shows in ("load", "probe")]
    for animal in early:
        zoo.install_animal(animal)
    manager = zoo.manager()
    manager.register_builtin("NULL", "plugrad.builtin.null")
    reports = {report.distribution: report for report in explain(manager)}
    assert all(reports[a.distribution].state is State.FAILED for a in early)
    assert all(part in reports[a.distribution].reason for a in early for part in a.says)
    assert reports["plugrad-chip"].state is reports["plugrad-slow"].state is State.READY
    assert reports["plugrad-slow"].import_ms >= 300
    for rival in ("plugrad-contested-first", "plugrad-contested-second"):
        assert "both provide the device CONTESTED" in reports[rival].reason
        assert "PLUGRAD_PREFER" in reports[rival].remedy


def test_ids_are_unique_and_every_hook_is_answered_wrongly():
    assert len({animal.module for animal in ANIMALS.values()}) == len(ANIMALS)
    said = " ".join(part for animal in ANIMALS.values() for part in animal.says)
    assert [hook for hook in HOOK_NAMES if f"{hook} must return" not in said] == []
