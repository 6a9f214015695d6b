"""What several work-items of a group read is copied into their memory, and the copies are read."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.lower import lower
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import GroupTile, Opt, OptOps
from plugrad.dtype import dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import run_lowered

ROWS, COLUMNS, STEPS = 8, 12, 6
i, j, k = UOp.range(ROWS, 0), UOp.range(COLUMNS, 1), UOp.range(STEPS, 2, AxisType.REDUCE)
SHARE = Opt(OptOps.SHARE, (2,), GroupTile(3, ((0,), (1,))))
GROUP = (Opt(OptOps.LOCAL, (0,), 4), Opt(OptOps.LOCAL, (1,), 2))


def param(slot: int, numel: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, numel))


def product(a: UOp | None = None) -> UOp:
    b = param(2, STEPS * COLUMNS).index(k * COLUMNS + j).load()
    value = ((param(1, ROWS * STEPS).index(i * STEPS + k).load() if a is None else a) * b).reduce(Ops.ADD, k)
    return UOp.sink(param(0, ROWS * COLUMNS).index(i * COLUMNS + j).store(value, i, j), arg=KernelInfo())


def result(opts: Sequence[Opt]) -> tuple[np.ndarray, np.ndarray]:
    """Return what the product's kernel computes, and what it should."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((ROWS, STEPS), (STEPS, COLUMNS)))
    out = np.zeros(ROWS * COLUMNS, np.float32)
    run_lowered(lower(product(), CAPABILITIES, opts), [out, x.ravel(), y.ravel()])
    return out.reshape(ROWS, COLUMNS), x @ y


def refused(ast: UOp, message: str, *opts: Opt, capabilities: Capabilities = CAPABILITIES) -> None:
    *before, last = opts
    kernel = KernelOpt(ast, capabilities).apply_all(before)
    with pytest.raises(KernelOptError, match=re.escape(message)):
        kernel.apply(last)


@pytest.mark.parametrize("in_memory_order", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 3, 6])
def test_a_group_computes_its_tile_from_copies(steps: int, in_memory_order: bool) -> None:
    share = Opt(OptOps.SHARE, (2,), GroupTile(steps, ((0,), (1,)), in_memory_order))
    found, expected = result((share, *GROUP, Opt(OptOps.UPCAST, (1, 0), 3)))
    np.testing.assert_array_equal(found, expected)


def test_tiles_of_axes_that_they_do_not_divide_are_shared() -> None:
    opts = (
        Opt(OptOps.PADTO, (2,), 4),
        Opt(OptOps.SHIFTIN, (0,), 3),
        Opt(OptOps.SHIFTIN, (1,), 5),
        Opt(OptOps.SHARE, (2,), GroupTile(4, ((0, 1), (1, 1)))),
        Opt(OptOps.LOCAL, (0, 1), 3),
    )
    found, expected = result(opts)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("ahead", [1, 2, 5, 9])
@pytest.mark.parametrize("steps", [1, 2, 3, 6])
def test_copies_begin_ahead_of_the_products_that_read_them(steps: int, ahead: int) -> None:
    share = Opt(OptOps.SHARE, (2,), GroupTile(steps, ((0,), (1,)), ahead=ahead))
    found, expected = result((share, *GROUP, Opt(OptOps.UPCAST, (1, 0), 3)))
    np.testing.assert_array_equal(found, expected)


def test_a_step_waits_for_its_own_copies_and_not_for_later_ones() -> None:
    ahead = replace(SHARE, arg=GroupTile(1, ((0,), (1,)), ahead=2))
    uops = KernelOpt(product(), CAPABILITIES).apply_all([ahead]).ast.toposort()
    assert [u.arg for u in uops if u.op is Ops.BARRIER] == [1]
    assert sum(u.op is Ops.COMMIT for u in uops) == 3, "two before the loop, one in it"
    assert {u.arg[1] for u in uops if u.op is Ops.DEFINE_LOCAL} == {3 * (ROWS + 4), 3 * (COLUMNS + 4)}


