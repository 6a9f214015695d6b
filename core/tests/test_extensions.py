"""Tests of plugrad.extensions."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import plugrad
from plugrad.cli import main
from plugrad.errors import PluginError
from plugrad.extensions import COMMANDS, MODULES, extension_names, load_extension

Install = Callable[[str, str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(module: str, source: str, entry_points: str) -> None:
        (tmp_path / f"{module}.py").write_text(source)
        monkeypatch.delitem(sys.modules, module, raising=False)
        info = tmp_path / f"{module}-2.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 2.0\n")
        (info / "entry_points.txt").write_text(entry_points)

    return install


def test_a_module_of_another_distribution_is_an_attribute_of_plugrad(install: Install) -> None:
    install("added_module", "answer = 42", "[plugrad.modules]\nadded = added_module\n")
    assert plugrad.added.answer == 42
    assert extension_names(MODULES)["added"] == "added_module"


def test_a_module_of_another_distribution_is_imported_by_both_names(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "added_package").mkdir()
    (tmp_path / "added_package" / "__init__.py").write_text("answer = 42")
    (tmp_path / "added_package" / "inner.py").write_text("question = []")
    install("added_package", "", "[plugrad.modules]\nadding = added_package\n")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    named: dict[str, object] = {}
    exec("from plugrad.adding import answer", named)
    exec("from plugrad.adding.inner import question", named)
    exec("from added_package.inner import question as same", named)
    exec("import plugrad.adding as first; import added_package as second", named)
    assert named["answer"] == 42
    assert named["question"] is named["same"]
    assert named["first"] is named["second"]


def test_an_import_of_what_is_not_there_says_what_to_write_or_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ImportError, match=r"Instead: write dtypes\.float32\.$"):
        exec("from plugrad import float32")
    with pytest.raises(ModuleNotFoundError, match=r"Instead: write plugrad\.nn\.functional\.$"):
        exec("import plugrad.functional")
    monkeypatch.setattr(plugrad, "_load_extension", lambda group, name: None)
    for line in ("from plugrad import onnx", "import plugrad.onnx", "from plugrad.onnx import load"):
        with pytest.raises(ModuleNotFoundError, match=r"comes with plugrad-onnx\. Install it: pip install"):
            exec(line, {})


@pytest.mark.parametrize("name", ["nothing_at_all", "viz", "zeros"])
def test_other_imports_fail_as_everywhere(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"^No module named 'plugrad.{name}'"):
        exec(f"import plugrad.{name}")


def test_finders_of_own_modules_add_no_finders() -> None:
    """Tools ask each finder for modules that are imported already, as pytest does."""
    before = [*sys.meta_path]
    for finder in before:
        finder.find_spec("plugrad.codegen", None)
    assert sys.meta_path == before


def test_no_module_is_imported_before_it_is_asked_for(install: Install) -> None:
    install("idle_module", "", "[plugrad.modules]\nidle = idle_module\n")
    assert "idle" in extension_names(MODULES)
    assert "idle_module" not in sys.modules


def test_a_name_that_nobody_adds_is_none() -> None:
    assert load_extension(MODULES, "nothing_of_this_name") is None


def test_a_module_that_cannot_be_imported_is_named_with_its_distribution(install: Install) -> None:
    install("broken_module", "import missing_dependency", "[plugrad.modules]\nbroken = broken_module\n")
    with pytest.raises(PluginError, match=r"'broken' of broken_module 2.0 .*missing_dependency"):
        _ = plugrad.broken


def test_a_command_of_another_distribution_gets_the_words_behind_its_name(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "def main(words):\n    print(*words)\n    return 3\n"
    install("added_command", source, "[plugrad.commands]\nsay = added_command\n")
    assert main(["say", "--loud", "x"]) == 3
    assert capsys.readouterr().out == "--loud x\n"
    assert extension_names(COMMANDS)["say"] == "added_command"


def test_help_lists_commands_of_other_distributions(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("listed_command", "", "[plugrad.commands]\nlisted = listed_command\n")
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "(from listed_command)" in capsys.readouterr().out
