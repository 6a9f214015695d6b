import pytest

from plugrad.codegen.linearizer import linearize, remove_unused
from plugrad.dtype import STORABLE, DType, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.spec import verify_linear
from plugrad.uop.uop import UOp

_ALL = frozenset(STORABLE)
FUSES = Capabilities(_ALL, _ALL, native_ops=frozenset({"MULACC", "MAX", "FDIV"}))
PLAIN = Capabilities(_ALL, _ALL - {dtypes.float16}, native_ops=frozenset({"FDIV"}))
i32 = dtypes.int32


def param(slot: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, 4096))


def sized(size: int, ident: int, kind: AxisType = AxisType.LOOP) -> UOp:
    return UOp(Ops.RANGE, i32, (UOp.const(i32, size),), UOp.range(size, ident, kind).arg)


out, x, y = (param(slot) for slot in range(3))
i, j = sized(4, 0), sized(8, 1)
k, m = sized(16, 2, AxisType.REDUCE), sized(5, 3, AxisType.REDUCE)


def ops_of(*stores: UOp, capabilities: Capabilities = FUSES) -> str:
    """Return the ops of the program that are not addresses, constants or parameters."""
    program = remove_unused(linearize(UOp.sink(*stores), capabilities))
    verify_linear(program)
    hidden = (Ops.CONST, Ops.PARAM, Ops.INDEX)
    return " ".join(
        u.op.name for u in program if u.op not in hidden and not (u.dtype is i32 and u.op is not Ops.RANGE)
    )


def test_a_kernel_whose_stores_are_all_left_out_is_an_empty_program() -> None:
    assert linearize(UOp.sink(), FUSES) == []


def test_a_loop_opens_before_and_closes_after_its_body() -> None:
    assert ops_of(out.index(i).store(x.index(i).load(), i)) == "RANGE LOAD STORE END"


def test_what_a_loop_does_not_change_stands_before_it() -> None:
    value = x.index(i).load() + y.index(j).load()
    assert ops_of(out.index(i * 8 + j).store(value, i, j)) == "RANGE LOAD RANGE LOAD ADD STORE END END"


def test_a_reduction_is_a_register_and_a_loop() -> None:
    total = x.index(i * 16 + k).load().reduce(Ops.ADD, k)
    body = "DEFINE_ACC RANGE LOAD ADD ACCUMULATE END"
    assert ops_of(out.index(i).store(total, i)) == f"RANGE {body} STORE END"


def test_what_no_loop_waits_for_comes_after_the_loops() -> None:
    total = x.index(i * 16 + k).load().reduce(Ops.ADD, k)
    store = out.index(i).store(y.index(i).load() * x.index(i).load() + total, i)
    assert ops_of(store) == "RANGE DEFINE_ACC RANGE LOAD ADD ACCUMULATE END LOAD LOAD MUL ADD STORE END"


def test_what_a_later_loop_waits_for_comes_before_it() -> None:
    first = x.index(i * 16 + k).load().reduce(Ops.ADD, k)
    second = (x.index(i * 5 + m).load() * (first + y.index(i).load())).reduce(Ops.ADD, m)
    body = "DEFINE_ACC RANGE LOAD ADD ACCUMULATE END LOAD ADD DEFINE_ACC RANGE LOAD MULACC ACCUMULATE END"
    assert ops_of(out.index(i).store(second, i)) == f"RANGE {body} STORE END"


def test_products_are_added_in_one_operation_where_the_target_has_it() -> None:
    total = (x.index(k).load() * y.index(k).load()).reduce(Ops.ADD, k)
    store = out.index(i).store(total, i)
    assert "LOAD LOAD MULACC ACCUMULATE" in ops_of(store)
    assert "LOAD LOAD MUL ADD ACCUMULATE" in ops_of(store, capabilities=PLAIN)


def test_a_register_takes_in_several_values_a_step() -> None:
    values = (x.index(k).load(), y.index(k).load())
    total = UOp(Ops.REDUCE, dtypes.float32, (*values, k), (Ops.ADD, 2))
    assert "LOAD ADD ACCUMULATE LOAD ADD ACCUMULATE" in ops_of(out.index(i).store(total, i))


