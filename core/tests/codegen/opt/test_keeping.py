"""What a reduction and another loop compute alike is computed once, into fast memory."""

import re
from collections.abc import Sequence

import numpy as np
import pytest

from plugrad.codegen.lower import lower
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.keeping import kept_values
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.dtype import STORABLE, dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import run_lowered, storage_of, values_of

_ALL = frozenset(STORABLE)
LOOPS = Capabilities(
    _ALL,
    _ALL,
    vector_bits=256,
    threads=2,
    local_memory_bytes=1 << 10,
    native_ops=frozenset({"MULACC", "RECIP"}),
)
ROWS, COLUMNS = 6, 21
KEEP = Opt(OptOps.KEEP)
i, j = UOp.range(ROWS, 0), UOp.range(COLUMNS, 1)
k = UOp.range(COLUMNS, 2, AxisType.REDUCE)


def param(slot: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, ROWS * COLUMNS))


def element(column: UOp, row: UOp = i) -> UOp:
    return param(1).index(row * COLUMNS + column).load()


def wrapped(column: UOp) -> UOp:
    return param(1).index((i * COLUMNS + column + 5) % (ROWS * COLUMNS)).load()


def stored(value: UOp, *order: UOp) -> UOp:
    return UOp.sink(param(0).index(i * COLUMNS + j).store(value, *(order or (i, j))), arg=KernelInfo())


def shares(*order: UOp) -> UOp:
    return stored(element(j).exp() / element(k).exp().reduce(Ops.ADD, k), *order)


def refused(ast: UOp, why: str, *opts: Opt, capabilities: Capabilities = LOOPS) -> None:
    kernel = KernelOpt(ast, capabilities).apply_all(opts[:-1])
    with pytest.raises(KernelOptError, match=re.escape(why)):
        kernel.apply(opts[-1])


def test_a_value_is_found_at_the_places_of_a_reduction_and_of_the_output() -> None:
    (kept,) = kept_values(shares())
    assert dict(kept.uses) == {element(j).exp(): j, element(k).exp(): k}
    assert (kept.numel, kept.nbytes) == (COLUMNS, COLUMNS * 4)


def test_parts_of_a_split_reduction_compute_one_value() -> None:
    kernel = KernelOpt(shares(), LOOPS)
    kernel.apply_all([Opt(OptOps.SPLIT_REMAINDER, (2,), 8), Opt(OptOps.SHIFTIN, (1,), 8)])
    (kept,) = kept_values(kernel.ast)
    assert len(kept.uses) == 3
    assert (kept.first, kept.numel) == (0, COLUMNS)


@pytest.mark.parametrize(
    "before",
    [
        [],
        [Opt(OptOps.UPCAST, (2,), 7), Opt(OptOps.UPCAST, (1,), 3)],
        [Opt(OptOps.UNROLL, (2,), 3), Opt(OptOps.THREAD, (0,), 2)],
        [Opt(OptOps.SPLIT_REMAINDER, (2,), 8), Opt(OptOps.UPCAST, (2, 0), 8)],
        [Opt(OptOps.SHIFTIN, (1,), 8), Opt(OptOps.UPCAST, (1, 1), 8)],
    ],
)
@pytest.mark.parametrize("first", [0, 2])
def test_a_kernel_with_kept_values_computes_the_same(before: list[Opt], first: int) -> None:
    ast = shares() if not first else _shares_of_the_middle(first)
    numbers = np.random.default_rng(0).uniform(-1, 1, ROWS * COLUMNS).astype(np.float32)
    filled = (np.zeros_like(numbers), numbers)
    want, got = ([storage_of(x, dtypes.float32) for x in filled] for _ in range(2))
    run_lowered(lower(ast, LOOPS, ()), want, {})
    lowered = lower(ast, LOOPS, [*_fitting(ast, before), KEEP])
    exponentials = [u for u in lowered.program if u.op is Ops.DEFINE_LOCAL]
    assert [u.arg[1] for u in exponentials] == [COLUMNS - 2 * first]
    run_lowered(lowered, got, {})
    np.testing.assert_allclose(
        values_of(got[0], dtypes.float32), values_of(want[0], dtypes.float32), rtol=1e-5
    )


