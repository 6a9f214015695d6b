"""A recording as a trace for ui.perfetto.dev, in the JSON format of Chrome's tracing.

Source: "Trace Event Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from collections.abc import Iterator
from typing import Any

from plugrad_viz.recording import Record, Recording

Event = dict[str, Any]
_PID = 1
_MICROSECONDS = 1e6


def make_trace(recording: Recording) -> dict[str, Any]:
    """Return kernels, copies, compiles, passes and realizes by device and thread, and memory as counters.

    Example:
        >>> trace = make_trace(read_recording(latest_recording()))  # doctest: +SKIP
        >>> json.dump(trace, open("trace.json", "w"))  # doctest: +SKIP
    """
    threads = {r["id"]: f"thread {r['name']}" for r in recording.of_kind("thread")}
    numbers: dict[str, int] = {}
    events: list[Event] = []
    for record in recording.records:
        for lane, name, facts in _spans(record, threads):
            seconds = record.get("seconds") or 0.0
            start = (record["t"] - seconds) * _MICROSECONDS
            tid = numbers.setdefault(lane, len(numbers))
            category = record["kind"]
            where = {"pid": _PID, "tid": tid, "ts": start, "dur": seconds * _MICROSECONDS}
            events.append({"ph": "X", "name": name, "cat": category, "args": facts, **where})
    lanes = [
        {"ph": "M", "name": "thread_name", "pid": _PID, "tid": tid, "args": {"name": lane}}
        for lane, tid in numbers.items()
    ]
    return {"traceEvents": [*lanes, *events, *_memory(recording)], "displayTimeUnit": "ms"}


def _spans(record: Record, threads: dict[int, str]) -> Iterator[tuple[str, str, Event]]:
    """Give lane, name and facts of what took time."""
    lane = threads.get(record.get("thread", -1), "")
    match record["kind"]:
        case "launch":
            facts = {name: record[name] for name in ("flops", "bytes", "memory") if name in record}
            yield record["device"], record["name"], facts
        case "copy":
            yield "copies", f"{record['source']} to {record['destination']}", {"bytes": record["nbytes"]}
        case "compile" if not record["cached"]:
            yield "compiler", record["name"], {"bytes": record["nbytes"]}
        case "lower":
            yield lane, f"lower {record['name']}", {}
        case "pass":
            yield lane, record["name"], {"pipeline": record["pipeline"]}
        case "realize":
            yield lane, "realize", {"kernels": record["kernels"], "copies": record["copies"]}
        case _:
            pass


def _memory(recording: Recording) -> Iterator[Event]:
    used: dict[str, int] = {}
    for change in recording.of_kind("memory"):
        device = change["device"]
        used[device] = used.get(device, 0) + change["nbytes"]
        at = change["t"] * _MICROSECONDS
        yield {"ph": "C", "name": f"memory {device}", "pid": _PID, "ts": at, "args": {"bytes": used[device]}}
