"""What hooks return is checked at once; the conformance kit has one wrong answer of each kind."""

from typing import Any

import pytest

from plugrad.errors import DeviceNotFound, PluginError
from plugrad.plugin import hook_guards
from plugrad.settings import context
from plugrad.target import Target
from plugrad_conformance.broken_plugins import BROKEN

TARGET = Target("CHIP", 0, "v1")


def test_a_hook_may_leave_out_arguments_it_does_not_need(site: Any) -> None:
    site.install_good(**{"def plugrad_allocator(target)": "def plugrad_allocator()"})
    assert site.manager().backend("CHIP").allocator(TARGET).alloc(4) is not None


def test_an_error_of_ours_passes_with_a_note_of_the_plugin(site: Any) -> None:
    source = "from plugrad.errors import DeviceNotFound; raise DeviceNotFound('no tool')"
    site.install_good(
        **{"return Bytes()": source, "def plugrad_compiler(target): ": "def plugrad_compiler(target):\n    "}
    )
    with pytest.raises(DeviceNotFound, match="no tool") as caught:
        site.manager().backend("CHIP").compiler(TARGET)
    (note,) = caught.value.__notes__
    assert note.startswith("plugrad_compiler of plugin 'chip' (")


def test_the_wrong_result_of_an_addition_is_blamed_on_it(site: Any) -> None:
    site.install_good()
    source = "from plugrad.plugin import hookimpl\n@hookimpl\ndef plugrad_compiler(target): return 5"
    site.install("plugrad-addition", {"chip": "broken_addition"}, broken_addition=source)
    with pytest.raises(PluginError, match="broken_addition of plugrad-addition"):
        site.manager().backend("CHIP").compiler(TARGET)


def test_a_wrapper_goes_around_the_hook_of_another_plugin(site: Any) -> None:
    site.install_good()
    source = (
        "from plugrad.plugin import hookimpl\n"
        "@hookimpl(wrapper=True)\n"
        "def plugrad_compiler(target):\n"
        "    compiler = yield\n"
        "    compiler.cache_key = 'wrapped ' + compiler.cache_key\n"
        "    return compiler\n"
    )
    site.install("plugrad-wrapper", {"chip": "broken_wrapper"}, broken_wrapper=source)
    assert site.manager().backend("CHIP").compiler(TARGET).cache_key == "wrapped bytes-1"


def test_a_probe_is_made_once(site: Any) -> None:
    site.install_good()
    backend = site.manager().backend("CHIP")
    assert backend.probe() is backend.probe()


def test_a_probe_that_does_not_return_is_given_up_once(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_guards, "PROBE_SECONDS", 0.2)
    site.install_good(**{"priority=50": "priority=40"})
    site.install_broken(BROKEN["hangs"])
    manager = site.manager()
    backend = manager.backend("HANGS")
    for _ in range(2):
        with pytest.raises(
            PluginError, match=r"broken-hangs 1.0\).* plugrad_probe did not answer within 0.2"
        ):
            backend.probe()
        monkeypatch.setattr(hook_guards, "PROBE_SECONDS", 600.0)  # it is not asked again
    with pytest.warns(RuntimeWarning, match="plugrad_probe did not answer"):
        assert manager.choose() == "CHIP"


def test_a_probe_sees_the_settings_of_who_asks(site: Any) -> None:
    source = "from plugrad.settings import settings; return Probe(reason=settings.DEVICE)"
    site.install_good(**{"return Probe(": f"{source}\n    return Probe("})
    with context(DEVICE="SOMETHING"):
        assert site.manager().backend("CHIP").probe().reason == "SOMETHING"


def test_a_class_in_place_of_its_instance_is_told_apart(site: Any) -> None:
    site.install_good(**{"return Text()": "return Text"})
    with pytest.raises(PluginError, match="must return a Renderer, got the class Text"):
        site.manager().backend("CHIP").renderer(TARGET)


def test_a_backend_that_only_stores_needs_no_other_hooks(site: Any) -> None:
    source = site.good("chip").split("@hookimpl\ndef plugrad_renderer")[0]
    site.install("plugrad-chip", {"chip": "broken_chip"}, broken_chip=source)
    assert not site.manager().backend("CHIP").can_compute
