"""Copies between commits need no register where the target has an instruction for that."""

from dataclasses import replace

import pytest

from plugrad.builtin.null import CAPABILITIES
from plugrad.codegen.async_copies import copy_asynchronously
from plugrad.dtype import DType, dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

COPYING = replace(CAPABILITIES, async_copy_bytes=(4, 16))
INDEX = UOp.const(dtypes.int32, 4)
GATE = UOp.const(dtypes.bool, True)
LOCAL = UOp(Ops.DEFINE_LOCAL, dtypes.float32, (), (0, 64)).index(INDEX)
BUFFER = UOp(Ops.PARAM, dtypes.float32, (), (1, 64)).index(INDEX)


def loaded(dtype: DType, *gate: UOp) -> UOp:
    return UOp(Ops.LOAD, dtype, (BUFFER, *gate))


def committed(value: UOp, condition: UOp | None = None) -> list[UOp]:
    """Return the nodes behind the places when a value is copied, in a block with a condition or in none."""
    store = UOp(Ops.STORE, dtypes.void, (LOCAL, value))
    commit = UOp(Ops.COMMIT, dtypes.void, (store,))
    block = [store]
    if condition is not None:
        begin = UOp(Ops.IF, dtypes.void, (condition,))
        block = [begin, store, UOp(Ops.ENDIF, dtypes.void, (begin,))]
    return copy_asynchronously([LOCAL, BUFFER, value, *block, commit], COPYING)[3:]


@pytest.mark.parametrize("count", [1, 4])
def test_a_load_and_its_store_are_one_copy(count: int) -> None:
    copy, commit = committed(loaded(dtypes.float32.vec(count) if count > 1 else dtypes.float32))
    assert copy is UOp(Ops.COPY_ASYNC, dtypes.void, (LOCAL, BUFFER), count)
    assert commit is UOp(Ops.COMMIT, dtypes.void, (copy,))


def test_a_gate_is_the_copys_unless_it_stands_around_the_store() -> None:
    value = loaded(dtypes.float32, UOp.const(dtypes.float32, 0.0), GATE)
    assert committed(value)[0].src == (LOCAL, BUFFER, GATE)
    assert committed(value, GATE)[1].src == (LOCAL, BUFFER)


@pytest.mark.parametrize(
    "value",
    [
        loaded(dtypes.float32.vec(2)),
        loaded(dtypes.float32, UOp.const(dtypes.float32, 1.0), GATE),
        loaded(dtypes.float32) + loaded(dtypes.float32),
    ],
    ids=["8 bytes", "ones elsewhere", "a sum"],
)
def test_what_no_instruction_copies_stays(value: UOp) -> None:
    assert committed(value)[0].op is Ops.STORE


def test_what_no_commit_names_stays() -> None:
    program = [LOCAL, BUFFER, value := loaded(dtypes.float32), UOp(Ops.STORE, dtypes.void, (LOCAL, value))]
    assert copy_asynchronously(program, COPYING) == program
