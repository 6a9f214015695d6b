"""The glossary explains words of the code: each of its terms occurs there, in the order of the alphabet."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TERMS = re.findall(r"^\| `(.+?)` \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)


@cache
def words_of_the_code() -> frozenset[str]:
    """Return every word of every module and every module's name, parts of compound names included."""
    folders = (ROOT / "core" / "src", ROOT / "plugins", ROOT / "tests" / "conformance" / "src")
    files = [file for folder in folders for file in folder.rglob("*.py")]
    names = {word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}
    names |= {file.stem for file in files}
    return frozenset(part.lower() for name in names for part in (name, *name.split("_"), *_humps(name)))


def _humps(name: str) -> list[str]:
    return re.findall(r"[A-Z]+[a-z]+", name)


@pytest.mark.parametrize("term", TERMS)
def test_each_term_occurs_in_the_code(term: str) -> None:
    assert {term.lower(), f"{term.lower()}s"} & words_of_the_code(), f"{term} is nowhere in the code"


def test_terms_are_explained_once_and_in_order() -> None:
    assert len(TERMS) >= 30
    assert sorted(set(TERMS), key=str.lower) == TERMS
