from collections.abc import Callable

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.schedule import fusion
from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.prepare.normalize import normalize
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.tensor_oracle import value_of

# a cache holds an eighth of rows of 2,048 floats
SMALL_CACHE = CostModel(cores=1, runs_loops=True, row_bytes=1 << 10)
GRID = CostModel(cores=64, runs_loops=False, row_bytes=1 << 10)
ROWS, COLUMNS = 3, 2048
# which no number of pieces divides
PRIME = 2039
PAIRS: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda x: x.softmax(1),
    "logsumexp": lambda x: x.logsumexp(1),
    "weighted": lambda x: ((x - x.max(1, keepdim=True)).exp() * (x * 0.5)).sum(1),
    "variance": lambda x: x.var(1),
    "argmax": lambda x: x.argmax(1),
    "argmin": lambda x: x.argmin(1),
    "ties": lambda x: (x == x.max(1, keepdim=True)).where(x * 0 + 1, 0.0).sum(1),
}


def values(kind: str, columns: int) -> np.ndarray:
    x = np.random.default_rng(0).normal(3, 2, (ROWS, columns)).astype(np.float32)
    if kind == "pieces of -inf":
        x[:, :700] = -np.inf
    elif kind == "far below 0":
        x[:, :700] = -np.inf
        x -= 200
    elif kind == "infinite":
        x[0], x[1, 5], x[2, 9] = -np.inf, np.inf, -np.inf
    elif kind == "nan":
        x[1, 1500] = np.nan
    elif kind == "equal":
        x[:, ::3] = 9
    return x


@pytest.fixture(autouse=True)
def small_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "_GRID_SPLIT_FROM", 1024)
    monkeypatch.setattr(fusion, "_STEPS_OF_A_GROUP", 64)


def in_pieces(graph: UOp, model: CostModel) -> UOp:
    return normalize(UOp.sink(graph), Devices({"PYTHON": model}, "PYTHON")).src[0]


@pytest.mark.parametrize("kind", ["normal", "pieces of -inf", "far below 0", "infinite", "nan", "equal"])
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(("columns", "columns_first"), [(COLUMNS, False), (COLUMNS, True), (PRIME, False)])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_pieces_of_dependent_reductions_give_what_the_whole_gives(
    name: str, kind: str, columns: int, columns_first: bool
) -> None:
    array = values(kind, columns)
    stored = np.ascontiguousarray(array.T) if columns_first else array
    x = Tensor.empty(*stored.shape, device="PYTHON")
    graph = PAIRS[name](x.T if columns_first else x)._graph
    want = value_of(graph, {x.uop: stored})
    for model in (SMALL_CACHE, GRID) if columns != PRIME else (GRID,):
        pieces = in_pieces(graph, model)
        assert sum(u.op is Ops.REDUCE_AXIS for u in pieces.toposort()) == 4
        np.testing.assert_allclose(value_of(pieces, {x.uop: stored}), want, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", PAIRS)
def test_a_piece_reads_the_other_reduction_of_the_same_piece_only(name: str) -> None:
    graph = in_pieces(PAIRS[name](Tensor.empty(ROWS, COLUMNS, device="PYTHON"))._graph, SMALL_CACHE)
    reductions = [u for u in graph.toposort() if u.op is Ops.REDUCE_AXIS]
    elements = [u for u in reductions if COLUMNS // 32 in u.src[0].shape]
    whole = [u for u in reductions if u not in elements]
    assert len(elements) == len(whole) == 2
    assert not any(u in piece.toposort() for u in whole for piece in elements)


@pytest.mark.parametrize(
    "value",
    [
        # neither the maximum of what is subtracted from, nor its mean, nor read once
        lambda x, y: (x - y.max(1, keepdim=True)).exp().sum(1),
        lambda x, y: ((x - y.mean(1, keepdim=True)) ** 2).sum(1),
        lambda x, y: ((x - x.max(1, keepdim=True)).exp() * x.max(1, keepdim=True)).sum(1),
        lambda x, y: (x == x.max(1, keepdim=True)).where(x, 1.0).sum(1),
    ],
)
def test_what_is_no_such_pair_takes_the_whole_result(value: Callable[[Tensor, Tensor], Tensor]) -> None:
    x, y = (Tensor.empty(ROWS, COLUMNS, device="PYTHON") for _ in range(2))
    graph = in_pieces(value(x, y)._graph, SMALL_CACHE)
    first, whole, second, _ = [u for u in graph.toposort() if u.op is Ops.REDUCE_AXIS]
    assert first in whole.toposort()
    assert whole in second.toposort()
