"""Find recordings, and read them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from plugrad.settings import cache_dir
from plugrad_viz.errors import RecordingError

Record = Mapping[str, Any]
#: the version of the format that this explorer reads
VERSION = 2
_KIND = "plugrad-recording"


@dataclass(frozen=True)
class Recording:
    """A recording in memory.

    Attributes:
        path: the file.
        header: its first line.
        records: what follows, in order.

    Example:
        >>> recording = read_recording(latest_recording())  # doctest: +SKIP
        >>> [r["name"] for r in recording.of_kind("launch")]  # doctest: +SKIP
        ['reduce_64_64_1a2b3c4d']
    """

    path: Path
    header: Record
    records: tuple[Record, ...]

    def of_kind(self, kind: str) -> Iterator[Record]:
        """Give the records of one kind, in order."""
        return (record for record in self.records if record.get("kind") == kind)


def folder_of_recordings() -> Path:
    """Return the folder that `VIZ=1` writes to."""
    return cache_dir() / "viz"


def latest_recording() -> Path:
    """Return the recording that was written to last.

    Raises:
        RecordingError: there is none.
    """
    folder = folder_of_recordings()
    found = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise RecordingError(
            f"there is no recording in {folder}. Make one: VIZ=1 python program.py", path=str(folder)
        )
    return found[-1]


def check_recording(path: Path) -> Record:
    """Return the header of a recording.

    Raises:
        RecordingError: the file cannot be read, is no recording, or is of another version.
    """
    try:
        with path.open(encoding="utf-8") as file:
            first: object = json.loads(file.readline())
    except OSError as error:
        raise RecordingError(f"cannot read {path}: {error.strerror or error}.", path=str(path)) from error
    except ValueError as error:
        raise RecordingError(f"{path} is no recording: its first line is no JSON.", path=str(path)) from error
    header: Record = cast("Record", first) if isinstance(first, dict) else {}
    if header.get("kind") != _KIND:
        raise RecordingError(f"{path} is no recording: its first line does not say so.", path=str(path))
    if header.get("version") != VERSION:
        raise RecordingError(
            f"{path} is a recording of version {header.get('version')}, this explorer reads {VERSION}. "
            "Install the plugrad-viz of the plugrad that recorded it.",
            path=str(path),
        )
    return header


def read_recording(path: Path) -> Recording:
    """Read a recording, without the cut last line of a killed program.

    Raises:
        RecordingError: the file is no recording of this version, or damaged.
    """
    header = check_recording(path)
    records: list[Record] = []
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    for number, line in enumerate(lines, start=2):
        try:
            records.append(json.loads(line))
        except ValueError as error:
            if number == len(lines) + 1:
                break
            raise RecordingError(f"{path} is damaged: line {number} is no JSON.", path=str(path)) from error
    return Recording(path, header, tuple(records))
