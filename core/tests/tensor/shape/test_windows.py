import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad.dtype import dtypes
from plugrad.errors import ShapeError
from plugrad.tensor.shape.windows import window_count, windows
from plugrad.uop.ops import MOVEMENT, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.tensor_oracle import value_of


@given(st.integers(1, 14), st.integers(1, 5), st.integers(1, 6), st.integers(1, 4))
def test_windows_hold_what_their_definition_says(size: int, kernel: int, stride: int, dilation: int) -> None:
    x = UOp.new_buffer("PYTHON", (2, size), dtypes.int32)
    values = np.arange(1, 2 * size + 1, dtype=np.int32).reshape(2, size)
    reach = dilation * (kernel - 1) + 1
    if reach > size:
        with pytest.raises(ShapeError, match=f"a window of {reach} .* does not fit into an axis of {size}"):
            windows(x, (kernel,), (stride,), (dilation,))
        return
    view = windows(x, (kernel,), (stride,), (dilation,))
    count = window_count(size, kernel, stride, dilation)
    starts = np.arange(count) * stride
    expected = values[:, starts[:, None] + np.arange(kernel) * dilation]
    np.testing.assert_array_equal(value_of(view, {x: values}), expected)


def test_windows_of_images_are_those_of_numpy_and_only_moved() -> None:
    x = UOp.new_buffer("PYTHON", (2, 7, 8), dtypes.float32)
    values = np.random.default_rng(0).standard_normal((2, 7, 8)).astype(np.float32)
    view = windows(x, (3, 2), (2, 1), (1, 1))
    expected = np.lib.stride_tricks.sliding_window_view(values, (3, 2), (1, 2))[:, ::2]
    np.testing.assert_array_equal(value_of(view, {x: values}), expected)
    assert {u.op for u in view.toposort()} <= MOVEMENT | {Ops.BUFFER, Ops.CONST}


def test_parameters_below_one_are_refused() -> None:
    with pytest.raises(ShapeError, match="kernel size 0, stride 1 and dilation 1 must each be at least 1"):
        window_count(5, 0, 1, 1)
