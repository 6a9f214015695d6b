from dataclasses import replace

from plugrad.dtype import dtypes
from plugrad.schedule.fusion import MOST_OPERATIONS, CostModel
from plugrad.target import Capabilities, Fragment, TensorCore
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

LOOPS = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20)
GRID = CostModel(cores=256, runs_loops=False, row_bytes=1 << 20)


def test_the_model_reads_capabilities_only() -> None:
    none = frozenset[object]()
    cpu = Capabilities(none, none, threads=4, cache_bytes=(1 << 15, 1 << 19))  # type: ignore[arg-type]
    gpu = Capabilities(none, none, grid_dims=3, max_buffers=31)  # type: ignore[arg-type]
    caches = {"vector_registers": 16, "near_bytes": 1 << 15, "has_doubles": False}
    assert CostModel.of(cpu) == CostModel(4, True, 1 << 19, 0, **caches)  # type: ignore[arg-type]
    assert CostModel.of(gpu) == CostModel(16, False, 1 << 20, 31, **caches)  # type: ignore[arg-type]


def test_a_device_that_knows_its_rates_says_what_a_byte_costs() -> None:
    none = frozenset[object]()
    rates = {"flop_rates": ((dtypes.float32, 67 * 10**12),), "memory_bandwidth": 3350 * 10**9}
    known = Capabilities(none, none, grid_dims=3, **rates)  # type: ignore[arg-type]
    assert CostModel.of(known).operations_per_byte == 20


def test_a_launch_on_a_grid_is_worth_the_operations_of_two_microseconds() -> None:
    none = frozenset[object]()
    rates = {"flop_rates": ((dtypes.float32, 67 * 10**12),)}
    grid = Capabilities(none, none, grid_dims=3, **rates)  # type: ignore[arg-type]
    loops = Capabilities(none, none, threads=4, **rates)  # type: ignore[arg-type]
    assert CostModel.of(grid).operations_per_launch == 67 * 10**6
    assert CostModel.of(loops).operations_per_launch == LOOPS.operations_per_launch


def test_a_value_that_is_used_once_is_never_stored() -> None:
    assert not LOOPS.elementwise_boundary(repeated=0, numel=1000, itemsize=4)


def test_a_cheap_value_is_computed_again_and_a_dear_one_stored() -> None:
    assert not LOOPS.elementwise_boundary(repeated=1000 * 2, numel=1000, itemsize=4)
    assert LOOPS.elementwise_boundary(repeated=1000 * 500, numel=1000, itemsize=4)


def test_a_value_is_computed_again_where_its_sources_are_read_anyway() -> None:
    mask = (7 * 4 << 20, 1 << 20, 1)
    assert LOOPS.elementwise_boundary(*mask)
    assert not LOOPS.elementwise_boundary(*mask, more_reads=8)


def test_a_small_value_is_computed_again_before_another_kernel_has_started() -> None:
    assert not LOOPS.elementwise_boundary(repeated=7 * 64 * 7, numel=64, itemsize=1)
    assert LOOPS.elementwise_boundary(repeated=63 * 4096 * 7, numel=4096, itemsize=1)


def test_a_value_that_every_row_needs_is_stored() -> None:
    assert LOOPS.elementwise_boundary(repeated=999 * 1000 * 3, numel=1000, itemsize=4)


def product(rows: int, inner: int, columns: int) -> UOp:
    """Return the sum of products of a matrix and a transposed one."""
    a, b = (
        UOp.new_buffer("PYTHON", shape, dtypes.int8).cast(dtypes.int32)
        for shape in ((rows, inner), (columns, inner))
    )
    full = (rows, columns, inner)
    left = a.reshape((rows, 1, inner)).expand(full)
    return (left * b.reshape((1, columns, inner)).expand(full)).reduce_axis(Ops.ADD, (2,))


BYTES = TensorCore(
    "bytes", (16, 1, 4), 1, dtypes.int8, dtypes.int32, Fragment((), ()), Fragment((), ()), Fragment((), ())
)


def test_loops_take_factors_narrow_where_their_matrix_instructions_suit_the_product() -> None:
    model = replace(LOOPS, tensor_cores=(BYTES,))
    whole = product(64, 64, 64)
    assert [(cast.op, cast.dtype) for cast in model.narrow_factors(whole)] == [(Ops.CAST, dtypes.int32)] * 2
    assert not LOOPS.narrow_factors(whole)
    for rows, inner, columns in ((8, 64, 64), (64, 63, 64), (64, 64, 17)):
        assert not model.narrow_factors(product(rows, inner, columns))
    # a sum over two axes is none of matrices, and the least of it no sum
    ints = UOp.new_buffer("PYTHON", (64, 64, 64), dtypes.int8).cast(dtypes.int32)
    assert not model.narrow_factors((ints * ints).reduce_axis(Ops.ADD, (1, 2)))
    assert not model.narrow_factors(whole.src[0].reduce_axis(Ops.MAX, (2,)))


