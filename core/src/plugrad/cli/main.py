"""Parse the command line and run one command."""

import argparse
import os
import sys
from collections.abc import Sequence

from plugrad import __version__
from plugrad.cli import bench, cache, devices, env, explain, passes, tune
from plugrad.errors import PlugradError
from plugrad.extensions import COMMANDS, extension_names, load_extension
from plugrad.plugin.hints import PROGRAMS

# each has NAME, SUMMARY, add_arguments(parser) and run(arguments) -> exit status
_COMMANDS = (devices, env, passes, explain, tune, bench, cache)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Example:
        >>> main(["env", "--json"])  # doctest: +SKIP
    """
    words = sys.argv[1:] if arguments is None else arguments
    own = {command.NAME for command in _COMMANDS}
    try:
        is_option = not words or words[0].startswith("-")
        extension = None if is_option or words[0] in own else load_extension(COMMANDS, words[0])
        if extension is not None:
            status: int = extension.main(words[1:])
        elif not is_option and words[0] in PROGRAMS:
            program = PROGRAMS[words[0]]
            raise PlugradError(
                f"`plugrad {words[0]}` is a command of {program.requirement}, which is not installed. It "
                f"{program.summary}: `{program.install_line}`."
            )
        else:
            parsed = make_parser().parse_args(words)
            status = parsed.run(parsed)
        sys.stdout.flush()
    except PlugradError as error:
        print(f"plugrad: {error}", *error.__notes__, sep="\n", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # a pager or `head` has read enough; what Python flushes at exit must not fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def make_parser() -> argparse.ArgumentParser:
    """Return the parser with all commands."""
    parser = argparse.ArgumentParser("plugrad", description="A tensor compiler whose devices are plugins.")
    parser.add_argument("--version", action="version", version=f"plugrad {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        sub = commands.add_parser(command.NAME, help=command.SUMMARY, description=command.SUMMARY)
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    for name, distribution in sorted(extension_names(COMMANDS).items()):
        commands.add_parser(name, help=f"(from {distribution})")
    return parser
