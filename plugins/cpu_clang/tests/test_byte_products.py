"""Reductions of 8-bit products: gcc 12 gets them wrong when it vectorizes their loops itself."""

import numpy as np
import pytest

from plugrad.device import Device
from plugrad.dtype import DType, dtypes, to_numpy
from plugrad.engine.compile import compile_kernels
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

_ROWS, _OUTER, _INNER, _COPIES = 4, 8, 2, 16


def _kernel(dtype: DType) -> UOp:
    """Return a kernel of gated products over two axes, stored several times."""
    row, copy = UOp.range(_ROWS, 0), UOp.range(_COPIES, 1)
    outer, inner = UOp.range(_OUTER, 2, AxisType.REDUCE), UOp.range(_INNER, 3, AxisType.REDUCE)
    out = UOp(Ops.PARAM, dtype, (), (0, _ROWS * _COPIES))
    few = UOp(Ops.PARAM, dtype, (), (1, 2 * _OUTER))
    many = UOp(Ops.PARAM, dtype, (), (2, _ROWS * _OUTER * _INNER))
    gate = ~(row < 1) & (row < 3)
    term = few.index(row * _OUTER + outer - _OUTER, gate).load()
    other = many.index((row * _OUTER + outer) * _INNER + inner).load()
    product = (term + other).reduce(Ops.MUL, outer, inner)
    store = out.index(row * _COPIES + copy).store(product, row, copy)
    return UOp.sink(store, arg=KernelInfo("byte_products"))


@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.uint8])
def test_products_of_bytes_wrap(dtype: DType) -> None:
    rng = np.random.default_rng(3)
    kind = to_numpy(dtype)
    few, many = (rng.integers(1, 7, n).astype(kind) for n in (2 * _OUTER, _ROWS * _OUTER * _INNER))
    device = Device["CPU"]
    (kernel,) = compile_kernels(device, [_kernel(dtype)], ())
    arrays = [np.zeros(_ROWS * _COPIES, kind), few, many]
    handles = [device.allocator.alloc(a.nbytes) for a in arrays]
    for handle, a in zip(handles, arrays, strict=True):
        device.allocator.copyin(handle, memoryview(a).cast("B"))
    kernel.runner(tuple(handles), (), (), (), True)
    device.allocator.copyout(memoryview(arrays[0]).cast("B"), handles[0])
    terms = np.zeros((_ROWS, _OUTER, 1), kind)
    terms[1:3, :, 0] = few.reshape(2, _OUTER)
    expected = (terms + many.reshape(_ROWS, _OUTER, _INNER)).reshape(_ROWS, -1).prod(axis=1, dtype=kind)
    np.testing.assert_array_equal(arrays[0].reshape(_ROWS, _COPIES), expected[:, None].repeat(_COPIES, 1))
