"""Work-items of a group copy neighbours side by side, by wide accesses, each element once."""

import math

import pytest

from plugrad.builtin.null import CAPABILITIES
from plugrad.codegen.group_copies import spread_copies
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import GroupTile, Opt, OptOps
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.strides import coefficient, constant_size
from plugrad.uop.uop import UOp


def product(pitch: int) -> UOp:
    """Return a product of 64 x 32 and 32 x 64 whose factors have rows of `pitch` elements."""
    i, j, k = UOp.range(64, 0), UOp.range(64, 1), UOp.range(32, 2, AxisType.REDUCE)
    a, b = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 64 * pitch)) for slot in (1, 2))
    value = (a.index(i * pitch + k).load() * b.index(k * pitch + j).load()).reduce(Ops.ADD, k)
    out = UOp(Ops.PARAM, dtypes.float32, (), (0, 4096))
    return UOp.sink(out.index(i * 64 + j).store(value, i, j), arg=KernelInfo())


def copies(pitch: int, items: int) -> list[UOp]:
    """Return the stores that `items` work-items make of both factors, 8 steps at a time."""
    opts = [Opt(OptOps.SHARE, (2,), GroupTile(8, ((0,), (1,)))), Opt(OptOps.LOCAL, (1,), items)]
    sink = spread_copies(KernelOpt(product(pitch), CAPABILITIES).apply_all(opts).ast, CAPABILITIES)
    return [s for u in sink.toposort() if u.op is Ops.BARRIER for s in u.src]


def test_a_kernel_without_copies_stays() -> None:
    ast = product(64)
    assert spread_copies(ast, CAPABILITIES) is ast


def test_neighbours_are_one_access_where_they_are_aligned() -> None:
    assert [constant_size(s.src[3]) for s in copies(64, 32)] == [4, 4]
    assert [len(s.src) for s in copies(63, 32)] == [3, 3], "one element at each step"


@pytest.mark.parametrize("items", [1, 16, 32, 64])
def test_items_copy_all_elements(items: int) -> None:
    for store in copies(64, items):
        assert math.prod(constant_size(r) or 1 for r in store.src[2:]) * items == 8 * 64
        assert len(store.src[0].src) == 2


def test_items_that_are_left_over_store_nothing() -> None:
    opts = [
        Opt(OptOps.SHARE, (2,), GroupTile(1, ((0,), (1,)))),
        Opt(OptOps.LOCAL, (0,), 64),
        Opt(OptOps.LOCAL, (1,), 2),
    ]
    sink = spread_copies(KernelOpt(product(64), CAPABILITIES).apply_all(opts).ast, CAPABILITIES)
    (barrier,) = (u for u in sink.toposort() if u.op is Ops.BARRIER)
    assert [len(store.src[0].src) for store in barrier.src] == [3, 3]


def test_lanes_lie_side_by_side_in_memory() -> None:
    for store in copies(64, 32):
        (place,) = (u for u in store.src[1].toposort() if u.op is Ops.INDEX)
        assert coefficient(place.src[1], store.src[3]) == 1
