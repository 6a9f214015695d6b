"""The host reads views of memory by their strides: no kernel runs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugrad import Device, GlobalCounters, Tensor, Variable, dtypes
from plugrad.errors import ShapeError

_MOVES = st.lists(
    st.tuples(
        st.sampled_from(["permute", "flip", "slice", "index", "reshape", "expand"]), st.integers(0, 1 << 16)
    ),
    max_size=5,
)


def _moved(x: Any, move: str, choice: int) -> Any:
    """Return a view of a tensor, or of an array: the same for both."""
    axis = choice % max(1, len(x.shape))
    if not x.shape or 0 in x.shape:
        return x
    size = x.shape[axis]
    before: Any = (slice(None),) * axis
    if move == "flip":
        return x[(*before, slice(None, None, -1))] if isinstance(x, np.ndarray) else x.flip(axis)
    if move == "permute":
        order = [*range(len(x.shape))][::-1] if choice % 2 else [*range(1, len(x.shape)), 0]
        return x.transpose(order) if isinstance(x, np.ndarray) else x.permute(*order)
    if move == "slice":
        return x[(*before, slice(choice % size, None, 1 + choice % 3))]
    if move == "index":
        return x[(*before, choice % size)]
    if move == "expand":
        return np.broadcast_to(x, (3, *x.shape)) if isinstance(x, np.ndarray) else x.expand(3, *x.shape)
    return x.reshape(-1, size)


@given(shape=st.lists(st.integers(1, 5), min_size=1, max_size=3), moves=_MOVES)
@settings(max_examples=300, deadline=None)
@pytest.mark.wide_on_cpu
def test_any_view_reads_as_numpys(shape: list[int], moves: list[tuple[str, int]]) -> None:
    array: Any = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    tensor: Any = Tensor(array).realize()
    for move, choice in moves:
        array, tensor = _moved(array, move, choice), _moved(tensor, move, choice)
    assert np.array_equal(tensor.numpy(), array)
    assert tensor.tolist() == array.tolist()
    assert np.array_equal(np.asarray(tensor), array)


def test_reading_elements_and_rows_runs_no_kernel() -> None:
    x = (Tensor.arange(12).reshape(3, 4) * 2).realize()
    kernels = GlobalCounters.kernel_count
    assert [x[i, j].item() for i in range(3) for j in range(4)] == [*range(0, 24, 2)]
    assert [row.tolist() for row in x] == x.tolist()
    assert x.T.flip(0)[1].tolist() == [4, 12, 20]
    assert max(x[1]).item() == 14
    assert x[:, 2].numpy().tolist() == [4, 12, 20]
    assert GlobalCounters.kernel_count - kernels <= 3  # the comparisons of max()


@pytest.mark.parametrize("dtype", [dtypes.bfloat16, dtypes.float16, dtypes.bool, dtypes.complex64], ids=str)
def test_every_dtype_can_be_read_by_strides(dtype: Any) -> None:
    x = Tensor([[1, 0, 3], [0, 5, 6]], dtype=dtype).realize()
    assert x.T.tolist() == [list(pair) for pair in zip(*x.tolist(), strict=True)]


def test_an_element_at_a_variable_is_read() -> None:
    place = Variable("place", 0, 3)
    x = Tensor([10, 11, 12, 13]).realize()
    assert [x[place.bind(i)].item() for i in range(4)] == [10, 11, 12, 13]
    assert x[place.bind(1) : place.bind(1) + 2].tolist() == [11, 12]
    assert repr(x[place.bind(1) : place.bind(1) + 2]) == repr(x[1:3])
    for index in (place.bind(3) + 1, place.bind(0) - 1):
        with pytest.raises(ShapeError, match="leaves"):
            x[index].item()


def test_what_was_read_stays_as_it_was() -> None:
    x = Tensor.arange(20_000).contiguous().realize()
    array = np.asarray(x[5_000:])
    x += 1
    x.realize()
    assert (array[0], x[5_000].item()) == (5_000, 5_001)


def test_a_write_that_waits_is_read() -> None:
    x = Tensor([1, 2, 3]).realize()
    x[1] = 7
    assert [x[i].item() for i in range(3)] == [1, 7, 3]


def test_few_elements_of_large_memory_are_gathered_where_they_lie() -> None:
    x = Tensor.arange(2_000_000, device=Device.DEFAULT).contiguous().realize()
    assert x[::500_000].tolist() == [0, 500_000, 1_000_000, 1_500_000]
