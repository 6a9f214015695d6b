"""Tests of plugrad_viz.recording."""

import os
from pathlib import Path

import pytest

from plugrad.settings import context
from plugrad_viz import RecordingError, latest_recording, read_recording

HEADER = '{"kind":"plugrad-recording","version":2}\n'


def test_records_are_read_in_order(matmul: Path) -> None:
    recording = read_recording(matmul)
    assert recording.header["kind"] == "plugrad-recording"
    assert [r["kernels"] for r in recording.of_kind("realize")]
    nodes = {r["id"] for r in recording.of_kind("node")}
    assert all({p["before"], p["after"]} <= nodes for p in recording.of_kind("pass"))


def test_a_line_that_was_cut_at_the_end_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_text(HEADER + '{"kind":"end"}\n{"kind":"no')
    assert [r["kind"] for r in read_recording(path).records] == ["end"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no json", "its first line is no JSON"),
        ('{"kind":"other"}\n', "its first line does not say so"),
        ('{"kind":"plugrad-recording","version":1}\n', "of version 1, this explorer reads 2"),
        (HEADER + "broken\n{}\n", "line 2 is no JSON"),
    ],
)
def test_what_is_no_recording_is_refused_with_a_reason(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    with pytest.raises(RecordingError, match=message):
        read_recording(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"cannot read .*none\.jsonl"):
        read_recording(tmp_path / "none.jsonl")


def test_the_latest_recording_is_found_or_it_is_said_how_to_make_one(tmp_path: Path) -> None:
    with context(PLUGRAD_CACHE=str(tmp_path)):
        with pytest.raises(RecordingError, match="VIZ=1 python"):
            latest_recording()
        (tmp_path / "viz").mkdir()
        for name, time in (("a", 200), ("b", 100)):
            path = tmp_path / "viz" / f"{name}.jsonl"
            path.touch()
            os.utime(path, (time, time))
        assert latest_recording().name == "a.jsonl"
