"""The one table of known backends, and the promise that no other file of the core names one."""

import re
from pathlib import Path

import plugrad
from plugrad.plugin.hints import HINTS, hint_for, nearest_name

PACKAGE = Path(plugrad.__file__).parent


def test_a_hint_is_found_by_name_and_by_alias_in_any_case() -> None:
    for hint in HINTS:
        for name in (hint.device, *hint.aliases):
            assert hint_for(name.lower()) is hint


def test_extras_are_quoted_for_the_shell() -> None:
    for hint in HINTS:
        assert ("[" in hint.requirement) == ("'" in hint.install_line)


def test_the_nearest_name_may_be_installed_or_known() -> None:
    assert nearest_name("pythn", ("PYTHON",)) == "PYTHON"
    assert nearest_name("metl", ()) == "METAL"
    assert nearest_name("zzzz", ("PYTHON",)) is None


def test_no_other_file_of_the_core_imports_or_names_a_backend() -> None:
    named = re.compile(
        r"plugrad[-_](plugin|cpu_clang|cuda|metal|opencl)|[\"'](CPU|CUDA|METAL|OPENCL|CLANG)[\"':]"
    )
    offenders = [
        f"{file.relative_to(PACKAGE)}: {found.group()}"
        for file in sorted(PACKAGE.rglob("*.py"))
        if file != PACKAGE / "plugin" / "hints.py" and (found := named.search(file.read_text()))
    ]
    assert offenders == []
