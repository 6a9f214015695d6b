"""Tests of plugrad.observe.recorder."""

import json
from pathlib import Path
from typing import Any

import pytest

from plugrad import Tensor, events
from plugrad.dtype import dtypes
from plugrad.engine.compile import clear_loaded
from plugrad.engine.schedule_cache import clear_schedules
from plugrad.events import CompileEvent, PassEvent, RewriteEvent
from plugrad.observe.recorder import RECORDED_EVENTS, Recorder
from plugrad.settings import context
from plugrad.uop.rewrite import PatternMatcher, graph_rewrite
from plugrad.uop.rule_times import clear_rule_times
from plugrad.uop.uop import UOp
from plugrad.uop.upat import pconsts, pvars


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
    assert (header["kind"], header["version"]) == ("plugrad-recording", 2)
    seen: set[int] = set()
    for record in records:
        if record["kind"] == "node":
            assert record["id"] not in seen
            assert set(record["src"]) <= seen
            seen.add(record["id"])
        elif record["kind"] in ("rewrite", "pass"):
            assert {record["before"], record["after"]} <= seen
    assert len(seen) == len({*before.toposort(), *after.toposort()})
    assert records[-3]["name"] == "fold"
    assert records[-1] == {"kind": "end", "dropped": {}}


def record(tmp_path: Path, **limits: int) -> list[dict[str, Any]]:
    """Return what is recorded of a small program that computes once and frees its memory."""
    recorder = Recorder(tmp_path / "run.jsonl", **limits)
    clear_schedules()
    clear_loaded()
    with events.subscribe(RECORDED_EVENTS, recorder), context(CACHELEVEL=0):
        t = (Tensor.arange(7, device="PYTHON").cast("float32").exp() * 3 + 1).sum()
        t.realize()
        del t
    recorder.close()
    return read(recorder.path)


def test_a_whole_program_is_recorded(tmp_path: Path) -> None:
    records = record(tmp_path)
    kinds = {r["kind"] for r in records}
    expected = "node rule rewrite pass schedule lower compile launch realize memory machine_code thread end"
    assert kinds >= {*expected.split(), "pass_time"}
    assert {r.get("pipeline") for r in records} >= {"schedule", "codegen.prepare", "codegen.lower"}
    times = [r["t"] for r in records if r["kind"] == "launch"]
    assert times == sorted(times)


def test_nodes_of_the_users_graph_have_shape_and_line(tmp_path: Path) -> None:
    nodes = [r for r in record(tmp_path) if r["kind"] == "node"]
    exp = next(n for n in nodes if n["op"] == "EXP")
    assert exp["shape"] == "7"
    assert "test_recorder.py" in exp["line"]


def test_a_schedule_says_what_each_kernel_computes_and_why_it_is_one(tmp_path: Path) -> None:
    records = record(tmp_path)
    ops = {r["id"]: r["op"] for r in records if r["kind"] == "node"}
    (schedule,) = (r for r in records if r["kind"] == "schedule")
    (kernel,) = schedule["kernels"]
    assert {"EXP", "MUL", "REDUCE_AXIS"} <= {ops[u] for u in kernel["fused"]}
    assert kernel["reason"]
    assert any("test_recorder.py" in line for line in kernel["lines"])
    lowered = next(r for r in records if r["kind"] == "lower")
    assert lowered["ast"] == kernel["ast"]


def test_memory_that_is_given_back_is_recorded(tmp_path: Path) -> None:
    changes = [r for r in record(tmp_path) if r["kind"] == "memory" and r["device"] == "PYTHON"]
    assert sum(r["nbytes"] for r in changes) == 0
    assert "test_recorder.py" in changes[0]["label"]


def test_a_rule_is_recorded_once_with_pattern_and_source(tmp_path: Path) -> None:
    records = record(tmp_path)
    rules = {r["id"]: r for r in records if r["kind"] == "rule"}
    assert {r["rule"] for r in records if r["kind"] == "rewrite"} == set(rules)
    assert all("lambda" in r["source"] or "def " in r["source"] for r in rules.values())


def test_tries_hits_and_seconds_of_rules_and_passes_come_at_the_end(tmp_path: Path) -> None:
    clear_rule_times()
    (x,), (c,) = pvars("x"), pconsts("c")
    table = PatternMatcher((x * c, lambda x, c: x if c.arg == 1 else None))
    i = UOp.variable("i", 0, 9)
    recorder = Recorder(tmp_path / "run.jsonl")
    with context(VIZ=True):
        after = graph_rewrite((i * 1) * 3, table)
    recorder(PassEvent("codegen", "fold", (i * 1) * 3, after, 0.5))
    recorder(PassEvent("codegen", "fold", after, after, 0.25))
    recorder.close()
    clear_rule_times()
    records = read(recorder.path)
    *_, rule, rule_time, pass_time, _ = records
    assert (rule_time["rule"], rule_time["tries"], rule_time["hits"]) == (rule["id"], 2, 1)
    assert rule_time["seconds"] > 0
    assert pass_time == {
        **{"kind": "pass_time", "pipeline": "codegen", "name": "fold"},
        **{"tries": 2, "hits": 1, "seconds": 0.75},
    }


def test_times_cover_what_a_full_file_leaves_out(tmp_path: Path) -> None:
    records = record(tmp_path, most_graph_bytes=2000)
    dropped = records[-1]["dropped"]["PassEvent"]
    written = sum(r["kind"] == "pass" for r in records)
    assert sum(r["tries"] for r in records if r["kind"] == "pass_time") == dropped + written


def test_a_full_file_ends_graphs_first_and_counts_what_is_missing(tmp_path: Path) -> None:
    records = record(tmp_path, most_graph_bytes=2000)
    assert not any(r["kind"] == "schedule" for r in records)
    assert any(r["kind"] == "launch" for r in records)
    assert records[-1]["dropped"]["PassEvent"] > 3
    records = record(tmp_path, most_graph_bytes=2000, most_bytes=2000)
    assert not any(r["kind"] == "launch" for r in records)
    assert records[-1]["dropped"]["KernelEvent"] == 1


def test_a_kernel_is_recorded_with_its_source(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run.jsonl")
    recorder(CompileEvent("k", "NULL", "int x;", 4, 0.1, disassemble=lambda: "ret"))
    recorder.close()
    _, _, compiled, code, _ = read(recorder.path)
    assert (compiled["name"], compiled["source"]) == ("k", "int x;")
    assert (code["name"], code["text"]) == ("k", "ret")


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
