"""Record what plugrad does in a file, for looking at later and elsewhere.

The file holds one JSON object a line, so that what was written before a crash can be read:

    {"kind": "node", "id": 3, "op": "ADD", "dtype": "float32", "src": [1, 2]}
    {"kind": "rule", "id": 0, "place": "uop/symbolic.py:42", "pattern": "UPat(ADD, ...)", "source": "..."}
    {"kind": "rewrite", "t": 0.5, "thread": 0, "rewrite": "fold", "rule": 0, "before": 3, "after": 1}
    {"kind": "pass", "t": 0.5, "thread": 0, "pipeline": "codegen.lower", "name": "expand", "before": 9, ...}

A node or rule comes before all that refer to it and is written once, however many graphs share it. `t` is the
second at which something ended, counted from the first event. `docs/recordings.md` lists all kinds.
"""

import itertools
import sys
import threading
import time
import warnings
import weakref
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from plugrad._util import VERSION, json
from plugrad.errors import PlugradError
from plugrad.events import (
    CompileEvent,
    CopyEvent,
    Event,
    KernelEvent,
    LowerEvent,
    MemoryEvent,
    PassEvent,
    RealizeEvent,
    RewriteEvent,
)
from plugrad.observe.fusion_report import DECIDED, KernelReport, fusion_report
from plugrad.observe.listing import linear_listing
from plugrad.observe.node_fields import facts_of, node_fields
from plugrad.observe.rules import source_of
from plugrad.observe.user_lines import LINE_EVENTS, UserLines
from plugrad.runtime.private_folder import make_private
from plugrad.schedule.create import ScheduleDraft
from plugrad.uop import UOp
from plugrad.uop.passes import graph_of
from plugrad.uop.rewrite import Rule
from plugrad.uop.rule_times import RuleTime, rule_times

FORMAT_VERSION = 2
RECORDED_EVENTS = (*LINE_EVENTS, CompileEvent, CopyEvent, KernelEvent, LowerEvent, MemoryEvent, RealizeEvent)
# Graphs stop earlier than the rest, so that a long run keeps its timeline.
_MOST_GRAPH_BYTES = 64 << 20
_MOST_BYTES = 96 << 20
_DISASSEMBLY_SECONDS = 5.0
_GRAPH_EVENTS = (PassEvent, RewriteEvent)


class _PassTime(RuleTime):
    """The runs of one pass, and as hits those that changed the graph."""

    def count(self, event: PassEvent) -> None:
        self.tries += 1
        self.hits += graph_of(event.before) is not graph_of(event.after)
        self.seconds += event.seconds


