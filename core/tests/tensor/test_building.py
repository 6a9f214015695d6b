"""Building a graph asks nothing of the device that will compute it."""

from collections.abc import Callable

import pytest

from plugrad import Tensor
from plugrad.dtype import DType, dtypes
from plugrad.uop.uop import UOp

LONG = 5000


def somewhere(*shape: int, dtype: DType = dtypes.float32) -> Tensor:
    """Return a tensor of a device that is not there, which whoever asks anything of it gets to know."""
    return Tensor(UOp.new_buffer("NOWHERE", shape, dtype))


def places(*shape: int) -> Tensor:
    return somewhere(*shape, dtype=dtypes.int64)


def embedding_gradient() -> Tensor:
    weight = somewhere(LONG, 8)
    return (weight[places(LONG)] * somewhere(LONG, 8)).sum().gradient(weight)[0]


def convolution_gradient() -> Tensor:
    x, weight = somewhere(2, 3, 9, 9), somewhere(32, 3, 3, 3)
    return x.conv2d(weight).square().sum().gradient(weight)[0]


def assigned() -> Tensor:
    rows = somewhere(LONG, 8) + 1
    return rows.index_put((places(LONG),), somewhere(LONG, 8))


GRAPHS: dict[str, Callable[[], Tensor]] = {
    "sort": lambda: somewhere(LONG).sort()[0],
    "sort of wide integers": lambda: places(2, LONG).argsort(descending=True),
    "topk": lambda: somewhere(LONG).topk(30)[0],
    "searchsorted": lambda: somewhere(LONG).searchsorted(somewhere(LONG)),
    "nonzero": lambda: somewhere(LONG).nonzero(size=30),
    "histc": lambda: somewhere(LONG).histc(LONG, 0, 1),
    "index_put": assigned,
    "index_put with sums": lambda: somewhere(LONG, 8).index_put((places(LONG),), somewhere(LONG, 8), True),
    "scatter_reduce": lambda: somewhere(LONG).scatter_reduce(0, places(LONG), somewhere(LONG), "amax"),
    "gradient of an embedding": embedding_gradient,
    "gradient of a convolution": convolution_gradient,
}


@pytest.mark.parametrize("build", GRAPHS.values(), ids=GRAPHS)
def test_building_a_graph_opens_no_device(build: Callable[[], Tensor]) -> None:
    assert build().uop.device == "NOWHERE"
