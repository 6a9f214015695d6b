"""Tests of plugrad.cli.passes."""

import json
from pathlib import Path

import pytest

from plugrad.cli import main, passes

MODULE = '''
from plugrad.uop.passes import Pipeline, Stage
from plugrad.uop.spec import Spec

def fold(graph, ctx):
    """Fold constants.

    More.
    """
    return graph

demo = Pipeline("demo", (Stage(fold, Spec("any", {}), "first"),))
again = demo
'''


@pytest.fixture
def _demo_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "demo_compiler"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "inner.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    found = passes.find_pipelines(["demo_compiler"])
    monkeypatch.setattr(passes, "find_pipelines", lambda: found)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.usefixtures("_demo_package")
def test_passes_are_listed_with_what_they_do_and_why_they_are_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["passes"]) == 0
    text = capsys.readouterr().out
    for part in ("demo", "1", "fold", "Fold constants.", "first"):
        assert part in text
    assert text.count("fold") == 1


@pytest.mark.usefixtures("_demo_package")
def test_json_has_the_passes_of_each_pipeline(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["passes", "demo", "--json"]) == 0
    expected = {"demo": [{"name": "fold", "summary": "Fold constants.", "why": "first"}]}
    assert json.loads(capsys.readouterr().out) == expected


@pytest.mark.usefixtures("_demo_package")
def test_an_unknown_pipeline_names_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["passes", "demi"]) == 1
    assert "Did you mean 'demo'? There are: demo." in capsys.readouterr().err
