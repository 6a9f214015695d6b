from plugrad.dtype import dtypes
from plugrad.renderer.scope import MAX_NESTING, Scope
from plugrad.uop.ops import Axis, AxisType, Ops
from plugrad.uop.uop import UOp

ACC = UOp(Ops.DEFINE_ACC, dtypes.float32, (UOp.const(dtypes.float32, 0.0),), 0)
TWO = UOp.const(dtypes.float32, 2.0)
RANGE = UOp(Ops.RANGE, dtypes.int32, (UOp.const(dtypes.int32, 4),), Axis((0,), AxisType.REDUCE))
END = UOp(Ops.END, dtypes.void, (RANGE,))


def _inlined(*uops: UOp) -> Scope:
    scope = Scope(uops)
    for u in uops:
        scope.inline(u, "x")
    return scope


def test_a_value_used_once_is_inlined() -> None:
    x = UOp.variable("x", 0, 9, dtypes.int32)
    once = x + x
    assert _inlined(x, once, once * 2).inline_at_use(once, "x")
    assert not _inlined(x, once, once * once).inline_at_use(once, "x")
    assert not _inlined(x, once).inline_at_use(once, "x")


def test_an_accumulator_is_read_before_it_changes() -> None:
    old = ACC * TWO
    change = UOp(Ops.ACCUMULATE, dtypes.float32, (ACC, TWO))
    user = old + TWO
    assert _inlined(ACC, TWO, old, user, change).inline_at_use(old, "x")
    assert not _inlined(ACC, TWO, old, change, user).inline_at_use(old, "x")
    assert _inlined(ACC, TWO, change, old, user).inline_at_use(old, "x")


def test_what_reads_an_accumulator_through_others_counts_too() -> None:
    inner = ACC * TWO
    outer = inner + TWO
    change = UOp(Ops.ACCUMULATE, dtypes.float32, (ACC, TWO))
    user = outer * TWO
    assert not _inlined(ACC, TWO, inner, outer, change, user).inline_at_use(outer, "x")


def test_an_accumulator_is_not_read_inside_a_loop_that_changes_it() -> None:
    old = ACC * TWO
    new = old + TWO
    change = UOp(Ops.ACCUMULATE, dtypes.float32, (ACC, new))
    assert not _inlined(ACC, TWO, old, RANGE, new, change, END).inline_at_use(old, "x")
    assert _inlined(ACC, TWO, RANGE, old, new, change, END).inline_at_use(old, "x")


def test_nesting_is_bounded() -> None:
    x = UOp.variable("x", 0, 9, dtypes.int32)
    chain = [x]
    for _ in range(MAX_NESTING + 3):
        chain.append(chain[-1].alu(Ops.NEG))
    scope = Scope(chain)
    inlined = [scope.inline_at_use(u, "x") for u in chain]
    assert inlined.index(False) == MAX_NESTING


def test_names_are_given_once() -> None:
    a, b = UOp.variable("a", 0, 1), UOp.variable("b", 0, 1)
    scope = Scope([a, b])
    assert scope.claim("v", a) == "v"
    assert scope.claim("v", a) == "v"
    assert scope.claim("v", b) == "v_"


def test_written_buffers_are_told_from_read_ones() -> None:
    out, a = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 4)) for slot in (1, 0))
    zero = UOp.const(dtypes.int32, 0)
    places = [UOp(Ops.INDEX, dtypes.float32, (buffer, zero)) for buffer in (out, a)]
    value = UOp(Ops.LOAD, dtypes.float32, (places[1],))
    store = UOp(Ops.STORE, dtypes.void, (places[0], value))
    scope = Scope([out, a, zero, *places, value, store])
    assert scope.written == {1}
    assert list(scope.params) == [0, 1]