def test_unrolled_reductions_of_one_loop_go_step_by_step() -> None:
    first, second = (
        UOp(
            Ops.REDUCE,
            dtypes.float32,
            (*(x.index(k * 2 + n).load() * y.index(k * 4 + row * 2 + n).load() for n in range(2)), k),
            (Ops.ADD, 2),
        )
        for row in range(2)
    )
    stores = (out.index(i * 2).store(first, i), out.index(i * 2 + 1).store(second, i))
    program = remove_unused(linearize(UOp.sink(*stores), FUSES))
    verify_linear(program)
    registers = [u.arg for u in program if u.op is Ops.DEFINE_ACC]
    order = [u.src[0].arg for u in program if u.op is Ops.ACCUMULATE]
    assert order == registers * 2
    # x is loaded once for a step of both
    step = "LOAD LOAD MULACC ACCUMULATE LOAD MULACC ACCUMULATE"
    assert f"RANGE {step} {step} END" in ops_of(*stores)


def test_a_value_that_is_the_same_in_two_steps_is_added_twice() -> None:
    value = x.index(k).load() * y.index(k).load()
    total = UOp(Ops.REDUCE, dtypes.float32, (value, value, k), (Ops.ADD, 2))
    assert "MULACC ACCUMULATE MULACC ACCUMULATE" in ops_of(out.index(i).store(total, i))


def test_reductions_over_one_range_share_its_loop() -> None:
    a, b = x.index(k).load().reduce(Ops.ADD, k), y.index(k).load().reduce(Ops.MAX, k)
    assert ops_of(out.index(i).store(a + b, i)).count("RANGE") == 2


def test_a_reduction_in_another_starts_again_in_each_step() -> None:
    inner = x.index(k * 5 + m).load().reduce(Ops.ADD, m)
    got = ops_of(out.index(i).store(inner.reduce(Ops.MAX, k), i))
    assert got.startswith("DEFINE_ACC RANGE DEFINE_ACC RANGE LOAD ADD ACCUMULATE END MAX ACCUMULATE END")


@pytest.mark.parametrize("op", [Ops.ADD, Ops.MUL, Ops.MAX])
def test_registers_of_types_that_the_target_cannot_compute_are_widened(op: Ops) -> None:
    total = param(1, dtypes.float16).index(k).load().reduce(op, k)
    program = linearize(UOp.sink(param(0, dtypes.float16).index(i).store(total, i)), PLAIN)
    verify_linear(program)
    assert not any(u.dtype is dtypes.float16 and u.op is op for u in program)


def test_the_greatest_is_chosen_where_the_target_has_no_maximum() -> None:
    got = ops_of(out.index(i).store(x.index(k).load().reduce(Ops.MAX, k), i), capabilities=PLAIN)
    assert "MAX" not in got
    assert "WHERE ACCUMULATE" in got


def test_a_result_that_is_changed_like_its_register_is_another_value() -> None:
    value = x.index(i).load()
    total = UOp(Ops.REDUCE, dtypes.float32, (value, k), (Ops.MUL, 1))
    got = ops_of(out.index(i).store(total * value, i))
    assert got == "RANGE LOAD DEFINE_ACC RANGE MUL ACCUMULATE END MUL STORE END"


def test_registers_in_different_loops_start_with_one_constant() -> None:
    a = x.index(i * 16 + k).load().reduce(Ops.ADD, k)
    b = x.index(j * 5 + m).load().reduce(Ops.ADD, m)
    ops_of(out.index(i).store(a, i), y.index(j).store(b, j))


def test_a_gated_store_is_a_condition_around_it() -> None:
    store = out.index(i, i < 3).store(x.index(i).load(), i)
    assert ops_of(store) == "RANGE CMPLT LOAD IF STORE ENDIF END"


def test_stores_behind_one_gate_share_the_condition() -> None:
    gate = i < 3
    stores = (out.index(i, gate).store(x.index(i).load(), i), y.index(i, gate).store(x.index(i).load(), i))
    assert ops_of(*stores).endswith("IF STORE STORE ENDIF END")


def test_a_condition_can_be_asked_twice() -> None:
    gate, other = i < 3, i < 2
    stores = [out.index(i + 64 * n, g).store(x.index(i).load(), i) for n, g in enumerate((gate, other, gate))]
    assert ops_of(*stores).count("IF STORE ENDIF") == 3


def test_a_gated_store_may_change_what_was_loaded_from_there() -> None:
    gate = i < 3
    place = out.index(i)
    changed = place.load(UOp.const(dtypes.float32, 0.0), gate) + 1.0
    ops_of(out.index(i, gate).store(changed, i))


def test_what_nothing_uses_is_dropped() -> None:
    total = (x.index(k).load() * y.index(k).load()).reduce(Ops.ADD, k)
    program = linearize(UOp.sink(out.index(i).store(total, i)), FUSES)
    assert any(u.op is Ops.MUL and u.dtype is dtypes.float32 for u in program)
    assert not any(u.op is Ops.MUL and u.dtype is dtypes.float32 for u in remove_unused(program))
