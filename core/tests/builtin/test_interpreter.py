"""Tests of plugrad.builtin.interpreter: control flow, launches and memory."""

from collections.abc import Sequence

import numpy as np
import pytest

from plugrad.builtin import interpreter
from plugrad.builtin.interpreter import Interpreter
from plugrad.builtin.listing import instructions
from plugrad.dtype import DType, dtypes
from plugrad.errors import DeviceError
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.elementwise import compute_elementwise

I32, F32 = dtypes.int32, dtypes.float32


def _int(value: int) -> UOp:
    return UOp.const(I32, value)


def _param(slot: int, numel: int, dtype: DType = F32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


def _special(name: str, size: "int | UOp") -> UOp:
    return UOp(Ops.SPECIAL, I32, (_int(size) if isinstance(size, int) else size,), name)


def _run(uops: Sequence[UOp], *arrays: np.ndarray, **launch: object) -> None:
    program = Interpreter("k", instructions(_with_sources(uops)))
    program.run([a.view(np.uint8).reshape(-1) for a in arrays], launch.pop("variables", {}), **launch)


def _with_sources(uops: Sequence[UOp]) -> list[UOp]:
    """Return `uops` in order, each preceded by the sources that were not named."""
    out: dict[UOp, None] = {}
    for u in uops:
        for node in u.toposort(lambda n: n not in out):
            out[node] = None
    return list(out)


def test_a_sum_over_rows_runs_a_loop_with_an_accumulator() -> None:
    row = _special("gidx0", 3)
    acc = UOp(Ops.DEFINE_ACC, F32, (UOp.const(F32, 0.0),), 0)
    column = UOp.range(_int(4), 0, AxisType.REDUCE)
    load = _param(1, 12).index(row * 4 + column).load()
    add = UOp(Ops.ACCUMULATE, F32, (acc, acc + load))
    end = UOp(Ops.END, src=(column,))
    x, out = np.arange(12, dtype=np.float32), np.zeros(3, np.float32)
    _run([acc, column, add, end, _param(0, 3).index(row).store(acc)], out, x, global_size=(3,))
    assert out.tolist() == [6, 22, 38]


def test_an_accumulator_inside_a_loop_starts_afresh_at_each_turn() -> None:
    outer, inner = UOp.range(_int(2), 0), UOp.range(_int(3), 1, AxisType.REDUCE)
    acc = UOp(Ops.DEFINE_ACC, I32, (outer,), 0)
    add = UOp(Ops.ACCUMULATE, I32, (acc, acc + 10))
    store = _param(0, 2, I32).index(outer).store(acc)
    out = np.zeros(2, np.int32)
    _run([outer, acc, inner, add, UOp(Ops.END, src=(inner,)), store, UOp(Ops.END, src=(outer,))], out)
    assert out.tolist() == [30, 31]


def test_a_loop_without_turns_is_skipped() -> None:
    n = UOp.variable("n", 0, 5, I32)
    loop = UOp.range(n, 0)
    store = _param(0, 4, I32).index(loop).store(_int(7))
    program = [loop, store, UOp(Ops.END, src=(loop,))]
    for count in (0, 2):
        out = np.zeros(4, np.int32)
        _run(program, out, variables={"n": count})
        assert out.tolist() == [7] * count + [0] * (4 - count)


def test_values_from_outside_of_a_loop_live_through_all_its_turns() -> None:
    item = _special("gidx0", 4)
    outside = item * 10
    loop = UOp.range(_int(3), 0)
    store = _param(0, 12, I32).index(item * 3 + loop).store(outside + loop)
    out = np.zeros(12, np.int32)
    _run([outside, loop, store, UOp(Ops.END, src=(loop,))], out, global_size=(4,))
    assert out.tolist() == [10 * i + j for i in range(4) for j in range(3)]


def test_stores_and_accumulators_inside_an_if_change_only_where_it_holds() -> None:
    item = _special("gidx0", 4)
    acc = UOp(Ops.DEFINE_ACC, I32, (_int(1),), 0)
    block = UOp(Ops.IF, src=(item < 2,))
    add = UOp(Ops.ACCUMULATE, I32, (acc, item + 10))
    inside = _param(1, 2, I32).index(item).store(_int(5))
    outside = _param(0, 4, I32).index(item).store(acc)
    out, few = np.zeros(4, np.int32), np.zeros(2, np.int32)
    _run([acc, block, add, inside, UOp(Ops.ENDIF, src=(block,)), outside], out, few, global_size=(4,))
    assert out.tolist() == [10, 11, 1, 1]
    assert few.tolist() == [5, 5]


def test_an_if_that_holds_nowhere_is_skipped() -> None:
    block = UOp(Ops.IF, src=(_special("gidx0", 4) < 0,))
    inside = _param(0, 1, I32).index(_int(99)).store(_int(5))
    out = np.zeros(1, np.int32)
    _run([block, inside, UOp(Ops.ENDIF, src=(block,))], out, global_size=(4,))
    assert out[0] == 0


def test_a_gated_load_gives_the_alternative_and_touches_no_memory() -> None:
    item = _special("gidx0", 4)
    load = _param(1, 2, I32).index(item).load(_int(-1), item < 2)
    out = np.zeros(4, np.int32)
    _run([_param(0, 4, I32).index(item).store(load)], out, np.array([8, 9], np.int32), global_size=(4,))
    assert out.tolist() == [8, 9, -1, -1]


def test_a_gated_vector_load_gives_the_alternative() -> None:
    item = _special("gidx0", 2)
    load = _param(1, 2, I32).index(item * 2).load(UOp.const(I32.vec(2), -1), item < 1, dtype=I32.vec(2))
    out = np.zeros(4, np.int32)
    _run([_param(0, 4, I32).index(item * 2).store(load)], out, np.array([8, 9], np.int32), global_size=(2,))
    assert out.tolist() == [8, 9, -1, -1]


@pytest.mark.parametrize("offset", [-1, 1])
def test_a_load_outside_of_its_buffer_names_kernel_buffer_and_index(offset: int) -> None:
    item = _special("gidx0", 4)
    load = _param(1, 4, I32).index(item + offset).load()
    data = np.zeros(4, np.int32)
    with pytest.raises(
        DeviceError, match=rf"kernel k: LOAD of element {'-1' if offset < 0 else 4} of buffer slot 1"
    ):
        _run([_param(0, 4, I32).index(item).store(load)], data, data, global_size=(4,))


def test_a_vector_store_outside_of_its_buffer_is_an_error() -> None:
    item = _special("gidx0", 2)
    store = _param(0, 5, I32).index(item * 3).store(UOp.const(I32.vec(4), 1))
    with pytest.raises(DeviceError, match=r"STORE of elements 3\.\.6 of buffer slot 0, which has 5 int32"):
        _run([store], np.zeros(5, np.int32), global_size=(2,))


def test_a_buffer_that_is_too_small_is_an_error() -> None:
    with pytest.raises(DeviceError, match="needs 8 int32 in buffer slot 0, which holds 4"):
        _run([_param(0, 8, I32).index(_int(0)).store(_int(1))], np.zeros(4, np.int32))


def test_each_workgroup_has_local_memory_of_its_own() -> None:
    group, item = _special("gidx0", 3), _special("lidx0", 4)
    local = UOp(Ops.DEFINE_LOCAL, I32, (), (0, 4))
    write = local.index(item).store(group * 10 + item)
    barrier = UOp(Ops.BARRIER, src=(write,))
    mirrored = local.after(barrier).index(_int(3) - item).load()
    store = _param(0, 12, I32).index(group * 4 + item).store(mirrored)
    out = np.zeros(12, np.int32)
    _run([write, barrier, store], out, global_size=(3,), local_size=(4,))
    assert out.tolist() == [10 * g + 3 - i for g in range(3) for i in range(4)]


def test_local_memory_that_was_never_written_is_nan() -> None:
    local = UOp(Ops.DEFINE_LOCAL, F32, (), (0, 4))
    out = np.zeros(1, np.float32)
    _run([_param(0, 1).index(_int(0)).store(local.index(_int(2)).load())], out)
    assert np.isnan(out[0])


def test_launch_positions_run_over_all_three_dimensions() -> None:
    x, y, z = (_special(f"gidx{i}", n) for i, n in enumerate((2, 3, 4)))
    place = (z * 3 + y) * 2 + x
    out = np.full(24, -1, np.int32)
    _run([_param(0, 24, I32).index(place).store(place)], out, global_size=(2, 3, 4))
    assert out.tolist() == list(range(24))


def test_threads_are_one_more_axis() -> None:
    thread = UOp(Ops.SPECIAL, I32, (_int(3),), "thread")
    out = np.zeros(3, np.int32)
    _run([_param(0, 3, I32).index(thread).store(thread + 1)], out, threads=3)
    assert out.tolist() == [1, 2, 3]


def test_a_large_launch_runs_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "LANES", 8)
    out = compute_elementwise(lambda a: a * 2, np.arange(100))
    assert out.tolist() == list(range(0, 200, 2))


