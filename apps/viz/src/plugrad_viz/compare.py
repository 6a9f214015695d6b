"""Compare the kernels that two versions of plugrad make of the same schedule.

A kernel of one is that of the other which has the same graph when the scheduler hands it on.
"""

import difflib
import hashlib
from collections.abc import Iterator

from plugrad_viz.recording import Record, Recording

_FACTS = ("op", "dtype", "arg", "tag")


def compare_kernels(before: Recording, after: Recording) -> Iterator[str]:
    """Return the lines of a report: diffs of kernels with different sources, then counts.

    Example:
        >>> list(compare_kernels(read_recording(a), read_recording(b)))  # doctest: +SKIP
        ['kernels: 2 equal, 0 differ, 0 gone, 0 new']
    """
    old, new = sources_by_graph(before), sources_by_graph(after)
    shared = [graph for graph in old if graph in new]
    changed = [graph for graph in shared if old[graph][1] != new[graph][1]]
    for graph in changed:
        (name, left), (_, right) = old[graph], new[graph]
        yield from difflib.unified_diff(
            left.splitlines(), right.splitlines(), f"before/{name}", f"after/{name}", lineterm=""
        )
    equal, gone = len(shared) - len(changed), len(old) - len(shared)
    yield f"kernels: {equal} equal, {len(changed)} differ, {gone} gone, {len(new) - len(shared)} new"


def sources_by_graph(recording: Recording) -> dict[tuple[str, str], tuple[str, str]]:
    """Return name and source of each kernel by device and key of its graph.

    The source says `kernel` in place of the name, which depends on what passes make of the graph.
    """
    keys: dict[int, str] = {}
    graphs: dict[tuple[str, str], tuple[str, str]] = {}
    out: dict[tuple[str, str], tuple[str, str]] = {}
    for record in recording.records:
        if record["kind"] == "node":
            keys[record["id"]] = _key(record, keys)
        elif record["kind"] == "lower":
            graphs[record["name"], record["device"]] = (record["device"], keys[record["ast"]])
        elif record["kind"] == "compile" and (graph := graphs.get((record["name"], record["device"]))):
            out[graph] = (record["name"], record["source"].replace(record["name"], "kernel"))
    return out


def _key(node: Record, keys: dict[int, str]) -> str:
    """Return a hash of a node and its sources, the same in each recording."""
    parts = [str(node.get(name)) for name in _FACTS] + [keys[source] for source in node["src"]]
    return hashlib.sha256("|".join(parts).encode()).hexdigest()
