"""`plugrad cache`: show, remove and share what is kept on disk between processes."""

import argparse
from pathlib import Path

from plugrad.cli.output import add_json_option, print_json, print_rich
from plugrad.engine.search.results import search_results
from plugrad.errors import CacheError
from plugrad.runtime.disk_cache import kernel_cache
from plugrad.settings import cache_dir, settings

NAME = "cache"
SUMMARY = (
    "Show or clear what is kept on disk: compiled kernels, recordings, results of searches. Export or import "
    "the results of searches, for machines with the same device."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_json_option(parser)
    parser.add_argument("action", nargs="?", choices=("info", "clear", "export", "import"), default="info")
    parser.add_argument("file", nargs="?", type=Path, help="where to export to, or to import from")


def run(arguments: argparse.Namespace) -> int:
    """Show, clear, export or import.

    Raises:
        CacheError: a file cannot be read or written, or its name is missing.
    """
    action, file = arguments.action, arguments.file
    if action in ("export", "import"):
        if file is None:
            raise CacheError(f"give a file to {action}: `plugrad cache {action} searches.jsonl`.")
        report = share(action, file)
    else:
        report = clear() if action == "clear" else info()
    if arguments.json:
        print_json(report)
    else:
        print_rich(*(f"{name}: {value}" for name, value in report.items()))
    return 0


def share(action: str, file: Path) -> dict[str, object]:
    """Export search results to `file`, or import its results, and say how many.

    Raises:
        CacheError: the file cannot be read or written.
    """
    results = search_results()
    try:
        count = results.export(file) if action == "export" else results.merge(file)
    except OSError as error:
        raise CacheError(f"cannot {action} {file}: {error.strerror or error}.") from error
    return {"file": str(file), "exported" if action == "export" else "new": count}


def info() -> dict[str, object]:
    """Print the location and contents of the cache."""
    kernels = kernel_cache().info()
    sizes = [path.stat().st_size for path in recordings()]
    return {
        "directory": str(cache_dir()),
        "level": settings.CACHELEVEL,
        "kernels": kernels.entries,
        "libraries": kernels.blobs,
        "kernel_bytes": kernels.nbytes,
        "limit_bytes": kernels.limit_bytes,
        "searches": len(search_results()),
        "recordings": len(sizes),
        "recording_bytes": sum(sizes),
    }


def clear() -> dict[str, object]:
    """Remove all entries and return how many there were.

    Raises:
        CacheError: the directory cannot be changed.
    """
    removed = kernel_cache().clear()
    results, shown = search_results(), recordings()
    searches = len(results)
    results.forget()
    for path in (*shown, results.path):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise CacheError(f"cannot remove {path}: {error.strerror}. Change its permissions.") from error
    return {
        "directory": str(cache_dir()),
        "removed_kernels": removed,
        "removed_searches": searches,
        "removed_recordings": len(shown),
    }


def recordings() -> list[Path]:
    """Return the files that VIZ=1 has written."""
    return sorted((cache_dir() / "viz").glob("*.jsonl"))
