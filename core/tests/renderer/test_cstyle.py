import math
from collections.abc import Mapping
from typing import ClassVar

import pytest

from plugrad.dtype import DType, dtypes
from plugrad.renderer.cstyle import CStyleRenderer
from plugrad.target import Capabilities
from plugrad.uop.ops import Axis, AxisType, Ops
from plugrad.uop.uop import UOp


class Dialect(CStyleRenderer):
    """A made-up GPU language."""

    kernel_prefix = "kernel "
    buffer_prefix = "global "
    local_prefix = "shared "
    barrier = "wait_for_all();"
    type_names: ClassVar[Mapping[DType, str]] = {**CStyleRenderer.type_names, dtypes.uint8: "uchar"}

    def workitem(self, name: str) -> str:
        return f"{'group' if name[0] == 'g' else 'item'}({name[-1]})"


RENDERER = Dialect(Capabilities(frozenset(), frozenset()))


def _param(slot: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, 64))


def _at(buffer: UOp, index: UOp) -> UOp:
    return UOp(Ops.INDEX, buffer.dtype, (buffer, index))


def _store(buffer: UOp, index: UOp, value: UOp) -> UOp:
    return UOp(Ops.STORE, dtypes.void, (_at(buffer, index), value))


def _load(buffer: UOp, index: UOp, dtype: DType | None = None) -> UOp:
    return UOp(Ops.LOAD, dtype or buffer.dtype, (_at(buffer, index),))


def _int(value: int) -> UOp:
    return UOp.const(dtypes.int32, value)


def _special(name: str) -> UOp:
    return UOp(Ops.SPECIAL, dtypes.int32, (_int(8),), name)


def _render(*roots: UOp) -> list[str]:
    uops = UOp.sink(*roots).toposort()
    return RENDERER.render([*uops], "k").splitlines()


def test_a_kernel_of_two_launch_axes() -> None:
    i = _special("gidx0") * _int(8) + _special("lidx0")
    assert _render(_store(_param(0), i, _load(_param(1), i) * UOp.const(dtypes.float32, 0.5))) == [
        "kernel void k(global float *restrict data0, global const float *restrict data1) {",
        "  int gidx0 = group(0);",
        "  int lidx0 = item(0);",
        "  int alu0 = ((gidx0*8)+lidx0);",
        "  float val0 = *(data1+alu0);",
        "  *(data0+alu0) = (val0*0.5f);",
        "}",
    ]


def test_vectors_are_loaded_and_stored_whole() -> None:
    out, a, i = _param(0), _param(1), _special("gidx0")
    v = _load(a, i, dtypes.float32.vec(2))
    lanes = [UOp(Ops.GEP, dtypes.float32, (v,), (n,)) for n in (1, 0)]
    lines = _render(_store(out, i, UOp(Ops.VECTORIZE, dtypes.float32.vec(2), tuple(lanes))))
    assert "  float2 val0 = vload2(0, (data1+gidx0));" in lines
    assert "  vstore2((float2)(val0.s1, val0.s0), 0, (data0+gidx0));" in lines


def test_loops_accumulators_shared_memory_and_barriers() -> None:
    out, shared = _param(0), UOp(Ops.DEFINE_LOCAL, dtypes.float32, (), (0, 16))
    acc = UOp(Ops.DEFINE_ACC, dtypes.float32, (UOp.const(dtypes.float32, 0.0),), 0)
    r = UOp(Ops.RANGE, dtypes.int32, (_int(16),), Axis((2, 0), AxisType.REDUCE))
    value = _load(shared, r)
    new = acc + value
    change = UOp(Ops.ACCUMULATE, dtypes.float32, (acc, new))
    store = _store(out, _int(0), acc)
    uops = [out, shared, *acc.src, acc, *r.src, UOp(Ops.BARRIER), r, value.src[0], value, new, change]
    uops += [UOp(Ops.END, dtypes.void, (r,)), _int(0), store.src[0], store]
    assert RENDERER.render(uops, "k").splitlines()[1:] == [
        "  shared float local0[16];",
        "  float acc0 = 0.0f;",
        "  wait_for_all();",
        "  for (int r2_0 = 0; r2_0 < 16; r2_0++) {",
        "    float val0 = *(local0+r2_0);",
        "    acc0 = (acc0+val0);",
        "  }",
        "  *data0 = acc0;",
        "}",
    ]


