"""`plugrad new-backend`: write a short distribution with a device that works.

The files are those of `backend_template`, with names put in: C on the host, compiled by `cc`, in place of
what the author's device has.
"""

import argparse
import os
import re
import string
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from plugrad import __version__
from plugrad.errors import ArgumentError, FileFormatError
from plugrad.messages import documentation_page
from plugrad.plugin.hints import HINTS
from plugrad.plugin.hookspecs import SPEC_VERSION
from plugrad.plugin.manager import PluginManager, plugins

_TEMPLATE = "backend_template"
_NEXT = """\
{folder} is the device {device}: C on the host, until you put its own parts in.

    cd {folder}
    pip install -e .
    plugrad devices
    pytest

{page} goes on from there."""
_VALID = re.compile(r"[a-z][a-z0-9]{1,29}")


def main(words: Sequence[str]) -> int:
    """Write the distribution, say what to do next, and return the exit status.

    Raises:
        ArgumentError: the name cannot be a device's, or is taken.
        FileFormatError: the folder cannot be made.

    Example:
        >>> main(["mychip"])  # doctest: +SKIP
        0
    """
    arguments = make_parser().parse_args(words)
    name = check_name(arguments.name)
    folder = write_backend(name, arguments.directory)
    page = documentation_page("write-a-backend.md")
    print(_NEXT.format(folder=folder, device=name.upper(), page=page))
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        "plugrad new-backend",
        description="Write a new backend: a small distribution that works, to put a device's own parts into.",
    )
    parser.add_argument("name", metavar="NAME", help="the device's name, such as mychip")
    parser.add_argument(
        "--directory", type=Path, default=Path(), help="where to make its folder (default: here)"
    )
    return parser


def check_name(name: str, manager: PluginManager = plugins) -> str:
    """Return `name` in lower case.

    Raises:
        ArgumentError: it cannot be a device's name, or there is such a device.

    Example:
        >>> check_name("MyChip")
        'mychip'
    """
    lower = name.lower()
    if not _VALID.fullmatch(lower):
        raise ArgumentError(
            f"{name!r} cannot be a device's name, which begins with a letter and goes on with letters and "
            "digits, 2 to 30 in all: it becomes part of a package's name. Try one such as mychip."
        )
    known = {hint.device: f"of {hint.requirement.partition('[')[0]}" for hint in HINTS}
    known |= {s.name: f"of {s.owner}" for s in manager.sources() if not s.is_wrapper}
    if lower.upper() in known:
        raise ArgumentError(
            f"{lower.upper()} is the name {known[lower.upper()]} already. Choose another: two distributions "
            "with one device's name keep each other from being used."
        )
    return lower


def write_backend(name: str, parent: Path) -> Path:
    """Write the distribution of the device `name` into a new folder in `parent`.

    Return that folder.

    The folder appears with everything in it, or not at all.

    Raises:
        FileFormatError: it is there already, or cannot be made.
    """
    (template,) = files("plugrad_conformance.cli").joinpath(_TEMPLATE).iterdir()
    folder = parent / template.name.replace("NAME", name)
    if folder.exists():
        raise FileFormatError(
            f"{folder} exists, and nothing in it was changed. Remove it, or name another place with "
            "--directory.",
            path=str(folder),
        )
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent, prefix=f".{folder.name}-") as scratch:
            whole = Path(scratch) / folder.name
            _write(template, whole, substitutions(name))
            os.rename(whole, folder)
    except OSError as error:
        raise FileFormatError(
            f"cannot write {folder}: {error.strerror or error}. Name another place with --directory.",
            path=str(folder),
        ) from error
    return folder


def substitutions(name: str) -> dict[str, str]:
    """Return the replacement of each `$word` of the template.

    Example:
        >>> substitutions("mychip")["DEVICE"]
        'MYCHIP'
    """
    major, minor = (int(part) for part in __version__.split(".")[:2])
    core = f">={major}.{minor},<{major}.{minor + 1}"
    return {"name": name, "DEVICE": name.upper(), "core": core, "spec": SPEC_VERSION}


def _write(source: Traversable, target: Path, words: dict[str, str]) -> None:
    """Copy a file or folder of the template, filling in contents and names."""
    if source.is_file():
        text = string.Template(source.read_text(encoding="utf-8")).substitute(words)
        target.write_text(text, encoding="utf-8")
        return
    target.mkdir()
    for entry in source.iterdir():
        if entry.name != "__pycache__":
            _write(entry, target / entry.name.replace("NAME", words["name"]), words)
