"""Tests of plugrad.observe.recorder."""

import json
from pathlib import Path
from typing import Any

import pytest

from plugrad import Tensor, events
from plugrad.dtype import dtypes
from plugrad.events import CompileEvent, PassEvent, RewriteEvent
from plugrad.observe.recorder import RECORDED_EVENTS, Recorder
from plugrad.settings import context
from plugrad.uop.uop import UOp


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_node_is_written_once_and_before_what_refers_to_it(tmp_path: Path) -> None:
    i = UOp.variable("i", 0, 9)
    before, after = (i + 1) * 2, i * 2
    recorder = Recorder(tmp_path / "viz" / "run.jsonl")
    recorder(RewriteEvent("fold", "a.py:1", before, after))
    recorder(PassEvent("codegen", "fold", before, after, 0.5))
    recorder.close()
    header, *records = read(recorder.path)
    assert header == {"kind": "plugrad-recording", "version": 1}
    seen: set[int] = set()
    for record in records:
        if record["kind"] == "node":
            assert record["id"] not in seen
            assert set(record["src"]) <= seen
            seen.add(record["id"])
        else:
            assert {record["before"], record["after"]} <= seen
    assert len(seen) == len({*before.toposort(), *after.toposort()})
    assert records[-1]["name"] == "fold"


def test_a_whole_program_is_recorded(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run.jsonl")
    with events.subscribe(RECORDED_EVENTS, recorder), context(CACHELEVEL=0):
        (Tensor.arange(7, device="NULL") * 3 + 1).sum().realize()
    recorder.close()
    records = read(recorder.path)
    assert {record.get("pipeline") for record in records} >= {"schedule", "codegen.lower"}
    assert records[-1]["kind"] == "kernel"


def test_a_kernel_is_recorded_with_its_source(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run.jsonl")
    recorder(CompileEvent("k", "NULL", "int x;", 4, 0.1))
    recorder.close()
    assert read(recorder.path)[1] == {"kind": "kernel", "name": "k", "device": "NULL", "source": "int x;"}


def test_an_unwritable_place_warns_once_and_ends_the_recording(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    recorder = Recorder(tmp_path / "file" / "run.jsonl")
    graph = UOp.const(dtypes.int32, 1)
    with pytest.warns(RuntimeWarning, match="cannot record to .*PLUGRAD_CACHE"):
        recorder(PassEvent("codegen", "fold", graph, graph, 0.1))
    recorder(PassEvent("codegen", "fold", graph, graph, 0.1))


def test_nothing_is_written_without_events(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run.jsonl")
    recorder.close()
    assert not recorder.path.exists()
