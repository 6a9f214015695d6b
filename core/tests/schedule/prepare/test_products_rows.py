import pytest

from plugrad.dtype import dtypes
from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.prepare.normalize import normalize
from plugrad.schedule.prepare.products import rewrite_product
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

NARROW = CostModel(
    cores=2, runs_loops=True, row_bytes=1 << 19, near_bytes=1 << 15, vector_bytes=32, vector_registers=16
)
WIDE = CostModel(
    cores=2, runs_loops=True, row_bytes=1 << 20, near_bytes=1 << 15, vector_bytes=64, vector_registers=32
)
GRID = CostModel(cores=256, runs_loops=False, row_bytes=1 << 20, vector_bytes=32, vector_registers=16)


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def product(rows: UOp, columns: UOp) -> UOp:
    """Return the sums of products of (M, K) and (N, K), (M, N, 1)."""
    (m, k), (n, _) = rows.shape, columns.shape
    one = rows.reshape((m, 1, k)).expand((m, n, k))
    return (one * columns.reshape((1, n, k)).expand((m, n, k))).reduce_axis(Ops.ADD, (2,))


def transposed(k: int, m: int, n: int) -> UOp:
    """Return `a.T @ b` of (K, M) and (K, N)."""
    return product(buffer(k, m).permute((1, 0)), buffer(k, n).permute((1, 0)))


def copied(sums: UOp, model: CostModel = NARROW) -> UOp | None:
    return rewrite_product(Devices({"PYTHON": model}, "PYTHON"), sums, sums.src[0])


def test_rows_that_memory_holds_as_columns_are_copied_in_the_order_of_the_sums() -> None:
    found = copied(transposed(2048, 384, 1536))
    assert found is not None
    (copy,) = (u for u in found.toposort() if u.op is Ops.CONTIGUOUS)
    assert copy.shape == (384, 1, 2048)
    assert found.shape == (384, 1536, 1)


def test_the_pass_copies_rows_before_graphs_are_cut_into_kernels() -> None:
    sums = transposed(2048, 384, 1536)
    prepared = normalize(UOp.sink(sums), Devices({"PYTHON": NARROW}, "PYTHON"))
    (copy,) = (u for u in prepared.toposort() if u.op is Ops.CONTIGUOUS)
    assert copy.base.shape == (384, 1, 2048)


def test_the_copy_is_not_copied_again() -> None:
    found = copied(transposed(2048, 384, 1536))
    assert found is not None
    assert copied(found) is None


def test_rows_that_lie_along_the_sums_stay() -> None:
    assert copied(product(buffer(384, 2048), buffer(2048, 1536).permute((1, 0)))) is None


@pytest.mark.parametrize("model", [WIDE, GRID])
def test_tiles_that_use_lines_and_grids_need_no_copy(model: CostModel) -> None:
    assert copied(transposed(2048, 384, 1536), model) is None


@pytest.mark.parametrize("sizes", [(128, 384, 1536), (2048, 8, 1536), (2048, 384, 64)])
def test_short_sums_few_rows_and_few_columns_need_no_copy(sizes: tuple[int, int, int]) -> None:
    assert copied(transposed(*sizes)) is None


def test_a_number_is_no_factor_of_rows() -> None:
    sums = (buffer(2048, 384) * 0.5).reduce_axis(Ops.ADD, (0,))
    assert sums.src[0].op is Ops.MUL
    assert copied(sums) is None


def test_a_product_without_elements_is_left() -> None:
    assert copied(transposed(2048, 0, 384)) is None
    assert copied(transposed(0, 384, 384)) is None
