"""Tests of plugrad.codegen.factors.loop_kernel, run by the interpreter."""

from dataclasses import replace

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.factors.loop_kernel import Elements, LoopKernel, magnitude
from plugrad.codegen.lower import lower
from plugrad.dtype import dtypes
from plugrad.errors import VerifyError
from plugrad.uop.ops import KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.kernels import run_lowered

LOOPS = replace(
    CAPABILITIES, grid_dims=0, max_grid=(), max_workgroup=0, max_workgroup_dims=(), vector_bits=128
)


def run(kernel: LoopKernel, values: np.ndarray) -> np.ndarray:
    out = values.flatten()
    run_lowered(lower(kernel.sink(KernelInfo("steps")), LOOPS), [out])
    return out.reshape(values.shape)


def memory(kernel: LoopKernel, *shape: int) -> Elements:
    return Elements(kernel, UOp(Ops.PARAM, dtypes.float32, (), (0, int(np.prod(shape)))), shape)


def test_steps_read_what_those_before_them_wrote() -> None:
    kernel = LoopKernel()
    x = memory(kernel, 8)
    with kernel.steps(7) as i:
        x[i + 1] = x[i + 1] + x[i]
    values = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(run(kernel, values), np.cumsum(values))


def test_a_value_is_what_memory_held_when_it_was_read() -> None:
    kernel = LoopKernel()
    x = memory(kernel, 6)
    with kernel.steps(3) as i:
        first, last = x[i], x[5 - i]
        x[i] = last
        x[5 - i] = first
    np.testing.assert_array_equal(run(kernel, np.arange(6, dtype=np.float32)), np.arange(6)[::-1])


def test_rows_in_loops_wait_for_the_write_before_them() -> None:
    kernel = LoopKernel()
    x = memory(kernel, 5, 8)
    kept = kernel.scratch(dtypes.float32, 8)
    with kernel.steps(4) as k:
        c = kernel.each(8)
        kept[c] = x[k, c] * 2.0
        x[k + 1, 0] = kernel.sum(kept[c], c)
        r, c = kernel.each(4 - k) + k + 1, kernel.each(8)
        x[r, c] = x[r, c] + kept[c]
    values = np.random.default_rng(0).standard_normal((5, 8)).astype(np.float32)
    expected = values.astype(np.float64)
    for k in range(4):
        row = expected[k] * 2
        expected[k + 1, 0] = row.sum()
        expected[k + 1 :] += row
    np.testing.assert_allclose(run(kernel, values), expected, rtol=1e-5)


def test_numbers_in_memory_say_how_many_steps_there_are() -> None:
    kernel = LoopKernel()
    x, left = memory(kernel, 4), kernel.scratch(dtypes.int32, 1)
    left[0] = UOp.const(dtypes.int32, 3)
    with kernel.steps(5):
        with kernel.steps((left[0] % 4).cast(dtypes.index)) as i:
            x[i] = x[i] + 1.0
        left[0] = left[0] - (left[0] > 0).cast(dtypes.int32)
    np.testing.assert_array_equal(run(kernel, np.zeros(4, np.float32)), [3, 2, 1, 0])


def test_writes_and_reductions_have_loops_of_their_own() -> None:
    kernel = LoopKernel()
    x = memory(kernel, 4, 4)
    with kernel.steps(3) as i:
        c = kernel.each(4)
        x[i, c] = x[i + 1, c]
        x[i + 1, c] = x[i, c] * kernel.sum(x[i, c], c)
    values = np.arange(16, dtype=np.float32).reshape(4, 4)
    expected = values.copy()
    for step in range(3):
        expected[step] = expected[step + 1]
        expected[step + 1] = expected[step] * expected[step].sum()
    np.testing.assert_allclose(run(kernel, values), expected)


def test_rows_are_exchanged_and_rotated() -> None:
    kernel = LoopKernel()
    x, kept, c = memory(kernel, 3, 4), kernel.scratch(dtypes.float32, 4), kernel.each(4)
    x.exchange((0, c), (2, c), c, kept)
    cosine, sine = (UOp.const(dtypes.float32, value) for value in (0.5, 2.0))
    x.rotate((0, c), (1, c), c, cosine, sine, kept)
    first, second, third = values = np.arange(12, dtype=np.float32).reshape(3, 4)
    expected = [0.5 * third + 2 * second, 0.5 * second - 2 * third, first]
    np.testing.assert_array_equal(run(kernel, values), expected)


def test_the_first_step_that_holds_is_found() -> None:
    kernel = LoopKernel()
    x, place, r = memory(kernel, 4), kernel.scratch(dtypes.int32, 1), kernel.each(4)
    place[0] = kernel.first(x[r] > 1.0, r)
    x[0] = place[0].cast(dtypes.float32)
    for values, found in (([0, 1, 2, 3], 2), ([0, 1, 1, 1], 4)):
        assert run(kernel, np.array(values, np.float32))[0] == found


def test_memory_that_was_overwritten_is_refused_in_a_loop_of_its_own() -> None:
    kernel = LoopKernel()
    x = memory(kernel, 2, 640)
    with kernel.steps(2) as i:
        c = kernel.each(640)
        before = x[0, c]
        other = kernel.each(640)
        x[0, other] = x[1, other] * 2.0
        x[i, c] = before
    with pytest.raises(VerifyError, match="wait for each other"):
        run(kernel, np.ones((2, 640), np.float32))


def test_magnitudes_keep_nan() -> None:
    kernel = LoopKernel()
    x = memory(kernel, 3)
    with kernel.steps(3) as i:
        x[i] = magnitude(x[i])
    found = run(kernel, np.array([-1.5, 2.0, np.nan], np.float32))
    np.testing.assert_array_equal(found, np.array([1.5, 2.0, np.nan], np.float32))
