"""What the base class does for every compiler."""

import pytest

from plugrad.errors import CompileError
from plugrad.runtime.compiler import Compiler, merge_sources


class Upper(Compiler):
    cache_key = "upper-1"

    def compile(self, source: str, name: str) -> bytes:
        if "bad" in source:
            raise CompileError("refused", source=source)
        return f"{name}:{source.upper()}".encode()


def test_many_units_are_compiled_in_order() -> None:
    assert Upper().compile_many([("a", "x"), ("b", "y")]) == [b"a:X", b"b:Y"]


def test_text_is_its_own_listing() -> None:
    assert Upper().disassemble(b"ret\n") == "ret\n"
    assert Upper().disassemble(b"\x7fELF\xff") == "5 bytes, no disassembler"


def test_shared_paragraphs_are_merged_in_order() -> None:
    assert merge_sources(["types\n\none", "types\n\nmore\n\ntwo\n"]) == "types\n\none\n\nmore\n\ntwo\n"


def test_units_compiled_together_share_bytes() -> None:
    units = [("a", "x"), ("b", "y"), ("c", "z"), ("a", "x")]
    both, last = b"a:X\n\nY\n", b"c:Z"
    assert Upper().compile_merged(units, 2) == [both, both, last, both]


def test_units_of_one_name_are_compiled_apart() -> None:
    assert Upper().compile_merged([("a", "x"), ("a", "y"), ("b", "z")], 8) == [
        b"a:X\n\nZ\n",
        b"a:Y",
        b"a:X\n\nZ\n",
    ]


def test_the_unit_that_is_refused_is_the_only_one_in_the_error() -> None:
    with pytest.raises(CompileError) as caught:
        Upper().compile_merged([("a", "x"), ("b", "bad"), ("c", "z")], 8)
    assert caught.value.source == "bad"
