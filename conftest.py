"""What all tests share: graphs are verified, the disk cache is private, hypothesis has no deadlines."""

import os
import tempfile
from pathlib import Path
from typing import Protocol

import hypothesis
import pytest

# before plugrad is imported, and inherited by the processes that tests start
os.environ.setdefault("SPEC", "1")
_cache = tempfile.TemporaryDirectory(prefix="plugrad-tests-", ignore_cleanup_errors=True)
os.environ["PLUGRAD_CACHE"] = _cache.name

hypothesis.settings.register_profile("default", deadline=None, print_blob=True)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "default")


class Golden(Protocol):
    def __call__(self, name: str, text: str) -> None: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write golden files instead of comparing")


def pytest_unconfigure(config: pytest.Config) -> None:
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
