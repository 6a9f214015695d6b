"""The pages of docs/api, made of signatures and docstrings."""

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_args

from surface import TENSOR_PAGES, Name, elsewhere, of_tensor

import plugrad
from plugrad.dtype import DType, dtypes
from plugrad.settings import Settings

MADE = "<!-- made by `python docs/generate` from the code: change that -->"
SECTION = re.compile(r"^(Args|Attributes|Raises|Returns|Warns|Yields|Source|Example|Examples|Note):\s*(.*)$")


def pages() -> dict[str, str]:
    """Return the text of each page by its path in docs/."""
    titles = {file: title for file, title, _ in TENSOR_PAGES}
    found = {file: (titles[file], names) for file, names in of_tensor().items()} | elsewhere()
    made = {f"api/{file}.md": _page(title, names) for file, (title, names) in found.items()}
    made["api/settings.md"] += "\n" + _table(("setting", "type", "default", ""), _settings())
    made["api/dtypes.md"] += "\n" + _table(("dtype", "bytes", "kind"), _dtypes())
    return {"api/README.md": _index(found), **made}


def _settings() -> list[tuple[str, ...]]:
    table = Settings.table().values()
    return [(f"`{s.name}`", s.type_name, f"`{s.default!r}`", s.doc) for s in table]


def _dtypes() -> list[tuple[str, ...]]:
    named = {name: value for name, value in vars(dtypes).items() if isinstance(value, DType)}
    return [(f"`dtypes.{name}`", str(d.itemsize), d.kind) for name, d in named.items() if name == d.name]


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _index(found: dict[str, tuple[str, list[Name]]]) -> str:
    lines = [MADE, "", "# Every public name", ""]
    lines += ["Names of other libraries are in [migrating.md](../migrating.md).", ""]
    for file, (title, names) in found.items():
        lines += [f"## [{title}]({file}.md)", "", "| name | |", "|---|---|"]
        lines += [f"| [`{n.path}`]({file}.md#{_anchor(n)}) | {_cell(_summary(n))} |" for n in names]
        lines.append("")
    lines += ["## Types in signatures", "", ""]
    return "\n".join(lines) + _table(
        ("name", "what it is"), _aliases(n for _, names in found.values() for n in names)
    )


def _aliases(names: Iterable[Name]) -> list[tuple[str, ...]]:
    """Return the names of types that signatures use, and what each stands for."""
    used = set(re.findall(r"\b[A-Z]\w+", " ".join(signature(name).partition("(")[2] for name in names)))
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(plugrad.__path__, "plugrad."):
        if not module.name.startswith(("plugrad.tensor.", "plugrad.nn.", "plugrad.dtype")):
            continue
        for node in ast.parse(inspect.getsource(importlib.import_module(module.name))).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(target, ast.Name) and target.id in used and isinstance(node, ast.Assign):
                found.setdefault(target.id, _annotation(node.value))
    return [(f"`{name}`", f"`{found[name]}`") for name in sorted(found)]


def _page(title: str, names: Iterable[Name]) -> str:
    parts = [MADE, "", f"# {title}", ""]
    for name in names:
        parts += [f"### {name.path}", "", "```text", signature(name), "```", "", *_markdown(name.doc), ""]
    return "\n".join(parts).rstrip() + "\n"


def _anchor(name: Name) -> str:
    """Return the anchor that GitHub gives the heading of a name."""
    return name.path.lower().replace(".", "")


def _summary(name: Name) -> str:
    return name.doc.partition("\n\n")[0].replace("\n", " ")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# --- signatures ---


