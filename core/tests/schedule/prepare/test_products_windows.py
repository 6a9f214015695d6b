from dataclasses import replace

from plugrad.dtype import dtypes
from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.prepare.products import rewrite_product
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

VECTORS = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20, vector_bytes=64)
SCALARS = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20)
GRID = CostModel(cores=256, runs_loops=False, row_bytes=1 << 20, vector_bytes=64)


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def every_other(size: int, channels: int) -> UOp:
    """Return every other row and column of images, (1, C, size, size)."""
    image = buffer(channels, 2 * size, 2 * size).reshape((channels, size, 2, size, 2))
    picked = image.shrink(((0, channels), (0, size), (0, 1), (0, size), (0, 1)))
    return picked.reshape((1, channels, size, size))


def strided(size: int, channels: int, filters: int, images: int = 1) -> UOp:
    """Return a 1 x 1 convolution of every other row and column: (filters, images * size, size, 1)."""
    full = (filters, images * size, size, channels)
    view = every_other(size, images * channels).reshape((images, channels, size, size)).permute((0, 2, 3, 1))
    view = view.reshape((1, images * size, size, channels))
    weight = buffer(filters, channels).reshape((filters, 1, 1, channels))
    return (view.expand(full) * weight.expand(full)).reduce_axis(Ops.ADD, (3,))


def copied(sums: UOp, model: CostModel = VECTORS) -> UOp | None:
    return rewrite_product(Devices({"PYTHON": model}, "PYTHON"), sums, sums.src[0])


def copies(sums: UOp | None) -> list[UOp]:
    return [u for u in sums.toposort() if u.op is Ops.CONTIGUOUS] if sums is not None else []


def test_short_rows_that_many_filters_read_are_copied_with_all_columns_side_by_side() -> None:
    found = copied(strided(7, 64, 128))
    (copy,) = copies(found)
    assert copy.shape == (1, 64, 7, 7)
    assert found is not None
    assert found.shape == strided(7, 64, 128).shape


def test_the_copy_is_not_copied_again() -> None:
    found = copied(strided(7, 64, 128))
    assert found is not None
    assert copied(found) is None


def test_rows_of_whole_vectors_are_read_where_they_are() -> None:
    assert copied(strided(16, 64, 128)) is None


def test_filters_that_kernels_pack_for_many_places_need_no_copy() -> None:
    assert copied(strided(7, 64, 128, images=15)) is not None
    assert copied(strided(7, 64, 128, images=16)) is None


def test_few_filters_are_no_reason_for_a_copy() -> None:
    assert copied(strided(7, 64, 8)) is None


def test_scalars_and_grids_need_no_rows() -> None:
    assert copied(strided(7, 64, 128), SCALARS) is None
    assert copied(strided(7, 64, 128), GRID) is None


def test_a_copy_beyond_the_caches_is_not_made() -> None:
    assert copied(strided(7, 64, 128), replace(VECTORS, row_bytes=1 << 9)) is None


def test_windows_of_padded_images_read_a_copy_with_the_padding() -> None:
    padded = buffer(64, 7, 7).pad(((0, 0), (1, 1), (1, 1)))
    rows = padded.reshape((64, 1, 9, 9)).expand((64, 3, 9, 9)).shrink(((0, 64), (0, 3), (0, 7), (0, 7)))
    full = (128, 7, 7, 64, 3)
    view = rows.permute((2, 3, 0, 1)).reshape((1, 7, 7, 64, 3))
    weight = buffer(128, 64, 3).reshape((128, 1, 1, 64, 3))
    sums = (view.expand(full) * weight.expand(full)).reduce_axis(Ops.ADD, (3, 4))
    assert [u.src[0].op for u in copies(copied(sums))] == [Ops.PAD, Ops.PERMUTE]


def test_a_factor_with_filters_side_by_side_has_lanes_of_its_own() -> None:
    full = (7, 7, 128, 64)
    view = every_other(7, 64).permute((0, 2, 3, 1)).reshape((7, 7, 1, 64))
    weight = buffer(64, 128).permute((1, 0)).reshape((1, 1, 128, 64))
    assert copied((view.expand(full) * weight.expand(full)).reduce_axis(Ops.ADD, (3,))) is None


def test_a_sum_of_products_with_one_number_copies_nothing() -> None:
    view = buffer(2, 1, 1, 3).expand((2, 2, 1, 3))
    assert copied((view * view.const_like(-2.0)).reduce_axis(Ops.ADD, (1,))) is None
