"""Tests of plugrad_conformance.cli.new_backend. That what it writes works is tested by tests/integration."""

import os
import stat
import tomllib
from pathlib import Path

import pytest

from plugrad.errors import ArgumentError, FileFormatError
from plugrad.plugin.hookspecs import SPEC_VERSION
from plugrad.plugin.manager import PluginManager
from plugrad.plugin.source import PluginSource
from plugrad_conformance.cli.new_backend import check_name, main, write_backend

MOST_LINES = 149


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_a_backend_is_a_short_distribution_with_its_names_put_in(tmp_path: Path) -> None:
    written = contents(write_backend("mychip", tmp_path))
    assert set(written) == {
        "pyproject.toml",
        "tox.ini",
        "tests/test_conformance.py",
        "src/plugrad_mychip/__init__.py",
    }
    assert sum(text.count("\n") for text in written.values()) <= MOST_LINES
    assert not any("$" in text or "NAME" in text for text in written.values())
    project = tomllib.loads(written["pyproject.toml"])["project"]
    assert project["entry-points"] == {"plugrad.backends": {"mychip": "plugrad_mychip"}}
    assert f'"MYCHIP", spec_version="{SPEC_VERSION}"' in written["src/plugrad_mychip/__init__.py"]


def test_the_command_says_what_to_do_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["MyChip", "--directory", str(tmp_path / "deep" / "down")]) == 0
    folder = tmp_path / "deep" / "down" / "plugrad-plugin-mychip"
    assert folder.is_dir()
    assert os.listdir(folder.parent) == [folder.name]
    assert f"cd {folder}" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["", "x", "1chip", "my-chip", "my_chip", "x" * 31, "../up", "ä" * 3])
def test_a_name_that_can_be_no_package_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="begins with a letter"):
        check_name(name)


def test_the_name_of_another_device_is_refused() -> None:
    there = PluginManager(lambda: (PluginSource("TOY", "toy", "plugrad-toy", "1.2"),))
    with pytest.raises(ArgumentError, match=r"TOY is the name of plugrad-toy 1\.2 already"):
        check_name("toy", there)


@pytest.mark.parametrize(("name", "owner"), [("python", "plugrad-core"), ("metal", "plugrad-plugin-metal")])
def test_names_of_the_core_and_of_known_backends_are_refused(name: str, owner: str) -> None:
    with pytest.raises(ArgumentError, match=owner):
        check_name(name)


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "plugrad-plugin-mychip"
    folder.mkdir()
    (folder / "precious.py").write_text("work of weeks")
    with pytest.raises(FileFormatError, match="exists, and nothing in it was changed"):
        main(["mychip", "--directory", str(tmp_path)])
    assert contents(folder) == {"precious.py": "work of weeks"}
    assert os.listdir(tmp_path) == [folder.name]


def test_a_place_that_is_no_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileFormatError, match="Name another place with --directory"):
        write_backend("mychip", tmp_path / "file")


def test_an_error_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(FileFormatError, match="No space left on device"):
        write_backend("mychip", tmp_path)
    assert os.listdir(tmp_path) == []


def test_the_folder_can_be_read_by_others_as_usual(tmp_path: Path) -> None:
    folder = write_backend("mychip", tmp_path)
    (tmp_path / "other").mkdir()
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)