def test_a_launch_of_another_size_than_the_program_was_made_for_is_an_error() -> None:
    item = _special("gidx0", 4)
    with pytest.raises(DeviceError, match="has gidx0 of size 4"):
        _run([_param(0, 4, I32).index(item).store(item)], np.zeros(4, np.int32), global_size=(3,))


def test_a_symbolic_launch_size_follows_the_variable() -> None:
    item = _special("gidx0", UOp.variable("n", 1, 4, I32) + 1)
    out = np.zeros(4, np.int32)
    _run([_param(0, 4, I32).index(item).store(item + 1)], out, global_size=(3,), variables={"n": 2})
    assert out.tolist() == [1, 2, 3, 0]


def test_a_variable_outside_of_its_interval_is_an_error() -> None:
    store = _param(0, 4, I32).index(UOp.variable("n", 0, 3, I32)).store(_int(1))
    with pytest.raises(DeviceError, match=r"made for n in 0\.\.3, not 9"):
        _run([store], np.zeros(4, np.int32), variables={"n": 9})
    with pytest.raises(DeviceError, match="needs the variable 'n'"):
        _run([store], np.zeros(4, np.int32))


def test_a_loop_whose_length_differs_between_work_items_is_an_error() -> None:
    loop = UOp.range(_special("gidx0", 3), 0)
    with pytest.raises(DeviceError, match="differs between work-items"):
        _run([loop, UOp(Ops.END, src=(loop,))], global_size=(3,))


