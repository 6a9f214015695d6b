"""`plugrad passes`: every pipeline, and its passes in order."""

import argparse
import importlib
import pkgutil
from collections.abc import Sequence
from typing import Any, cast

from rich.text import Text

from plugrad._util import did_you_mean
from plugrad.cli.output import add_json_option, new_table, print_json, print_rich
from plugrad.errors import PlugradError
from plugrad.uop.passes import Pipeline

NAME = "passes"
SUMMARY = (
    "List the pipelines of the compiler and their passes in order, with what each does and why it is there."
)

_PACKAGES = ("plugrad.schedule", "plugrad.codegen")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_json_option(parser)
    parser.add_argument("pipeline", nargs="?", help="show this one only")


def run(arguments: argparse.Namespace) -> int:
    """Print a table for each pipeline."""
    shown = select(find_pipelines(), arguments.pipeline)
    if arguments.json:
        print_json({pipeline.name: _as_json(pipeline) for pipeline in shown})
        return 0
    for pipeline in shown:
        table = new_table("", pipeline.name, "what it does", "why there")
        for number, stage in enumerate(pipeline.stages, start=1):
            table.add_row(str(number), Text(stage.name, "bold"), Text(stage.summary), Text(stage.why))
        print_rich(table)
    return 0


def find_pipelines(packages: Sequence[str] = _PACKAGES) -> list[Pipeline[Any]]:
    """Return the pipelines that these packages define, in the order of data flow."""
    found: dict[str, Pipeline[Any]] = {}
    for package in packages:
        for module in _modules_of(package):
            for value in vars(importlib.import_module(module)).values():
                if isinstance(value, Pipeline):
                    pipeline = cast("Pipeline[Any]", value)
                    found[pipeline.name] = pipeline
    return list(found.values())


def select(pipelines: list[Pipeline[Any]], name: str | None) -> list[Pipeline[Any]]:
    """Return the pipeline called `name`, or all for None.

    Raises:
        PlugradError: there is none of this name.
    """
    if name is None:
        return pipelines
    names = [pipeline.name for pipeline in pipelines]
    if name not in names:
        known = ", ".join(names) or "none"
        raise PlugradError(f"there is no pipeline {name!r}.{did_you_mean(name, names)} There are: {known}.")
    return [pipelines[names.index(name)]]


def _modules_of(package: str) -> list[str]:
    root = importlib.import_module(package)
    return [package, *(module.name for module in pkgutil.walk_packages(root.__path__, package + "."))]


def _as_json(pipeline: Pipeline[Any]) -> list[dict[str, str]]:
    return [{"name": stage.name, "summary": stage.summary, "why": stage.why} for stage in pipeline.stages]
