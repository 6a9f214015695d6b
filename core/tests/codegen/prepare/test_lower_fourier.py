"""A transform is a loop for each factor of its size, and computes what NumPy does."""

import math
from dataclasses import replace

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.lower import PREPARE, lower
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.prepare.lower_fourier import lower_fourier
from plugrad.dtype import dtypes
from plugrad.errors import KernelOptError
from plugrad.uop.ops import AxisType, FourierArg, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import run_lowered

LOOPS = replace(
    CAPABILITIES, grid_dims=0, max_grid=(), max_workgroup=0, max_workgroup_dims=(), vector_bits=128, threads=2
)

LANE = AxisType.LANE


def param(slot: int, numel: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, numel))


def kernel(rows: int, factors: tuple[int, ...], sign: int) -> UOp:
    """Return the transform of the rows of slot 1, by roots in slot 2."""
    size = math.prod(factors)
    r, i, c = UOp.range(rows, 0), UOp.range(size, 1), UOp.range(2, 2)
    place = (r * size + i) * 2 + c
    x, roots = param(1, rows * size * 2).index(place).load(), param(2, size * 2).index(i * 2 + c).load()
    value = UOp(Ops.FOURIER, dtypes.float32, (x, roots, i, c), FourierArg(sign, factors))
    store = param(0, rows * size * 2).index(place).store(value, r, i, c)
    return UOp.sink(store, arg=KernelInfo("fourier"))


def roots_of(factors: tuple[int, ...], sign: int) -> np.ndarray:
    size = rest = math.prod(factors)
    found = np.zeros(size, np.complex64)
    begin = 0
    for factor in factors[:-1]:
        rest //= factor
        angles = 2 * np.pi * np.outer(np.arange(1, factor), np.arange(rest)) / (factor * rest)
        found[begin : begin + angles.size] = np.exp(sign * 1j * angles).ravel()
        begin += angles.size
    return found


@pytest.mark.parametrize("bits", [0, 128, 256])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("factors", [(2, 2), (3, 2), (5, 3, 2), (8, 4, 4), (2, 2, 3, 2), (10, 7)])
def test_transforms_are_those_of_numpy(factors: tuple[int, ...], sign: int, bits: int) -> None:
    rows, size = 4, math.prod(factors)
    rng = np.random.default_rng(size)
    x = (rng.normal(size=(rows, size)) + 1j * rng.normal(size=(rows, size))).astype(np.complex64)
    out = np.zeros(rows * size * 2, np.float32)
    lowered = lower(kernel(rows, factors, sign), replace(LOOPS, vector_bits=bits))
    run_lowered(lowered, [out, x.view(np.float32).ravel(), roots_of(factors, sign).view(np.float32)])
    expected = np.fft.fft(x) if sign < 0 else np.fft.ifft(x) * size
    np.testing.assert_allclose(out.view(np.complex64).reshape(rows, size), expected, atol=3e-6 * size)


@pytest.mark.parametrize("bits", [0, 128])
@pytest.mark.parametrize("columns", [4, 7])
def test_columns_are_lanes_where_memory_is_contiguous_along_them(columns: int, bits: int) -> None:
    rows, factors = 3, (4, 3, 2)
    size = math.prod(factors)
    capabilities = replace(LOOPS, vector_bits=bits)
    r, i, j, c = (UOp.range(n, at) for at, n in enumerate((rows, size, columns, 2)))
    place = ((r * size + i) * columns + j) * 2 + c
    x = param(1, rows * size * columns * 2).index(place).load()
    roots = param(2, size * 2).index(i * 2 + c).load()
    value = UOp(Ops.FOURIER, dtypes.float32, (x, roots, i, c), FourierArg(-1, factors, -3))
    store = param(0, rows * size * columns * 2).index(place).store(value, r, i, j, c)
    sink = UOp.sink(store, arg=KernelInfo("fourier"))
    lanes = [
        u for u in lower_fourier(sink, capabilities).toposort() if u.op is Ops.RANGE and u.arg.kind is LANE
    ]
    assert len(lanes) == (bits > 0)

    rng = np.random.default_rng(columns)
    shape = rows, size, columns
    numbers = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)
    out = np.zeros(numbers.size * 2, np.float32)
    given = [out, numbers.view(np.float32).ravel(), roots_of(factors, -1).view(np.float32)]
    run_lowered(lower(sink, capabilities), given)
    expected = np.fft.fft(numbers, axis=1)
    np.testing.assert_allclose(out.view(np.complex64).reshape(shape), expected, atol=1e-5)


@pytest.mark.parametrize("bits", [0, 128])
@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("factors", [(2, 2), (5, 3), (8, 4), (4, 4, 2)])
def test_real_numbers_have_one_frequency_more_than_pairs(
    factors: tuple[int, ...], columns: int, bits: int
) -> None:
    rows, size = 3, math.prod(factors)
    count = size + 1
    r, i, j, c = (UOp.range(n, at) for at, n in enumerate((rows, count, columns, 2)))
    x = param(1, rows * size * columns * 2).index(((r * size + i) * 2 + c) * columns + j, i < size).load()
    roots, apart = (param(slot, count * 2).index(i * 2 + c).load() for slot in (2, 3))
    value = UOp(Ops.FOURIER, dtypes.float32, (x, roots, apart, i, c), FourierArg(-1, factors, half=True))
    place = ((r * count + i) * columns + j) * 2 + c
    sink = UOp.sink(
        param(0, rows * count * columns * 2).index(place).store(value, r, i, j, c), arg=KernelInfo("half")
    )

    rng = np.random.default_rng(columns)
    numbers = rng.normal(size=(rows, size * 2, columns)).astype(np.float32)
    out = np.zeros(rows * count * columns * 2, np.float32)
    between = np.append(roots_of(factors, -1), np.complex64(0))
    turns = np.exp(1j * np.pi * np.arange(count) / size).astype(np.complex64)
    given = [out, numbers.ravel(), between.view(np.float32), turns.view(np.float32)]
    run_lowered(lower(sink, replace(LOOPS, vector_bits=bits)), given)
    expected = np.fft.rfft(numbers, axis=1)
    np.testing.assert_allclose(out.view(np.complex64).reshape(expected.shape), expected, atol=1e-5)


def test_a_step_waits_for_all_of_the_one_before() -> None:
    found = lower_fourier(kernel(4, (8, 4, 4), -1), LOOPS)
    order = list(found.toposort())
    barriers = [u for u in order if u.op is Ops.BARRIER]
    assert [len(u.src) for u in barriers] == [16, 8]
    assert len(found.src) == 8
    memories = [u.arg for u in order if u.op is Ops.DEFINE_LOCAL]
    assert sorted(memories) == [(0, 256), (1, 256)]


def test_other_kernels_stay() -> None:
    i = UOp.range(32, 0)
    sink = UOp.sink(param(0, 32).index(i).store(param(1, 32).index(i).load(), i), arg=KernelInfo("copy"))
    assert lower_fourier(sink, LOOPS) is sink


def test_threads_share_rows_and_nothing_else_does() -> None:
    large = PREPARE.run(kernel(512, (8, 4, 4), -1), LOOPS)
    assert [opt.op for opt in lower(kernel(512, (8, 4, 4), -1), LOOPS).opts] == [OptOps.THREAD]
    assert lower(kernel(509, (8, 4, 4), -1), LOOPS).opts == ()
    with pytest.raises(KernelOptError, match="copies that a group shares"):
        KernelOpt(large, LOOPS).apply(Opt(OptOps.UPCAST, (0,), 2))