def _shares_of_the_middle(first: int) -> UOp:
    column, step = UOp.range(COLUMNS - 2 * first, 1), UOp.range(COLUMNS - 2 * first, 2, AxisType.REDUCE)
    total = element(step + first).exp().reduce(Ops.ADD, step)
    place = param(0).index(i * COLUMNS + column + first)
    return UOp.sink(place.store(element(column + first).exp() / total, i, column), arg=KernelInfo())


def _fitting(ast: UOp, opts: Sequence[Opt]) -> list[Opt]:
    """Return as many of the optimisations as apply to a kernel."""
    kernel = KernelOpt(ast, LOOPS)
    for opt in opts:
        try:
            kernel.apply(opt)
        except KernelOptError:
            break
    return kernel.applied


@pytest.mark.parametrize(
    "ast",
    [
        # a load, and a value that is computed at different places, or by the output alone
        stored(element(j) / element(k).reduce(Ops.ADD, k)),
        stored(element(j).exp() / element(k).sin().reduce(Ops.ADD, k)),
        stored(element(k).exp().reduce(Ops.ADD, k)),
        stored(element(j).exp() * param(2).index(k).load().reduce(Ops.ADD, k)),
        # each step of the outer loop would compute them again, or those of all rows
        shares(j, i),
        stored(wrapped(j).exp() / wrapped(k).exp().reduce(Ops.ADD, k)),
        # the place is part of the value
        stored(
            (element(j) * j.cast(dtypes.float32)).exp()
            / (element(k) * k.cast(dtypes.float32)).exp().reduce(Ops.ADD, k)
        ),
    ],
)
def test_nothing_is_kept_that_is_not_computed_twice(ast: UOp) -> None:
    refused(ast, "no reduction computes anything dear that another loop computes again", KEEP)


@pytest.mark.parametrize(("numel", "count"), [(20, 1), (19, 0)])
def test_no_place_is_loaded_beyond_the_end_of_memory(numel: int, count: int) -> None:
    column, step = UOp.range(19, 1), UOp.range(19, 2, AxisType.REDUCE)
    # the bounds of the places are 0 and 19; the last one read is 18
    one, other = (
        UOp(Ops.PARAM, dtypes.float32, (), (1, numel)).index(r % 5 * 4 + r // 5).load().exp()
        for r in (column, step)
    )
    value = one / other.reduce(Ops.ADD, step)
    ast = UOp.sink(param(0).index(i * 19 + column).store(value, i, column), arg=KernelInfo())
    assert len(kept_values(ast)) == count


def test_lanes_along_rows_keep_nothing() -> None:
    refused(shares(), "no reduction computes", Opt(OptOps.UPCAST, (0,), 2), KEEP)


def test_kept_values_have_to_fit() -> None:
    small = Capabilities(_ALL, _ALL, local_memory_bytes=COLUMNS * 4 - 1)
    refused(shares(), "its values have 84 bytes, and fast memory has 83", KEEP, capabilities=small)


def test_no_optimisation_follows() -> None:
    refused(shares(), "after KEEP: copies are laid out", KEEP, Opt(OptOps.UPCAST, (1,), 3))


@pytest.mark.parametrize(("cache_bytes", "keeps"), [((1 << 10,), True), ((64,), False)])
def test_the_heuristic_keeps_what_the_caches_hold(cache_bytes: tuple[int, ...], keeps: bool) -> None:
    capabilities = Capabilities(
        _ALL, _ALL, vector_bits=256, local_memory_bytes=1 << 10, cache_bytes=cache_bytes, vector_registers=16
    )
    assert (KEEP in optimise(KernelOpt(shares(), capabilities)).applied) is keeps
