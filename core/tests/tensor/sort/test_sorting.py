import numpy as np
import pytest

from plugrad import Tensor
from plugrad.device import Device
from plugrad.tensor.sort import sorting
from plugrad.tensor.sort.row_utils import bit_numbers
from plugrad.transforms import vmap

RNG = np.random.default_rng(4)
LONG = 523


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32"]
)
@pytest.mark.parametrize("descending", [False, True])
def test_long_rows_are_sorted_by_digits_equal_ones_by_position(dtype: str, descending: bool) -> None:
    x = RNG.integers(0, 90, (2, LONG)).astype(dtype)
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        x[:, 100:104] = [limits.max, limits.min, limits.max - 1, limits.min + 1]
    else:
        x[:, 100:104] = [np.nan, -np.inf, np.inf, -1]
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape)
    expected = np.argsort(-ranks if descending else ranks, -1, kind="stable")
    values, positions = Tensor(x).sort(descending=descending)
    np.testing.assert_array_equal(positions.numpy(), expected)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, expected, -1))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_any_axis_is_sorted_by_digits(axis: int) -> None:
    x = np.moveaxis(RNG.integers(-99, 99, (2, 3, LONG)).astype(np.float32), -1, axis)
    np.testing.assert_array_equal(Tensor(x).argsort(axis).numpy(), np.argsort(x, axis, kind="stable"))


def test_digits_are_sorted_in_batches() -> None:
    x = RNG.standard_normal((3, LONG)).astype(np.float32)
    found = vmap(lambda row: row.argsort())(Tensor(x))
    np.testing.assert_array_equal(found.numpy(), np.argsort(x, -1, kind="stable"))


def test_a_digit_of_a_long_row_takes_few_kernels() -> None:
    keys = Tensor.empty(100_000, dtype="int8")
    steps = Tensor(sorting.radix_order(keys.uop, bit_numbers(), keys.device)).schedule()
    # one digit, with the copy of its number, and what comes before and behind it
    assert len(steps) <= 11 + 1 + 2


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_many_rows_of_fewer_elements_are_sorted_by_digits_where_loops_run(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "_MANY_COMPARISONS", 3 * 200 * 200)
    x = RNG.integers(-99, 99, (3, 200)).astype(dtype)
    order = Tensor(x).argsort()
    runs_loops = Device[order.device].capabilities.grid_dims == 0
    assert (len(order.schedule()) > 6) == runs_loops
    np.testing.assert_array_equal(order.numpy(), np.argsort(x, -1, kind="stable"))
    assert len(Tensor(x[:2]).argsort().schedule()) <= 6
