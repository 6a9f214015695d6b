"""A hook is called once, through all plugins; one that fails is named, and a broken wrapper is left out."""

import threading
import warnings
from typing import Any

import pytest

from plugrad.errors import DeviceNotFound, PluginError
from plugrad.plugin import hook_guards
from plugrad.plugin.report import State, backend_reports
from plugrad.target import Target

TARGET = Target("CHIP", 0, "v1")
KEY = """
@hookimpl(wrapper=True)
def plugrad_compiler(target):
    compiler = yield
    compiler.cache_key = "NAME(" + compiler.cache_key + ")"
    return compiler
"""


def wrapper_of(hook: str, *body: str, arguments: str = "target") -> str:
    lines = "".join(f"    {line}\n" for line in body)
    return f"@hookimpl(wrapper=True)\ndef {hook}({arguments}):\n{lines}"


def cache_key(site: Any) -> str:
    return site.manager().backend("CHIP").compiler(TARGET).cache_key


# --- what a wrapper does ---


def test_a_wrapper_of_its_own_group_goes_around_a_device(site: Any) -> None:
    site.install_good()
    site.install_wrapper("log", KEY.replace("NAME", "log"))
    assert cache_key(site) == "log(bytes-1)"


def test_the_first_name_is_the_outermost_wrapper(site: Any) -> None:
    site.install_good()
    for name in ("beta", "alpha", "gamma"):
        site.install_wrapper(name, KEY.replace("NAME", name))
    assert cache_key(site) == "alpha(beta(gamma(bytes-1)))"


def test_tryfirst_and_trylast_change_the_order_of_wrappers(site: Any) -> None:
    site.install_good()
    site.install_wrapper("alpha", KEY.replace("NAME", "alpha").replace("True", "True, trylast=True"))
    site.install_wrapper("beta", KEY.replace("NAME", "beta"))
    site.install_wrapper("gamma", KEY.replace("NAME", "gamma").replace("True", "True, tryfirst=True"))
    assert cache_key(site) == "gamma(beta(alpha(bytes-1)))"


def test_a_wrapper_runs_once_whichever_plugin_answers(site: Any) -> None:
    site.install_good()
    addition = "from plugrad.plugin import hookimpl\n@hookimpl\ndef plugrad_compiler(target): return None\n"
    site.install("plugrad-addition", {"chip": "broken_addition"}, broken_addition=addition)
    site.install_wrapper("log", KEY.replace("NAME", "log"))
    assert cache_key(site) == "log(bytes-1)"


def test_a_wrapper_may_answer_where_a_plugin_refuses(site: Any) -> None:
    raises = "from plugrad.errors import DeviceNotFound; raise DeviceNotFound('no tool')\n    return Bytes()"
    compiler = "def plugrad_compiler(target): return Bytes()"
    site.install_good(**{compiler: f"def plugrad_compiler(target):\n    {raises}"})
    with pytest.raises(DeviceNotFound, match="no tool"):
        cache_key(site)
    answer = ("try: return (yield)", "except DeviceNotFound: return Elsewhere()")
    remote = (
        "from plugrad.errors import DeviceNotFound\nfrom plugrad.runtime.compiler import Compiler\n"
        "class Elsewhere(Compiler):\n    cache_key = 'elsewhere'\n    def compile(self, source, name): ...\n"
    )
    site.install_wrapper("remote", remote + wrapper_of("plugrad_compiler", *answer))
    assert cache_key(site) == "elsewhere"


def test_a_wrapper_may_refuse_a_device(site: Any) -> None:
    site.install_good()
    body = ("from plugrad.errors import DeviceNotFound", "yield", "raise DeviceNotFound('not on sundays')")
    site.install_wrapper("policy", wrapper_of("plugrad_allocator", *body))
    with pytest.raises(DeviceNotFound, match="not on sundays") as caught:
        site.manager().backend("CHIP").allocator(TARGET)
    (note,) = caught.value.__notes__
    assert note == "plugrad_allocator of wrapper 'policy' (broken_policy of plugrad-policy 1.0) raised this."


def test_a_wrapper_of_the_runner_sees_each_kernel(site: Any) -> None:
    site.install_good()
    body = ("runner = yield", "return lambda *launch: (program, runner(*launch))")
    site.install_wrapper("timer", wrapper_of("plugrad_runner", *body, arguments="program"))
    runner: Any = site.manager().backend("CHIP").runner(TARGET, "the program")
    assert runner((), (), (1,), (1,), True) == ("the program", 0.0)


def test_a_wrapper_may_withhold_graphs(site: Any) -> None:
    graph = "class Graph:\n    set_handle = set_sizes = __call__ = print\n"
    site.install("plugrad-chip", {"chip": "broken_chip"}, broken_chip=(
        site.good("chip") + graph + "@hookimpl\ndef plugrad_graph(target, launches): return Graph()\n"
    ))  # fmt: skip
    assert site.manager().backend("CHIP").graph(TARGET, ()) is not None
    site.install_wrapper("single", wrapper_of("plugrad_graph", "yield", "return None"))
    manager = site.manager()
    assert manager.backend("CHIP").graph(TARGET, ()) is None
    assert manager.failures == ()


def test_the_devices_of_the_core_load_no_wrapper(site: Any) -> None:
    site.install_wrapper("log", "1 / 0")
    manager = site.manager()
    manager.register_builtin("NULL", "plugrad.builtin.null")
    assert len(manager.backend("NULL").plugins) == 1
    assert manager.failures == ()


