"""The page of benchmarks has several sections, each written by a program of its own."""

import datetime
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import plugrad

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def section_body(
    script: str,
    peers: Sequence[ModuleType],
    table: str,
    explanation: str,
    machine: Mapping[str, str] | None = None,
) -> str:
    """Return a section's text: the command, versions and date, how busy the machine was, the table.

    `machine` describes it where no other part of the page does.
    """
    versions = [f"{library.__name__} {library.__version__}" for library in (plugrad, *peers)]
    facts = f"- machine: {', '.join(f'{k}: {v}' for k, v in machine.items())}\n" if machine else ""
    facts += f"- versions: {', '.join(versions)}\n- date: {datetime.date.today().isoformat()}"
    busy = os.getloadavg()[1] / (os.cpu_count() or 1)
    if busy > 1.5:
        facts += f"\n- others used the machine: {busy:.1f} processes wanted each core"
    command = f"Written by `python benchmarks/{script} --write`; do not edit."
    return "\n\n".join((command, facts, table, explanation))


def write_section(title: str, body: str) -> None:
    """Exchange a section of the page of benchmarks."""
    PAGE.write_text(with_section(PAGE.read_text(), title, body))


def sections_behind(page: str) -> str:
    """Return everything from the first heading of the second level on."""
    found = re.search(r"^## ", page, re.MULTILINE)
    return page[found.start() :] if found else ""


def with_section(page: str, title: str, body: str) -> str:
    """Return a page with a section exchanged, or added at the end."""
    section = f"## {title}\n\n{body.strip()}\n"
    pattern = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    if pattern.search(page):
        return pattern.sub(lambda _: f"{section}\n", page).rstrip() + "\n"
    return f"{page.rstrip()}\n\n{section}"
