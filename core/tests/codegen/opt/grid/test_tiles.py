"""Groups share tiles of products and convolutions where every unit has some."""

import math
from dataclasses import replace

import numpy as np
import pytest

from plugrad.builtin.null import CAPABILITIES
from plugrad.codegen.lower import lower
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import GroupTile, OptOps
from plugrad.dtype import dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import evaluate_kernel, run_lowered

GRID = replace(CAPABILITIES, compute_units=64, thread_registers=255)
SHARING = replace(GRID, unit_memory_bytes=228 << 10)


def param(slot: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, 1 << 28))


def matmul(rows: int, columns: int, steps: int) -> UOp:
    i, j, k = UOp.range(rows, 0), UOp.range(columns, 1), UOp.range(steps, 2, AxisType.REDUCE)
    product = param(1).index(i * steps + k).load() * param(2).index(k * columns + j).load()
    return UOp.sink(param(0).index(i * columns + j).store(product.reduce(Ops.ADD, k), i, j), arg=KernelInfo())


def convolution(maps: int, size: int, batch: int = 8, filters: int = 64, elements: int = 1 << 28) -> UOp:
    """Return a 3x3 convolution of padded images."""
    b, f, y, x = (UOp.range(n, axis) for axis, n in enumerate((batch, filters, size, size)))
    c, v, u = (UOp.range(n, axis, AxisType.REDUCE) for axis, n in enumerate((maps, 3, 3), 4))
    out, images, weights = (UOp(Ops.PARAM, dtypes.float32, (), (slot, elements)) for slot in range(3))
    image = images.index(((b * maps + c) * (size + 2) + y + v) * (size + 2) + x + u).load()
    weight = weights.index(((f * maps + c) * 3 + v) * 3 + u).load()
    place = out.index(((b * filters + f) * size + y) * size + x)
    return UOp.sink(place.store((image * weight).reduce(Ops.ADD, c, v, u), b, f, y, x), arg=KernelInfo())


def shares(ast: UOp, capabilities: Capabilities = SHARING) -> bool:
    return any(o.op is OptOps.SHARE for o in optimise(KernelOpt(ast, capabilities)).applied)


@pytest.mark.parametrize("shape", [(4096, 4096, 4096), (1021, 1019, 1013), (512, 512, 64)])
def test_groups_of_a_product_share_tiles_that_leave_no_unit_idle(shape: tuple[int, int, int]) -> None:
    ast = matmul(*shape)
    optimised = optimise(KernelOpt(ast, SHARING))
    assert shares(ast)
    assert not shares(ast, GRID)
    assert math.prod(int(r.src[0].vmax) for r in optimised.axes(AxisType.GLOBAL)) >= SHARING.compute_units
    assert math.prod(int(r.src[0].vmax) for r in optimised.axes(AxisType.UPCAST)) in (32, 64)


@pytest.mark.parametrize(
    ("shape", "ahead"),
    [((512, 768, 512), 2), ((1024, 1024, 512), 2), ((1024, 2048, 512), 0), ((1021, 511, 512), 0)],
)
def test_a_group_that_has_its_unit_alone_copies_ahead(shape: tuple[int, int, int], ahead: int) -> None:
    capabilities = replace(SHARING, async_copy_bytes=(4, 8, 16), local_memory_bytes=1 << 16)
    (share,) = (o for o in optimise(KernelOpt(matmul(*shape), capabilities)).applied if o.op is OptOps.SHARE)
    assert isinstance(share.arg, GroupTile)
    assert share.arg.ahead == ahead


@pytest.mark.parametrize("shape", [(4096, 4096, 16), (64, 64, 4096), (4096, 67, 4096)])
def test_few_steps_or_results_are_not_shared(shape: tuple[int, int, int]) -> None:
    assert not shares(matmul(*shape))


