"""Test what C leaves undefined, with a dialect that keeps bfloat16 as its bits."""

import pytest

from plugrad.dtype import STORABLE, dtypes
from plugrad.errors import DtypeError
from plugrad.renderer.exact import ExactRenderer, refuse_absent_dtypes
from plugrad.renderer.scope import Scope
from plugrad.target import Capabilities, Target
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


class Dialect(ExactRenderer):
    def float_of_bits(self, scope, dtype):
        return "widen"

    def bits_of_float(self, scope, dtype):
        return "narrow"

    def reinterpret(self, scope, u, value):
        return f"as_{u.dtype.name}({value})"


RENDERER = Dialect(Capabilities(frozenset(), frozenset()), as_bits=frozenset({dtypes.bfloat16}))


def _text(op, dtype, *sources, renderer=RENDERER):
    """Return the expression of `op` on variables x, y; and the definitions it needs."""
    scope = Scope(())
    nodes = tuple(UOp(Ops.DEFINE_ACC, d, (), name) for d, name in zip(sources, "xy", strict=False))
    scope.names.update(zip(nodes, "xy", strict=False))
    return renderer.expression(scope, UOp(op, dtype, nodes)), scope.definitions


def test_signed_integers_wrap():
    assert _text(Ops.ADD, dtypes.int32, dtypes.int32, dtypes.int32)[0] == (
        "((int)((unsigned int)x+(unsigned int)y))"
    )
    assert _text(Ops.ADD, dtypes.float32, dtypes.float32, dtypes.float32)[0] == "(x+y)"


def test_compilers_that_wrap_need_no_casts():
    renderer = Dialect(Capabilities(frozenset(), frozenset()))
    renderer.integers_wrap = True
    assert _text(Ops.MUL, dtypes.int64, dtypes.int64, dtypes.int64, renderer=renderer)[0] == "(x*y)"


def test_division_is_a_function_without_undefined_cases():
    text, definitions = _text(Ops.CDIV, dtypes.int32, dtypes.int32, dtypes.int32)
    assert text == "div_int32(x, y)"
    assert definitions["div_int32"].splitlines() == [
        "static inline int div_int32(int a, int b) {",
        "  if (b == 0) return 0;",
        "  if (b == -1) return (int)(0 - (unsigned int)a);",
        "  return (int)(a / b);",
        "}",
    ]
    assert "-1" not in _text(Ops.CMOD, dtypes.uint8, dtypes.uint8, dtypes.uint8)[1]["mod_uint8"]


@pytest.mark.parametrize(
    ("source", "to", "want"),
    [
        (dtypes.bfloat16, dtypes.float32, "widen(x)"),
        (dtypes.bfloat16, dtypes.int32, "((int)widen(x))"),
        (dtypes.int16, dtypes.bfloat16, "narrow(((float)x))"),
        (dtypes.bfloat16, dtypes.bool, "((x & 0x7fff) != 0)"),
        (dtypes.float32, dtypes.bool, "(x != 0)"),
        (dtypes.float32, dtypes.int8, "((signed char)((int)x))"),
    ],
)
def test_casts(source, to, want):
    assert _text(Ops.CAST, to, source)[0] == want


@pytest.mark.parametrize(
    ("source", "to", "want"),
    [
        (dtypes.bfloat16, dtypes.uint16, "x"),
        (dtypes.bfloat16, dtypes.int16, "((short)x)"),
        (dtypes.float32, dtypes.int32, "as_int32(x)"),
        (dtypes.int32, dtypes.uint32, "((unsigned int)x)"),
        (dtypes.uint8, dtypes.bool, "(x != 0)"),
    ],
)
def test_bitcasts(source, to, want):
    assert _text(Ops.BITCAST, to, source)[0] == want


def test_absent_dtypes_are_refused():
    some = Capabilities(frozenset(STORABLE) - {dtypes.float64}, frozenset())
    kernel = (UOp.const(dtypes.float64, 1.0),)
    with pytest.raises(DtypeError, match=r"GPU \(\) has no float64"):
        refuse_absent_dtypes(kernel, some, Target("GPU"))
