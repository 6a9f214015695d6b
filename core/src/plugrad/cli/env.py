"""`plugrad env`: all settings with their values and what they do."""

import argparse
from dataclasses import asdict

from rich.text import Text

from plugrad.cli.output import add_json_option, new_table, print_json, print_rich
from plugrad.settings import SettingValue, cache_dir, settings

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
        table.add_row(*(Text(cell, style) for cell in _cells(row)))
    print_rich(table, f"cache directory: {cache_dir()}", *_misspelled())
    return 0


def _cells(row: SettingValue) -> tuple[str, ...]:
    return (row.name, row.type_name, _as_shell_value(row.value), row.origin, row.doc)


def _as_shell_value(value: object) -> str:
    """Write a value as one would in a shell."""
    return str(int(value)) if isinstance(value, bool) else str(value)


def _misspelled() -> list[str]:
    return [
        f"{name} is set, but there is no such setting; did you mean {meant}?"
        for name, meant in settings.unknown_variables().items()
        if meant is not None
    ]