def test_a_batch_of_products_is_shared_by_its_two_reused_axes() -> None:
    b, i, j = (UOp.range(size, n) for n, size in enumerate((32, 1024, 64)))
    k = UOp.range(512, 3, AxisType.REDUCE)
    x = param(1).index((b * 1024 + i) * 512 + k).load()
    y = param(2).index((b * 512 + k) * 64 + j).load()
    ast = UOp.sink(
        param(0).index((b * 1024 + i) * 64 + j).store((x * y).reduce(Ops.ADD, k), b, i, j), arg=KernelInfo()
    )
    (share,) = (o for o in optimise(KernelOpt(ast, SHARING)).applied if o.op is OptOps.SHARE)
    assert isinstance(share.arg, GroupTile)
    assert share.arg.axes == ((1, 1), (2,))


@pytest.mark.parametrize(
    ("maps", "size", "filters", "batch"),
    [
        (64, 56, 64, 8),
        (128, 28, 128, 8),
        (256, 14, 256, 8),
        (64, 10, 64, 64),
        (32, 20, 32, 256),
        (512, 7, 512, 64),
        (65, 56, 64, 8),
        (64, 224, 64, 8),
    ],
)
def test_groups_share_parts_of_images(maps: int, size: int, filters: int, batch: int) -> None:
    optimised = optimise(KernelOpt(convolution(maps, size, batch, filters), SHARING))
    (share,) = (o for o in optimised.applied if o.op is OptOps.SHARE)
    assert isinstance(share.arg, GroupTile)
    assert len(share.arg.axes) >= 2
    assert math.prod(int(r.src[0].vmax) for r in optimised.axes(AxisType.LOCAL)) <= 256
    assert math.prod(int(r.src[0].vmax) for r in optimised.axes(AxisType.UPCAST)) <= 64


@pytest.mark.parametrize(("maps", "size"), [(3, 56), (64, 7)])
def test_images_of_few_maps_or_places_are_not_shared(maps: int, size: int) -> None:
    assert not shares(convolution(maps, size))


def gradient_of_windows(maps: int, size: int, batch: int, filters: int, elements: int) -> UOp:
    """Return the gradient of the filters of a 3x3 convolution, over all images and their places."""
    f, c, v, u = (UOp.range(n, axis) for axis, n in enumerate((filters, maps, 3, 3)))
    b, y, x = (UOp.range(n, axis, AxisType.REDUCE) for axis, n in enumerate((batch, size, size), 4))
    out, images, gradients = (UOp(Ops.PARAM, dtypes.float32, (), (slot, elements)) for slot in range(3))
    image = images.index(((b * maps + c) * (size + 2) + y + v) * (size + 2) + x + u).load()
    gradient = gradients.index(((b * filters + f) * size + y) * size + x).load()
    place = out.index(((f * maps + c) * 3 + v) * 3 + u)
    return UOp.sink(place.store((image * gradient).reduce(Ops.ADD, b, y, x), f, c, v, u), arg=KernelInfo())


@pytest.mark.parametrize("size", [8, 14])
def test_groups_share_windows_of_a_gradient(size: int) -> None:
    (share,) = (
        o
        for o in optimise(KernelOpt(gradient_of_windows(256, size, 32, 256, 1 << 28), SHARING)).applied
        if o.op is OptOps.SHARE
    )
    assert isinstance(share.arg, GroupTile)
    assert len(share.arg.axes) >= 3


ELEMENTS = 1 << 15


@pytest.mark.parametrize(
    "ast",
    [
        convolution(16, 7, 4, 32, ELEMENTS),
        convolution(32, 10, 1, 32, ELEMENTS),
        convolution(13, 6, 4, 32, ELEMENTS),
        gradient_of_windows(16, 8, 8, 32, ELEMENTS),
        gradient_of_windows(20, 6, 8, 32, ELEMENTS),
    ],
)
def test_a_convolution_from_copies_is_what_it_means(ast: UOp) -> None:
    capabilities = replace(SHARING, compute_units=1)
    assert shares(ast, capabilities)
    rng = np.random.default_rng(0)
    found, expected = (np.zeros(ELEMENTS, np.float32) for _ in range(2))
    factors = [rng.integers(-2, 3, ELEMENTS).astype(np.float32) for _ in range(2)]
    run_lowered(lower(ast, capabilities), [found, *factors])
    evaluate_kernel(ast, [expected, *factors])
    np.testing.assert_array_equal(found, expected)
