import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest

from plugrad.builtin.listing import write
from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.lower import lower
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.dtype import DType, dtypes
from plugrad.errors import KernelOptError, VerifyError
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.rewrite import PatternMatcher
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat, pvars

Golden = Callable[[str, str], None]
VECTORS = replace(CAPABILITIES, grid_dims=0, max_workgroup=0, vector_bits=128, max_load_bits=128, threads=2)


def param(slot: int, numel: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


def kernel(*stores: UOp) -> UOp:
    return UOp.sink(*stores, arg=KernelInfo("test"))


def reduced(size: int, ident: int) -> UOp:
    return UOp.range(size, ident, AxisType.REDUCE)


def elementwise() -> UOp:
    i = UOp.range(64, 0)
    value = (param(1, 64).index(i).load() + param(2, 64).index(i).load()).maximum(0.0)
    return kernel(param(0, 64).index(i).store(value, i))


def total() -> UOp:
    k = reduced(64, 0)
    return kernel(
        param(0, 1).index(UOp.const(dtypes.index, 0)).store(param(1, 64).index(k).load().reduce(Ops.ADD, k))
    )


def matmul() -> UOp:
    i, j, k = UOp.range(4, 0), UOp.range(8, 1), reduced(6, 2)
    product = param(1, 24).index(i * 6 + k).load() * param(2, 48).index(k * 8 + j).load()
    return kernel(param(0, 32).index(i * 8 + j).store(product.reduce(Ops.ADD, k), i, j))


def shares_of_rows() -> UOp:
    """Each element over the sum of its row."""
    i, j, k = UOp.range(4, 0), UOp.range(8, 1), reduced(8, 2)
    x = param(1, 32)
    share = x.index(i * 8 + j).load() * x.index(i * 8 + k).load().reduce(Ops.ADD, k).reciprocal()
    return kernel(param(0, 32).index(i * 8 + j).store(share, i, j))


def symbolic() -> UOp:
    n = UOp.variable("n", 1, 32)
    i = UOp.range(n, 0)
    return kernel(param(0, 32).index(i).store(param(1, 32).index(i).load() * 2.0, i))


@pytest.mark.parametrize(
    ("name", "ast", "capabilities", "opts"),
    [
        ("elementwise_grid", elementwise(), CAPABILITIES, [Opt(OptOps.LOCAL, (0,), 16)]),
        (
            "elementwise_vectors",
            elementwise(),
            VECTORS,
            [Opt(OptOps.UPCAST, (0,), 8), Opt(OptOps.THREAD, (0, 0), 2)],
        ),
        ("sum_lanes", total(), VECTORS, [Opt(OptOps.UPCAST, (0,), 8)]),
        ("sum_group", total(), CAPABILITIES, [Opt(OptOps.GROUP, (0,), 16)]),
        ("matmul_tile", matmul(), VECTORS, [Opt(OptOps.UPCAST, (1,), 4), Opt(OptOps.UPCAST, (0,), 2)]),
        (
            "matmul_panel",
            matmul(),
            VECTORS,
            [Opt(OptOps.UPCAST, (1,), 4), Opt(OptOps.SWAP, (0,), (1, 0)), Opt(OptOps.STAGE, (0,))],
        ),
        ("row_shares", shares_of_rows(), VECTORS, []),
        ("padded", elementwise(), VECTORS, [Opt(OptOps.PADTO, (0,), 24), Opt(OptOps.UPCAST, (0,), 2)]),
    ],
)
def test_programs_are_as_written_down(
    name: str, ast: UOp, capabilities: object, opts: list[Opt], golden: Golden
) -> None:
    golden(f"{name}.txt", write(lower(ast, capabilities, opts).program, name))  # pyright: ignore


def test_a_launch_knows_its_sizes() -> None:
    lowered = lower(elementwise(), CAPABILITIES, [Opt(OptOps.LOCAL, (0,), 16)])
    assert (lowered.global_size, lowered.local_size, lowered.threads) == ((4,), (16,), 1)
    assert lowered.axes == (("4", "GLOBAL"), ("16", "LOCAL"))


def test_threads_are_counted() -> None:
    lowered = lower(elementwise(), VECTORS, [Opt(OptOps.THREAD, (0,), 4)])
    assert (lowered.global_size, lowered.local_size, lowered.threads) == ((), (), 4)


def test_buffers_are_told_by_what_is_done_to_them() -> None:
    lowered = lower(elementwise(), VECTORS, ())
    assert (lowered.outs, lowered.ins) == ((0,), (1, 2))


def test_symbolic_sizes_are_variables_of_the_launch() -> None:
    lowered = lower(symbolic(), CAPABILITIES, ())
    (size,) = lowered.global_size
    assert isinstance(size, UOp)
    assert lowered.variables == ("n",)
    assert [v.arg[0] for v in size.variables()] == ["n"]


def test_names_are_those_of_the_graph() -> None:
    first, again = (lower(elementwise(), VECTORS, opts) for opts in ((), None))
    assert first.name == again.name
    assert first.name.startswith("test_")
    assert lower(total(), VECTORS, ()).name != first.name


def test_no_opts_are_the_plain_loops() -> None:
    assert [kind for _, kind in lower(matmul(), VECTORS, ()).axes] == ["LOOP", "LOOP", "REDUCE"]


def test_what_was_chosen_is_reported() -> None:
    chosen = lower(elementwise(), VECTORS).opts
    assert len(chosen) > 0
    assert lower(elementwise(), VECTORS, chosen).program == lower(elementwise(), VECTORS).program


def test_opts_that_cannot_be_applied_are_refused() -> None:
    with pytest.raises(KernelOptError, match="which 5 does not divide"):
        lower(elementwise(), VECTORS, [Opt(OptOps.UPCAST, (0,), 5)])


def test_a_lowered_kernel_can_be_pickled() -> None:
    lowered = lower(symbolic(), CAPABILITIES)
    assert pickle.loads(pickle.dumps(lowered)) == lowered


def test_rules_of_the_renderer_come_last() -> None:
    x, y = pvars("x y")
    rules = PatternMatcher((UPat(Ops.MAX, src=(x, y)), lambda x, y: (x < y).where(y, x)))
    ops = [u.op for u in lower(elementwise(), CAPABILITIES, (), rules).program]
    assert "MAX" in CAPABILITIES.native_ops
    assert Ops.MAX not in ops
    assert Ops.WHERE in ops


def test_rules_of_the_renderer_may_write_only_what_is_legal() -> None:
    x, y = pvars("x y")
    rules = PatternMatcher((UPat(Ops.MAX, src=(x, y)), lambda x, y: UOp(Ops.MAX, dtypes.int32, (x, y), None)))
    with pytest.raises(VerifyError, match="MAX"):
        lower(elementwise(), CAPABILITIES, (), rules)


def test_what_a_kernel_keeps_of_a_buffer_it_reads() -> None:
    i, j = UOp.range(16, 0), UOp.range(4, 1)
    place = param(0, 64).index(i * 4 + j)
    value = (param(1, 16).index(i).load() < 3).where(UOp.const(dtypes.float32, 1.0), place.load())
    lowered = lower(kernel(place.store(value, i, j)), CAPABILITIES)
    assert (lowered.outs, lowered.ins) == ((0,), (0, 1))
