"""Record passes, rewrites and kernels in a file, for looking at later.

The file holds one JSON object a line, so that what was written before a crash can be read:

    {"kind": "node", "id": 3, "op": "ADD", "dtype": "float32", "src": [1, 2], "arg": null}
    {"kind": "rewrite", "rewrite": "fold", "rule": "symbolic.py:42", "before": 3, "after": 1}
    {"kind": "pass", "pipeline": "codegen", "name": "fold", "before": 9, "after": 7, "seconds": 0.001}
    {"kind": "kernel", "name": "r_64", "device": "NULL", "source": "..."}

A node comes before all that refer to it and is written once, however many graphs share it. The graphs of a
draft, on which passes of the scheduler work, are written as one, under a SINK.
"""

import threading
import warnings
import weakref
from pathlib import Path
from typing import TextIO, cast

from plugrad._util import json
from plugrad.events import CompileEvent, Event, PassEvent, RewriteEvent
from plugrad.runtime.private_folder import make_private
from plugrad.uop.passes import GraphBundle
from plugrad.uop.uop import UOp

FORMAT_VERSION = 1
RECORDED_EVENTS = (PassEvent, RewriteEvent, CompileEvent)


class Recorder:
    """Observer that writes to `path`; the directory is made when the first event comes.

    A file that cannot be written ends the recording with a warning, never the program.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: TextIO | None = None
        self._failed = False
        self._lock = threading.Lock()
        self._numbers: weakref.WeakKeyDictionary[UOp, int] = weakref.WeakKeyDictionary()
        self._next = 0

    def __call__(self, event: Event) -> None:
        """Write `event` and the nodes that it speaks of."""
        if self._failed:
            return
        with self._lock:
            try:
                self._record(event)
            except OSError as error:
                self._failed = True
                message = f"cannot record to {self.path}: {error}. Set PLUGRAD_CACHE to a writable directory."
                warnings.warn(message, RuntimeWarning, stacklevel=2)

    def close(self) -> None:
        """Write out what is left and close the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file, self._failed = None, True

    def _record(self, event: Event) -> None:
        match event:
            case CompileEvent():
                self._write(kind="kernel", name=event.name, device=event.device, source=event.source)
            case RewriteEvent():
                before, after = self._number(event.before), self._number(event.after)
                self._write(
                    kind="rewrite", rewrite=event.rewrite, rule=event.rule, before=before, after=after
                )
            case PassEvent(pipeline, name, _, _, seconds):
                before, after = self._number(event.before), self._number(event.after)
                self._write(
                    kind="pass", pipeline=pipeline, name=name, before=before, after=after, seconds=seconds
                )
            case _:
                pass

    def _number(self, state: object) -> int:
        """Write the new nodes of a graph, and return the number of its root."""
        root = state if isinstance(state, UOp) else UOp.sink(*cast(GraphBundle, state).graphs)
        known = self._numbers.get(root)
        if known is not None:
            return known
        for u in root.toposort():
            if u not in self._numbers:
                self._write_node(u)
        return self._numbers[root]

    def _write_node(self, u: UOp) -> None:
        number = self._next
        self._numbers[u] = number
        self._next += 1
        src = [self._numbers[s] for s in u.src]
        arg = None if u.arg is None else repr(u.arg)
        self._write(kind="node", id=number, op=u.op.name, dtype=u.dtype.name, src=src, arg=arg)

    def _write(self, **fields: object) -> None:
        if self._file is None:
            make_private(self.path.parent)
            self._file = self.path.open("w", encoding="utf-8")
            self._file.write(json.dumps({"kind": "plugrad-recording", "version": FORMAT_VERSION}) + "\n")
        self._file.write(json.dumps(fields) + "\n")
