"""Run the Python snippets of README and docs: those of one page share a namespace, in order."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("plugins/*/README.md")])
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def snippets(page: Path) -> list[tuple[int, str]]:
    """Return (line, code) of each snippet, the line being the one before the code."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, match.start(1)), match[1]) for match in SNIPPET.finditer(text)]


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=lambda page: page.name)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line, code in snippets(page):
        exec(compile("\n" * line + code, str(page), "exec"), namespace)
