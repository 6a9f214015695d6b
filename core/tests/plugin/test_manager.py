"""Plugins are found by name, loaded one by one, and a bad one is reported and hurts nobody."""

import re
import subprocess
import sys
import warnings
from typing import Any

import pytest

from plugrad.errors import DeviceNotFound, PluginError, SettingsError
from plugrad.plugin.hints import hint_for
from plugrad.plugin.manager import PluginManager
from plugrad.settings import context


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


# --- finding ---


def test_a_backend_is_found_by_its_entry_point_whatever_the_case(site: Any) -> None:
    site.install_good()
    backend = site.manager().backend("Chip")
    assert backend.info.name == "CHIP"
    assert (backend.info.distribution, backend.info.version) == ("plugrad-chip", "1.0")


def test_only_the_plugin_that_was_asked_for_is_imported(site: Any) -> None:
    site.install_good("chip")
    site.install_good("chop")
    site.manager().backend("CHIP")
    assert "broken_chip" in sys.modules
    assert "broken_chop" not in sys.modules


def test_a_builtin_device_reads_no_entry_point() -> None:
    def refuse() -> Any:
        raise AssertionError("entry points were read")

    manager = PluginManager(refuse)
    manager.register_builtin("NULL", "plugrad.builtin.null")
    assert manager.backend("null").info.name == "NULL"


def test_importing_plugrad_reads_no_entry_point() -> None:
    out = run_python("import plugrad.device, plugrad.builtin; print('importlib.metadata' in sys.modules)")
    assert out.strip() == "False"


def test_an_unknown_device_says_what_was_looked_for_and_what_is_there(site: Any) -> None:
    site.install_good()
    with pytest.raises(DeviceNotFound, match=r"entry point 'qqq' of the group plugrad.backends.*found CHIP"):
        site.manager().backend("QQQ")


def test_a_misspelled_device_is_told_the_nearest_name(site: Any) -> None:
    site.install_good()
    with pytest.raises(DeviceNotFound, match="Did you mean 'CHIP'") as caught:
        site.manager().backend("CHPI")
    assert "pip install" not in str(caught.value)


def test_a_name_that_is_like_no_other_is_not_explained_by_another_device() -> None:
    with pytest.raises(DeviceNotFound, match="no device 'NOPE'") as caught:
        PluginManager(tuple).backend("NOPE")
    assert "Did you mean" not in str(caught.value)
    assert "pip install" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("CPU", "CPU"),
        ("CLANG", "CPU"),
        ("CUDA", "CUDA"),
        ("CUDDA", "CUDA"),
        ("MPS", "METAL"),
        ("OPENCL", "OPENCL"),
    ],
)
def test_a_known_device_comes_with_its_install_line(name: str, known: str) -> None:
    hint = hint_for(known)
    assert hint is not None
    with pytest.raises(DeviceNotFound, match=re.escape(hint.install_line)) as caught:
        PluginManager(tuple).backend(name)
    assert ("Did you mean 'CUDA'" in str(caught.value)) == (name == "CUDDA")


def test_a_name_that_people_try_leads_to_the_device_that_is_installed(site: Any) -> None:
    site.install_good("CUDA")
    with pytest.raises(DeviceNotFound, match=r"no device 'GPU'\. Did you mean 'CUDA'") as caught:
        site.manager().backend("GPU")
    assert "pip install" not in str(caught.value)


# --- bad plugins; the conformance kit has one of each kind ---


def test_the_traceback_of_a_failed_import_is_kept(site: Any) -> None:
    site.install("plugrad-bad", {"bad": "broken_bad"}, broken_bad="def deep():\n    return 1 / 0\ndeep()")
    manager = site.manager()
    with pytest.raises(PluginError):
        manager.backend("BAD")
    (failure,) = manager.failures
    assert "broken_bad.py" in failure.traceback
    assert "in deep" in failure.traceback
    assert "`plugrad devices --traceback`" in failure.remedy


def test_ctrl_c_during_an_import_is_not_contained(site: Any) -> None:
    site.install("plugrad-bad", {"bad": "broken_bad"}, broken_bad="raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        site.manager().backend("BAD")


def test_a_failed_plugin_is_imported_once(site: Any) -> None:
    site.install(
        "plugrad-bad", {"bad": "broken_bad"}, broken_bad="import sys\nsys.broken_count += 1\nraise ValueError"
    )
    sys.broken_count = 0  # type: ignore[attr-defined]
    manager = site.manager()
    for _ in range(2):
        with pytest.raises(PluginError):
            manager.backend("BAD")
    assert sys.broken_count == 1  # type: ignore[attr-defined]


def test_after_clear_a_failed_plugin_is_tried_again(site: Any) -> None:
    site.install("plugrad-bad", {"chip": "broken_chip"}, broken_chip="import no_such_module_at_all")
    manager = site.manager()
    with pytest.raises(PluginError):
        manager.backend("CHIP")
    (site.root / "broken_chip.py").write_text(site.good("chip") + "# longer than what was cached\n")
    manager.clear()
    assert manager.backend("CHIP").info.name == "CHIP"
    assert manager.failures == ()


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ('"1.7"', "written for spec 1.7, this plugrad has 1.3: upgrade plugrad-core"),
        ('"0.9"', "written for spec 0.9, this plugrad has 1.3: upgrade the plugin"),
        ("1.0", "spec_version is float 1.0, not str"),
    ],
)
def test_a_plugin_of_another_spec_is_refused(site: Any, version: str, reason: str) -> None:
    site.install_good(**{'spec_version="1.0"': f"spec_version={version}"})
    with pytest.raises(PluginError, match=reason):
        site.manager().backend("CHIP")


