"""Tests of plugrad.observe.replay; what the comparison prints is tested with the explorer."""

import json
import os
from pathlib import Path

import pytest

from plugrad.errors import SettingsError
from plugrad.observe import replay
from plugrad.observe.replay import comparison_with, latest_of


def write_recording(path: Path, program: list[str], second: int) -> Path:
    path.write_text(json.dumps({"kind": "plugrad-recording", "program": program}) + "\n")
    os.utime(path, (second, second))
    return path


def test_the_last_recording_of_the_same_command_line_is_taken(tmp_path: Path) -> None:
    write_recording(tmp_path / "a.jsonl", ["train.py"], 1)
    latest = write_recording(tmp_path / "b.jsonl", ["train.py"], 3)
    write_recording(tmp_path / "c.jsonl", ["train.py"], 2)
    write_recording(tmp_path / "d.jsonl", ["train.py", "--fast"], 4)
    assert latest_of(["train.py"], tmp_path) == latest
    assert latest_of(["other.py"], tmp_path) is None


def test_damaged_recordings_are_those_of_no_program(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "cut.jsonl").write_text('{"kind": "plugrad-rec')
    (tmp_path / "list.jsonl").write_text("[]\n")
    assert latest_of(["train.py"], tmp_path) is None


def test_without_the_explorer_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "load_extension", lambda *_: None)
    with pytest.raises(SettingsError, match=r"REPLAY=1 needs plugrad-viz.*pip install") as caught:
        comparison_with(tmp_path / "new.jsonl")
    assert caught.value.name == "REPLAY"
