"""Each element for itself, along axes, in order; random numbers."""

# lambdas take whatever the inputs of their case are
# ruff: noqa: E731

import numpy as np
import torch
import torch.nn.functional as F

from plugrad import Tensor
from suite.operations.operation import Operation, both, floats, same, whole


def _elementwise() -> list[Operation]:
    x, y = floats(1000, 1000), floats(1000, 1000, seed=1)
    odd = floats(1000, 1001)
    names = ("exp", "sin", "tanh", "erf", "sigmoid", "sqrt", "log1p", "atan", "lgamma", "digamma", "erfinv")
    unary = [same(name, np.tanh(x) * 0.99 if name == "erfinv" else np.abs(x) + 0.1) for name in names]
    return [
        *unary,
        both("gelu (1000 x 1000)", [x], lambda x: x.gelu(), lambda x: F.gelu(x)),
        both("gelu backward (1000 x 1000)", [x], lambda x: x.gelu(), lambda x: F.gelu(x), backward=True),
        both("x ** 2.5 (1000 x 1000)", [np.abs(x)], lambda x: x**2.5),
        both(
            "x // y, integers (1000 x 1000)",
            [whole(1000, 1000, 1000), whole(9, 1000, 1000) + 1],
            lambda x, y: x // y,
        ),
        both("x % y (1000 x 1000)", [x, y], lambda x, y: x % y),
        same("atan2", x, y),
        same("hypot", x, y),
        both("add a row (1000 x 1001)", [odd, floats(1001)], lambda x, y: x + y),
        both("add a column (1000 x 1001)", [odd, floats(1000, 1)], lambda x, y: x + y),
        both("x + x.T (1000 x 1000)", [x], lambda x: x + x.T),
        both("to float16 and back (1000 x 1000)", [x], lambda x: x.half().float()),
        both("to int8 (1000 x 1000)", [x], lambda x: (x * 10).char()),
        both("x + y, int8 (1000 x 1000)", [whole(9, 1000, 1000).astype(np.int8)], lambda x: x + x),
        both("x > 0 (1000 x 1000)", [x], lambda x: x > 0),
        both(
            "(x > 0).where(x, y) (1000 x 1000)",
            [x, y],
            lambda x, y: (x > 0).where(x, y),
            lambda x, y: torch.where(x > 0, x, y),
        ),
        both("exp, float64 (1000 x 1000)", [x.astype(np.float64)], lambda x: x.exp(), dtype="float64"),
    ]


def _reductions() -> list[Operation]:
    square, odd, thin, wide = (
        floats(1000, 1000),
        floats(1000, 1001),
        floats(100000, 10),
        floats(10, 100000),
    )
    deep = floats(100, 101, 99)
    cases = [same("sum", x, dim=dim) for x in (square, odd, thin, wide) for dim in (0, 1)]
    cases += [same("sum", deep, dim=dim) for dim in (0, 1, 2)]
    cases += [
        same("sum", floats(1000003)),
        same("sum", floats(1000003).astype(np.float16), dtype="float16", title="sum, float16 (1000003)"),
    ]
    cases += [
        same(name, odd, dim=dim) for name in ("var", "argmax", "logsumexp", "amax", "prod") for dim in (0, 1)
    ]
    cases += [
        same("argmax", floats(1000003)),
        same("norm", odd),
        same("sum", whole(99, 1000, 1001), title="sum, int64 (1000 x 1001)"),
        both("mean of squares over 0 and 2 (100 x 101 x 99)", [deep], lambda x: (x * x).mean((0, 2))),
        both("any (1000 x 1001) along 0", [odd > 3], lambda x: x.any(0)),
        both("count_nonzero (1000 x 1001)", [odd > 0], lambda x: x.count_nonzero()),
        both("softmax (1000 x 1001) along 1", [odd], lambda x: x.softmax(1)),
        both("softmax (1000 x 1001) along 0", [odd], lambda x: x.softmax(0)),
        both("softmax backward (1000 x 1001)", [odd], lambda x: x.softmax(1), backward=True),
        both("log_softmax backward (1000 x 1001)", [odd], lambda x: x.log_softmax(1), backward=True),
        both(
            "cross_entropy backward (1024 x 1000)",
            [floats(1024, 1000), whole(1000, 1024)],
            lambda x, y: x.cross_entropy(y),
            lambda x, y: F.cross_entropy(x, y),
            backward=True,
        ),
        both(
            "cross_entropy backward (256 x 32000)",
            [floats(256, 32000), whole(32000, 256)],
            lambda x, y: x.cross_entropy(y),
            lambda x, y: F.cross_entropy(x, y),
            backward=True,
        ),
    ]
    return cases


