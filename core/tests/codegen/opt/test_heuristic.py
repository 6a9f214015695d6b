"""Properties that any choice must have; which choice is fast is for the benchmarks."""

import math
from dataclasses import replace

import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.prepare.ranges import simplify_ranges
from plugrad.dtype import DType, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

LOOPS = replace(CAPABILITIES, grid_dims=0, max_grid=(), max_workgroup=0, vector_bits=512, threads=2)
PANELS = replace(LOOPS, vector_unit_bits=256, vector_registers=32, local_memory_bytes=1 << 20)


def param(slot: int, numel: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


def kernel(*stores: UOp) -> UOp:
    return UOp.sink(*stores, arg=KernelInfo())


def elementwise(size: int) -> UOp:
    i = UOp.range(size, 0)
    return kernel(param(0, size).index(i).store(param(1, size).index(i).load() + 1.0, i))


def matmul(n: int) -> UOp:
    i, j, k = UOp.range(n, 0), UOp.range(n, 1), UOp.range(n, 2, AxisType.REDUCE)
    product = param(1, n * n).index(i * n + k).load() * param(2, n * n).index(k * n + j).load()
    return kernel(param(0, n * n).index(i * n + j).store(product.reduce(Ops.ADD, k), i, j))


def total(size: int) -> UOp:
    k = UOp.range(size, 0, AxisType.REDUCE)
    sums = param(1, size).index(k).load().reduce(Ops.ADD, k)
    return kernel(param(0, 1).index(UOp.const(dtypes.index, 0)).store(sums))


def chosen(ast: UOp, capabilities: Capabilities) -> list[Opt]:
    return optimise(KernelOpt(ast, capabilities)).applied


def sizes(ast: UOp, capabilities: Capabilities, kind: AxisType) -> list[int]:
    optimised = KernelOpt(ast, capabilities).apply_all(chosen(ast, capabilities))
    return [r.src[0].arg for r in optimised.axes(kind)]


@pytest.mark.parametrize(
    "ast",
    [elementwise(7), elementwise(1 << 16), matmul(96), matmul(7), matmul(61), total(1 << 16), total(1009)],
)
@pytest.mark.parametrize("capabilities", [LOOPS, CAPABILITIES])
def test_what_is_chosen_can_be_applied_and_chosen_again(ast: UOp, capabilities: Capabilities) -> None:
    ast = simplify_ranges(ast)
    opts = chosen(ast, capabilities)
    assert KernelOpt(ast, capabilities).apply_all(opts).applied == opts
    assert chosen(ast, capabilities) == opts


def test_loops_take_whole_vectors_and_all_threads() -> None:
    ast = elementwise(1 << 20)
    assert sizes(ast, LOOPS, AxisType.UPCAST)[0] % 16 == 0
    assert sizes(ast, LOOPS, AxisType.THREAD)[0] % 2 == 0


def test_sizes_that_nothing_divides_take_whole_vectors_and_all_threads_too() -> None:
    assert sizes(elementwise(1_000_003), LOOPS, AxisType.UPCAST)[0] % 16 == 0
    assert sizes(elementwise(1_000_003), LOOPS, AxisType.THREAD) == [2]
    assert len(sizes(matmul(97), LOOPS, AxisType.UPCAST)) == 2


def test_an_update_in_place_is_computed_once() -> None:
    i = UOp.range(1003, 0)
    place = param(0, 1003).index(i)
    ast = kernel(place.store(place.load() + 1.0, i))
    assert all(opt.op is not OptOps.SHIFTIN for opt in chosen(ast, LOOPS))


def test_what_vectors_leave_of_a_sum_is_added_in_shorter_vectors_and_single_steps() -> None:
    ast = total(1009)
    assert sizes(ast, LOOPS, AxisType.PARTIAL) == [64, 48]
    assert sizes(ast, LOOPS, AxisType.REDUCE) == [15]
    assert sizes(total(36), LOOPS, AxisType.PARTIAL) == [32, 4]
    # three vectors of four, and three single steps
    assert sizes(total(31), LOOPS, AxisType.PARTIAL) == [16, 12]
    assert sizes(total(31), LOOPS, AxisType.UNROLL) == [3]
    # two pieces of a row are added up one after the other
    assert sizes(total(49), LOOPS, AxisType.PARTIAL) == [48]


def test_lanes_of_short_rows_are_not_added_up_where_rows_may_be_lanes() -> None:
    i, k = UOp.range(256, 0), UOp.range(10, 1, AxisType.REDUCE)
    x = param(1, 2560).index(i * 10 + k).load()
    shifted = (x - param(2, 256).index(i).load()).exp().reduce(Ops.ADD, k)
    row = shifted + x.reduce(Ops.MAX, k)
    assert sizes(kernel(param(0, 256).index(i).store(row, i)), LOOPS, AxisType.PARTIAL) == []


def test_a_long_sum_has_several_accumulators() -> None:
    assert sizes(total(1 << 16), LOOPS, AxisType.PARTIAL)[0] >= 16


def test_sums_over_the_same_loops_have_the_same_lanes() -> None:
    n, k = 1 << 16, UOp.range(1 << 16, 0, AxisType.REDUCE)
    first, second = (param(slot, n).index(k).load() for slot in (2, 3))
    sums = first.reduce(Ops.ADD, k), (first * second).reduce(Ops.ADD, k)
    index = k.const_like(0)
    alone, other = (param(slot, 1).index(index).store(value) for slot, value in enumerate(sums))
    assert chosen(kernel(alone, other), LOOPS) == chosen(kernel(other), LOOPS)


def test_a_matrix_product_gets_a_tile_of_registers() -> None:
    tile = sizes(matmul(96), LOOPS, AxisType.UPCAST)
    assert len(tile) == 2


def batch(images: int, rows: int, columns: int, inner: int) -> UOp:
    """Return products of one matrix with several others."""
    n, i, j = UOp.range(images, 0), UOp.range(rows, 1), UOp.range(columns, 2)
    k = UOp.range(inner, 3, AxisType.REDUCE)
    left = param(1, rows * inner).index(i * inner + k).load()
    right = param(2, images * inner * columns).index((n * inner + k) * columns + j).load()
    place = param(0, images * rows * columns).index((n * rows + i) * columns + j)
    return kernel(place.store((left * right).reduce(Ops.ADD, k), n, i, j))


def test_the_innermost_loop_repeats_the_widest_panel() -> None:
    ast = simplify_ranges(batch(8, 256, 196, 2304))
    optimised = KernelOpt(ast, LOOPS).apply_all(chosen(ast, LOOPS))
    loops = [r for r in optimised.ast.src[0].src[2:] if r.arg.kind is AxisType.LOOP]
    assert loops[-1].arg.ident[0] == 1


def columns(rows: int, size: int) -> UOp:
    j, k = UOp.range(size, 0), UOp.range(rows, 1, AxisType.REDUCE)
    value = param(1, rows * size).index(k * size + j).load() * param(2, rows).index(k).load()
    return kernel(param(0, size).index(j).store(value.reduce(Ops.ADD, k), j))


def test_sums_down_the_rows_of_large_memory_take_long_runs_of_each_row() -> None:
    alone = replace(PANELS, threads=1)
    assert {*sizes(columns(4096, 4096), alone, AxisType.UPCAST)} == {256}
    assert {*sizes(columns(4096, 384), alone, AxisType.UPCAST)} == {192}
    assert {*sizes(columns(64, 384), alone, AxisType.UPCAST)} == {64}


@pytest.mark.parametrize(("rows", "chains"), [(4096, [4]), (4097, [4]), (64, [])])
def test_long_sums_of_few_columns_have_several_accumulators(rows: int, chains: list[int]) -> None:
    assert sizes(columns(rows, 10), PANELS, AxisType.PARTIAL) == chains
    assert sizes(columns(rows, 64), PANELS, AxisType.PARTIAL) == []


def test_sums_of_integers_down_few_columns_have_one_accumulator() -> None:
    j, k = UOp.range(10, 0), UOp.range(4096, 1, AxisType.REDUCE)
    value = param(1, 40960, dtypes.int32).index(k * 10 + j).load()
    ast = kernel(param(0, 10, dtypes.int32).index(j).store(value.reduce(Ops.ADD, k), j))
    assert sizes(ast, PANELS, AxisType.PARTIAL) == []


def test_lanes_loaded_one_by_one_are_summed_side_by_side_where_they_share_loads() -> None:
    # 64 channels of maps, and what pairs of their elements have in common
    c, n = UOp.range(64, 0), UOp.range(256, 3, AxisType.REDUCE)
    pair, within = UOp.range(30, 1, AxisType.REDUCE), UOp.range(2, 2, AxisType.REDUCE)
    common = (n * 64 + c) * 30 + pair
    value = param(1, 1 << 20).index(common * 2 + within).load() * param(2, 1 << 20).index(common).load()
    ast = kernel(param(0, 64).index(c).store(value.reduce(Ops.ADD, n, pair, within), c))
    assert sizes(ast, PANELS, AxisType.PARTIAL) == [2]


def test_lanes_of_a_reduction_lie_in_one_line_where_they_can() -> None:
    # pairs of a row of 10, which leaves two of a vector's eight: images are far apart
    i, j, k = UOp.range(256, 0), UOp.range(10, 1), UOp.range(2, 2, AxisType.REDUCE)
    value = param(1, 256 * 400).index(i * 400 + j * 2 + k).load()
    for _ in range(6):
        value = value * value + 1.0
    ast = kernel(param(0, 2560).index(i * 10 + j).store(value.reduce(Ops.MAX, k), i, j))
    upcast = [(o.axis, o.arg) for o in chosen(ast, PANELS) if o.op is OptOps.UPCAST]
    # both vectors of a row, whose work is short, are written out
    assert upcast[:2] == [((1, 1), 8), ((1, 0), 2)]


def test_the_panels_of_a_tile_fit_the_cache() -> None:
    ast = simplify_ranges(batch(8, 512, 49, 4608))
    tile = {o.axis[0]: o.arg for o in chosen(ast, LOOPS) if o.op is OptOps.UPCAST}
    nbytes = 4 * 4608 * (tile.get(0, 1) * tile[2] + tile[1])
    assert nbytes <= LOOPS.cache_bytes[-1]


def convolution(images: int, channels: int, size: int, filters: int, window: int, step: int = 1) -> UOp:
    """Return sums over square windows, of images without padding."""
    n, o, y, x = (UOp.range(extent, axis) for axis, extent in enumerate((images, filters, size, size)))
    c, v, w = (
        UOp.range(extent, 4 + a, AxisType.REDUCE) for a, extent in enumerate((channels, window, window))
    )
    around = (size - 1) * step + window
    image = param(1, images * channels * around**2).index(
        ((n * channels + c) * around + y * step + v) * around + x * step + w
    )
    weight = param(2, filters * channels * window**2).index(((o * channels + c) * window + v) * window + w)
    value = (image.load() * weight.load()).reduce(Ops.ADD, c, v, w)
    place = param(0, images * filters * size**2).index(((n * filters + o) * size + y) * size + x)
    return kernel(place.store(value, n, o, y, x))


def lane_axes(ast: UOp) -> set[int]:
    """Return the axes with tiles of whole vectors."""
    return {o.axis[0] for o in chosen(ast, PANELS) if o.op is OptOps.UPCAST and int(str(o.arg)) % 16 == 0}


def test_filters_are_lanes_where_rows_leave_much_of_a_vector() -> None:
    ast = simplify_ranges(convolution(16, 32, 20, 32, 5))
    assert lane_axes(ast) == {1}
    assert any(o.op is OptOps.STAGE for o in chosen(ast, PANELS))


def test_rows_are_lanes_where_they_fill_vectors_or_filters_are_read_for_few_places() -> None:
    assert lane_axes(simplify_ranges(convolution(16, 32, 32, 32, 5))) == {3}
    few = simplify_ranges(convolution(1, 32, 20, 32, 5))
    assert lane_axes(few) == set()
    # three halves of a vector compute four places again, two vectors twelve
    assert Opt(OptOps.SHIFTIN, (3,), 8) in chosen(few, PANELS)
    whole = replace(PANELS, vector_unit_bits=512)
    assert Opt(OptOps.SHIFTIN, (3,), 16) in chosen(few, whole)


def test_rows_are_lanes_where_each_result_is_read_with_another_one() -> None:
    """Filters as lanes would read the residual one element after the other."""
    plain = simplify_ranges(convolution(8, 32, 56, 64, 3))
    assert lane_axes(plain) == {1}
    store = plain.src[0]
    residual = param(3, store.src[0].src[0].arg[1]).index(store.src[0].src[1]).load()
    assert lane_axes(kernel(store.src[0].store(store.src[1] + residual, *store.src[2:]))) == {3}


def test_rows_are_lanes_where_each_tile_of_filters_would_read_images_from_memory_again() -> None:
    assert lane_axes(simplify_ranges(convolution(4, 64, 28, 512, 3, step=2))) == {1}
    assert lane_axes(simplify_ranges(convolution(4, 256, 28, 512, 1, step=2))) == {3}


def test_products_of_one_wide_vector_read_filters_from_memory_themselves() -> None:
    one = replace(PANELS, threads=1, cache_bytes=(32 << 10, 1 << 20))
    opts = chosen(simplify_ranges(convolution(1, 3, 112, 64, 7, step=2)), one)
    assert [(o.axis, o.arg) for o in opts if o.op is OptOps.UPCAST] == [((3,), 16), ((1,), 8)]
    # side by side
    assert opts[-1].op is OptOps.STAGE


def test_wide_vectors_that_lie_across_lines_are_copied_where_many_rows_read_them() -> None:
    one = replace(PANELS, threads=1, cache_bytes=(32 << 10, 1 << 20))

    def is_staged(size: int, filters: int, capabilities: Capabilities = one) -> bool:
        ast = simplify_ranges(convolution(1, 128, size, filters, 1))
        return any(o.op is OptOps.STAGE for o in chosen(ast, capabilities))

    assert is_staged(14, 256)
    assert not is_staged(16, 256)
    assert not is_staged(14, 64)
    assert not is_staged(14, 256, replace(one, vector_bits=256, vector_registers=16))


def gradient_of_filters(images: int, channels: int, filters: int, size: int) -> UOp:
    """Return sums over places, of images beside gradients whose filters are contiguous."""
    o, c, v, w = (UOp.range(extent, axis) for axis, extent in enumerate((filters, channels, 3, 3)))
    n, y, x = (UOp.range(extent, 4 + a, AxisType.REDUCE) for a, extent in enumerate((images, size, size)))
    around = size + 2
    gradient = param(1, images * size**2 * filters).index(((n * size + y) * size + x) * filters + o)
    image = param(2, images * channels * around**2).index(
        ((n * channels + c) * around + y + v) * around + x + w
    )
    value = (gradient.load() * image.load()).reduce(Ops.ADD, n, y, x)
    place = param(0, filters * channels * 9).index(((o * channels + c) * 3 + v) * 3 + w)
    return kernel(place.store(value, o, c, v, w))


def test_lanes_that_memory_has_side_by_side_need_no_copy_of_others() -> None:
    ast = simplify_ranges(gradient_of_filters(4, 256, 256, 14))
    narrow = replace(PANELS, vector_bits=256, vector_registers=16, cache_bytes=(32 << 10, 512 << 10))
    upcast = {o.axis[0]: int(str(o.arg)) for o in chosen(ast, narrow) if o.op is OptOps.UPCAST}
    assert upcast[0] % 8 == 0
    assert upcast.get(1, 1) < 8


def test_lanes_that_are_stored_apart_share_lines_with_their_neighbours() -> None:
    upcast = [
        o.axis[0]
        for o in chosen(simplify_ranges(convolution(16, 32, 20, 32, 5)), PANELS)
        if o.op is OptOps.UPCAST
    ]
    assert {1, 3} <= set(upcast)


@pytest.mark.parametrize("heads", [1, 32])
def test_sums_across_short_vectors_are_dearer_than_a_copy(heads: int) -> None:
    """Scores of attention: keys of 64 elements, each read for 256 of 1024 queries."""
    h, i, j = UOp.range(heads, 0), UOp.range(256, 1), UOp.range(256, 2)
    k = UOp.range(64, 3, AxisType.REDUCE)
    queries, keys = (param(slot, heads * 1024 * 64) for slot in (1, 2))
    product = queries.index((h * 1024 + i) * 64 + k).load() * keys.index((h * 1024 + j) * 64 + k).load()
    place = param(0, heads * 256 * 256).index((h * 256 + i) * 256 + j)
    ast = simplify_ranges(kernel(place.store(product.reduce(Ops.ADD, k), h, i, j)))
    assert sizes(ast, PANELS, AxisType.PARTIAL) == []
    assert any(o.op is OptOps.STAGE for o in chosen(ast, PANELS))


@pytest.mark.parametrize("is_dear", [False, True])
def test_results_are_lanes_where_much_is_computed_of_each_sum(is_dear: bool) -> None:
    """A layer of 1536 inputs and outputs, without or with an activation."""
    rows, outputs, k = UOp.range(16, 0), UOp.range(1536, 1), UOp.range(1536, 2, AxisType.REDUCE)
    product = (
        param(1, 16 * 1536).index(rows * 1536 + k).load()
        * param(2, 1536 * 1536).index(outputs * 1536 + k).load()
    )
    value = product.reduce(Ops.ADD, k)
    for _ in range(4 if is_dear else 0):
        value = value.alu(Ops.EXP2) + 1.0
    ast = kernel(param(0, 16 * 1536).index(rows * 1536 + outputs).store(value, rows, outputs))
    cached = replace(PANELS, threads=1, cache_bytes=(32 << 10, 1 << 20))
    assert bool(sizes(ast, cached, AxisType.PARTIAL)) != is_dear


def test_windows_that_overlap_make_no_rows_of_vectors() -> None:
    upcast = [
        o.axis[0]
        for o in chosen(simplify_ranges(convolution(2, 16, 32, 16, 3)), PANELS)
        if o.op is OptOps.UPCAST
    ]
    assert 2 not in upcast


@pytest.mark.parametrize(("size", "channels"), [(3, 8), (5, 8), (7, 8), (3, 512)])
def test_rows_share_vectors_where_a_window_is_the_whole_reduction(size: int, channels: int) -> None:
    around = 31 + size
    channel, y, x = (UOp.range(extent, n) for n, extent in enumerate((channels, 32, 32)))
    v, u = (UOp.range(size, n, AxisType.REDUCE) for n in (3, 4))
    image = param(1, channels * around**2).index(channel * around**2 + (y + v) * around + x + u).load()
    weight = param(2, channels * size**2).index(channel * size**2 + v * size + u).load()
    place = channel * 1024 + y * 32 + x
    store = (
        param(0, channels * 1024).index(place).store((image * weight).reduce(Ops.ADD, v, u), channel, y, x)
    )
    ast = simplify_ranges(kernel(store))
    opts = {o.axis[0]: o.arg for o in chosen(ast, PANELS) if o.op is OptOps.UPCAST}
    assert opts[1] == 8
    assert opts[2] in (16, 32)
    # of rows of one vector, the steps beside each other load what no row shares
    written = [o.axis for o in chosen(ast, PANELS) if o.op is OptOps.UNROLL]
    assert written == ([(3,)] if opts[2] == 16 else [(4,), (3,)])


def test_sums_along_vectors_are_not_written_out_for_the_lines_of_a_transposed_result() -> None:
    i, j, k = UOp.range(256, 0), UOp.range(64, 1), UOp.range(64, 2, AxisType.REDUCE)

    def squared(c: UOp) -> UOp:
        x = param(1, 256 * 64).index(i * 64 + c).load()
        return x * x

    # divided by the sum of its row, each element is written into a column
    value = squared(j) / squared(k).reduce(Ops.ADD, k)
    ast = kernel(param(0, 64 * 256).index(j * 256 + i).store(value, i, j))
    written_out = {opt.axis for opt in chosen(ast, LOOPS) if opt.op is OptOps.UPCAST}
    assert written_out == {(1,), (2,)}


def test_pairs_in_memory_are_written_out_beside_whole_vectors() -> None:
    i, part = UOp.range(4096, 0), UOp.range(2, 1)
    real, imag = (param(slot, 4096).index(i).load() for slot in (1, 2))
    ast = kernel(param(0, 8192).index(i * 2 + part).store(part.eq(0).where(real, imag), i, part))
    assert sizes(ast, PANELS, AxisType.UPCAST) == [16, 2]


def test_lanes_that_are_gathered_write_out_fewer_copies() -> None:
    """Means of channels over short rows: 36 steps of four gathered vectors took a compiler half a minute."""
    c = UOp.range(64, 0)
    y, x, n = (UOp.range(size, axis, AxisType.REDUCE) for axis, size in ((1, 6), (2, 6), (3, 256)))
    at = ((n * 64 + c) * 6 + y) * 7 + x
    value = param(1, 256 * 64 * 42).index(at).load() * param(2, 256 * 64 * 42).index(at).load()
    ast = kernel(param(0, 64).index(c).store(value.reduce(Ops.ADD, y, x, n), c))
    optimised = KernelOpt(ast, PANELS).apply_all(chosen(ast, PANELS))
    copies = optimised.axes(AxisType.UNROLL, AxisType.PARTIAL, AxisType.UPCAST)
    assert math.prod(r.src[0].arg for r in copies) <= 64 * 9


def test_sums_of_what_labels_choose_keep_their_loop() -> None:
    """The loss of 256 rows had 170,000 characters of C."""
    k = UOp.range(256, 0, AxisType.REDUCE)
    label = param(2, 256, dtypes.int64).index(k).load()
    inside = (label >= 0) & (label < 10)
    column = inside.where(label, 0).cast(dtypes.index)
    values = [param(n, 2560).index(k * 10 + column, inside).load() for n in (1, 3)]
    total = (values[0] * values[1]).reduce(Ops.ADD, k)
    ast = kernel(param(0, 1).index(UOp.const(dtypes.index, 0)).store(total))
    assert sizes(ast, PANELS, AxisType.UNROLL) == []


def test_rows_that_save_hardly_any_of_the_loads_are_not_written_out() -> None:
    image, channel, x = (UOp.range(size, axis) for axis, size in enumerate((256, 64, 3)))
    k = UOp.range(2, 3, AxisType.REDUCE)
    row = image * 64 + channel
    gathered = param(1, 256 * 64 * 6).index(row * 6 + x * 2 + k).load()
    for_all = param(2, 6).index(x * 2 + k).load()
    largest = (gathered.alu(Ops.SQRT).alu(Ops.SQRT) * for_all).reduce(Ops.MAX, k)
    ast = kernel(param(0, 256 * 64 * 3).index(row * 3 + x).store(largest, image, channel, x))
    assert [opt.axis for opt in chosen(ast, PANELS) if opt.op is OptOps.UPCAST] == [channel.arg.ident]


def test_scalar_loops_get_no_vectors() -> None:
    assert chosen(elementwise(1 << 10), replace(LOOPS, vector_bits=0, threads=1)) == []


def test_a_grid_shares_a_long_sum_with_few_results() -> None:
    opts = chosen(total(1 << 16), CAPABILITIES)
    assert [opt.op for opt in opts] == [OptOps.UPCAST, OptOps.GROUP]


def test_a_grid_has_groups_no_larger_than_allowed() -> None:
    local = sizes(simplify_ranges(elementwise(1 << 16)), CAPABILITIES, AxisType.LOCAL)
    assert 1 < local[0] <= CAPABILITIES.max_workgroup


def test_a_grid_shares_a_long_sum_of_any_length() -> None:
    opts = chosen(total(100_003), CAPABILITIES)
    assert [opt.op for opt in opts] == [OptOps.PADTO, OptOps.GROUP]


@pytest.mark.parametrize(("size", "group"), [(7, 7), (1000, 64), (1 << 16, 256), (65, 32)])
def test_groups_of_a_grid_are_full(size: int, group: int) -> None:
    local = sizes(simplify_ranges(elementwise(size)), CAPABILITIES, AxisType.LOCAL)
    assert math.prod(local) == group


def test_reductions_that_share_a_range_do_not_stop_it() -> None:
    k = UOp.range(64, 1, AxisType.REDUCE)
    x = param(1, 64).index(k).load()
    both = x.reduce(Ops.ADD, k) + x.reduce(Ops.MAX, k)
    ast = kernel(param(0, 1).index(UOp.const(dtypes.index, 0)).store(both))
    assert len(chosen(ast, LOOPS)) >= 1


@pytest.mark.parametrize(("op", "copies"), [(Ops.SQRT, 512), (Ops.SIN, 64)])
def test_costly_operations_are_not_copied_hundreds_of_times(op: Ops, copies: int) -> None:
    k = UOp.range(512, 0, AxisType.REDUCE)
    values = param(1, 512).index(k).load().alu(op)
    ast = kernel(param(0, 1).index(UOp.const(dtypes.index, 0)).store(values.reduce(Ops.ADD, k)))
    optimised = KernelOpt(ast, LOOPS).apply_all(chosen(ast, LOOPS))
    unrolled = optimised.axes(AxisType.UNROLL, AxisType.PARTIAL, AxisType.UPCAST)
    assert math.prod(r.src[0].arg for r in unrolled) == copies


def noise(*steps: int) -> UOp:
    """Return the sum of random numbers, which are counted and not loaded."""
    loops = [UOp.range(n, i, AxisType.REDUCE) for i, n in enumerate(steps)]
    count = UOp.const(dtypes.index, 0)
    for loop, n in zip(loops, steps, strict=True):
        count = count * n + loop
    key = param(1, 1, dtypes.uint64).index(UOp.const(dtypes.index, 0)).load()
    drawn = UOp(Ops.THREEFRY, dtypes.uint64, (count.cast(dtypes.uint64), key))
    out = param(0, 1, dtypes.uint64).index(UOp.const(dtypes.index, 0))
    return kernel(out.store(drawn.reduce(Ops.ADD, *loops)))


@pytest.mark.parametrize("steps", [(64,), (256,), (2, 3, 8, 8)])
def test_costly_values_that_are_not_loaded_are_not_written_out_for_each_step(steps: tuple[int, ...]) -> None:
    made = math.prod(o.arg for o in chosen(noise(*steps), LOOPS) if o.op in (OptOps.UPCAST, OptOps.UNROLL))
    assert made <= 16


def test_what_no_loop_moves_is_no_reason_for_a_tile() -> None:
    i, k = UOp.range(6, 0), UOp.range(6, 1, AxisType.REDUCE)
    seed = param(1, 1).index(UOp.const(dtypes.index, 0)).load()
    value = (seed + (i * 6 + k).cast(dtypes.float32)).reduce(Ops.ADD, k)
    assert sizes(kernel(param(0, 6).index(i).store(value, i)), LOOPS, AxisType.UPCAST) == [4]


@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.int16, dtypes.int32])
def test_narrow_elements_that_are_counted_in_wide_integers_write_no_more_out(dtype: DType) -> None:
    # each with each, as in sorting by rank; a lane for each narrow element was 60,000 characters of C
    i, j = UOp.range(256, 0), UOp.range(256, 1, AxisType.REDUCE)
    mine, other = param(1, 256, dtype).index(i).load(), param(1, 256, dtype).index(j).load()
    is_before = (other < mine) | (other.eq(mine) & (j.cast(dtypes.int32) < i.cast(dtypes.int32)))
    rank = is_before.cast(dtypes.int32).reduce(Ops.ADD, j)
    ast = kernel(param(0, 256, dtypes.int32).index(i).store(rank, i))
    copies = [
        math.prod(sizes(ast, LOOPS, kind)) for kind in (AxisType.UPCAST, AxisType.PARTIAL, AxisType.UNROLL)
    ]
    assert math.prod(copies) <= 64


