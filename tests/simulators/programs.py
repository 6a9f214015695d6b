"""Run short programs on a simulated device, each in a process of its own that a fork server makes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Self

SERVER = Path(__file__).with_name("fork_server.py")


class Done(subprocess.CompletedProcess[str]):
    """A program that ended."""

    def clean_lines(self) -> list[str]:
        """Return what it printed; it must have left nothing behind and done nothing that is not allowed."""
        assert self.returncode == 0, self.stderr
        assert " stand-in" not in self.stderr, self.stderr
        return self.stdout.split("\n")


class Programs:
    """A fork server with the environment of a simulated device.

    Args:
        stand_ins: the environment that makes the plugin use them.
        folder: an empty one, for what programs print.
    """

    def __init__(self, stand_ins: dict[str, str], folder: Path) -> None:
        self._environment = os.environ | stand_ins
        self._folder = folder
        self._count = 0
        self._server = subprocess.Popen(
            [sys.executable, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self._environment,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._server.communicate()

    def run(self, program: str, **settings: object) -> Done:
        """Run a program with further environment variables."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._count += 1
        printed = [self._folder / f"{self._count}.{name}" for name in ("stdout", "stderr")]
        environment = os.environ | self._environment | {name: str(value) for name, value in settings.items()}
        request = {"program": program, "environment": environment}
        request |= dict(zip(("stdout", "stderr"), map(str, printed), strict=True))
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        status = int(self._server.stdout.readline())
        return Done((), status, *(path.read_text() for path in printed))