def test_vectors_are_loaded_computed_taken_apart_and_stored() -> None:
    x = np.arange(16, dtype=np.float32)
    swap = compute_elementwise(lambda a: (a * 2.0).gep(3, 2, 1, 0), x, lanes=4)
    assert swap.tolist() == (x.reshape(4, 4)[:, ::-1] * 2).reshape(-1).tolist()


def test_a_scalar_broadcasts_into_a_vector() -> None:
    x = np.arange(8, dtype=np.float32)

    def build(a: UOp) -> UOp:
        return (a.gep(0) < 3.0).where(a, a.gep(1).broadcast(4))

    assert compute_elementwise(build, x, lanes=4).tolist() == [0, 1, 2, 3, 5, 5, 5, 5]


def test_a_store_of_all_work_items_to_one_place_keeps_the_last() -> None:
    item = _special("gidx0", 4)
    out = np.zeros(1, np.int32)
    _run([_param(0, 1, I32).index(_int(0)).store(item)], out, global_size=(4,))
    assert out[0] == 3


@pytest.mark.parametrize("dtype", [dtypes.bool, dtypes.bfloat16], ids=str)
def test_types_that_numpy_lacks_are_stored_as_bits(dtype: DType) -> None:
    bits = np.array([0, 1], np.uint8) if dtype is dtypes.bool else np.array([0x3F80, 0x4049], np.uint16)
    got = compute_elementwise(lambda a: a, bits, types=[dtype])
    assert got.view(bits.dtype).tolist() == bits.tolist()


def test_the_program_knows_which_buffers_it_writes() -> None:
    store = _param(2, 4, I32).index(_int(0)).store(_param(1, 4, I32).index(_int(0)).load())
    assert Interpreter("k", instructions(_with_sources([store]))).written == {2}


def test_ops_that_belong_to_earlier_stages_are_refused() -> None:
    with pytest.raises(DeviceError, match="cannot run CONTIGUOUS"):
        Interpreter("k", instructions(list(_int(1).contiguous().toposort())))


@pytest.mark.parametrize(("op", "expected"), [(Ops.ADD, [14, 15, 16]), (Ops.MAX, [10, 10, 10])])
def test_work_items_that_update_one_element_all_count(op: Ops, expected: list[int]) -> None:
    item = _special("gidx0", 6)
    place = _param(0, 3, I32).index(_param(1, 6, I32).index(item).load())
    inside = UOp(Ops.IF, src=(item.ne(0),))
    update = place.store(item, op=op)
    out, positions = np.full(3, 10, np.int32), np.array([0, 2, 2, 2, 0, 1], np.int32)
    _run([item, inside, update, UOp(Ops.ENDIF, src=(inside,))], out, positions, global_size=(6,))
    assert out.tolist() == expected


def test_an_update_outside_of_its_buffer_is_an_error() -> None:
    item = _special("gidx0", 4)
    with pytest.raises(DeviceError, match=r"STORE of element 3 of buffer slot 0, which has 3"):
        _run([_param(0, 3, I32).index(item).store(item, op=Ops.ADD)], np.zeros(3, np.int32), global_size=(4,))