def test_a_step_has_one_barrier_and_two_halves_take_turns() -> None:
    ast = KernelOpt(product(), CAPABILITIES).apply_all([SHARE]).ast
    assert sum(u.op is Ops.BARRIER for u in ast.toposort()) == 1
    sizes = {u.arg for u in ast.toposort() if u.op is Ops.DEFINE_LOCAL}
    assert sizes == {(0, 2 * 3 * (ROWS + 4)), (1, 2 * 3 * (COLUMNS + 4))}


def test_copies_have_the_narrowest_dtype() -> None:
    narrow = UOp(Ops.PARAM, dtypes.float16, (), (1, ROWS * STEPS)).index(i * STEPS + k).load()
    ast = KernelOpt(product(narrow.cast(dtypes.float32)), CAPABILITIES).apply_all([SHARE]).ast
    assert {u.dtype for u in ast.toposort() if u.op is Ops.DEFINE_LOCAL} == {dtypes.float16, dtypes.float32}


def test_a_factor_of_all_axes_is_read_where_it_is() -> None:
    whole = param(1, ROWS * COLUMNS * STEPS).index((i * COLUMNS + j) * STEPS + k).load()
    ast = KernelOpt(product(whole), CAPABILITIES).apply_all([SHARE]).ast
    assert sum(u.op is Ops.DEFINE_LOCAL for u in ast.toposort()) == 1


def test_what_cannot_be_shared_is_refused() -> None:
    refused(product(), "axis (0,) is GLOBAL; SHARE takes a reduced axis", replace(SHARE, axis=(0,)))
    refused(product(), "takes a GroupTile", replace(SHARE, arg=3))
    refused(product(), "4 steps do not divide the 6", replace(SHARE, arg=GroupTile(4, ((0,),))))
    symbolic = UOp.range(UOp.variable("n", 1, STEPS), 2, AxisType.REDUCE)
    refused(product().substitute({k: symbolic}), "3 steps do not divide the symbolic 6 at most", SHARE)
    refused(product(), "a tile is of GLOBAL axes", replace(SHARE, arg=GroupTile(3, ((2,),))))
    refused(product(), "no factor of the reduction is used by several", replace(SHARE, arg=GroupTile(3, ())))
    refused(
        product(), "(0, 1)], which are part of the group", GROUP[0], replace(SHARE, arg=GroupTile(3, ((1,),)))
    )
    small = replace(CAPABILITIES, local_memory_bytes=500)
    refused(product(), "have 672 bytes, and a group shares 500", SHARE, capabilities=small)


def test_a_group_does_not_wait_inside_of_a_loop() -> None:
    outer = UOp.range(4, 3, AxisType.REDUCE)
    a = param(1, 4 * STEPS).index(outer * STEPS + k).load() * param(2, STEPS).index(k).load()
    total = a.reduce(Ops.ADD, k) * param(3, 32).index(outer * ROWS + i).load()
    ast = UOp.sink(param(0, ROWS).index(i).store(total.reduce(Ops.ADD, outer), i), arg=KernelInfo())
    refused(ast, "a loop over [(3,)] stands around", replace(SHARE, arg=GroupTile(3, ((0,),))))


def test_nothing_parts_the_copies_of_a_group() -> None:
    tiles = Opt(OptOps.SHIFTIN, (0,), 4)
    share = replace(SHARE, arg=GroupTile(3, ((0, 1), (1,))))
    refused(
        product(), "copies that a group shares move with [(0, 0)]", tiles, share, Opt(OptOps.LOCAL, (0, 0), 2)
    )
    refused(product(), "the group shares copies", SHARE, Opt(OptOps.GROUP, (2, 1), 3))
    refused(product(), "the group shares copies already", SHARE, replace(SHARE, axis=(2, 1)))
