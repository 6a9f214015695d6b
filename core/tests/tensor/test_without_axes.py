"""Where a method looks along an axis, a tensor without axes has its one element along 0, which is -1."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import AxisError

Along = Callable[[Any, int], Any]
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
    "kthvalue": lambda x, axis: x.kthvalue(1, axis),
    "log_softmax": lambda x, axis: x.log_softmax(axis),
    "logcumsumexp": lambda x, axis: x.logcumsumexp(axis),
    "logsumexp": lambda x, axis: x.logsumexp(axis),
    "mean": lambda x, axis: x.mean(axis),
    "median": lambda x, axis: x.median(axis),
    "mode": lambda x, axis: x.mode(axis, False),
    "nanmean": lambda x, axis: x.nanmean(axis),
    "nanmedian": lambda x, axis: x.nanmedian(axis),
    "nansum": lambda x, axis: x.nansum(axis),
    "norm": lambda x, axis: x.norm(2, axis),
    "prod": lambda x, axis: x.prod(axis),
    "quantile": lambda x, axis: x.quantile(0.25, axis),
    "softmax": lambda x, axis: x.softmax(axis),
    "sort": lambda x, axis: x.sort(axis),
    "squeeze": lambda x, axis: x.squeeze(axis),
    "std": lambda x, axis: x.std(axis, correction=0),
    "sum": lambda x, axis: x.sum(axis),
    "topk": lambda x, axis: x.topk(1, axis),
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


def test_gradients_go_through() -> None:
    x = Tensor(3.0, requires_grad=True)
    (x.sum(0) * x.max(-1) + x.topk(1)[0] + x.median(0)[0] + x.quantile(0.5, 0)).backward()
    assert x.grad is not None
    assert x.grad.item() == 9.0
