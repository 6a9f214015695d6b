from dataclasses import replace

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.loop_order import order_loops
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.dtype import dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

LOOPS = replace(CAPABILITIES, grid_dims=0, max_grid=(), max_workgroup=0, vector_bits=512, threads=2)
PANELS = replace(LOOPS, vector_registers=32, local_memory_bytes=1 << 20)
ONE = replace(PANELS, threads=1, vector_unit_bits=256, cache_bytes=(32 << 10, 1 << 20))


def param(slot: int, numel: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, numel))


def chosen(ast: UOp, capabilities: Capabilities = PANELS) -> list[Opt]:
    return optimise(KernelOpt(ast, capabilities)).applied


def windows(images: int, places: int) -> UOp:
    """Return the kernel of sums of four elements of images, each times a factor that all images share."""
    i, j, k = UOp.range(images, 0), UOp.range(places, 1), UOp.range(4, 2, AxisType.REDUCE)
    image = param(1, images * places * 4).index(i * (places * 4) + k * places + j).load()
    factor = param(2, places * 4).index(k * places + j).load()
    total = (image * factor).reduce(Ops.ADD, k)
    return UOp.sink(param(0, images * places).index(i * places + j).store(total, i, j), arg=KernelInfo())


def test_loops_are_not_turned_for_what_the_first_cache_holds_anyway() -> None:
    near, far = LOOPS.cache_bytes[0] // 32, LOOPS.cache_bytes[0]
    assert not any(opt.op is OptOps.SWAP for opt in chosen(windows(64, near)))
    assert any(opt.op is OptOps.SWAP for opt in chosen(windows(64, far)))


def layer(inputs: int, outputs: int) -> UOp:
    """Return the kernel of 16 rows times weights, both with the steps of the sum side by side."""
    i, j = UOp.range(16, 0), UOp.range(outputs, 1)
    k = UOp.range(inputs, 2, AxisType.REDUCE)
    left = param(1, 16 * inputs).index(i * inputs + k).load()
    right = param(2, outputs * inputs).index(j * inputs + k).load()
    total = (left * right).reduce(Ops.ADD, k)
    return UOp.sink(param(0, 16 * outputs).index(i * outputs + j).store(total, i, j), arg=KernelInfo())


def test_what_no_cache_holds_is_read_once() -> None:
    # two tiles of rows, which are larger than those of weights
    near, far = chosen(layer(1536, 32), ONE), chosen(layer(1536, 384), ONE)
    assert not any(opt.op is OptOps.SWAP for opt in near)
    assert [opt.axis for opt in far if opt.op is OptOps.SWAP] == [(0, 0)]


def gradient(images: int, places: int, channels: int) -> UOp:
    """Return the kernel of products of all channels with all others, summed over the places of images."""
    i, j = UOp.range(channels, 0), UOp.range(channels, 1)
    n, k = UOp.range(images, 2, AxisType.REDUCE), UOp.range(places, 3, AxisType.REDUCE)
    numel = images * places * channels
    left = param(1, numel).index((n * channels + i) * places + k).load()
    right = param(2, numel).index((n * places + k) * channels + j).load()
    total = (left * right).reduce(Ops.ADD, n, k)
    return UOp.sink(
        param(0, channels * channels).index(i * channels + j).store(total, i, j), arg=KernelInfo()
    )


def test_images_are_outside_of_the_results_where_no_cache_holds_all_of_them() -> None:
    assert chosen(gradient(256, 400, 128))[-1].op is OptOps.HOIST
    assert chosen(gradient(256, 400, 128))[-1].axis == (2,)
    assert not any(opt.op is OptOps.HOIST for opt in chosen(gradient(1, 400, 128)))


def test_what_every_share_of_the_threads_reads_counts_for_each() -> None:
    of_two = chosen(gradient(128, 400, 128))
    assert [opt.op for opt in of_two[-2:]] == [OptOps.THREAD, OptOps.HOIST]


def test_sums_in_memory_are_no_gain_where_they_fit_no_cache() -> None:
    small = replace(PANELS, cache_bytes=(1 << 12, 1 << 13))
    assert not any(opt.op is OptOps.HOIST for opt in chosen(gradient(256, 16, 2048), small))


def test_partial_sums_along_lanes_are_not_added_up_for_each_block() -> None:
    # a convolution of a small map, whose rows of weights are read in order: nothing else is reread
    i, j = UOp.range(512, 0), UOp.range(49, 1)
    k = UOp.range(4608, 2, AxisType.REDUCE)
    weight, image = param(1, 512 * 4608).index(i * 4608 + k), param(2, 49 * 4608).index(k * 49 + j)
    total = (weight.load() * image.load()).reduce(Ops.ADD, k)
    ast = UOp.sink(param(0, 512 * 49).index(i * 49 + j).store(total, i, j), arg=KernelInfo())
    narrow = replace(PANELS, vector_bits=256, vector_registers=16, threads=1, cache_bytes=(1 << 15, 1 << 19))
    opts = [opt.op for opt in chosen(ast, narrow)]
    assert OptOps.STAGE in opts
    assert OptOps.HOIST not in opts


