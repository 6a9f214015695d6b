"""The generated pages of docs/ are up to date, and say nothing of names that are not there."""

import doctest
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from plugrad import Tensor, dtypes

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MODULES = (
    *("api", "architecture", "error_reference", "internals"),
    *("habits", "migrating", "names", "otherwise", "surface"),
)
LIBRARIES = {"torch": "torch", "np": "numpy", "tinygrad": "tinygrad"}
#: Parts of libraries that are not imported with them.
PARTS = (
    "torch.utils.checkpoint",
    "torch.utils.data",
    "tinygrad.nn.optim",
    "tinygrad.nn.state",
    "torch.nn.utils",
)


@pytest.fixture(scope="module")
def generator() -> Iterator[ModuleType]:
    """The program that writes the pages."""
    before = set(sys.modules)
    sys.path.insert(0, str(DOCS / "generate"))
    try:
        spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate/__main__.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(DOCS / "generate"))
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in MODULES:
                del sys.modules[name]


def test_pages_are_up_to_date(generator: ModuleType) -> None:
    made = generator.pages()
    stale = [name for name, text in made.items() if not is_text(DOCS / name, text)]
    left = {path.relative_to(DOCS).as_posix() for path in DOCS.glob("api/*.md")} - set(made)
    assert not stale, f"run `python docs/generate`: {stale} differ from the code"
    assert not left, f"run `python docs/generate`: {left} are no longer made"


def is_text(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


def names_of(generator: ModuleType) -> list[Any]:
    return sys.modules["surface"].everything()


def test_no_section_of_a_docstring_is_left_as_it_is() -> None:
    section = re.compile(r"^[A-Z]\w+:\n    \S", re.MULTILINE)
    pages = DOCS.glob("api/*.md")
    assert not [path.name for path in pages if section.search(path.read_text(encoding="utf-8"))]


def test_every_public_name_says_what_it_does(generator: ModuleType) -> None:
    silent = [name.path for name in names_of(generator) if not name.doc]
    assert not silent


def test_every_public_name_shows_an_example(generator: ModuleType) -> None:
    without = [name.path for name in names_of(generator) if not (name.first_name or ">>>" in name.doc)]
    assert not without, f"add an `Example:` to the docstrings of {without}"


@pytest.mark.parametrize("page", ["plugrad", "dtypes", "settings", "jit"])
def test_examples_run(generator: ModuleType, page: str) -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for name in sys.modules["surface"].elsewhere()[page][1]:
        holder = name.function or name.value
        names = {**vars(sys.modules[holder.__module__]), "Tensor": Tensor, "dtypes": dtypes}
        runner.run(parser.get_doctest(name.doc, names, name.path, None, None))
    assert runner.summarize().failed == 0


def test_every_parameter_is_typed(generator: ModuleType) -> None:
    untyped = [
        f"{name.path}({parameter.name})"
        for name in names_of(generator)
        if name.function is not None
        for parameter in inspect.signature(name.function).parameters.values()
        if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
    ]
    assert not untyped


def found(path: str) -> bool:
    """Say whether a dotted name of another library is there."""
    top, _, rest = path.partition(".")
    try:
        reduce(getattr, rest.split("."), importlib.import_module(LIBRARIES[top]))
    except AttributeError:
        return False
    return True


def names_not_here(generator: ModuleType) -> set[str]:
    listed = [*(row.names for row in generator.migrating.OTHERWISE), *generator.migrating.NOT_HERE.values()]
    return set(" ".join(listed).split())


def public_functions(owner: Any) -> set[str]:
    return {
        name
        for name in getattr(owner, "__all__", dir(owner))
        if name[0].islower() and not inspect.isclass(value := getattr(owner, name)) and callable(value)
    }


@pytest.mark.parametrize("path", ["torch.Tensor", "torch.nn.functional", "np"])
@pytest.mark.filterwarnings("ignore")
def test_every_name_of_the_others_is_there_or_said_not_to_be(generator: ModuleType, path: str) -> None:
    library, _, rest = path.partition(".")
    owner = reduce(getattr, filter(None, rest.split(".")), pytest.importorskip(LIBRARIES[library]))
    # newer ones have other names
    known = {"np": "2.4", "torch": "2.13"}[library]
    if not importlib.import_module(LIBRARIES[library]).__version__.startswith(f"{known}."):
        pytest.skip(f"the list is that of {LIBRARIES[library]} {known}")
    rows = generator.migrating.ROWS.values()
    listed = {name for row in rows for name in row[:3]} | names_not_here(generator)
    said = {name.rpartition(".")[2] for name in listed if name.startswith(f"{library}.")}
    ours = {name.path.rpartition(".")[2] for name in names_of(generator)}
    # what ends in "_" writes in place
    names = {name for name in public_functions(owner) if not name.endswith("_")}
    assert not sorted(names - said - ours)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.filterwarnings("ignore")
def test_names_of_other_libraries_are_there(generator: ModuleType, library: str) -> None:
    pytest.importorskip(LIBRARIES[library])
    for part in PARTS:
        if part.startswith(f"{library}."):
            importlib.import_module(part)
    rows = generator.migrating.ROWS.values()
    names = {name for row in rows for name in row[:3] if name} | names_not_here(generator)
    missing = sorted(name for name in names if name.startswith(f"{library}.") and not found(name))
    assert not missing


def test_the_table_is_about_names_of_plugrad(generator: ModuleType) -> None:
    ours = {name.path for name in names_of(generator)}
    assert not set(generator.migrating.ROWS) - ours


def test_each_row_is_written_in_the_file_of_its_page(generator: ModuleType) -> None:
    surface, tables = sys.modules["surface"], sys.modules["names"].PAGES
    pages = surface.of_tensor() | {page: names for page, (_, names) in surface.elsewhere().items()}
    described = {page: {name.path for name in names} for page, names in pages.items()}
    misplaced = {page: names for page, rows in tables.items() if (names := set(rows) - described[page])}
    assert not misplaced, f"move these to the file in docs/generate/names of their page: {misplaced}"
    assert sum(map(len, tables.values())) == len(generator.migrating.ROWS), "a name has two rows"


@pytest.mark.parametrize("module", ["api", "surface"])
def test_examples_of_the_generator_run(generator: ModuleType, module: str) -> None:
    assert doctest.testmod(sys.modules[module], extraglobs={"Tensor": Tensor}).failed == 0
