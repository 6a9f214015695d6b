"""What the base class does for every compiler."""

from plugrad.runtime.compiler import Compiler


class Upper(Compiler):
    cache_key = "upper-1"

    def compile(self, source: str, name: str) -> bytes:
        return f"{name}:{source.upper()}".encode()


def test_many_units_are_compiled_in_order() -> None:
    assert Upper().compile_many([("a", "x"), ("b", "y")]) == [b"a:X", b"b:Y"]


def test_text_is_its_own_listing() -> None:
    assert Upper().disassemble(b"ret\n") == "ret\n"
    assert Upper().disassemble(b"\x7fELF\xff") == "5 bytes, no disassembler"
