"""The addresses of help pages, as releases name them."""

import pickle
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugrad.errors import AxisError, CompileError
from plugrad.messages import documentation_address, documentation_page

SOURCE = "Project-URL: Source, https://forge.example/p\n"
DOCUMENTATION = "Project-URL: Documentation, https://forge.example/docs\n"


@pytest.fixture(autouse=True)
def _address_of_each_test() -> Iterator[None]:
    documentation_address.cache_clear()
    yield
    documentation_address.cache_clear()


def install_core(site: Path, monkeypatch: pytest.MonkeyPatch, urls: str) -> None:
    """Let the only distribution be a core with `urls` in its metadata."""
    monkeypatch.setattr(sys, "path", [str(site), *(p for p in sys.path if "site-packages" not in p)])
    folder = site / "plugrad_core-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: plugrad-core\nVersion: 0.1.0\n{urls}")


@pytest.mark.parametrize("urls", ["", SOURCE])
def test_pages_lie_in_the_checkout_where_no_release_is_installed(
    urls: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_core(tmp_path, monkeypatch, urls)
    assert documentation_page("floats.md") == "docs/floats.md"
    assert AxisError("axis 3 is out of range.").__notes__ == []


def test_errors_of_a_release_link_to_their_help_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_core(tmp_path, monkeypatch, SOURCE + DOCUMENTATION)
    assert documentation_page("floats.md") == "https://forge.example/docs/floats.md"
    error = AxisError("axis 3 is out of range.")
    link = "See https://forge.example/docs/api/errors.md#axiserror"
    # apart from the message, which others may pass on
    assert str(error) == "axis 3 is out of range."
    error.add_note("in the third layer")
    for shown in (error, pickle.loads(pickle.dumps(error))):
        lines = "".join(traceback.format_exception_only(shown)).splitlines()
        assert lines[1:] == [link, "in the third layer"]


def test_an_error_of_a_plugin_links_to_the_page_of_its_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoLinkerError(CompileError):
        pass

    install_core(tmp_path, monkeypatch, DOCUMENTATION)
    error = NoLinkerError("no linker", log="ld: not found")
    assert error.__notes__ == ["See https://forge.example/docs/api/errors.md#compileerror"]


def test_an_error_is_shown_where_nothing_can_be_imported_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended:
        def __getattr__(self, name: str) -> object:
            raise ImportError("Python is shutting down")

    monkeypatch.setattr("plugrad.messages.metadata", Ended())
    assert AxisError("axis 3 is out of range.").__notes__ == []
