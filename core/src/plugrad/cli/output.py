"""Write the output of commands: tables for people, JSON for programs."""

import argparse
import json

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Give a command the option --json."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def print_json(value: object) -> None:
    """Print `value` as indented JSON."""
    print(json.dumps(value, indent=2))


def new_table(*columns: str) -> Table:
    """Return an empty table in the style of all commands.

    The last column takes the room that is left. Names in the first are not broken.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:-1]:
        table.add_column(column, overflow="fold")
    table.add_column(columns[-1], overflow="fold", ratio=1)
    return table


def print_rich(*parts: Table | str) -> None:
    """Print tables and lines, coloured where the terminal can."""
    console = Console(highlight=False, emoji=False)
    for part in parts:
        console.print(part, markup=False, soft_wrap=isinstance(part, str))
