"""First lines of docstrings are short sentences that begin with a verb or a noun, in every distribution."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_MOST_WORDS = 17
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _first_paragraphs() -> Iterator[tuple[str, str]]:
    root = Path(__file__).parents[2]
    for path in sorted(root.glob("**/src/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, _DOCUMENTED) and (text := ast.get_docstring(node)):
                name = "" if isinstance(node, ast.Module) else f":{node.lineno} {node.name}"
                yield f"{path.relative_to(root)}{name}", re.split(r"\n\s*\n", text)[0]


def _words(paragraph: str) -> int:
    """Count words; a piece of code is one, and shapes such as `(..., m, n) -> (...)` are none."""
    text = re.sub(r"`[^`]*`", "code", paragraph)
    return len(re.sub(r"\([^()]*\)|->", "", text).split())


def test_first_lines_of_docstrings_are_short() -> None:
    assert not [where for where, text in _first_paragraphs() if _words(text) > _MOST_WORDS]


def test_docstrings_do_not_begin_with_a_question_word() -> None:
    question = re.compile(r"(return |say )?(what|which|who|whose|why|how)\b", re.IGNORECASE)
    assert not [where for where, text in _first_paragraphs() if question.match(text)]
