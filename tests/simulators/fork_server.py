"""Run each program in a process of its own, which has imported already what they all import.

    python tests/simulators/fork_server.py     # reads requests, answers them

A request is a line of JSON with the `program`, its `environment`, and files for its `stdout` and `stderr`;
the answer is a line with its exit status. Nothing is computed before, so no device is open or looked for.
"""

import json
import os
import sys
from importlib import import_module
from typing import Any

from plugrad.settings import settings

IMPORTED = (
    "numpy",
    "plugrad.builtin",
    "plugrad.codegen.lower",
    "plugrad.engine.realize",
    "plugrad.schedule.create",
)


def serve() -> dict[str, Any] | None:
    """Answer requests until there are none; in the process of a program, return its request."""
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        child = os.fork()
        if not child:
            return request
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return None


def become(request: dict[str, Any]) -> None:
    """Take the streams and the environment of a program."""
    for number, name in enumerate((os.devnull, request["stdout"], request["stderr"])):
        file = os.open(name, os.O_WRONLY | os.O_CREAT if number else os.O_RDONLY, 0o600)
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["environment"])
    settings.refresh()


def main() -> None:
    """Import, and serve."""
    for name in IMPORTED:
        import_module(name)
    if (asked := serve()) is None:
        return
    become(asked)
    exec(compile(asked["program"], "<string>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    main()
