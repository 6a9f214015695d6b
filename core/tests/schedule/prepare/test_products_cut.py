import pytest

from plugrad.dtype import dtypes
from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.prepare.normalize import normalize
from plugrad.schedule.prepare.products import rewrite_product
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

NARROW = CostModel(cores=2, runs_loops=True, row_bytes=1 << 19, vector_bytes=32, vector_registers=16)
SCALARS = CostModel(cores=2, runs_loops=True, row_bytes=1 << 19)
GRID = CostModel(cores=256, runs_loops=False, row_bytes=1 << 19, vector_bytes=32, vector_registers=16)


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def product(m: int, n: int, *inner: int) -> UOp:
    """Return the sums of products of (M, *inner) and (N, *inner), (M, N, 1...)."""
    full = (m, n, *inner)
    rows = buffer(m, *inner).reshape((m, 1, *inner)).expand(full)
    columns = buffer(n, *inner).reshape((1, n, *inner)).expand(full)
    return (rows * columns).reduce_axis(Ops.ADD, tuple(range(2, len(full))))


def pieces(sums: UOp, model: CostModel = NARROW) -> list[tuple[int, ...]]:
    """Return the shapes that are stored in between."""
    found = rewrite_product(Devices({"PYTHON": model}, "PYTHON"), sums, sums.src[0])
    assert found is None or found.shape == sums.shape
    return [u.shape for u in found.toposort() if u.op is Ops.CONTIGUOUS] if found is not None else []


def test_a_long_sum_of_products_is_cut_into_pieces_that_the_cache_holds() -> None:
    assert pieces(product(256, 256, 8192)) == [(2, 256, 256, 1)]
    assert pieces(product(64, 64, 20000)) == [(5, 64, 64, 1)]


def test_of_two_axes_a_piece_has_one_step_of_the_outer_one() -> None:
    assert pieces(product(64, 64, 4, 56 * 56)) == [(4, 64, 64, 1, 1)]
    assert pieces(product(64, 64, 256, 400)) == []
    assert pieces(product(64, 64, 2, 8191)) == []


@pytest.mark.parametrize(
    "sums",
    [
        pytest.param(product(256, 256, 4096), id="cached"),
        pytest.param(product(1, 256, 8192), id="read once"),
        pytest.param(product(4096, 4096, 8192), id="sums as large as factors"),
        pytest.param(product(256, 256, 8191), id="without divisors"),
    ],
)
def test_other_sums_stay(sums: UOp) -> None:
    assert pieces(sums) == []


@pytest.mark.parametrize("model", [SCALARS, GRID])
def test_devices_without_panels_of_vectors_sum_at_once(model: CostModel) -> None:
    assert pieces(product(256, 256, 8192), model) == []


def test_pieces_are_not_cut_again() -> None:
    found = normalize(UOp.sink(product(64, 64, 1 << 17)), Devices({"PYTHON": NARROW}, "PYTHON"))
    assert [u.shape for u in found.toposort() if u.op is Ops.CONTIGUOUS] == [(32, 64, 64, 1)]