def signature(name: Name) -> str:
    """Return how a name is called, as its source says.

    Example:
        >>> signature(Name("Tensor.relu", Tensor.relu, Tensor))
        'Tensor.relu() -> Tensor'
    """
    value = name.value
    if inspect.isclass(value):
        return f"{name.path}({_class_parameters(value)})"
    function = name.function
    assert function is not None, f"{name.path} is neither a class nor a function"
    node = _definition(inspect.unwrap(function))
    returns = f" -> {_annotation(node.returns)}" if node.returns else ""
    if isinstance(value, property):
        return f"{name.path}: {_annotation(node.returns)}" if node.returns else name.path
    skips = name.owner is not None and not isinstance(value, staticmethod)
    return f"{name.path}({_parameters(node.args, skips)}){returns}"


def _class_parameters(cls: type) -> str:
    init = vars(cls).get("__init__") or cls.__init__
    if inspect.isfunction(init) and init.__code__.co_filename.endswith(".py"):
        return _parameters(_definition(init).args, True)
    given = [field for field in fields(cls) if field.init] if is_dataclass(cls) else []
    by_name = [field for field in given if field.kw_only]
    shown = [_field(field) for field in given if not field.kw_only]
    return ", ".join([*shown, *(["*"] if by_name else []), *map(_field, by_name)])


def _field(field: "Field[Any]") -> str:
    default = "" if field.default is MISSING else f" = {field.default!r}"
    return f"{field.name}: {_type_name(field.type)}{default}"


def _type_name(of_field: object) -> str:
    if isinstance(of_field, type) and not get_args(of_field):
        return of_field.__name__
    # without the modules of names
    return re.sub(r"(?:[a-z_]\w*\.)+", "", str(of_field))


def _definition(function: object) -> ast.FunctionDef:
    source = textwrap.dedent(inspect.getsource(function))  # pyright: ignore[reportArgumentType]
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def _parameters(args: ast.arguments, skips_first: bool) -> str:
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    shown = [_parameter(a, d) for a, d in zip(plain, defaults, strict=True)][1 if skips_first else 0 :]
    if args.vararg:
        shown.append("*" + _parameter(args.vararg, None))
    elif args.kwonlyargs:
        shown.append("*")
    shown += [_parameter(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    # the keywords of other libraries are documented once, in migrating.md
    if args.kwarg and args.kwarg.arg not in ("names", "_names"):
        shown.append("**" + _parameter(args.kwarg, None))
    return ", ".join(shown)


def _parameter(arg: ast.arg, default: ast.expr | None) -> str:
    value = "" if default is None else f" = {ast.unparse(default)}".removesuffix(" = REQUIRED")
    return f"{arg.arg}: {_annotation(arg.annotation)}{value}"


def _annotation(node: ast.expr | None) -> str:
    if node is None:
        return "Any"
    # names in quotes are names; the texts of a Literal stay texts
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
    if "Literal" not in text:
        text = text.replace("'", "")
    return re.sub(r"\bSelf\b", "Tensor", text)


# --- docstrings ---


def _markdown(doc: str) -> list[str]:
    """Return a docstring as lines of Markdown: sections as lists, examples as code."""
    lines: list[str] = []
    section, body = "", []
    for line in [*doc.split("\n"), "End:"]:
        match = SECTION.match(line)
        if match is None and line != "End:":
            body.append(line)
            continue
        lines += _section(section, body)
        section, body = (match[1], [match[2]] if match[2] else []) if match else ("", [])
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _section(title: str, body: list[str]) -> list[str]:
    text = textwrap.dedent("\n".join(body)).strip("\n")
    if not title:
        return [*text.split("\n"), ""] if text else []
    if title.startswith("Example"):
        return ["```pycon", *text.split("\n"), "```", ""]
    if title == "Source":
        return [f"Source: {' '.join(text.split())}", ""]
    return [f"{title}:", "", *_items(text), ""]


def _items(text: str) -> list[str]:
    """Return the entries `name: description` of a section as a list."""
    items: list[str] = []
    for line in text.split("\n"):
        if line.startswith(" ") and items:
            items[-1] += " " + line.strip()
        elif line.strip():
            items.append(line.strip())
    return ["- " + re.sub(r"^([^:`]+):", r"`\1`:", item) for item in items]
