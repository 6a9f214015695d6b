"""The one table of known backends, and the promise that no other file of the core names one."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

import plugrad
from plugrad.plugin import hints
from plugrad.plugin.hints import HINTS, hint_for, install_line, nearest_name

PACKAGE = Path(plugrad.__file__).parent


def test_a_hint_is_found_by_name_and_by_alias_in_any_case() -> None:
    for hint in HINTS:
        for name in (hint.device, *hint.aliases, *hint.attempts):
            assert hint_for(name.lower()) is hint


def test_the_install_line_is_one_that_works_from_where_plugrad_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "_TOP", tmp_path)
    search_only(tmp_path, monkeypatch)
    lines = [hint.install_line for hint in HINTS]
    assert lines[:2] == ["pip install 'plugrad-plugin-cpu-clang[zig]'", "pip install plugrad-plugin-cuda"]
    for hint in HINTS:
        (tmp_path / hint.folder).mkdir(parents=True)
        (tmp_path / hint.folder / "pyproject.toml").touch()
    assert HINTS[1].install_line == f"pip install {tmp_path}/plugins/cuda"
    monkeypatch.chdir(tmp_path)
    lines = [hint.install_line for hint in HINTS]
    assert install_line("plugrad-plugin-opencl[pocl]", "plugins/opencl").endswith("./plugins/opencl[pocl]'")
    assert lines[:2] == ["pip install './plugins/cpu_clang[zig]'", "pip install ./plugins/cuda"]


def search_only(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let distributions be those of `site`, and modules of Python's own."""
    monkeypatch.setattr(sys, "path", [str(site), *(p for p in sys.path if "site-packages" not in p)])


def install_core(site: Path, metadata: str = "", origin: str = "") -> None:
    """Write what pip leaves in `site` when it installs the core."""
    installed = site / "plugrad_core-0.1.0.dist-info"
    installed.mkdir(parents=True)
    head = "Metadata-Version: 2.4\nName: plugrad-core\nVersion: 0.1.0\n"
    (installed / "METADATA").write_text(head + metadata)
    if origin:
        (installed / "direct_url.json").write_text(json.dumps({"url": origin}))


def test_the_install_line_names_the_checkout_that_pip_installed_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "_TOP", tmp_path / "lib")
    search_only(tmp_path / "site", monkeypatch)
    assert HINTS[1].install_line == "pip install plugrad-plugin-cuda"
    top = tmp_path / "a checkout"
    install_core(tmp_path / "site", origin=(top / "core").as_uri())
    assert HINTS[1].install_line == "pip install plugrad-plugin-cuda"
    (top / "plugins/cuda").mkdir(parents=True)
    (top / "plugins/cuda/pyproject.toml").touch()
    assert HINTS[1].install_line == f"pip install '{top}/plugins/cuda'"
    monkeypatch.chdir(top)
    assert HINTS[1].install_line == "pip install ./plugins/cuda"


def test_the_install_line_of_what_an_index_gave_names_the_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "_TOP", tmp_path / "lib")
    search_only(tmp_path, monkeypatch)
    install_core(tmp_path, origin="https://forge.example/core.whl")
    assert HINTS[1].install_line == "pip install plugrad-plugin-cuda"


def test_what_is_known_of_a_plugin_is_what_it_declares() -> None:
    for hint in HINTS:
        folder = Path(__file__).parents[3] / hint.folder
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        assert project["name"] == hint.requirement.partition("[")[0]
        assert set(project["entry-points"]["plugrad.backends"]) == {
            name.lower() for name in (hint.device, *hint.aliases)
        }


def test_the_nearest_name_may_be_installed_or_known() -> None:
    assert nearest_name("pythn", ("PYTHON",)) == "PYTHON"
    assert nearest_name("metl", ()) == "METAL"
    assert nearest_name("zzzz", ("PYTHON",)) is None


def test_no_other_file_of_the_core_imports_or_names_a_backend() -> None:
    named = re.compile(
        r"plugrad[-_](plugin|cpu_clang|cuda|metal|opencl)|[\"'](CPU|CUDA|METAL|OPENCL|CLANG)[\"':]"
    )
    offenders = [
        f"{file.relative_to(PACKAGE)}: {found.group()}"
        for file in sorted(PACKAGE.rglob("*.py"))
        if file != PACKAGE / "plugin" / "hints.py" and (found := named.search(file.read_text()))
    ]
    assert offenders == []
