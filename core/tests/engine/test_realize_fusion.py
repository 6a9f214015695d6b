"""What the kernels of a value share: fusion, and where it ends."""

import itertools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

from plugrad.device import Device
from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.engine.realize import realize, schedule
from plugrad.engine.schedule_cache import clear_schedules
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import get, put

Launches = Callable[..., list[str]]


def row_sum(x: UOp) -> UOp:
    return x.reduce_axis(Ops.ADD, (1,)).expand(x.shape)


def row_max(x: UOp) -> UOp:
    return x.reduce_axis(Ops.MAX, (1,)).expand(x.shape)


def matmul(x: UOp, w: UOp) -> UOp:
    (m, k), (_, n) = x.shape, w.shape
    product = x.reshape((m, 1, k)).expand((m, n, k)) * w.permute((1, 0)).reshape((1, n, k)).expand((m, n, k))
    return product.reduce_axis(Ops.ADD, (2,)).reshape((m, n))


def test_an_elementwise_chain_with_its_sum_is_one_kernel(device: str, launches: Launches) -> None:
    x = put(np.linspace(-1, 1, 12).reshape(3, 4), device)
    y = ((x + 1) * 2 - 1).maximum(0).reduce_axis(Ops.ADD, (0, 1))
    assert len(launches(y)) == 1


def test_matmul_with_bias_and_relu_is_one_kernel(device: str, launches: Launches) -> None:
    rng = np.random.default_rng(1)
    x, w, b = rng.standard_normal((4, 5)), rng.standard_normal((5, 6)), rng.standard_normal(6)
    y = (matmul(put(x, device), put(w, device)) + put(b, device).reshape((1, 6)).expand((4, 6))).maximum(0)
    assert len(launches(y)) == 1
    np.testing.assert_allclose(get(y), np.maximum(x @ w + b, 0), rtol=1e-5)


def test_softmax_over_rows_is_one_kernel(device: str, launches: Launches) -> None:
    values = np.random.default_rng(2).standard_normal((8, 16))
    x = put(values, device)
    powers = (x - row_max(x)).exp2()
    y = powers / row_sum(powers)
    assert len(launches(y)) == 1
    want = np.exp2(values - values.max(1, keepdims=True))
    np.testing.assert_allclose(get(y), want / want.sum(1, keepdims=True), rtol=1e-5)


def test_layernorm_over_rows_is_one_kernel(device: str, launches: Launches) -> None:
    values = np.random.default_rng(3).standard_normal((8, 16))
    x = put(values, device)
    centred = x - row_sum(x) * (1 / 16)
    y = centred / (row_sum(centred * centred) * (1 / 16) + 1e-5).sqrt()
    assert len(launches(y)) == 1
    want = (values - values.mean(1, keepdims=True)) / np.sqrt(values.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(get(y), want, rtol=1e-4, atol=1e-6)


def test_constants_fold_into_one_in_the_kernel() -> None:
    x = put(np.arange(4))
    (item,) = schedule([(x + 3) + 4])
    constants = [u.arg for u in item.ast.toposort() if u.op is Ops.CONST and u.dtype is dtypes.int32]
    assert constants == [7]


def test_a_sum_that_two_kernels_need_is_computed_once(device: str) -> None:
    x = put(np.arange(12.0).reshape(3, 4), device)
    total = x.reduce_axis(Ops.ADD, (0, 1)).reshape(())
    a, b = x * total, put(np.arange(5.0), device) + total
    assert len(schedule([a, b])) == 3


def test_a_chain_of_thousands_of_operations_becomes_several_kernels() -> None:
    value = x = put(np.ones(4))
    for step in range(5000):
        value = value * 0.5 + float(step % 3)
    items = schedule([value])
    assert 5 < len(items) < 100
    assert max(len(item.ast.toposort()) for item in items) < 2000
    realize([value])
    want = np.ones(4, np.float32)
    for step in range(5000):
        want = want * np.float32(0.5) + np.float32(step % 3)
    np.testing.assert_allclose(get(value), want, rtol=1e-6)
    assert storage.resolve(x) is x


def test_a_kernel_of_many_buffers_is_cut_where_the_device_has_a_limit() -> None:
    buffers = [put(np.full(3, float(i))) for i in range(40)]
    chain = buffers[0]
    for buffer in buffers[1:]:
        chain = chain + buffer
    tree = list(buffers)
    while len(tree) > 1:
        tree = [a * b if b is not None else a for a, b in itertools.zip_longest(tree[::2], tree[1::2])]
    with limited_device(max_buffers=8):
        items = schedule([chain, tree[0]])
        assert max(len(item.bufs) for item in items) <= 8
        realize([chain])
    np.testing.assert_array_equal(get(chain), np.full(3, sum(range(40))))


@contextmanager
def limited_device(**limits: Any) -> Generator[None]:
    """Let PYTHON claim less than it can inside the block."""
    renderer = Device["PYTHON"].renderer
    clear_schedules()
    with patch.object(type(renderer), "capabilities", replace(renderer.capabilities, **limits)):
        yield
    clear_schedules()
