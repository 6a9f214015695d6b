"""Run the snippets of README and docs, those of one page in order.

Python shares a namespace; a block `output` below a snippet is what it prints, and --update-goldens writes it.
Shell runs in one script, in a folder of its own, where pip installs into.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from plugrad.engine.compile import clear_loaded

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("plugins/*/README.md")])
SNIPPET = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^```python\n((?:(?!```).*\n)*)```\n\n```output\n((?:(?!```).*\n)*)```", re.MULTILINE)


def snippets(page: Path, language: str = "python") -> list[tuple[int, str]]:
    """Return (line, code) of each snippet, the line being the one before the code."""
    text = page.read_text(encoding="utf-8")
    found = (match for match in SNIPPET.finditer(text) if match[1] == language)
    return [(text.count("\n", 0, match.start(2)), match[2]) for match in found]


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=lambda page: page.name)
def test_snippets_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    # some count the kernels that a process compiles
    clear_loaded()
    namespace: dict[str, object] = {"__name__": "__main__", "__file__": str(page)}
    printed: dict[str, str] = {}
    for line, code in snippets(page):
        with contextlib.redirect_stdout(io.StringIO()) as captured:
            exec(compile("\n" * line + code, str(page), "exec"), namespace)
        printed[code] = "".join(f"{text.rstrip()}\n" for text in captured.getvalue().splitlines())
    text = page.read_text(encoding="utf-8")
    if request.config.getoption("--update-goldens"):
        page.write_text(PRINTED.sub(lambda match: _with_output(match, printed), text), encoding="utf-8")
        return
    for match in PRINTED.finditer(text):
        assert printed[match[1]] == match[2], f"{page}: run pytest with --update-goldens, and review the page"


def _with_output(match: re.Match[str], printed: dict[str, str]) -> str:
    return f"```python\n{match[1]}```\n\n```output\n{printed[match[1]]}```"


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page, "sh")], ids=lambda page: page.name)
def test_shell_snippets_run(page: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    surroundings = {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "PYTHONPATH": os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH")))),
        "PLUGRAD_CACHE": str(tmp_path / "cache"),
        # what is needed is installed already: no network, and the interpreter's own packages stay as they are
        "PIP_TARGET": str(site),
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as the value of the option, which is False
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    script = "set -euxo pipefail\n" + "\n".join(code for _, code in snippets(page, "sh"))
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, **surroundings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
