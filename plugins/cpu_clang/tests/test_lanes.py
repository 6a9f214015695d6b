"""Lanes of two vectors are one shuffle, whatever the vectors are made of."""

import numpy as np
import pytest

from plugrad.dtype import dtypes, to_numpy
from plugrad.uop.ops import Ops
from plugrad_cpu_clang.renderer import CpuRenderer

NUMBERS = [dtypes.int8, dtypes.int32, dtypes.float32, dtypes.float64]


def _in_turn(w, a, b, first):
    lanes = [
        w.add(Ops.GEP, a.dtype.scalar(), v, arg=(first + n,))
        for n in range(a.dtype.count // 2)
        for v in (a, b)
    ]
    return w.add(Ops.VECTORIZE, a.dtype, *lanes)


@pytest.mark.parametrize("count", [4, 8, 16])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_lanes_of_four_vectors_take_turns_by_shuffles_of_shuffles(w, launch, dtype, count):
    out, x = w.param(0, dtype, 4 * count), w.param(1, dtype, 4 * count)
    a, b, c, d = (w.load(x, n * count, count) for n in range(4))
    for n, first in enumerate((0, count // 2)):
        even, odd = _in_turn(w, a, c, first), _in_turn(w, b, d, first)
        for half in range(2):
            w.store(out, (2 * n + half) * count, _in_turn(w, even, odd, half * count // 2))
    given = np.arange(4 * count).astype(to_numpy(dtype))
    got = np.zeros_like(given)
    launch(w, got, given)
    np.testing.assert_array_equal(got, given.reshape(4, count).T.ravel())


def test_one_shuffle_is_written_for_lanes_of_two_vectors(w):
    out, x = w.param(0, dtypes.float32, 8), w.param(1, dtypes.float32, 16)
    w.store(out, 0, _in_turn(w, w.load(x, 0, 8), w.load(x, 8, 8), 4))
    assert "f32x8_shuffled(val0, val1, 4, 12, 5, 13, 6, 14, 7, 15)" in CpuRenderer().render(w.uops, "kernel")