def _ordering() -> list[Operation]:
    x, rows = floats(1000003), floats(1000, 1001)
    return [
        both("sort (1000003)", [x], lambda x: x.sort()[0], lambda x: x.sort()[0]),
        both("sort (1000 x 1001) along 1", [rows], lambda x: x.sort(1)[0], lambda x: x.sort(1)[0]),
        both("sort (1000 x 1001) along 0", [rows], lambda x: x.sort(0)[0], lambda x: x.sort(0)[0]),
        both("argsort (100000)", [x[:100000]], lambda x: x.argsort(), compares=False),
        both("topk 10 (1000 x 1001)", [rows], lambda x: x.topk(10)[0], lambda x: x.topk(10)[0]),
        both("topk 100 (100000)", [x[:100000]], lambda x: x.topk(100)[0], lambda x: x.topk(100)[0]),
        both("median (1000 x 1001) along 1", [rows], lambda x: x.median(1)[0], lambda x: x.median(1)[0]),
        both(
            "quantile (1000 x 1001) along 1",
            [rows],
            lambda x: x.quantile(0.3, 1),
            lambda x: x.quantile(0.3, 1),
        ),
        both("kthvalue 10 (1000 x 1001)", [rows], lambda x: x.kthvalue(10)[0], lambda x: x.kthvalue(10)[0]),
        both("mode (1000 x 100)", [whole(20, 1000, 100)], lambda x: x.mode()[0], lambda x: x.mode()[0]),
        both("unique (100000)", [whole(1000, 100000)], lambda x: x.unique(), eager=True),
        both("nonzero (1000 x 1001)", [rows > 1], lambda x: x.nonzero(), eager=True),
        both("masked_select (1000 x 1001)", [rows, rows > 1], lambda x, m: x.masked_select(m), eager=True),
        both(
            "searchsorted (100000 in 10000)",
            [np.sort(x[:10000]), x[:100000]],
            lambda s, v: s.searchsorted(v),
            lambda s, v: torch.searchsorted(s, v),
        ),
        both("bincount (1000003)", [whole(256, 1000003)], lambda x: x.bincount(minlength=256), eager=True),
        both("histc (1000003)", [x], lambda x: x.histc(100, -3, 3)),
        same("cumsum", rows, dim=0),
        same("cumsum", rows, dim=1),
        same("cumsum", x, dim=0),
        both(
            "cumprod backward (1000 x 100)",
            [np.abs(floats(1000, 100)) + 0.5],
            lambda x: x.cumprod(1),
            backward=True,
        ),
        both("cummax (1000 x 1001) along 1", [rows], lambda x: x.cummax(1)[0], lambda x: x.cummax(1)[0]),
        same("logcumsumexp", rows, dim=1),
    ]


def _random() -> list[Operation]:
    none = floats(1)
    make = lambda title, ours, theirs: both(title, [none], ours, theirs, compares=False)
    return [
        make("rand (1000000)", lambda _: Tensor.rand(1000000), lambda _: torch.rand(1000000)),
        make("randn (1000000)", lambda _: Tensor.randn(1000000), lambda _: torch.randn(1000000)),
        make(
            "randint (1000000)",
            lambda _: Tensor.randint(1000000, low=0, high=10),
            lambda _: torch.randint(0, 10, (1000000,)),
        ),
        make("randperm (100000)", lambda _: Tensor.randperm(100000), lambda _: torch.randperm(100000)),
        both(
            "multinomial (64 x 1000, 10)",
            [np.abs(floats(64, 1000))],
            lambda x: x.multinomial(10, replacement=True),
            lambda x: x.multinomial(10, True),
            compares=False,
        ),
        both(
            "dropout (1000 x 1000)",
            [floats(1000, 1000)],
            lambda x: _dropped(x),
            lambda x: F.dropout(x, 0.5),
            compares=False,
        ),
    ]


def _dropped(x: Tensor) -> Tensor:
    with Tensor.train():
        return x.dropout(0.5)


OPERATIONS = (
    *_elementwise(),
    *_reductions(),
    *_ordering(),
    *_random(),
)