def test_a_grid_takes_the_factors_of_its_matrix_instructions_narrow_everywhere() -> None:
    model = replace(GRID, tensor_cores=(BYTES,))
    assert model.inline_cast(dtypes.int8, dtypes.int32)
    assert not model.inline_cast(dtypes.int32, dtypes.int8)
    assert not replace(LOOPS, tensor_cores=(BYTES,)).inline_cast(dtypes.int8, dtypes.int32)


def test_padding_is_copied_where_vectors_would_break_often() -> None:
    assert not LOOPS.pad_boundary(evaluations=1000, numel=1000)
    # windows of 3 x 3 at every second place
    assert LOOPS.pad_boundary(evaluations=2000, numel=1000)
    assert LOOPS.pad_boundary(evaluations=9000, numel=1000)
    assert not GRID.pad_boundary(evaluations=9000, numel=1000)


def test_rows_are_reduced_inside_where_loops_run_and_the_row_fits() -> None:
    assert not LOOPS.row_reduce_boundary(rows=64, row_bytes=4096)
    assert LOOPS.row_reduce_boundary(rows=64, row_bytes=2 << 20)
    assert GRID.row_reduce_boundary(rows=64, row_bytes=4096)
    # one long row leaves the other cores idle
    assert LOOPS.row_reduce_boundary(rows=1, row_bytes=1 << 18)


def test_groups_of_a_grid_have_rows_that_are_many_or_short() -> None:
    assert not GRID.row_reduce_boundary(rows=256, row_bytes=1 << 20, along_rows=True)
    assert not GRID.row_reduce_boundary(rows=1, row_bytes=4096, along_rows=True)
    assert GRID.row_reduce_boundary(rows=64, row_bytes=1 << 20, along_rows=True)


def test_a_contraction_has_loops_of_its_own_where_a_tile_saves_more_than_memory_costs() -> None:
    assert LOOPS.shares_nest(saved_loads=1000 * 48, numel=1000, itemsize=4)
    assert not LOOPS.shares_nest(saved_loads=1000 * 128, numel=1000, itemsize=4)


def test_vectors_that_cover_an_axis_may_overlap() -> None:
    vectors = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20, vector_bytes=64)
    assert [vectors.vector_steps(size, itemsize=4) for size in (1, 7, 16, 20, 49)] == [1, 2, 1, 2, 4]
    assert LOOPS.vector_steps(7, itemsize=4) == 7


def test_an_axis_fills_the_lanes_that_do_not_overlap() -> None:
    vectors = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20, vector_bytes=64)
    assert [vectors.filled_lanes(size, itemsize=4) for size in (7, 8, 24, 32)] == [7 / 8, 1, 24 / 32, 1]


def test_a_copy_of_windows_pays_for_enough_readers() -> None:
    vectors = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20, vector_bytes=64)
    assert vectors.copy_windows(1000, rows=512, fewer_steps=0.1, itemsize=4)
    assert not vectors.copy_windows(1000, rows=8, fewer_steps=0.1, itemsize=4)
    assert not vectors.copy_windows(1000, rows=512, fewer_steps=0.0, itemsize=4)
    assert not vectors.copy_windows(1 << 23, rows=512, fewer_steps=0.1, itemsize=4)


def test_long_reductions_to_few_results_are_split_among_cores() -> None:
    assert LOOPS.split_reduce(reduced=1 << 20, kept=1) == 16
    assert LOOPS.split_reduce(reduced=1 << 10, kept=1) == 1
    assert LOOPS.split_reduce(reduced=1 << 19, kept=64) == 1


def test_a_row_beyond_the_second_cache_is_reduced_in_pieces() -> None:
    assert LOOPS.split_reduce(reduced=1 << 20, kept=64) == 16
    assert LOOPS.split_reduce(reduced=1 << 20, kept=65) == 1
    assert LOOPS.split_reduce(reduced=1 << 20, kept=64, itemsize=2) == 1
    assert LOOPS.split_reduce(reduced=1 << 24, kept=1) == 256


def test_a_grid_splits_reductions_where_units_would_have_no_group() -> None:
    assert GRID.split_reduce(reduced=1 << 20, kept=1) == 512
    assert GRID.split_reduce(reduced=1 << 20, kept=256) == 2
    assert GRID.split_reduce(reduced=1 << 20, kept=257) == 1
    assert GRID.split_reduce(reduced=1 << 13, kept=65) == 1
    assert GRID.split_reduce(reduced=1 << 20, kept=65 * 32, together=32) > 1
    # a tile of 64 x 64 results is one group's
    assert GRID.split_reduce(reduced=1 << 16, kept=64 * 64, together=64 * 64) == 256
    assert GRID.split_reduce(reduced=256, kept=64, together=64 * 64) == 1


def test_a_kernel_is_full_at_its_limit() -> None:
    assert not LOOPS.full_boundary(MOST_OPERATIONS - 1)
    assert LOOPS.full_boundary(MOST_OPERATIONS)
