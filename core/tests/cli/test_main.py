"""Tests of plugrad.cli.main."""

import subprocess
import sys

import pytest

from plugrad import __version__
from plugrad.cli import main


@pytest.mark.parametrize("command", ["devices", "env", "passes", "cache"])
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main([command, "--help"])
    assert exit_info.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_no_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main([])
    assert exit_info.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_an_error_of_plugrad_is_a_line_and_status_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugrad.cli.passes.find_pipelines", list)
    assert main(["passes", "codgen"]) == 1
    assert capsys.readouterr().err == "plugrad: there is no pipeline 'codgen'. There are: none.\n"


@pytest.mark.parametrize("module", ["plugrad", "plugrad.cli"])
def test_the_module_runs_as_a_program(module: str) -> None:
    command = [sys.executable, "-m", module, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == f"plugrad {__version__}\n"


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = [sys.executable, "-m", "plugrad.cli", "env", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_the_command_of_a_program_that_is_not_installed_says_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.modules["plugrad.cli.main"], "load_extension", lambda group, name: None)
    assert main(["viz"]) == 1
    text = capsys.readouterr().err
    assert "`plugrad viz` is a command of plugrad-viz, which is not installed" in text
    assert "pip install" in text
