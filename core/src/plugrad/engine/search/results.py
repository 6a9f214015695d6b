"""Search results in a file of JSON lines, for users to read, copy and merge.

A line is written whole, at the end of the file, so that processes may write at the same time. Lines that are
torn or of another layout are skipped; of lines with one key, the last counts. A list cannot do harm: a kernel
that does not take it is searched again.
"""

import dataclasses
import json
import threading
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from plugrad.codegen.opt.opt_ops import AxisId, GroupTile, MatrixTile, Opt, OptOps
from plugrad.runtime.private_folder import make_private
from plugrad.settings import cache_dir, settings

_LEVEL_WITH_DISK = 2

Opts = tuple[Opt, ...]


class SearchResults:
    """Lists of optimisations by key, in memory and in a file.

    `CACHELEVEL` below 2 neither reads nor writes the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[str, Opts] = {}
        self._lock = threading.Lock()
        self._is_read = False

    def get(self, key: str) -> Opts | None:
        """Return the list that was found for a kernel, if there was a search."""
        return self._read_all().get(key)

    def put(self, key: str, opts: Opts) -> None:
        """Keep the list that was found for a kernel. A disk that refuses it warns."""
        self._read_all()[key] = opts
        self._append([as_line(key, opts)])

    def export(self, file: Path) -> int:
        """Write all lists to a file, and return how many there are."""
        found = self._read_all()
        file.write_text("".join(as_line(key, opts) for key, opts in found.items()), encoding="utf-8")
        return len(found)

    def merge(self, file: Path) -> int:
        """Add the lists of an exported file that are new, and return how many."""
        found = self._read_all()
        new = {key: opts for key, opts in read_lines(file).items() if found.get(key) != opts}
        found.update(new)
        self._append(as_line(key, opts) for key, opts in new.items())
        return len(new)

    def __len__(self) -> int:
        return len(self._read_all())

    def forget(self) -> None:
        """Forget all lists, but leave the file."""
        self._found.clear()

    def _read_all(self) -> dict[str, Opts]:
        with self._lock:
            if not self._is_read and settings.CACHELEVEL >= _LEVEL_WITH_DISK:
                self._is_read = True
                try:
                    self._found.update(read_lines(self.path))
                except FileNotFoundError:
                    pass
                except OSError as error:
                    self._warn("read", error)
        return self._found

    def _append(self, lines: Iterable[str]) -> None:
        if settings.CACHELEVEL < _LEVEL_WITH_DISK:
            return
        try:
            make_private(self.path.parent)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write("".join(lines))
        except OSError as error:
            self._warn("write", error)

    def _warn(self, doing: str, error: OSError) -> None:
        warnings.warn(
            f"cannot {doing} {self.path}: {error.strerror or error}. Each process searches again with BEAM. "
            "Free space or change permissions there, or point PLUGRAD_CACHE elsewhere.",
            RuntimeWarning,
            stacklevel=3,
        )


def read_lines(file: Path) -> dict[str, Opts]:
    """Return the lists of a file by key, without lines that are none."""
    found: dict[str, Opts] = {}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry: Any = json.loads(line)
            found[str(entry["key"])] = tuple(
                Opt(OptOps[op], _ident(axis), _argument(arg)) for op, axis, arg in entry["opts"]
            )
        except (ValueError, TypeError, KeyError):
            continue
    return found


def as_line(key: str, opts: Opts) -> str:
    """Return the line that keeps a list.

    Example:
        >>> print(as_line("0f", (Opt(OptOps.UPCAST, (0,), 4),)), end="")
        {"key": "0f", "opts": [["UPCAST", [0], 4]]}
    """
    return json.dumps({"key": key, "opts": [[opt.op.name, opt.axis, _json(opt.arg)] for opt in opts]}) + "\n"


def _json(arg: Any) -> Any:
    return dataclasses.asdict(arg) if isinstance(arg, (MatrixTile, GroupTile)) else arg


def _argument(arg: Any) -> "int | AxisId | MatrixTile | GroupTile":
    if isinstance(arg, int):
        return arg
    if isinstance(arg, list):
        return _ident(arg)
    if "steps" in arg:
        axes = tuple(map(_ident, arg["axes"]))
        return GroupTile(int(arg["steps"]), axes, bool(arg["in_memory_order"]), int(arg.get("ahead", 0)))
    return MatrixTile(str(arg["core"]), _ident(arg["rows"]), _ident(arg["inner"]))


def _ident(axis: Any) -> AxisId:
    return tuple(int(part) for part in axis)


@cache
def _results_at(top: Path) -> SearchResults:
    return SearchResults(top / "searches.jsonl")


def search_results() -> SearchResults:
    """Return the results in the directory that `PLUGRAD_CACHE` names at this moment."""
    return _results_at(cache_dir())
