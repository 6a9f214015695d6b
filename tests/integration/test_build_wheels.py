"""The addresses in the wheels of a release."""

import runpy
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / ".ci/build_wheels.py"))


@pytest.mark.parametrize("source", SCRIPT["SOURCES"], ids=lambda source: source.name)
def test_each_distribution_gets_the_urls_of_the_repository(source: Path, tmp_path: Path) -> None:
    core = pytest.importorskip("hatchling.metadata.core")
    copy = SCRIPT["addressed"](source, "https://forge.example/some/project/", tmp_path)
    made = core.ProjectMetadata(str(copy), None).core
    address = "https://forge.example/some/project"
    assert made.urls == {
        "Homepage": address,
        "Documentation": f"{address}/tree/v{made.version}/docs",
        "Source": f"{address}/tree/v{made.version}",
        "Changelog": f"{address}/blob/v{made.version}/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }
    assert {"Programming Language :: Python :: 3", "Typing :: Typed"} <= set(made.classifiers)
