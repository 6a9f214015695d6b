"""Record docs/images/terminal.svg, what a first run prints: `python docs/generate/record_terminal.py`.

Its times are those of the machine that recorded it, so the picture is no generated page: renew it by hand.
"""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).resolve().parents[1] / "images" / "terminal.svg"
PROGRAM = """\
from plugrad import Tensor

x, w = Tensor.rand(1024, 1024), Tensor.rand(1024, 1024)
y = (x @ w).relu().softmax()
print(y)
y.realize()
print(y)
"""
WIDTH = 112


def main() -> None:
    """Run the program twice, the second time from the cache, and write what that prints."""
    settings = {"DEBUG": "2", "COLUMNS": str(WIDTH), "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    command = [sys.executable, "-c", PROGRAM]
    for _ in range(2):
        done = subprocess.run(
            command,
            env={**os.environ, **settings},
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ cat program.py", "bold"))
    console.print(Text(PROGRAM))
    console.print(Text("$ DEBUG=2 python program.py", "bold"))
    console.print(Text.from_ansi(done.stdout))
    # no fonts from another host
    svg = re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="plugrad"), flags=re.DOTALL)
    svg = svg.replace("Fira Code", "ui-monospace, Menlo, Consolas")
    PICTURE.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
