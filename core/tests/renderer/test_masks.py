"""Truth of vectors in a made-up language without vectors of bool."""

from collections.abc import Sequence

from plugrad.dtype import DType, dtypes
from plugrad.renderer.masks import MaskRenderer, MaskScope
from plugrad.renderer.scope import Scope
from plugrad.target import Capabilities
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


class Dialect(MaskRenderer):
    def mask_type(self, scope: Scope, bits: int, count: int) -> str:
        return f"mask{bits}x{count}"

    def resize_mask(self, scope: Scope, mask: str, own: int, bits: int, count: int) -> str:
        return f"resize{own}to{bits}({mask})"

    def fill_mask(self, scope: Scope, bits: int, lanes: Sequence[str]) -> str:
        return f"m{bits}({', '.join(lanes)})"

    def select(self, scope: Scope, dtype: DType, mask: str, chosen: str, other: str) -> str:
        return f"blend({mask}, {chosen}, {other})"


RENDERER = Dialect(Capabilities(frozenset(), frozenset()))


def _load(slot: int, dtype: DType) -> UOp:
    buffer = UOp(Ops.PARAM, dtype, (), (slot, 64))
    return UOp(Ops.LOAD, dtype.vec(2), (UOp(Ops.INDEX, dtype, (buffer, UOp.const(dtypes.int32, 0))),))


def _render(value: UOp) -> str:
    buffer = UOp(Ops.PARAM, value.dtype.scalar(), (), (0, 64))
    place = UOp(Ops.INDEX, buffer.dtype, (buffer, UOp.const(dtypes.int32, 0)))
    uops = UOp.sink(UOp(Ops.STORE, dtypes.void, (place, value))).toposort()
    return RENDERER.render([*uops], "k")


FLOATS, MORE, FLAGS = _load(1, dtypes.float32), _load(2, dtypes.float32), _load(3, dtypes.bool)
WIDE = _load(4, dtypes.float64)
IS_LESS = UOp(Ops.CMPLT, dtypes.bool.vec(2), (FLOATS, MORE))


def test_a_comparison_is_as_wide_as_what_it_compares_and_a_loaded_bool_is_a_byte() -> None:
    scope = MaskScope([])
    assert scope.mask_bits(IS_LESS) == 32
    assert scope.mask_bits(FLAGS) == 8
    assert scope.mask_bits(UOp(Ops.AND, IS_LESS.dtype, (IS_LESS, FLAGS))) == 32
    assert scope.mask_bits(UOp(Ops.CAST, IS_LESS.dtype, (WIDE,))) == 64


def test_masks_of_other_widths_are_resized_where_they_meet() -> None:
    both = UOp(Ops.AND, IS_LESS.dtype, (IS_LESS, FLAGS))
    text = _render(UOp(Ops.WHERE, FLOATS.dtype, (both, FLOATS, MORE)))
    assert "blend(" in text
    assert "resize8to32(val" in text
    wide = UOp(Ops.WHERE, WIDE.dtype, (IS_LESS, WIDE, WIDE.const_like(0)))
    assert "resize32to64((val" in _render(wide)


def test_a_constant_is_a_mask_of_any_width() -> None:
    negated = UOp(Ops.CMPNE, IS_LESS.dtype, (IS_LESS, UOp.const(dtypes.bool.vec(2), True)))
    assert "m32(-1, -1)" in _render(UOp(Ops.WHERE, FLOATS.dtype, (negated, FLOATS, MORE)))


def test_one_truth_for_all_lanes_is_a_mask_of_any_width() -> None:
    truth = UOp(
        Ops.CMPLT, dtypes.bool, tuple(UOp(Ops.GEP, dtypes.float32, (x,), (0,)) for x in (FLOATS, MORE))
    )
    broadcast = UOp(Ops.VECTORIZE, IS_LESS.dtype, (truth, truth))
    text = _render(UOp(Ops.WHERE, WIDE.dtype, (broadcast, WIDE, WIDE.const_like(0))))
    assert "m64(-(alu0), -(alu0))" in text
    assert "resize" not in text


def test_truth_becomes_a_number_by_a_blend_of_1_and_0() -> None:
    # the scope that `cast_mask` reads is the one of a whole kernel
    scope = RENDERER.open_scope([FLOATS, MORE, IS_LESS])
    scope.names.update({FLOATS: "a", MORE: "b", IS_LESS: "less"})
    number = UOp(Ops.CAST, dtypes.float32.vec(2), (IS_LESS,))
    assert RENDERER.cast_mask(scope, number) == "blend(less, (float2)(1.0f, 1.0f), (float2)(0.0f, 0.0f))"