def test_what_is_read_before_the_loops_makes_no_tile() -> None:
    """A scale for each channel is the same in every window: rows of windows share nothing."""
    n, c, w = UOp.range(64, 0), UOp.range(16, 1), UOp.range(32, 2)
    k = UOp.range(2, 3, AxisType.REDUCE)
    x = param(1, 64 * 16 * 64).index(((n * 16 + c) * 32 + w) * 2 + k).load()
    scaled = x * param(2, 16).index(c).load() + param(3, 16).index(c).load()
    place = param(0, 64 * 16 * 32).index((n * 16 + c) * 32 + w)
    ast = kernel(place.store(scaled.reduce(Ops.MAX, k), n, c, w))
    upcast = [o.axis for o in chosen(ast, LOOPS) if o.op is OptOps.UPCAST]
    assert upcast
    assert all(axis[0] == 2 for axis in upcast)


def test_no_more_than_nine_steps_of_a_window_inside_of_a_loop_are_written_out() -> None:
    i, *window = UOp.range(64, 0), *(UOp.range(3, n, AxisType.REDUCE) for n in (2, 3, 4))
    channel = UOp.range(8, 1, AxisType.REDUCE)
    place = channel * 256 + i + sum(((k * 16) for k in window[1:]), window[0])
    taps = param(2, 216).index(((channel * 3 + window[0]) * 3 + window[1]) * 3 + window[2]).load()
    total = (param(1, 2048).index(place).load() * taps).reduce(Ops.ADD, channel, *window)
    ast = kernel(param(0, 64).index(i).store(total, i))
    assert sizes(ast, LOOPS, AxisType.UNROLL) == [3, 3]