def test_memory_behind_a_barrier_keeps_its_name() -> None:
    shared = UOp(Ops.DEFINE_LOCAL, dtypes.float32, (), (0, 16))
    barrier = UOp(Ops.BARRIER, dtypes.void, (_store(shared, _int(1), UOp.const(dtypes.float32, 2.0)),))
    lines = _render(_store(_param(0), _int(0), _load(shared.after(barrier), _int(3))))
    assert lines.index("  wait_for_all();") < lines.index("  float val0 = *(local0+3);")


def test_gated_loads_look_before_they_read() -> None:
    i = _special("gidx0")
    gated = UOp(Ops.LOAD, dtypes.float32, (_at(_param(1), i), UOp.const(dtypes.float32, 0.0), i < _int(4)))
    assert "  float val0 = ((gidx0<4) ? *(data1+gidx0) : 0.0f);" in _render(_store(_param(0), i, gated))


def test_scalars_come_in_the_order_of_their_names() -> None:
    b, a = (UOp.variable(name, 0, 9, dtypes.int32) for name in ("b", "a"))
    (head, *_) = _render(_store(_param(0, dtypes.int32), b, a))
    assert head == "kernel void k(global int *restrict data0, const int v_a, const int v_b) {"


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        (dtypes.float32, 1.0, "1.0f"),
        (dtypes.float32, 0.1, "0.10000000149011612f"),
        (dtypes.float32, -0.0, "(-0.0f)"),
        (dtypes.float32, math.inf, "INFINITY"),
        (dtypes.float64, -math.inf, "(-INFINITY)"),
        (dtypes.float64, math.nan, "NAN"),
        (dtypes.float64, 0.1, "0.1"),
        (dtypes.float16, 0.1, "((half)0.0999755859375)"),
        (dtypes.int32, -5, "(-5)"),
        (dtypes.int32, -(2**31), "(-2147483647-1)"),
        (dtypes.int64, -(2**63), "(-9223372036854775807ll-1ll)"),
        (dtypes.uint64, -1, "18446744073709551615ull"),
        (dtypes.uint8, 257, "1"),
        (dtypes.bool, True, "1"),
        (dtypes.float32.vec(2), 3.0, "(float2)(3.0f, 3.0f)"),
    ],
)
def test_constants(dtype: DType, value: float, text: str) -> None:
    assert RENDERER.const(RENDERER.open_scope([]), dtype, value) == text


def test_narrow_integers_stay_narrow() -> None:
    i = _special("gidx0")
    x = _load(_param(1, dtypes.uint8), i)
    assert "  *(data0+gidx0) = ((uchar)(val0*val0));" in _render(_store(_param(0, dtypes.uint8), i, x * x))


def test_max_lets_nan_win_and_evaluates_once() -> None:
    i = _special("gidx0")
    x = _load(_param(1), i)
    y = x * UOp.const(dtypes.float32, 2.0)
    assert "  *(data0+gidx0) = ((val0>alu0) | (val0!=val0) ? val0 : alu0);" in _render(
        _store(_param(0), i, x.alu(Ops.MAX, y))
    )
    clamp = x.alu(Ops.MAX, UOp.const(dtypes.float32, 0.0))
    assert "  *(data0+gidx0) = (val0<0.0f ? 0.0f : val0);" in _render(_store(_param(0), i, clamp))


def test_an_op_that_should_have_been_decomposed_is_named() -> None:
    x = _load(_param(1), _int(0))
    with pytest.raises(NotImplementedError, match=r"Ops.THREEFRY: codegen should have decomposed it"):
        _render(_store(_param(0), _int(0), x.alu(Ops.THREEFRY, x)))
    with pytest.raises(NotImplementedError, match=r"cannot render Ops.RESHAPE"):
        _render(UOp(Ops.RESHAPE, dtypes.float32, (x,)))
