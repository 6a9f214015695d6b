from plugrad.dtype import dtypes
from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.prepare.normalize import normalize
from plugrad.schedule.prepare.products import rewrite_product
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

VECTORS = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20, vector_bytes=64)
GRID = CostModel(cores=256, runs_loops=False, row_bytes=1 << 20, vector_bytes=64)
FILTERS, CHANNELS = 32, 8
WEIGHT = UOp.new_buffer("PYTHON", (FILTERS, CHANNELS), dtypes.float32)


def convolution(
    size: int, weight: UOp = WEIGHT, groups: int = 1, overlap: int = 2, filters: int = FILTERS
) -> UOp:
    """Return a convolution of maps of `size`, which reads each element `overlap` times.

    The result is (groups, filters of a group, size, size, 1).
    """
    channels = CHANNELS // overlap
    image = UOp.new_buffer("PYTHON", (groups, channels, 1, size, size), dtypes.float32)
    windows = image.expand((groups, channels, overlap, size, size)).reshape((groups, CHANNELS, size, size))
    full = (groups, filters // groups, size, size, CHANNELS)
    view = windows.permute((0, 2, 3, 1)).reshape((groups, 1, size, size, CHANNELS)).expand(full)
    factor = weight.reshape((groups, filters // groups, 1, 1, CHANNELS)).expand(full)
    return (view * factor).reduce_axis(Ops.ADD, (4,))


def packed(
    sums: UOp, model: CostModel = VECTORS, constants: frozenset[UOp] = frozenset({WEIGHT})
) -> list[UOp]:
    """Return the packed factors of a sum of products, which has to keep its shape."""
    found = rewrite_product(Devices({"PYTHON": model}, "PYTHON", constants), sums, sums.src[0])
    assert found is None or found.shape == sums.shape
    copies = [] if found is None else [u for u in found.toposort() if u.op is Ops.CONTIGUOUS]
    # those of windows have no weights, which are of two axes
    return [u for u in copies if any(n.op is Ops.BUFFER and len(n.shape) == 2 for n in u.toposort())]


def test_constant_filters_of_short_rows_lie_side_by_side() -> None:
    (copy,) = packed(convolution(7))
    assert copy.shape[-1] == FILTERS
    assert WEIGHT in copy.toposort()


def test_many_filters_are_packed_in_blocks_of_a_tile() -> None:
    weight = UOp.new_buffer("PYTHON", (4 * FILTERS, CHANNELS), dtypes.float32)
    sums = convolution(7, weight, filters=4 * FILTERS)
    devices = Devices({"PYTHON": VECTORS}, "PYTHON", frozenset({weight}))
    (copy,) = [u for u in normalize(UOp.sink(sums), devices).toposort() if u.op is Ops.CONTIGUOUS]
    assert copy.shape[1] == 4
    assert copy.shape[-2:] == (CHANNELS, FILTERS)
    # a rest would be a vector of its own
    weight = UOp.new_buffer("PYTHON", (4 * FILTERS + 8, CHANNELS), dtypes.float32)
    (copy,) = packed(convolution(7, weight, filters=4 * FILTERS + 8), constants=frozenset({weight}))
    assert copy.shape[-1] == 4 * FILTERS + 8


def test_the_other_factor_may_stand_first_or_last() -> None:
    sums = convolution(7)
    swapped = sums.src[0].replace(src=sums.src[0].src[::-1]).reduce_axis(*sums.arg)
    assert len(packed(swapped)) == 1


def test_packed_filters_are_not_packed_again() -> None:
    sums = convolution(7)
    devices = Devices({"PYTHON": VECTORS}, "PYTHON", frozenset({WEIGHT}))
    once = rewrite_product(devices, sums, sums.src[0])
    assert once is not None
    assert rewrite_product(devices, once, once.src[0]) is None


def test_filters_that_lie_side_by_side_already_stay() -> None:
    weight = UOp.new_buffer("PYTHON", (CHANNELS, FILTERS), dtypes.float32)
    assert packed(convolution(7, weight.permute((1, 0))), constants=frozenset({weight})) == []


def test_filters_that_may_change_stay() -> None:
    assert packed(convolution(7), constants=frozenset()) == []


def test_filters_of_rows_that_fill_vectors_as_well_stay() -> None:
    assert packed(convolution(8)) == []
    assert packed(convolution(16)) == []
    assert packed(convolution(28)) == []


def test_filters_of_maps_without_windows_stay() -> None:
    assert packed(convolution(7, overlap=1)) == []


def test_filters_of_groups_stay() -> None:
    assert packed(convolution(7, groups=2)) == []


def test_parts_of_memory_stay() -> None:
    part = UOp.new_buffer("PYTHON", (2 * FILTERS, CHANNELS), dtypes.float32)
    half = part.shrink(((0, FILTERS), (0, CHANNELS)))
    assert packed(convolution(7, half), constants=frozenset({part})) == []


def test_the_rows_of_a_matrix_stay() -> None:
    full = (7, FILTERS, CHANNELS)
    x = UOp.new_buffer("PYTHON", (7, CHANNELS), dtypes.float32).reshape((7, 1, CHANNELS)).expand(full)
    weight = WEIGHT.reshape((1, FILTERS, CHANNELS)).expand(full)
    assert packed((x * weight).reduce_axis(Ops.ADD, (2,))) == []


def test_grids_read_filters_where_they_are() -> None:
    assert packed(convolution(7), GRID) == []


def test_other_reductions_stay() -> None:
    sums = convolution(7)
    assert packed(sums.src[0].reduce_axis(Ops.MAX, (4,))) == []
