"""Share among all tests verified graphs, a private cache and wide tests on request."""

import gc
import os
import tempfile
from pathlib import Path
from typing import Any, Protocol

import hypothesis
import numpy as np
import pytest

# before plugrad is imported, and inherited by the processes that tests start
os.environ.setdefault("SPEC", "1")
# one cache for all processes of a run: those of xdist inherit it
_cache = None
if "PYTEST_XDIST_WORKER" not in os.environ:
    _cache = tempfile.TemporaryDirectory(prefix="plugrad-tests-", ignore_cleanup_errors=True)
    os.environ["PLUGRAD_CACHE"] = _cache.name

hypothesis.settings.register_profile("default", deadline=None, print_blob=True)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "default")

# the tests of a backend that somebody is yet to write: its device has no name here
collect_ignore_glob = ["*/backend_template/*"]

_wide = pytest.StashKey[int]()


class Golden(Protocol):
    def __call__(self, name: str, text: str) -> None: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write golden files instead of comparing")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "wide: one of many that prove much the same; EVERYTHING=1 runs it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("EVERYTHING"):
        return
    wide = [item for item in items if item.get_closest_marker("wide")]
    if wide:
        config.hook.pytest_deselected(items=wide)
        items[:] = [item for item in items if not item.get_closest_marker("wide")]
        config.stash[_wide] = len(wide)


def pytest_collection(session: pytest.Session) -> None:
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Collect garbage again, but never look at what collecting made, which stays: some million objects."""
    gc.freeze()
    # graphs are many objects that live for a while: looking for garbage among them at each 700th took a tenth
    # of all time
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def _no_garbage_of_other_modules() -> None:
    """Leave what earlier modules made out of collections of garbage, which some tests ask for."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def _generator_states(request: pytest.FixtureRequest) -> list[tuple[np.random.Generator, Any]]:
    found = [value for value in vars(request.module).values() if isinstance(value, np.random.Generator)]
    return [(generator, generator.bit_generator.state) for generator in found]


@pytest.fixture(autouse=True)
def _same_draws_in_any_order(_generator_states: list[tuple[np.random.Generator, Any]]) -> None:
    """Rewind the generators of the test's module, whatever ran before it."""
    for generator, state in _generator_states:
        generator.bit_generator.state = state


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if count := config.stash.get(_wide, 0):
        terminalreporter.line(f"left out: {count} wide tests; EVERYTHING=1 runs them")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _cache is not None:
        _cache.cleanup()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare text with the file `goldens/NAME` beside the test, or write it with --update-goldens."""

    def check(name: str, text: str) -> None:
        path: Path = request.path.parent / "goldens" / name
        if request.config.getoption("--update-goldens"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert path.is_file(), f"there is no {path}; run pytest with --update-goldens to write it"
        assert text == path.read_text()

    return check
