"""Where a method looks along an axis, a tensor without axes has its one element along 0, which is -1."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import AxisError, ShapeError

Along = Callable[[Any, int], Any]


def place(x: Any) -> Any:
    """Return 0 as a tensor of the library of `x`."""
    return Tensor(0, dtype="int64") if isinstance(x, Tensor) else torch.tensor(0)


#: Of both libraries.
METHODS: dict[str, Along] = {
    "all": lambda x, axis: x.all(axis),
    "amax": lambda x, axis: x.amax(axis),
    "amin": lambda x, axis: x.amin(axis),
    "any": lambda x, axis: x.any(axis),
    "argmax": lambda x, axis: x.argmax(axis),
    "argmin": lambda x, axis: x.argmin(axis),
    "argsort": lambda x, axis: x.argsort(axis),
    "count_nonzero": lambda x, axis: x.count_nonzero(axis),
    "cummax": lambda x, axis: x.cummax(axis),
    "cummin": lambda x, axis: x.cummin(axis),
    "cumprod": lambda x, axis: x.cumprod(axis),
    "cumsum": lambda x, axis: x.cumsum(axis),
    "flip": lambda x, axis: x.flip(axis),
    "gather": lambda x, axis: x.gather(axis, place(x)),
    "index_add": lambda x, axis: x.index_add(axis, place(x), x),
    "index_copy": lambda x, axis: x.index_copy(axis, place(x).reshape(1), x * 2),
    "index_fill": lambda x, axis: x.index_fill(axis, place(x), 7.0),
    "index_select": lambda x, axis: x.index_select(axis, place(x).reshape(1)),
    "kthvalue": lambda x, axis: x.kthvalue(1, axis),
    "log_softmax": lambda x, axis: x.log_softmax(axis),
    "logcumsumexp": lambda x, axis: x.logcumsumexp(axis),
    "logsumexp": lambda x, axis: x.logsumexp(axis),
    "mean": lambda x, axis: x.mean(axis),
    "median": lambda x, axis: x.median(axis),
    "mode": lambda x, axis: x.mode(axis, False),
    "movedim": lambda x, axis: x.movedim(axis, 0),
    "nanmean": lambda x, axis: x.nanmean(axis),
    "nanmedian": lambda x, axis: x.nanmedian(axis),
    "nansum": lambda x, axis: x.nansum(axis),
    "norm": lambda x, axis: x.norm(2, axis),
    "prod": lambda x, axis: x.prod(axis),
    "quantile": lambda x, axis: x.quantile(0.25, axis),
    "scatter": lambda x, axis: x.scatter(axis, place(x), x * 2),
    "scatter_add": lambda x, axis: x.scatter_add(axis, place(x), x * 2),
    "scatter_reduce": lambda x, axis: x.scatter_reduce(axis, place(x), x * 2, "amax"),
    "softmax": lambda x, axis: x.softmax(axis),
    "sort": lambda x, axis: x.sort(axis),
    "squeeze": lambda x, axis: x.squeeze(axis),
    "std": lambda x, axis: x.std(axis, correction=0),
    "sum": lambda x, axis: x.sum(axis),
    "topk": lambda x, axis: x.topk(1, axis),
    "transpose": lambda x, axis: x.transpose(axis, 0),
    "var": lambda x, axis: x.var(axis, correction=0),
}


def several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("name", METHODS)
def test_its_axis_is_the_first_and_the_last(name: str, axis: int) -> None:
    ours = several(METHODS[name](Tensor(-1.5), axis))
    theirs = several(METHODS[name](torch.tensor(-1.5), axis))
    assert [x.shape for x in ours] == [()] * len(theirs)
    np.testing.assert_allclose([x.item() for x in ours], [x.item() for x in theirs], rtol=1e-6)


@pytest.mark.parametrize("axis", [1, -2])
@pytest.mark.parametrize("name", METHODS)
def test_it_has_no_second_one(name: str, axis: int) -> None:
    with pytest.raises(AxisError, match=f"{name}: axis {axis} is out of range"):
        METHODS[name](Tensor(-1.5), axis)


@pytest.mark.parametrize("name", ["sum", "max", "min", "mean", "logsumexp", "argmax", "median", "quantile"])
def test_no_axis_is_kept(name: str) -> None:
    fraction = [0.5] if name == "quantile" else []
    found = getattr(Tensor(2.0), name)(*fraction, 0, keepdim=True)
    assert [x.shape for x in several(found)] == [()] * len(several(found))


#: With a tensor, a list, or 0 in place of a tensor of shape (): self, index and what is written.
BESIDE_ROWS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "gather of a row at a point": ([1.0, 2.0], lambda x, i: x.gather(0, i(1))),
    "gather of a point at a row": (3.0, lambda x, i: x.gather(0, i([0, 0]))),
    "gather of a point nowhere": (3.0, lambda x, i: x.gather(0, i([0])[:0])),
    "scatter into a row": ([1.0, 2.0], lambda x, i: x.scatter(0, i(1), x[0])),
    "scatter of a row into a point": (3.0, lambda x, i: x.scatter(0, i([0]), x.reshape(1) * 2)),
    "scatter of a number": (3.0, lambda x, i: x.scatter(0, i(0), 5.0)),
    "scatter_add of many": (3.0, lambda x, i: x.scatter_add(0, i([0, 0]), x.expand(2))),
    "scatter_reduce of many": (3.0, lambda x, i: x.scatter_reduce(0, i([0, 0]), x.expand(2), "mean")),
    "scatter of a point into a row": ([1.0, 2.0], lambda x, i: x.scatter(0, i([1]), x[0])),
    "unfold": (3.0, lambda x, i: x.unfold(0, 1, 2)),
}


@pytest.mark.parametrize("name", BESIDE_ROWS)
def test_a_point_is_a_row_beside_rows(name: str) -> None:
    data, call = BESIDE_ROWS[name]
    ours = call(Tensor(data, device="PYTHON"), lambda at: Tensor(at, device="PYTHON"))
    theirs = call(torch.tensor(data), torch.tensor)
    assert (ours.shape, ours.tolist()) == (tuple(theirs.shape), theirs.tolist())


def test_many_positions_of_a_point_are_no_point() -> None:
    with pytest.raises(ShapeError, match=r"index_select: an index of shape \(2,\) for a tensor without axes"):
        Tensor(1.0).index_select(0, Tensor([0, 0]))
    with pytest.raises(ShapeError, match=r"gather: an index of shape \(1, 1\) for shape \(\)"):
        Tensor(1.0).gather(0, Tensor([[0]]))
    with pytest.raises(ShapeError, match="unfold"):
        Tensor(1.0).unfold(0, 2, 1)


def test_gradients_go_through() -> None:
    x = Tensor(3.0, requires_grad=True)
    (x.sum(0) * x.max(-1) + x.topk(1)[0] + x.median(0)[0] + x.quantile(0.5, 0)).backward()
    assert x.grad is not None
    assert x.grad.item() == 9.0
