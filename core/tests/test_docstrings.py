"""First lines of docstrings are short sentences that begin with a verb or a noun, in every distribution."""

import ast
import re
from functools import cache
from pathlib import Path

_MOST_WORDS = 15
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def _first_paragraphs() -> list[tuple[str, str]]:
    root = Path(__file__).parents[2]
    # environments that tools keep in hidden folders of the root have sources too, of others
    sources = [*root.glob("core/src"), *root.glob("tests/*/src")]
    sources += [folder for group in ("plugins", "apps", "examples") for folder in root.glob(f"{group}/*/src")]
    found: list[tuple[str, str]] = []
    for path in sorted(path for folder in sources for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, _DOCUMENTED) and (text := ast.get_docstring(node)):
                name = "" if isinstance(node, ast.Module) else f":{node.lineno} {node.name}"
                found.append((f"{path.relative_to(root)}{name}", re.split(r"\n\s*\n", text)[0]))
    return found


def _words(paragraph: str) -> int:
    """Count words; a piece of code is one, and shapes such as `(..., m, n) -> (...)` are none."""
    text = re.sub(r"`[^`]*`", "code", paragraph)
    return len(re.sub(r"\([^()]*\)|->", "", text).split())


def test_first_lines_of_docstrings_are_short() -> None:
    assert not [where for where, text in _first_paragraphs() if _words(text) > _MOST_WORDS]


def test_docstrings_do_not_begin_with_a_question_word() -> None:
    question = re.compile(r"(return |say )?(what|which|who|whose|why|how)\b", re.IGNORECASE)
    assert not [where for where, text in _first_paragraphs() if question.match(text)]
