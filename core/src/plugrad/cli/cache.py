"""`plugrad cache`: what is kept on disk between processes, and removing it."""

import argparse
from pathlib import Path

from plugrad.cli.output import add_json_option, print_json, print_rich
from plugrad.errors import CacheError
from plugrad.runtime.disk_cache import kernel_cache
from plugrad.settings import cache_dir, settings

NAME = "cache"
SUMMARY = "Show or clear what is kept on disk between processes: compiled kernels and recordings."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_json_option(parser)
    parser.add_argument("action", nargs="?", choices=("info", "clear"), default="info")


def run(arguments: argparse.Namespace) -> int:
    """Show or clear."""
    report = clear() if arguments.action == "clear" else info()
    if arguments.json:
        print_json(report)
    else:
        print_rich(*(f"{name}: {value}" for name, value in report.items()))
    return 0


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
        "recordings": len(sizes),
        "recording_bytes": sum(sizes),
    }


def clear() -> dict[str, object]:
    """Remove all entries and return how many there were.

    Raises:
        CacheError: the directory cannot be changed.
    """
    removed = kernel_cache().clear()
    files = recordings()
    for path in files:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise CacheError(f"cannot remove {path}: {error.strerror}. Change its permissions.") from error
    return {"directory": str(cache_dir()), "removed_kernels": removed, "removed_recordings": len(files)}


def recordings() -> list[Path]:
    """Return the files that VIZ=1 has written."""
    return sorted((cache_dir() / "viz").glob("*.jsonl"))