class Recorder:
    """Observer that writes to `path`; the directory is made when the first event comes.

    A file that cannot be written ends the recording with a warning, never the program. Once the file is large
    enough, what else happens is only counted: first graphs, then everything.

    Args:
        path: the file.
        most_graph_bytes: its length from which on no graphs are written.
        most_bytes: its length from which on nothing is written.
    """

    def __init__(
        self, path: Path, *, most_graph_bytes: int = _MOST_GRAPH_BYTES, most_bytes: int = _MOST_BYTES
    ) -> None:
        self.path = path
        self._most_graph_bytes = most_graph_bytes
        self._most_bytes = most_bytes
        self._file: TextIO | None = None
        self._failed = False
        # describing a node may rewrite, which is no part of the program
        self._lock = threading.RLock()
        self._is_busy = False
        self._started = 0.0
        self._written = 0
        self._dropped: Counter[str] = Counter()
        self._numbers: weakref.WeakKeyDictionary[UOp, int] = weakref.WeakKeyDictionary()
        self._next = itertools.count()
        self._rules: dict[object, int] = {}
        self._threads: dict[int, int] = {}
        self._lines = UserLines()
        # appending takes no lock: memory goes back in garbage collections
        self._memory: deque[tuple[float, MemoryEvent]] = deque()
        self._listings: dict[tuple[str, str], Callable[[], str]] = {}
        self._pass_times: dict[tuple[str, str], _PassTime] = {}

    def __call__(self, event: Event) -> None:
        """Write `event` and the nodes that it speaks of."""
        now = time.perf_counter()
        if isinstance(event, MemoryEvent):
            self._memory.append((now, event))
            return
        with self._lock:
            if self._failed or self._is_busy:
                return
            self._is_busy = True
            try:
                self._open()
                self._write_memory()
                self._lines(event)
                self._record(event, now)
            except OSError as error:
                self._failed = True
                message = f"cannot record to {self.path}: {error}. Set PLUGRAD_CACHE to a writable directory."
                warnings.warn(message, RuntimeWarning, stacklevel=2)
            finally:
                self._is_busy = False

    def close(self) -> None:
        """Write what is left, with the machine code of kernels, and close the file."""
        with self._lock:
            if self._file is not None and not self._failed:
                self._is_busy = True
                self._write_memory()
                self._write_listings()
                self._write_times()
                self._write(kind="end", dropped=dict(self._dropped))
                self._file.close()
            self._file, self._failed = None, True

    def _record(self, event: Event, now: float) -> None:
        if isinstance(event, PassEvent):
            self._pass_times.setdefault((event.pipeline, event.name), _PassTime()).count(event)
        if isinstance(event, _GRAPH_EVENTS) and self._written > self._most_graph_bytes:
            self._dropped[type(event).__name__] += 1
            return
        if self._written > self._most_bytes:
            self._dropped[type(event).__name__] += 1
            return
        match event:
            case RewriteEvent(rewrite, rule, before, after):
                numbers = {"rule": self._rule(rule), **self._pair(before, after)}
                self._write("rewrite", now, rewrite=rewrite, **numbers)
            case PassEvent(pipeline, name, before, after, seconds):
                pair = self._pair(before, after)
                self._write("pass", now, pipeline=pipeline, name=name, seconds=seconds, **pair)
                if (pipeline, name) == DECIDED and isinstance(after, ScheduleDraft):
                    kernels = [self._kernel(report) for report in fusion_report(after)]
                    self._write("schedule", now, kernels=kernels)
            case LowerEvent(name, device, UOp() as ast, _, seconds):
                listing = linear_listing([u for u in event.linear if isinstance(u, UOp)])
                number = self._number(ast)
                self._write(
                    "lower", now, name=name, device=device, ast=number, seconds=seconds, listing=listing
                )
            case CompileEvent():
                fields = _fields_of(event)
                disassemble = fields.pop("disassemble")
                self._write("compile", now, **fields)
                if disassemble is not None:
                    self._listings.setdefault((event.name, event.device), disassemble)
            case KernelEvent():
                self._write("launch", now, **_launch_fields(event))
            case CopyEvent():
                self._write("copy", now, **_fields_of(event))
            case RealizeEvent():
                self._write("realize", now, **_fields_of(event))
            case _:
                pass

    def _kernel(self, report: KernelReport) -> dict[str, object]:
        call = report.call
        lines = dict.fromkeys(line for u in report.fused if (line := self._lines.of(u)))
        return {
            "root": self._number(call.root),
            "ast": self._number(report.kernel.ast),
            "device": call.device,
            "reads": [self._number(u) for u in call.reads],
            "fused": [self._number(u) for u in report.fused],
            "operations": report.operations,
            "reason": report.boundary.reason,
            "detail": report.boundary.detail,
            "lines": list(lines),
        }

    def _pair(self, before: object, after: object) -> dict[str, int]:
        return {"before": self._number(graph_of(before)), "after": self._number(graph_of(after))}

    def _number(self, root: UOp) -> int:
        """Write the new nodes of a graph, and return the number of its root."""
        known = self._numbers.get(root)
        if known is not None:
            return known
        for u in root.toposort(lambda u: u not in self._numbers):
            if u not in self._numbers:
                number = next(self._next)
                src = [self._numbers[s] for s in u.src]
                fields: dict[str, Any] = node_fields(u, self._lines.of(u))
                self._write("node", id=number, src=src, **fields)
                self._numbers[u] = number
        return self._numbers[root]

    def _rule(self, rule: object) -> int:
        known = self._rules.get(rule)
        if known is None:
            known = self._rules[rule] = len(self._rules)
            place, pattern = (rule.place, repr(rule.pattern)) if isinstance(rule, Rule) else (str(rule), "")
            self._write("rule", id=known, place=place, pattern=pattern, source=source_of(rule))
        return known

    def _write_memory(self) -> None:
        while self._memory:
            at, event = self._memory.popleft()
            if self._written > self._most_bytes:
                self._dropped["MemoryEvent"] += 1
                continue
            fields = facts_of(device=event.device, address=event.address, nbytes=event.nbytes)
            label = str(event.label) if event.nbytes > 0 else ""
            self._write("memory", at, label=label, **fields)

    def _write_listings(self) -> None:
        """Write the machine code of kernels, as many as fit into some seconds."""
        until = time.perf_counter() + _DISASSEMBLY_SECONDS
        for (name, device), disassemble in self._listings.items():
            late = time.perf_counter() > until or self._written > self._most_bytes
            if late:
                text = f"left out: others took {_DISASSEMBLY_SECONDS:.0f} s, or the file is full"
            else:
                text = _text_of(disassemble)
            self._write("machine_code", name=name, device=device, text=text)

    def _write_times(self) -> None:
        """Write what rules and passes took in all, also where single events were left out."""
        if self._written > self._most_bytes:
            return
        for rule, each in rule_times().items():
            self._write("rule_time", rule=self._rule(rule), **vars(each))
        for (pipeline, name), each in self._pass_times.items():
            self._write("pass_time", pipeline=pipeline, name=name, **vars(each))

    def _thread(self) -> int:
        ident = threading.get_ident()
        known = self._threads.get(ident)
        if known is None:
            known = self._threads[ident] = len(self._threads)
            self._write("thread", id=known, name=threading.current_thread().name)
        return known

    def _open(self) -> None:
        if self._file is not None:
            return
        make_private(self.path.parent)
        self._file = self.path.open("w", encoding="utf-8")
        self._started = time.perf_counter()
        self._write(
            "plugrad-recording",
            version=FORMAT_VERSION,
            plugrad=VERSION,
            python=sys.version.split()[0],
            program=sys.argv,
            time=time.strftime("%Y-%m-%d %H:%M:%S"),
        )

    def _write(self, kind: str, at: float | None = None, **fields: Any) -> None:
        if at is not None:
            fields = {"t": round(at - self._started, 7), "thread": self._thread(), **fields}
        assert self._file is not None, "_open comes first"
        line = json.dumps({"kind": kind, **fields}, separators=(",", ":"), default=str) + "\n"
        self._written += len(line)
        self._file.write(line)


def _text_of(disassemble: Callable[[], str]) -> str:
    try:
        return disassemble()
    except PlugradError as error:
        return f"the compiler cannot give it: {error}"


def _fields_of(event: Event) -> dict[str, Any]:
    return {name: getattr(event, name) for name in type(event).__match_args__}


def _launch_fields(event: KernelEvent) -> dict[str, Any]:
    fields = _fields_of(event)
    del fields["opts"]
    fields["bytes"], fields["memory"] = fields.pop("bytes_accessed"), fields.pop("memory_used")
    return {"seconds": event.seconds, **facts_of(**fields)}
