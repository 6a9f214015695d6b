"""The command line: `plugrad devices | env | passes | cache`, one module a command."""

from plugrad.cli.main import main

__all__ = ["main"]
