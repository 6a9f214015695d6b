"""Modules and folders of every distribution stay small enough to be read."""

from collections import Counter
from pathlib import Path

_MOST_LINES = 420
_MOST_MODULES = 20


def _modules() -> list[Path]:
    root = Path(__file__).parents[2]
    groups = ("", "plugins/*/", "apps/*/", "examples/*/", "tests/*/")
    folders = [folder for group in groups for folder in root.glob(f"{group or 'core/'}src")]
    return [path for folder in folders for path in folder.rglob("*.py")]


def test_modules_have_few_lines() -> None:
    long = {str(path): n for path in _modules() if (n := len(path.read_text().splitlines())) > _MOST_LINES}
    assert long == {}


def test_folders_have_few_modules() -> None:
    counts = Counter(path.parent for path in _modules() if path.name != "__init__.py")
    assert counts
    assert {str(folder): n for folder, n in counts.items() if n > _MOST_MODULES} == {}
