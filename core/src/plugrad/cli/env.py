"""`plugrad env`: all settings with their values and what they do."""

import argparse
from dataclasses import asdict

from rich.text import Text

from plugrad.cli.output import add_json_option, new_table, print_json, print_rich
from plugrad.settings import cache_dir, settings

NAME = "env"
SUMMARY = "List all settings: environment variables, their values, and what they do."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the table."""
    rows = settings.describe()
    if arguments.json:
        print_json([asdict(row) for row in rows])
        return 0
    table = new_table("setting", "type", "value", "from", "what it does")
    for row in rows:
        style = "" if row.origin == "default" else "bold"
        shown = str(int(row.value)) if isinstance(row.value, bool) else str(row.value)
        cells = (row.name, row.type_name, shown, row.origin, row.doc)
        table.add_row(*(Text(cell, style) for cell in cells))
    misspelled = [
        f"{name} is set, but there is no such setting; did you mean {meant}?"
        for name, meant in settings.unknown_variables().items()
        if meant is not None
    ]
    print_rich(table, f"cache directory: {cache_dir()}", *misspelled)
    return 0