def test_two_distributions_with_one_name_are_both_refused_and_both_named(site: Any) -> None:
    site.install_good()
    site.install("plugrad-rival", {"chip": "broken_rival"}, "3.0", broken_rival=site.good("chip"))
    manager = site.manager()
    with pytest.raises(PluginError, match=r"plugrad-chip 1.0 and plugrad-rival 3.0 both provide"):
        manager.backend("CHIP")
    assert {failure.source.distribution for failure in manager.failures} == {"plugrad-chip", "plugrad-rival"}
    assert manager.backends() == ()


@pytest.mark.parametrize("wish", ["plugrad-rival", "Plugrad.Rival", "other, plugrad_rival,plugrad-chip"])
def test_a_setting_chooses_between_two_distributions_with_one_name(site: Any, wish: str) -> None:
    site.install_good()
    site.install("plugrad-rival", {"chip": "broken_rival"}, "3.0", broken_rival=site.good("chip"))
    site.install("plugrad-chip-better", {"chip": "broken_better"}, broken_better=COMPILER_ONLY)
    manager = site.manager()
    with context(PLUGRAD_PREFER=wish):
        backend = manager.backend("CHIP")
        assert manager.choose() == "CHIP"
    assert backend.info.distribution == "plugrad-rival"
    assert [plugin.source.distribution for plugin in backend.plugins[1:]] == ["plugrad-chip-better"]
    (failure,) = manager.failures
    assert "PLUGRAD_PREFER chooses plugrad-rival 3.0" in failure.reason


def test_a_preference_for_neither_leaves_both_refused(site: Any) -> None:
    site.install_good()
    site.install("plugrad-rival", {"chip": "broken_rival"}, "3.0", broken_rival=site.good("chip"))
    remedy = "Set PLUGRAD_PREFER=plugrad-chip to take that one, or uninstall one of plugrad-chip, plugrad-riv"
    with context(PLUGRAD_PREFER="other"), pytest.raises(PluginError, match=remedy):
        site.manager().backend("CHIP")


def test_the_name_of_a_builtin_device_is_reserved(site: Any) -> None:
    site.install("plugrad-rival", {"null": "broken_rival"}, broken_rival=site.good("null"))
    manager = site.manager()
    manager.register_builtin("NULL", "plugrad.builtin.null")
    assert manager.backend("NULL").source.is_builtin
    manager.sources()
    assert "is the name of a built-in device" in manager.failures[0].reason


def test_an_entry_point_with_the_name_of_another_device_is_refused(site: Any) -> None:
    site.install("plugrad-chip", {"chop": "broken_chip"}, broken_chip=site.good("chip"))
    with pytest.raises(PluginError, match="not named like its device CHIP: add 'CHOP' to its aliases"):
        site.manager().backend("CHOP")


# --- aliases and additions ---


def test_an_alias_leads_to_the_same_backend(site: Any) -> None:
    site.install(
        "plugrad-chip", {"chip": "broken_chip", "other": "broken_chip"}, broken_chip=site.good("chip")
    )
    manager = site.manager()
    assert manager.backend("OTHER") is manager.backend("CHIP")
    assert len(manager.backends()) == 1
    assert manager.failures == ()


COMPILER_ONLY = """
from plugrad.plugin import hookimpl
from plugrad.runtime.compiler import Compiler

class Better(Compiler):
    cache_key = "better-1"
    def compile(self, source, name): return b"better"

@hookimpl
def plugrad_compiler(target):
    return Better() if target.index == 0 else None
"""


def test_a_distribution_may_replace_only_the_compiler(site: Any) -> None:
    site.install_good()
    site.install("plugrad-chip-better", {"chip": "broken_better"}, broken_better=COMPILER_ONLY)
    backend = site.manager().backend("CHIP")
    first, second = (device.target for device in backend.probe().devices)
    assert backend.compiler(first).cache_key == "better-1"
    assert backend.compiler(second).cache_key == "bytes-1"
    assert [plugin.source.distribution for plugin in backend.plugins[1:]] == ["plugrad-chip-better"]


