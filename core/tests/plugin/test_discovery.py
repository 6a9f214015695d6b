"""Entry points on `sys.path`: what is read here is what `importlib.metadata` finds."""

import sys
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from plugrad.plugin.discovery import find_sources, version_of
from plugrad.plugin.source import ENTRY_POINT_GROUP, WRAPPER_GROUP, PluginSource


def install(
    root: Path, folder: str, entry_points: str, headers: str, metadata_file: str = "METADATA"
) -> None:
    (root / folder).mkdir(parents=True)
    (root / folder / "entry_points.txt").write_text(entry_points)
    (root / folder / metadata_file).write_text(headers)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two folders that are all of `sys.path`."""
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(sys, "path", [*map(str, folders), str(tmp_path / "missing")])
    return folders


def by_importlib() -> tuple[PluginSource, ...]:
    """Return the same by the standard library."""
    found = {
        PluginSource(e.name.upper(), e.value, e.dist.name, e.dist.version, is_wrapper=group == WRAPPER_GROUP)
        for group in (ENTRY_POINT_GROUP, WRAPPER_GROUP)
        for e in metadata.entry_points(group=group)
        if e.dist is not None
    }
    return tuple(sorted(found, key=lambda source: (source.name, source.distribution, source.value)))


def test_what_is_installed_here_is_found() -> None:
    assert find_sources() == by_importlib()


def test_sections_comments_extras_and_names_are_read(path: list[Path]) -> None:
    install(
        path[0],
        "My_Chip-1.0rc1.dist-info",
        "# a chip\n[console_scripts]\nchip = my_chip.cli:main\n\n[plugrad.backends]\n"
        " chip=my_chip.plugin \n# other = my_chip.no\nother = my_chip.more:thing [extra]\n[more]\nx = y\n",
        "Metadata-Version: 2.1\nName: My.Chip\nVersion: 1.0rc1\nSummary: Name: no\n\nName: neither\n",
    )
    assert find_sources() == by_importlib()
    assert find_sources() == (
        PluginSource("CHIP", "my_chip.plugin", "My.Chip", "1.0rc1"),
        PluginSource("OTHER", "my_chip.more:thing [extra]", "My.Chip", "1.0rc1"),
    )


def test_wrappers_are_told_apart_from_devices(path: list[Path]) -> None:
    text = "[plugrad.backends]\nchip = chip\n[plugrad.wrappers]\nchip = chip.log\n"
    install(path[0], "my_chip-1.dist-info", text, "Name: my-chip\nVersion: 1\n")
    assert find_sources() == by_importlib()
    assert [(source.value, source.is_wrapper) for source in find_sources()] == [
        ("chip", False),
        ("chip.log", True),
    ]


def test_of_two_distributions_of_one_name_the_first_on_the_path_counts(path: list[Path]) -> None:
    for number, (folder, stem) in enumerate(zip(path, ("my_chip-2", "My.Chip-1"), strict=True)):
        install(
            folder,
            f"{stem}.dist-info",
            f"[plugrad.backends]\nchip{number} = chip\n",
            f"Name: my-chip\nVersion: {2 - number}\n",
        )
    assert find_sources() == by_importlib()
    assert [source.version for source in find_sources()] == ["2"]


def test_development_installs_are_found(path: list[Path]) -> None:
    install(path[1], "my_chip.egg-info", "[plugrad.backends]\nchip = chip\n", "Name: my-chip\n", "PKG-INFO")
    (path[1] / "old.egg-info").write_text("Name: old\nVersion: 1\n")
    (source,) = find_sources()
    assert (source.name, source.distribution) == ("CHIP", "my-chip")


def test_a_line_that_is_no_entry_point_hides_no_other(path: list[Path]) -> None:
    install(path[0], "broken-1.dist-info", "[plugrad.backends]\nnonsense\nchip = chip\n", "")
    assert [source.name for source in find_sources()] == ["CHIP"]


def test_archives_are_looked_into(path: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    archive = path[0] / "chip.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("my_chip-1.dist-info/entry_points.txt", "[plugrad.backends]\nchip = chip\n")
        file.writestr("my_chip-1.dist-info/METADATA", "Name: my-chip\nVersion: 1\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(archive)])
    assert [source.owner for source in find_sources()] == ["my-chip 1"]


def test_import_hooks_are_asked(path: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(
        tmp_path, "my_chip-1.dist-info", "[plugrad.backends]\nchip = chip\n", "Name: my-chip\nVersion: 1\n"
    )

    class Finder(metadata.DistributionFinder):
        def find_spec(self, *_: Any) -> None:
            return None

        def find_distributions(self, context: Any = None) -> Any:
            return [metadata.Distribution.at(tmp_path / "my_chip-1.dist-info")]

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert [source.owner for source in find_sources()] == ["my-chip 1"]


def test_the_version_of_what_is_not_installed_is_empty() -> None:
    assert version_of("plugrad-core")
    assert version_of("no-such-distribution") == ""