def test_blocks_of_channels_are_outside_of_places_that_read_far_more_than_they_compute() -> None:
    # places of small maps read a few bytes of many lines, and filters that the first cache does not hold
    n, i, y, x = (UOp.range(size, number) for number, size in enumerate((8, 512, 7, 7)))
    k, dy, dx = (UOp.range(size, 4 + number, AxisType.REDUCE) for number, size in enumerate((512, 3, 3)))
    image = param(1, 8 * 512 * 81).index(n * (512 * 81) + k * 81 + (y + dy) * 9 + x + dx).load()
    weight = param(2, 512 * 512 * 9).index(i * (512 * 9) + k * 9 + dy * 3 + dx).load()
    place = param(0, 8 * 512 * 49).index(n * (512 * 49) + i * 49 + y * 7 + x)
    total = (image * weight).reduce(Ops.ADD, k, dy, dx)
    narrow = replace(PANELS, vector_bits=256, vector_registers=16, threads=1, cache_bytes=(1 << 15, 1 << 19))
    ast = UOp.sink(place.store(total, n, i, y, x), arg=KernelInfo())
    *_, stage, block, hoist = chosen(ast, narrow)
    assert [opt.op for opt in (stage, block, hoist)] == [OptOps.STAGE, OptOps.BLOCK, OptOps.HOIST]
    assert hoist.axis == (4, 0)


def test_rows_of_a_large_matrix_are_added_up_in_the_order_of_memory() -> None:
    j, k = UOp.range(4096, 0), UOp.range(4096, 1, AxisType.REDUCE)
    total = param(1, 4096 * 4096).index(k * 4096 + j).load().reduce(Ops.ADD, k)
    sums = UOp.sink(param(0, 4096).index(j).store(total, j), arg=KernelInfo())
    hoist = chosen(sums, replace(PANELS, threads=1))[-1]
    assert (hoist.op, hoist.arg) == (OptOps.HOIST, (0, 0))


def test_blocks_of_rows_are_whole_where_no_power_of_two_divides_them() -> None:
    j, k = UOp.range(9999, 0), UOp.range(100, 1, AxisType.REDUCE)
    total = param(1, 100 * 9999).index(k * 9999 + j).load().reduce(Ops.ADD, k)
    sums = UOp.sink(param(0, 9999).index(j).store(total, j), arg=KernelInfo())
    block = chosen(sums, replace(PANELS, threads=1))[-2]
    assert (block.op, block.axis, block.arg) == (OptOps.BLOCK, (1,), 5)


def matmul(m: int, n: int, inner: int) -> UOp:
    i, j, k = UOp.range(m, 0), UOp.range(n, 1), UOp.range(inner, 2, AxisType.REDUCE)
    left, right = param(1, m * inner).index(i * inner + k), param(2, inner * n).index(k * n + j)
    total = (left.load() * right.load()).reduce(Ops.ADD, k)
    return UOp.sink(param(0, m * n).index(i * n + j).store(total, i, j), arg=KernelInfo())


def test_columns_that_take_parts_of_lines_are_copied_before_rows() -> None:
    narrow = replace(PANELS, vector_bits=256, vector_registers=16, cache_bytes=(1 << 15, 1 << 19), threads=1)
    tile = [Opt(OptOps.UPCAST, (1,), 8), Opt(OptOps.UPCAST, (0,), 8)]
    kernel = KernelOpt(matmul(256, 256, 8192), narrow).apply_all(tile)
    order_loops(kernel)
    loops = [r.arg.ident for r in kernel.ast.src[0].src[2:] if r.arg.kind is AxisType.LOOP]
    assert loops == [(1, 0), (0, 0)]


def test_small_weights_are_copied_whole_where_there_is_memory_for_it() -> None:
    # channels are lanes, which memory holds apart, and the inner loop of places that share little
    n, i, x = (UOp.range(size, number) for number, size in enumerate((16, 32, 3981)))
    k = UOp.range(80, 3, AxisType.REDUCE)
    image, weight = param(1, 16 * 16000).index(n * 16000 + x * 4 + k), param(2, 32 * 80).index(i * 80 + k)
    total = (image.load() * weight.load()).reduce(Ops.ADD, k)
    place = param(0, 16 * 32 * 3981).index(n * (32 * 3981) + i * 3981 + x)
    ast = UOp.sink(place.store(total, n, i, x), arg=KernelInfo())
    narrow = replace(PANELS, vector_bits=256, vector_registers=16, threads=1, cache_bytes=(1 << 15, 1 << 19))
    assert Opt(OptOps.STAGE, (0,)) in chosen(ast, narrow)
    assert not any(opt.op is OptOps.STAGE for opt in chosen(ast, replace(narrow, local_memory_bytes=0)))


def blocks(axis_step: int, window: int, window_step: int) -> list[object]:
    """Return the steps of blocks of a row times a matrix whose rows are `axis_step` apart."""
    j = UOp.range(4096, 0)
    k, w = UOp.range(4096, 1, AxisType.REDUCE), UOp.range(window, 2, AxisType.REDUCE)
    row = param(1, 4096 * window).index(k * window + w)
    matrix = param(2, 4096 * axis_step).index(k * axis_step + w * window_step + j)
    total = (row.load() * matrix.load()).reduce(Ops.ADD, k, w)
    ast = UOp.sink(param(0, 4096).index(j).store(total, j), arg=KernelInfo())
    narrow = replace(PANELS, vector_bits=256, vector_registers=16, threads=1, cache_bytes=(1 << 15, 1 << 19))
    return [opt.arg for opt in chosen(ast, narrow) if opt.op is OptOps.BLOCK]


def test_blocks_have_as_many_rows_as_prefetchers_follow_and_rows_that_are_near_count_once() -> None:
    assert blocks(4096, 1, 0) == [8]
    assert blocks(4608, 3, 200) == [8]