def test_a_broken_addition_warns_and_the_device_goes_on(site: Any) -> None:
    site.install_good()
    site.install(
        "plugrad-chip-better", {"chip": "broken_better"}, broken_better="import no_such_module_at_all"
    )
    with pytest.warns(RuntimeWarning, match="plugrad-chip-better 1.0. is not used"):
        backend = site.manager().backend("CHIP")
    assert backend.compiler(backend.probe().devices[0].target).cache_key == "bytes-1"


def test_an_addition_without_its_device_is_explained(site: Any) -> None:
    site.install("plugrad-chip-better", {"chip": "broken_better"}, broken_better=COMPILER_ONLY)
    with pytest.raises(DeviceNotFound, match="only adds to it"):
        site.manager().backend("CHIP")


# --- the automatic choice ---


def test_the_highest_priority_is_chosen(site: Any) -> None:
    site.install_good("chip")
    site.install_good("chop", **{"priority=50": "priority=60"})
    assert site.manager().choose() == "CHOP"


def test_a_backend_without_a_device_is_passed_over_in_silence(site: Any) -> None:
    site.install_good("chip")
    site.install_good(
        "chop",
        **{
            "priority=50": "priority=60",
            "return Probe(": "return Probe(reason='no driver', remedy='Load it.')\n    return Probe(",
        },
    )
    manager = site.manager()
    assert manager.choose() == "CHIP"
    (failure,) = manager.failures
    assert (failure.reason, failure.remedy, failure.is_broken) == ("no driver", "Load it.", False)


def test_a_probe_that_raises_is_passed_over_with_a_warning(site: Any) -> None:
    site.install_good("chip")
    site.install_good("chop", **{"priority=50": "priority=60", "return Probe(": "1 / 0; return Probe("})
    manager = site.manager()
    with pytest.warns(RuntimeWarning, match="plugrad_probe raised ZeroDivisionError"):
        assert manager.choose() == "CHIP"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert manager.choose() == "CHIP"


def test_a_simulator_is_never_chosen(site: Any) -> None:
    site.install_good("chip")
    site.install_good("chop", **{"priority=50": "priority=60", 'f"chip {i}"': 'f"chip {i}", Evidence.E2'})
    manager = site.manager()
    assert manager.choose() == "CHIP"
    assert manager.failures[0].reason == "only a simulator is there"


def test_a_device_may_rank_below_its_backend(site: Any) -> None:
    site.install_good("chip")
    site.install_good("chop", **{"priority=50": "priority=60", 'f"chip {i}"': 'f"chip {i}", priority=40'})
    assert site.manager().choose() == "CHIP"


def test_of_the_devices_of_a_backend_the_best_is_chosen(site: Any) -> None:
    site.install_good("chip", **{'f"chip {i}"': 'f"chip {i}", priority=40 + i'})
    assert site.manager().choose() == "CHIP:1"


def test_no_backend_below_the_best_device_is_probed(site: Any) -> None:
    site.install_good("chip", **{"return Probe(": "1 / 0; return Probe("})
    site.install_good("chop", **{"priority=50": "priority=60", 'f"chip {i}"': 'f"chip {i}", priority=50 + i'})
    assert site.manager().choose() == "CHOP:1"


def test_a_priority_that_is_no_number_is_refused(site: Any) -> None:
    site.install_good("chip", **{'f"chip {i}"': 'f"chip {i}", priority="high"'})
    with pytest.raises(PluginError, match=r"devices\[0\].priority is str 'high', not int"):
        site.manager().backend("CHIP").probe()


def test_a_setting_that_a_backend_cannot_honour_is_an_error(site: Any) -> None:
    refusal = "from plugrad.errors import SettingsError; raise SettingsError('no tool')\n    return Probe("
    site.install_good("chip")
    site.install_good("chop", **{"priority=50": "priority=60", "return Probe(": refusal})
    with pytest.raises(SettingsError, match="no tool"):
        site.manager().choose()


def test_the_interpreter_is_taken_last_with_a_warning_that_says_why(site: Any) -> None:
    site.install_good("chip", **{"return Probe(": "return Probe(reason='no driver')\n    return Probe("})
    manager = site.manager()
    manager.register_builtin("PYTHON", "plugrad.builtin.python")
    with pytest.warns(RuntimeWarning, match=r"is usable \(CHIP: no driver\); PYTHON interprets"):
        assert manager.choose() == "PYTHON"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert manager.choose() == "PYTHON"


def test_a_negative_priority_is_never_chosen(site: Any) -> None:
    site.install_good("chip", **{"priority=50": "priority=-1"})
    with pytest.raises(DeviceNotFound, match="no device is present"):
        site.manager().choose()
