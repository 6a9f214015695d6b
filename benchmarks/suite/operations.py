"""Operations of the API at sizes of real programs, each in plugrad and in torch."""

# lambdas take whatever the inputs of their case are
# ruff: noqa: E731

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F

from plugrad import Tensor

Array = npt.NDArray[Any]
Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation at one size.

    Attributes:
        name: of the operation, with what matters of its size.
        inputs: arrays that both libraries get.
        plugrad: what plugrad is asked for.
        torch: the same of torch.
        backward: measure the gradient for all inputs of floats, with what leads to it.
        eager: do not jit: the shape of the result depends on values.
        compares: whether both give the same, up to rounding: random numbers do not.
        dtype: convert inputs of floats to that, for dtypes that NumPy lacks or that are compared.
    """

    name: str
    inputs: tuple[Array, ...]
    plugrad: Function
    torch: Function
    backward: bool = False
    eager: bool = False
    compares: bool = True
    dtype: str = "float32"


def _floats(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def _whole(high: int, *shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).integers(0, high, shape)


def _method(name: str, *arguments: Any, **options: Any) -> Function:
    return lambda x, *others: getattr(x, name)(*others, *arguments, **options)


def _same(name: str, *inputs: Array, title: str = "", dim: int | None = None, **how: Any) -> Operation:
    """Return the case of a method that both libraries have under one name."""
    options = {} if dim is None else {"axis": dim}
    shape = " x ".join(map(str, inputs[0].shape))
    return Operation(
        title or f"{name} ({shape}){'' if dim is None else f' along {dim}'}",
        inputs,
        _method(name, **options),
        _method(name, **({} if dim is None else {"dim": dim})),
        **how,
    )


def _both(name: str, inputs: Sequence[Array], ours: Function, theirs: Function | None = None, **how: Any):
    return Operation(name, tuple(inputs), ours, theirs or ours, **how)


def _elementwise() -> list[Operation]:
    x, y = _floats(1000, 1000), _floats(1000, 1000, seed=1)
    odd = _floats(1000, 1001)
    names = ("exp", "sin", "tanh", "erf", "sigmoid", "sqrt", "log1p", "atan", "lgamma", "digamma", "erfinv")
    unary = [_same(name, np.tanh(x) * 0.99 if name == "erfinv" else np.abs(x) + 0.1) for name in names]
    return [
        *unary,
        _both("gelu (1000 x 1000)", [x], lambda x: x.gelu(), lambda x: F.gelu(x)),
        _both("gelu backward (1000 x 1000)", [x], lambda x: x.gelu(), lambda x: F.gelu(x), backward=True),
        _both("x ** 2.5 (1000 x 1000)", [np.abs(x)], lambda x: x**2.5),
        _both(
            "x // y, integers (1000 x 1000)",
            [_whole(1000, 1000, 1000), _whole(9, 1000, 1000) + 1],
            lambda x, y: x // y,
        ),
        _both("x % y (1000 x 1000)", [x, y], lambda x, y: x % y),
        _same("atan2", x, y),
        _same("hypot", x, y),
        _both("add a row (1000 x 1001)", [odd, _floats(1001)], lambda x, y: x + y),
        _both("add a column (1000 x 1001)", [odd, _floats(1000, 1)], lambda x, y: x + y),
        _both("x + x.T (1000 x 1000)", [x], lambda x: x + x.T),
        _both("to float16 and back (1000 x 1000)", [x], lambda x: x.half().float()),
        _both("to int8 (1000 x 1000)", [x], lambda x: (x * 10).char()),
        _both("x + y, int8 (1000 x 1000)", [_whole(9, 1000, 1000).astype(np.int8)], lambda x: x + x),
        _both("x > 0 (1000 x 1000)", [x], lambda x: x > 0),
        _both(
            "(x > 0).where(x, y) (1000 x 1000)",
            [x, y],
            lambda x, y: (x > 0).where(x, y),
            lambda x, y: torch.where(x > 0, x, y),
        ),
        _both("exp, float64 (1000 x 1000)", [x.astype(np.float64)], lambda x: x.exp(), dtype="float64"),
    ]


def _reductions() -> list[Operation]:
    square, odd, thin, wide = (
        _floats(1000, 1000),
        _floats(1000, 1001),
        _floats(100000, 10),
        _floats(10, 100000),
    )
    deep = _floats(100, 101, 99)
    cases = [_same("sum", x, dim=dim) for x in (square, odd, thin, wide) for dim in (0, 1)]
    cases += [_same("sum", deep, dim=dim) for dim in (0, 1, 2)]
    cases += [
        _same("sum", _floats(1000003)),
        _same("sum", _floats(1000003).astype(np.float16), dtype="float16", title="sum, float16 (1000003)"),
    ]
    cases += [
        _same(name, odd, dim=dim) for name in ("var", "argmax", "logsumexp", "amax", "prod") for dim in (0, 1)
    ]
    cases += [
        _same("argmax", _floats(1000003)),
        _same("norm", odd),
        _same("sum", _whole(99, 1000, 1001), title="sum, int64 (1000 x 1001)"),
        _both("mean of squares over 0 and 2 (100 x 101 x 99)", [deep], lambda x: (x * x).mean((0, 2))),
        _both("any (1000 x 1001) along 0", [odd > 3], lambda x: x.any(0)),
        _both("count_nonzero (1000 x 1001)", [odd > 0], lambda x: x.count_nonzero()),
        _both("softmax (1000 x 1001) along 1", [odd], lambda x: x.softmax(1)),
        _both("softmax (1000 x 1001) along 0", [odd], lambda x: x.softmax(0)),
        _both("softmax backward (1000 x 1001)", [odd], lambda x: x.softmax(1), backward=True),
        _both("log_softmax backward (1000 x 1001)", [odd], lambda x: x.log_softmax(1), backward=True),
        _both(
            "cross_entropy backward (1024 x 1000)",
            [_floats(1024, 1000), _whole(1000, 1024)],
            lambda x, y: x.cross_entropy(y),
            lambda x, y: F.cross_entropy(x, y),
            backward=True,
        ),
        _both(
            "cross_entropy backward (256 x 32000)",
            [_floats(256, 32000), _whole(32000, 256)],
            lambda x, y: x.cross_entropy(y),
            lambda x, y: F.cross_entropy(x, y),
            backward=True,
        ),
    ]
    return cases


def _ordering() -> list[Operation]:
    x, rows = _floats(1000003), _floats(1000, 1001)
    return [
        _both("sort (1000003)", [x], lambda x: x.sort()[0], lambda x: x.sort()[0]),
        _both("sort (1000 x 1001) along 1", [rows], lambda x: x.sort(1)[0], lambda x: x.sort(1)[0]),
        _both("sort (1000 x 1001) along 0", [rows], lambda x: x.sort(0)[0], lambda x: x.sort(0)[0]),
        _both("argsort (100000)", [x[:100000]], lambda x: x.argsort(), compares=False),
        _both("topk 10 (1000 x 1001)", [rows], lambda x: x.topk(10)[0], lambda x: x.topk(10)[0]),
        _both("topk 100 (100000)", [x[:100000]], lambda x: x.topk(100)[0], lambda x: x.topk(100)[0]),
        _both("median (1000 x 1001) along 1", [rows], lambda x: x.median(1)[0], lambda x: x.median(1)[0]),
        _both(
            "quantile (1000 x 1001) along 1",
            [rows],
            lambda x: x.quantile(0.3, 1),
            lambda x: x.quantile(0.3, 1),
        ),
        _both("kthvalue 10 (1000 x 1001)", [rows], lambda x: x.kthvalue(10)[0], lambda x: x.kthvalue(10)[0]),
        _both("mode (1000 x 100)", [_whole(20, 1000, 100)], lambda x: x.mode()[0], lambda x: x.mode()[0]),
        _both("unique (100000)", [_whole(1000, 100000)], lambda x: x.unique(), eager=True),
        _both("nonzero (1000 x 1001)", [rows > 1], lambda x: x.nonzero(), eager=True),
        _both("masked_select (1000 x 1001)", [rows, rows > 1], lambda x, m: x.masked_select(m), eager=True),
        _both(
            "searchsorted (100000 in 10000)",
            [np.sort(x[:10000]), x[:100000]],
            lambda s, v: s.searchsorted(v),
            lambda s, v: torch.searchsorted(s, v),
        ),
        _both("bincount (1000003)", [_whole(256, 1000003)], lambda x: x.bincount(minlength=256), eager=True),
        _both("histc (1000003)", [x], lambda x: x.histc(100, -3, 3)),
        _same("cumsum", rows, dim=0),
        _same("cumsum", rows, dim=1),
        _same("cumsum", x, dim=0),
        _both(
            "cumprod backward (1000 x 100)",
            [np.abs(_floats(1000, 100)) + 0.5],
            lambda x: x.cumprod(1),
            backward=True,
        ),
        _both("cummax (1000 x 1001) along 1", [rows], lambda x: x.cummax(1)[0], lambda x: x.cummax(1)[0]),
        _same("logcumsumexp", rows, dim=1),
    ]


def _indexing() -> list[Operation]:
    x, at = _floats(10000, 100), _whole(10000, 50000)
    columns = _whole(100, 10000, 50)
    return [
        _both("x[positions] (10000 x 100, 50000)", [x, at], lambda x, at: x[at]),
        _both("x[positions] backward (10000 x 100, 50000)", [x, at], lambda x, at: x[at], backward=True),
        _both(
            "x[:, positions] (1000 x 1000, 500)",
            [_floats(1000, 1000), _whole(1000, 500)],
            lambda x, at: x[:, at],
        ),
        _both(
            "x[i, j] (10000 x 100, 100000)",
            [x, _whole(10000, 100000), _whole(100, 100000)],
            lambda x, i, j: x[i, j],
        ),
        _both("gather along 1 (10000 x 100)", [x, columns], lambda x, at: x.gather(1, at)),
        _both(
            "gather backward along 1 (10000 x 100)",
            [x, columns],
            lambda x, at: x.gather(1, at),
            backward=True,
        ),
        _both("gather along 0 (10000 x 100)", [x, _whole(10000, 5000, 100)], lambda x, at: x.gather(0, at)),
        _both("take_along_dim (10000 x 100)", [x, columns], lambda x, at: x.take_along_dim(at, 1)),
        _both(
            "scatter along 1 (10000 x 100)",
            [x, np.argsort(x)[:, :50].copy(), _floats(10000, 50)],
            lambda x, at, v: x.scatter(1, at, v),
        ),
        _both(
            "scatter_add along 0 (1000 x 100, 50000)",
            [x[:1000], _whole(1000, 50000, 100), _floats(50000, 100)],
            lambda x, at, v: x.scatter_add(0, at, v),
        ),
        _both(
            "scatter_reduce amax along 0 (1000 x 100, 5000)",
            [x[:1000], _whole(1000, 5000, 100), _floats(5000, 100)],
            lambda x, at, v: x.scatter_reduce(0, at, v, "amax"),
        ),
        _both(
            "index_add (1000 x 100, 50000)",
            [x[:1000], _whole(1000, 50000), _floats(50000, 100)],
            lambda x, at, v: x.index_add(0, at, v),
        ),
        _both(
            "index_copy (10000 x 100, 5000)",
            [x, np.random.default_rng(1).permutation(10000)[:5000], _floats(5000, 100)],
            lambda x, at, v: x.index_copy(0, at, v),
        ),
        _both(
            "index_put (10000 x 100, 50000)",
            [x, _whole(10000, 50000), _whole(100, 50000), _floats(50000)],
            lambda x, i, j, v: x.index_put((i, j), v, accumulate=True),
        ),
        _both(
            "embedding (32000 x 256, 2048)",
            [_floats(32000, 256), _whole(32000, 2048)],
            lambda w, at: w[at],
            lambda w, at: F.embedding(at, w),
        ),
        _both(
            "embedding backward (32000 x 256, 2048)",
            [_floats(32000, 256), _whole(32000, 2048)],
            lambda w, at: w[at],
            lambda w, at: F.embedding(at, w),
            backward=True,
        ),
        _both(
            "one_hot (10000, 100)",
            [_whole(100, 10000)],
            lambda x: x.one_hot(100),
            lambda x: F.one_hot(x, 100),
        ),
        _both(
            "one-hot lookup by a mask (1024 x 1000)",
            [_floats(1024, 1000), _whole(1000, 1024)],
            lambda x, at: (at.reshape(-1, 1) == Tensor.arange(1000)).where(x, 0).sum(1),
            lambda x, at: torch.where(at.reshape(-1, 1) == torch.arange(1000), x, 0).sum(1),
        ),
        _both(
            "masked_fill (1000 x 1000)",
            [_floats(1000, 1000), _floats(1000, 1000) > 0],
            lambda x, m: x.masked_fill(m, 0.0),
        ),
    ]


def _movement() -> list[Operation]:
    x, odd = _floats(1000, 1000), _floats(1000, 1001)
    images = _floats(16, 16, 64, 64)
    return [
        _both("x.T, stored (1000 x 1000)", [x], lambda x: x.T.contiguous()),
        _both("x.T, stored (1000 x 1001)", [odd], lambda x: x.T.contiguous()),
        _both(
            "permute to channels last, stored (16 x 16 x 64 x 64)",
            [images],
            lambda x: x.permute(0, 2, 3, 1).contiguous(),
        ),
        _both(
            "permute of three axes, stored (100 x 101 x 99)",
            [_floats(100, 101, 99)],
            lambda x: x.permute(2, 0, 1).contiguous(),
        ),
        _both("flip along 1 (1000 x 1001)", [odd], lambda x: x.flip(1).contiguous()),
        _both("roll along 1 (1000 x 1001)", [odd], lambda x: x.roll(100, 1).contiguous()),
        _both("roll along 0 (1000 x 1001)", [odd], lambda x: x.roll(100, 0).contiguous()),
        _both("roll of all (1000 x 1001)", [odd], lambda x: x.roll(100).contiguous()),
        _both(
            "cat of three along 1 (1000 x 333)",
            [_floats(1000, 333)],
            lambda x: x.cat(x + 1, x * 2, dim=1),
            lambda x: torch.cat([x, x + 1, x * 2], 1),
        ),
        _both(
            "cat of three along 0 (333 x 1000)",
            [_floats(333, 1000)],
            lambda x: x.cat(x + 1, x * 2, dim=0),
            lambda x: torch.cat([x, x + 1, x * 2], 0),
        ),
        _both(
            "stack of two along 2 (1000 x 500)",
            [_floats(1000, 500)],
            lambda x: x.stack(x + 1, dim=2),
            lambda x: torch.stack([x, x + 1], 2),
        ),
        _both(
            "pad by zeros (16 x 16 x 64 x 64)",
            [images],
            lambda x: x.pad((1, 1, 1, 1)).contiguous(),
            lambda x: F.pad(x, (1, 1, 1, 1)),
        ),
        _both(
            "pad by reflection (16 x 16 x 64 x 64)",
            [images],
            lambda x: x.pad((3, 3, 3, 3), mode="reflect"),
            lambda x: F.pad(x, (3, 3, 3, 3), mode="reflect"),
        ),
        _both(
            "pad around (16 x 16 x 64 x 64)",
            [images],
            lambda x: x.pad((3, 3, 3, 3), mode="circular"),
            lambda x: F.pad(x, (3, 3, 3, 3), mode="circular"),
        ),
        _both(
            "pad by edges (16 x 16 x 64 x 64)",
            [images],
            lambda x: x.pad((3, 3, 3, 3), mode="replicate"),
            lambda x: F.pad(x, (3, 3, 3, 3), mode="replicate"),
        ),
        _both(
            "repeat_interleave (1000 x 500) along 1",
            [_floats(1000, 500)],
            lambda x: x.repeat_interleave(2, 1),
        ),
        _both("tile (1000 x 250)", [_floats(1000, 250)], lambda x: x.tile((1, 4)).contiguous()),
        _both("x[:, ::2] (1000 x 2000)", [_floats(1000, 2000)], lambda x: x[:, ::2].contiguous()),
        _both("triu (1000 x 1000)", [x], lambda x: x.triu()),
        _both("diagonal, summed (1000 x 1000)", [x], lambda x: x.diagonal().sum()),
        _both("unfold (1000 x 1000)", [x], lambda x: x.unfold(1, 10, 5).contiguous()),
        _both(
            "pixel_shuffle (16 x 64 x 32 x 32)",
            [_floats(16, 64, 32, 32)],
            lambda x: x.pixel_shuffle(2).contiguous(),
            lambda x: F.pixel_shuffle(x, 2),
        ),
    ]


def _conv(
    n: int, x: tuple[int, ...], w: tuple[int, ...], title: str = "", transposed: bool = False, **options: Any
) -> list[Operation]:
    name = f"conv_transpose{n}d" if transposed else f"conv{n}d"
    extra = "".join(f", {key} {value}" for key, value in options.items())
    title = f"({' x '.join(map(str, x))}), ({' x '.join(map(str, w))}){extra}"
    inputs = _floats(*x), _floats(*w, seed=1) * 0.1
    ours = lambda x, w: getattr(x, name)(w, **options)
    theirs = lambda x, w: getattr(F, name)(x, w, **options)
    return [
        Operation(f"{name} {title}", inputs, ours, theirs),
        Operation(f"{name} backward {title}", inputs, ours, theirs, backward=True),
    ]


def _convolutions() -> list[Operation]:
    return [
        *_conv(2, (8, 3, 112, 112), (64, 3, 7, 7), stride=2, padding=3),
        *_conv(2, (4, 64, 56, 56), (64, 64, 3, 3), padding=1),
        *_conv(2, (4, 64, 56, 56), (256, 64, 1, 1)),
        *_conv(2, (4, 128, 56, 56), (128, 128, 3, 3), stride=2, padding=1),
        *_conv(2, (4, 256, 14, 14), (256, 256, 3, 3), padding=1),
        *_conv(2, (4, 512, 7, 7), (512, 512, 3, 3), padding=1),
        *_conv(2, (4, 256, 56, 56), (512, 256, 1, 1), stride=2),
        *_conv(2, (64, 16, 14, 14), (32, 16, 3, 3), padding=1),
        *_conv(2, (64, 1, 28, 28), (32, 1, 5, 5)),
        *_conv(2, (4, 96, 56, 56), (96, 1, 3, 3), groups=96, padding=1),
        *_conv(2, (4, 96, 112, 112), (96, 1, 3, 3), groups=96, padding=1, stride=2),
        *_conv(2, (4, 576, 14, 14), (576, 1, 5, 5), groups=576, padding=2),
        *_conv(2, (4, 128, 28, 28), (128, 4, 3, 3), groups=32, padding=1),
        *_conv(2, (4, 64, 28, 28), (64, 64, 3, 3), dilation=2, padding=2),
        *_conv(1, (16, 64, 1000), (64, 64, 3), padding=1),
        *_conv(1, (16, 1, 16000), (32, 1, 80), stride=4),
        *_conv(3, (2, 16, 16, 28, 28), (32, 16, 3, 3, 3), padding=1),
        *_conv(2, (4, 64, 28, 28), (64, 32, 4, 4), transposed=True, stride=2, padding=1),
        *_conv(2, (4, 64, 28, 28), (64, 32, 2, 2), transposed=True, stride=2),
    ]


def _pool(name: str, x: tuple[int, ...], *arguments: Any, **options: Any) -> list[Operation]:
    extra = "".join(f", {value}" for value in arguments) + "".join(f", {k} {v}" for k, v in options.items())
    ours, theirs = _method(name, *arguments, **options), lambda x: getattr(F, name)(x, *arguments, **options)
    shape = " x ".join(map(str, x))
    return [
        Operation(f"{name} ({shape}){extra}", (_floats(*x),), ours, theirs),
        Operation(f"{name} backward ({shape}){extra}", (_floats(*x),), ours, theirs, backward=True),
    ]


def _pools() -> list[Operation]:
    return [
        *_pool("max_pool2d", (64, 32, 28, 28), 2),
        *_pool("max_pool2d", (64, 32, 28, 28), 3, 2, padding=1),
        *_pool("max_pool2d", (8, 64, 112, 112), 3, 2, padding=1),
        *_pool("max_pool2d", (64, 32, 13, 13), 3, 1, padding=1),
        *_pool("max_pool2d", (64, 32, 27, 27), 3, 2),
        *_pool("avg_pool2d", (64, 32, 28, 28), 2),
        *_pool("avg_pool2d", (64, 32, 28, 28), 3, 2, padding=1),
        *_pool("max_pool1d", (64, 32, 1000), 3, 2, padding=1),
        *_pool("max_pool3d", (4, 16, 16, 28, 28), 2),
        *_pool("adaptive_avg_pool2d", (64, 256, 7, 7), 1),
        *_pool("adaptive_avg_pool2d", (16, 64, 28, 28), 5),
        *_pool("adaptive_avg_pool2d", (16, 64, 28, 28), 7),
        *_pool("adaptive_max_pool2d", (16, 64, 28, 28), 5),
    ]


def _norms() -> list[Operation]:
    x, rows = _floats(16, 64, 28, 28), _floats(2048, 768)
    w, b = np.abs(_floats(64)) + 0.5, _floats(64)
    w2, b2 = np.abs(_floats(768)) + 0.5, _floats(768)
    both = lambda title, inputs, ours, theirs: [
        _both(title, inputs, ours, theirs),
        _both(title.replace(" (", " backward (", 1), inputs, ours, theirs, backward=True),
    ]

    def batch_norm(x: Any, w: Any, b: Any) -> Any:
        mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), correction=0)
        return x.batchnorm(w, b, mean, (var + 1e-5).rsqrt())

    return [
        *both(
            "layer_norm (2048 x 768)",
            [rows, w2, b2],
            lambda x, w, b: x.layernorm() * w + b,
            lambda x, w, b: F.layer_norm(x, (768,), w, b),
        ),
        *both(
            "rms_norm (2048 x 768)",
            [rows, w2],
            lambda x, w: x.rms_norm((768,), w, 1e-5),
            lambda x, w: F.rms_norm(x, (768,), w, 1e-5),
        ),
        *both(
            "batch_norm (16 x 64 x 28 x 28)",
            [x, w, b],
            batch_norm,
            lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
        ),
        *both("group_norm (16 x 64 x 28 x 28)", [x], lambda x: x.group_norm(8), lambda x: F.group_norm(x, 8)),
        *both(
            "instance_norm (16 x 64 x 28 x 28)",
            [x],
            lambda x: x.instance_norm(),
            lambda x: F.instance_norm(x),
        ),
        _both("normalize (2048 x 768)", [rows], lambda x: x.normalize(), lambda x: F.normalize(x)),
    ]


def _attention(x: tuple[int, ...], **options: Any) -> list[Operation]:
    inputs = [_floats(*x, seed=i) for i in range(3)]
    shape = " x ".join(map(str, x)) + ("" if not options else ", causal")
    ours = lambda q, k, v: q.scaled_dot_product_attention(k, v, **options)
    theirs = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options)
    return [
        _both(f"attention ({shape})", inputs, ours, theirs),
        _both(f"attention backward ({shape})", inputs, ours, theirs, backward=True),
    ]


def _matmul(a: tuple[int, ...], b: tuple[int, ...], dtype: str = "float32", how: str = "") -> Operation:
    title = f"({' x '.join(map(str, a))}) @ ({' x '.join(map(str, b))}){how}, {dtype}"
    functions = {"": lambda a, b: a @ b, " a.T": lambda a, b: a.mT @ b, " b.T": lambda a, b: a @ b.mT}
    if dtype == "int8":
        inputs = (_whole(9, *a).astype(np.int8), _whole(9, *b, seed=2).astype(np.int8))
        return Operation(title, inputs, lambda a, b: a.int() @ b.int(), lambda a, b: torch._int_mm(a, b))
    return Operation(title, (_floats(*a), _floats(*b, seed=1)), functions[how], functions[how], dtype=dtype)


def _products() -> list[Operation]:
    return [
        *_attention((2, 8, 256, 64)),
        *_attention((2, 8, 256, 64), is_causal=True),
        *_attention((1, 8, 1024, 64)),
        _matmul((512, 512), (512, 512)),
        _matmul((512, 512), (512, 512), "float64"),
        _matmul((512, 512), (512, 512), "float16"),
        _matmul((512, 512), (512, 512), "bfloat16"),
        _matmul((512, 512), (512, 512), "int8"),
        _matmul((512, 512), (512, 512), how=" a.T"),
        _matmul((512, 512), (512, 512), how=" b.T"),
        _matmul((1, 4096), (4096, 4096)),
        _matmul((1, 4096), (4096, 4096), how=" b.T"),
        _matmul((4096, 4096), (4096, 1)),
        _matmul((8, 4096), (4096, 1024)),
        _matmul((4096, 8), (8, 4096)),
        _matmul((64, 20000), (20000, 64)),
        _matmul((20000, 64), (64, 64)),
        _matmul((333, 777), (777, 501)),
        _matmul((64, 128, 128), (64, 128, 128)),
        _matmul((1000, 16, 16), (1000, 16, 16)),
        _matmul((10000, 4, 4), (10000, 4, 4)),
        _both("outer (1000, 1000)", [_floats(1000), _floats(1000)], lambda a, b: a.outer(b)),
        _both(
            "einsum bij,bjk->bik (64 x 64 x 64)",
            [_floats(64, 64, 64)],
            lambda x: Tensor.einsum("bij,bjk->bik", x, x),
            lambda x: torch.einsum("bij,bjk->bik", x, x),
        ),
        _both(
            "linear backward (1024 x 768, 768)",
            [_floats(1024, 768), _floats(768, 768)],
            lambda x, w: x @ w.T,
            backward=True,
        ),
        _both(
            "cdist by broadcasting (500 x 16)",
            [_floats(500, 16)],
            lambda x: (x.unsqueeze(0) - x.unsqueeze(1)).square().sum(-1),
        ),
    ]


def _images() -> list[Operation]:
    x = _floats(8, 16, 64, 64)
    grid = np.random.default_rng(2).uniform(-1, 1, (8, 64, 64, 2)).astype(np.float32)
    cases = []
    for mode in ("nearest", "bilinear", "bicubic"):
        ours = lambda x, mode=mode: x.interpolate((128, 128), mode=mode)
        theirs = lambda x, mode=mode: F.interpolate(x, (128, 128), mode=mode)
        cases += [
            _both(f"interpolate {mode} (8 x 16 x 64 x 64) to twice", [x], ours, theirs),
            _both(
                f"interpolate {mode} backward (8 x 16 x 64 x 64) to twice", [x], ours, theirs, backward=True
            ),
        ]
    theirs = lambda x, g: F.grid_sample(x, g, align_corners=False)
    return [
        *cases,
        _both(
            "interpolate bilinear to 50 x 50 (8 x 16 x 64 x 64)",
            [x],
            lambda x: x.interpolate((50, 50), mode="bilinear"),
            lambda x: F.interpolate(x, (50, 50), mode="bilinear"),
        ),
        _both("grid_sample (8 x 16 x 64 x 64)", [x, grid], lambda x, g: x.grid_sample(g), theirs),
        _both(
            "grid_sample backward (8 x 16 x 64 x 64)",
            [x, grid],
            lambda x, g: x.grid_sample(g),
            theirs,
            backward=True,
        ),
    ]


def _linear_algebra() -> list[Operation]:
    a = _floats(256, 256)
    spd = (a @ a.T / 256 + np.eye(256)).astype(np.float32)
    batch = _floats(100, 16, 16) + 4 * np.eye(16, dtype=np.float32)
    batch_spd = (batch @ batch.transpose(0, 2, 1)).astype(np.float32)
    real = lambda z: torch.view_as_real(z)
    return [
        _both("cholesky (256 x 256)", [spd], lambda x: x.cholesky(), torch.linalg.cholesky),
        _both("cholesky (100 x 16 x 16)", [batch_spd], lambda x: x.cholesky(), torch.linalg.cholesky),
        _both("solve (256 x 256)", [spd, _floats(256, 16)], lambda a, b: a.solve(b), torch.linalg.solve),
        _both(
            "solve (100 x 16 x 16)", [batch, _floats(100, 16, 4)], lambda a, b: a.solve(b), torch.linalg.solve
        ),
        _both("inv (256 x 256)", [spd], lambda x: x.inv(), torch.linalg.inv),
        _both("det (100 x 16 x 16)", [batch], lambda x: x.det(), torch.linalg.det),
        _both(
            "qr (128 x 128)",
            [a[:128, :128].copy()],
            lambda x: x.qr()[1].abs(),
            lambda x: torch.linalg.qr(x)[1].abs(),
        ),
        _both("svd (64 x 64)", [a[:64, :64].copy()], lambda x: x.svd()[1], lambda x: torch.linalg.svdvals(x)),
        _both(
            "eigh (64 x 64)",
            [spd[:64, :64].copy()],
            lambda x: x.eigh()[0],
            lambda x: torch.linalg.eigvalsh(x),
        ),
        _both(
            "fft (1000 x 1024)",
            [_floats(1000, 1024, 2)],
            lambda x: x.fft(),
            lambda x: real(torch.fft.fft(torch.view_as_complex(x))),
        ),
        _both(
            "rfft (1000 x 1000)", [_floats(1000, 1000)], lambda x: x.rfft(), lambda x: real(torch.fft.rfft(x))
        ),
        _both(
            "rfft (1000 x 1009), a prime",
            [_floats(1000, 1009)],
            lambda x: x.rfft(),
            lambda x: real(torch.fft.rfft(x)),
        ),
        _both(
            "rfft2 (16 x 256 x 256)",
            [_floats(16, 256, 256)],
            lambda x: x.rfft2(),
            lambda x: real(torch.fft.rfft2(x)),
        ),
    ]


def _random() -> list[Operation]:
    none = _floats(1)
    make = lambda title, ours, theirs: _both(title, [none], ours, theirs, compares=False, eager=True)
    return [
        make("rand (1000000)", lambda _: Tensor.rand(1000000), lambda _: torch.rand(1000000)),
        make("randn (1000000)", lambda _: Tensor.randn(1000000), lambda _: torch.randn(1000000)),
        make(
            "randint (1000000)",
            lambda _: Tensor.randint(1000000, low=0, high=10),
            lambda _: torch.randint(0, 10, (1000000,)),
        ),
        make("randperm (100000)", lambda _: Tensor.randperm(100000), lambda _: torch.randperm(100000)),
        _both(
            "multinomial (64 x 1000, 10)",
            [np.abs(_floats(64, 1000))],
            lambda x: x.multinomial(10, replacement=True),
            lambda x: x.multinomial(10, True),
            compares=False,
        ),
        _both(
            "dropout (1000 x 1000)",
            [_floats(1000, 1000)],
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
    *_indexing(),
    *_movement(),
    *_convolutions(),
    *_pools(),
    *_norms(),
    *_products(),
    *_images(),
    *_linear_algebra(),
    *_random(),
)