def test_lanes_of_windows_lie_along_the_inner_of_two_axes_of_about_one_cost() -> None:
    image, row = UOp.range(64, 0), UOp.range(14, 1)
    window = [UOp.range(3, n, AxisType.REDUCE) for n in (2, 3, 4)]
    place = image * 1024 + row * 3 + window[0] + window[1] * 50 + window[2] * 100
    largest = (param(1, 64 * 1024).index(place).load() * 2.0).reduce(Ops.MAX, *window)
    ast = kernel(param(0, 64 * 14).index(image * 14 + row).store(largest, image, row))
    assert all(opt.axis[0] == 1 for opt in chosen(ast, LOOPS) if opt.op in (OptOps.UPCAST, OptOps.SHIFTIN))


@pytest.mark.parametrize(
    ("rows", "columns", "is_written_out"), [(4096, 1024, False), (32768, 128, True), (16, 1024, True)]
)
def test_long_rows_of_memory_stay_loops_that_prefetchers_follow(
    rows: int, columns: int, is_written_out: bool
) -> None:
    i, k = UOp.range(rows, 0), UOp.range(columns, 1, AxisType.REDUCE)
    sums = param(1, rows * columns).index(i * columns + k).load().reduce(Ops.ADD, k)
    ast = kernel(param(0, rows).index(i).store(sums, i))
    assert (sizes(ast, LOOPS, AxisType.UNROLL) != []) == is_written_out


def test_sums_of_columns_are_written_out() -> None:
    j, k = UOp.range(1 << 16, 0), UOp.range(16, 1, AxisType.REDUCE)
    sums = param(1, 1 << 20).index(k * (1 << 16) + j).load().reduce(Ops.ADD, k)
    ast = kernel(param(0, 1 << 16).index(j).store(sums, j))
    assert sizes(ast, LOOPS, AxisType.UNROLL) == [16]