# --- what is wrong with one ---

BROKEN = {
    "raises-before": (("1 / 0", "return (yield)"), "plugrad_compiler raised ZeroDivisionError"),
    "raises-after": (("yield", "raise SystemExit(3)"), "plugrad_compiler raised SystemExit: 3"),
    "yields-twice": (("yield", "yield"), "its wrapper of plugrad_compiler yields twice"),
    "does-not-yield": (("return", "yield"), "its wrapper of plugrad_compiler returned without a yield"),
    "returns-none": (("yield",), "returned None: return what `yield` gave"),
    "returns-a-number": (("yield", "return 5"), "plugrad_compiler must return a Compiler, got int 5"),
}


@pytest.mark.parametrize(("body", "says"), BROKEN.values(), ids=BROKEN)
def test_a_broken_wrapper_is_named_and_left_out(site: Any, body: tuple[str, ...], says: str) -> None:
    site.install_good("chip")
    site.install_good("chop")
    site.install_wrapper("good", KEY.replace("NAME", "good"))
    site.install_wrapper("bad", wrapper_of("plugrad_compiler", *body))
    manager = site.manager()
    with pytest.warns(RuntimeWarning, match=r"wrapper 'bad' \(broken_bad of plugrad-bad 1.0\) is not used"):
        assert manager.backend("CHIP").compiler(TARGET).cache_key == "good(bytes-1)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert manager.backend("CHOP").compiler(Target("CHOP")).cache_key == "good(bytes-1)"
    (failure,) = manager.failures
    assert says in failure.reason
    assert failure.source.owner == "plugrad-bad 1.0"
    assert ("broken_bad.py" in failure.traceback) is ("raised" in failure.reason)
    reports = {report.name: report for report in backend_reports(manager)}
    assert (reports["CHIP"].state, reports["BAD"].state) == (State.READY, State.FAILED)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import no_such_module_at_all", "importing it raised ModuleNotFoundError"),
        ("@hookimpl(wrapper=True)\ndef plugrad_compiler(target): return 1", "has no yield"),
        ("@hookimpl(hookwrapper=True)\ndef plugrad_compiler(target): yield", "mark it wrapper=True"),
        (wrapper_of("plugrad_backend_info", "return (yield)", arguments=""), "wraps plugrad_backend_info"),
        (wrapper_of("plugrad_compilers", "return (yield)"), "which is no hook of spec"),
        (wrapper_of("plugrad_compiler", "return (yield)", arguments="wish"), "declared in the hookimpl but"),
        (
            "@hookimpl\ndef plugrad_compiler(target): return 1",
            "an entry point of plugrad.wrappers only wraps",
        ),
    ],
)
def test_what_is_no_wrapper_is_refused_and_the_device_goes_on(site: Any, source: str, says: str) -> None:
    site.install_good()
    site.install_wrapper("bad", source)
    manager = site.manager()
    with pytest.warns(RuntimeWarning, match="plugrad-bad 1.0. is not used"):
        assert manager.backend("CHIP").compiler(TARGET).cache_key == "bytes-1"
    assert says in manager.failures[0].reason


def test_a_wrapper_that_fails_on_an_error_does_not_hide_it(site: Any) -> None:
    site.install_good(**{"return Bytes()": "1 / 0"})
    body = ("try: yield", "finally: {}['missing']")
    site.install_wrapper("bad", wrapper_of("plugrad_compiler", *body))
    manager = site.manager()
    with (
        pytest.warns(RuntimeWarning, match=r"wrapper 'bad'.*plugrad_compiler raised KeyError"),
        pytest.raises(PluginError, match=r"plugin 'chip'.*plugrad_compiler raised ZeroDivisionError"),
    ):
        manager.backend("CHIP").compiler(TARGET)


def test_an_error_that_passes_a_wrapper_is_not_blamed_on_it(site: Any) -> None:
    site.install_good(**{"return Bytes()": "1 / 0"})
    site.install_wrapper("log", wrapper_of("plugrad_compiler", "return (yield)"))
    manager = site.manager()
    with pytest.raises(
        PluginError, match=r"plugin 'chip'.*plugrad_compiler raised ZeroDivisionError"
    ) as caught:
        manager.backend("CHIP").compiler(TARGET)
    assert caught.value.__notes__ == []
    assert manager.failures == ()


def test_a_wrapper_that_never_goes_on_is_left_out_of_the_probe(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_guards, "PROBE_SECONDS", 0.2)
    stop = threading.Event()
    monkeypatch.setattr(threading, "stop_of_test", stop, raising=False)
    site.install_good()
    body = ("import threading", "probe = yield", "threading.stop_of_test.wait()", "return probe")
    site.install_wrapper("slow", wrapper_of("plugrad_probe", *body, arguments=""))
    manager = site.manager()
    with pytest.warns(RuntimeWarning, match="wrapper 'slow'.* did not answer within 0.2"):
        assert len(manager.backend("CHIP").probe().devices) == 2
    stop.set()


def test_ctrl_c_in_a_wrapper_is_not_contained(site: Any) -> None:
    site.install_good()
    site.install_wrapper("log", wrapper_of("plugrad_compiler", "yield", "raise KeyboardInterrupt"))
    with pytest.raises(KeyboardInterrupt):
        cache_key(site)
