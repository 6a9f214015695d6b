"""Layers of networks: normalization and losses."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad_conformance.operations.operation import Array, Meaning, Operation, positive, reals, whole


def _standard(x: Any, axes: tuple[int, ...], eps: float = 1e-5) -> Any:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def _channels(v: Any, x: Any) -> Any:
    return v.reshape(-1, *[1] * (x.ndim - 2))


def _grouped(x: Any, groups: int) -> Any:
    return _standard(x.reshape(len(x), groups, -1), (2,)).reshape(x.shape)


def _normalizations() -> Iterator[Operation]:
    x, w, b = reals(2, 4, 3), positive(4, seed=1), reals(4, seed=2)
    last = positive(3, seed=1), reals(3, seed=2)
    yield Operation(
        "layernorm", "axis -1", lambda x: x.layernorm(), lambda x: _standard(x, (-1,)), (x,), order=2
    )
    yield Operation(
        "layer_norm",
        "weight and bias",
        lambda x, w, b: x.layer_norm(3, w, b),
        lambda x, w, b: _standard(x, (-1,)) * w + b,
        (x, *last),
        order=2,
    )
    square: Meaning = lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3) * w
    yield Operation("rms_norm", "weight", lambda x, w: x.rms_norm(3, w, 1e-3), square, (x, last[0]), order=2)
    for name in ("group_norm", "groupnorm"):
        yield Operation(
            name,
            "two groups",
            lambda x, w, b, name=name: getattr(x, name)(2, w, b),
            lambda x, w, b: _grouped(x, 2) * _channels(w, x) + _channels(b, x),
            (x, w, b),
            order=2,
        )
    yield Operation(
        "instance_norm",
        "weight and bias",
        lambda x, w, b: x.instance_norm(weight=w, bias=b),
        lambda x, w, b: _grouped(x, 4) * _channels(w, x) + _channels(b, x),
        (x, w, b),
        order=2,
    )
    yield Operation(
        "batch_norm",
        "training",
        lambda x, w, b: x.batch_norm(None, None, w, b, True),
        lambda x, w, b: _standard(x, (0, 2)) * _channels(w, x) + _channels(b, x),
        (x, w, b),
        order=2,
    )
    running: Meaning = lambda x, m, v: (x - _channels(m, x)) / np.sqrt(_channels(v, x) + 1e-5)
    yield Operation(
        "batch_norm", "running statistics", lambda x, m, v: x.batch_norm(m, v), running, (x, b, w), order=2
    )
    scaled: Meaning = lambda x, w, b, m, s: (
        (x - _channels(m, x)) * _channels(s, x) * _channels(w, x) + _channels(b, x)
    )
    yield Operation(
        "batchnorm",
        "all given",
        lambda x, w, b, m, s: x.batchnorm(w, b, m, s),
        scaled,
        (x, w, b, reals(4, seed=3), positive(4, seed=4)),
        order=2,
    )
    yield Operation(
        "batch_statistics",
        "three axes",
        lambda x: x.batch_statistics(),
        lambda x: (x.mean((0, 2)), x.var((0, 2))),
        (x,),
        order=2,
    )


# --- losses ---


def _distance(x: Any, y: Any, p: float = 2.0, eps: float = 1e-6) -> Any:
    return (np.abs(x - y + eps) ** p).sum(-1) ** (1 / p)


def _cosine(x: Any, y: Any, axis: int = 1) -> Any:
    return (x * y).sum(axis) / np.sqrt((x * x).sum(axis) * (y * y).sum(axis))


def _smooth(x: Any, y: Any, beta: float) -> Any:
    d = np.abs(x - y)
    return np.where(d < beta, d * d / (2 * beta), d - beta / 2)


def _log_softmax(x: Any, axis: int) -> Any:
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def _chosen(logs: Any, y: Any) -> Any:
    """Return the values (N, ...) of (N, C, ...) that the labels `y` name."""
    return np.take_along_axis(logs, y[:, None], 1)[:, 0]


def _smoothed(x: Any, y: Any, amount: float) -> Any:
    logs = _log_softmax(x, 1)
    return -((1 - amount) * _chosen(logs, y) + amount * logs.mean(1))


def _regressions() -> Iterator[Operation]:
    x, y = reals(3, 4), reals(3, 4, seed=1)
    pairs: tuple[tuple[str, str, Meaning, Meaning], ...] = (
        ("mse_loss", "mean", lambda x, y: x.mse_loss(y), lambda x, y: ((x - y) ** 2).mean()),
        ("mse_loss", "none", lambda x, y: x.mse_loss(y, "none"), lambda x, y: (x - y) ** 2),
        ("l1_loss", "sum", lambda x, y: x.l1_loss(y, "sum"), lambda x, y: np.abs(x - y).sum()),
        (
            "smooth_l1_loss",
            "none",
            lambda x, y: x.smooth_l1_loss(y, "none", 0.7),
            lambda x, y: _smooth(x, y, 0.7),
        ),
        (
            "huber_loss",
            "mean",
            lambda x, y: x.huber_loss(y, delta=0.7),
            lambda x, y: 0.7 * _smooth(x, y, 0.7).mean(),
        ),
        ("pairwise_distance", "p=2", lambda x, y: x.pairwise_distance(y), _distance),
        (
            "pairwise_distance",
            "p=3",
            lambda x, y: x.pairwise_distance(y, 3.0),
            lambda x, y: _distance(x, y, 3.0),
        ),
        ("cosine_similarity", "axis 1", lambda x, y: x.cosine_similarity(y), _cosine),
        (
            "cosine_similarity",
            "axis 0",
            lambda x, y: x.cosine_similarity(y, 0),
            lambda x, y: _cosine(x, y, 0),
        ),
    )
    for name, variation, call, reference in pairs:
        yield Operation(name, variation, call, reference, (x, y), order=2)
    triple = x, y, reals(3, 4, seed=2)
    margins: Meaning = lambda x, p, n: np.maximum(_distance(x, p) - _distance(x, n) + 0.9, 0).mean()
    yield Operation(
        "triplet_margin_loss",
        "margin",
        lambda x, p, n: x.triplet_margin_loss(p, n, 0.9),
        margins,
        triple,
        order=2,
    )
    signs = np.array([1, -1, 1], np.int32)
    embedded: Meaning = lambda x, y, s: np.where(
        s == 1, 1 - _cosine(x, y), np.maximum(_cosine(x, y) + 0.5, 0)
    )
    yield Operation(
        "cosine_embedding_loss",
        "none",
        lambda x, y, s: x.cosine_embedding_loss(y, s, -0.5, "none"),
        embedded,
        (x, y, signs),
        order=2,
    )


def _binary() -> Iterator[Operation]:
    logits, chances = reals(3, 4), positive(3, 4, seed=1) / 3.2
    crossed: Meaning = lambda p, y: -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()
    from_logits: Meaning = lambda x, y: (np.logaddexp(0, x) - x * y).mean()
    pair = chances, positive(3, 4, seed=2) / 3.2
    for name in ("binary_cross_entropy", "binary_crossentropy"):
        yield Operation(name, "mean", lambda p, y, name=name: getattr(p, name)(y), crossed, pair, order=2)
    for name in ("binary_cross_entropy_with_logits", "binary_crossentropy_logits"):
        call: Meaning = lambda x, y, name=name: getattr(x, name)(y)
        yield Operation(name, "mean", call, from_logits, (logits, chances), order=2)
        yield Operation(name, "large logits", call, from_logits, (logits * 100, chances))
    weighted: Meaning = lambda x, y, w: (w * y * np.logaddexp(0, -x) + (1 - y) * np.logaddexp(0, x)).mean()
    yield Operation(
        "binary_cross_entropy_with_logits",
        "positive weight",
        lambda x, y, w: x.binary_cross_entropy_with_logits(y, pos_weight=w),
        weighted,
        (logits, chances, positive(4)),
        order=2,
    )
    divergence: Meaning = lambda x, t: (t * (np.log(t) - x)).sum() / len(x)
    yield Operation(
        "kl_div", "batchmean", lambda x, t: x.kl_div(t, "batchmean"), divergence, (logits, chances), order=2
    )
    logs: Meaning = lambda x, t: np.exp(t) * (t - x)
    yield Operation(
        "kl_div",
        "log target",
        lambda x, t: x.kl_div(t, "none", True),
        logs,
        (logits, reals(3, 4, seed=3)),
        order=2,
    )


def _classes() -> Iterator[Operation]:
    x, y, w = reals(3, 5, 2), whole(3, 2, low=0, high=5, dtype="int64"), positive(5)
    mean: Meaning = lambda x, y: -_chosen(_log_softmax(x, 1), y).mean()
    yield Operation("cross_entropy", "class numbers", lambda x, y: x.cross_entropy(y), mean, (x, y), order=2)
    yield Operation(
        "cross_entropy",
        "label smoothing",
        lambda x, y: x.cross_entropy(y, "none", 0.3),
        lambda x, y: _smoothed(x, y, 0.3),
        (x, y),
        order=2,
    )
    chances = positive(3, 5, 2, seed=1)
    spread: Meaning = lambda x, p: -(p * _log_softmax(x, 1)).sum(1).mean()
    yield Operation(
        "cross_entropy", "probabilities", lambda x, p: x.cross_entropy(p), spread, (x, chances), order=2
    )

    def weighted(x: Any, y: Any, w: Any, ignored: int = -100) -> Any:
        counts = np.where(y == ignored, 0, w[y])
        return -(counts * _chosen(x, y)).sum() / counts.sum()

    entropy: Meaning = lambda x, y, w: weighted(_log_softmax(x, 1), y, w)
    yield Operation(
        "cross_entropy", "weights", lambda x, y, w: x.cross_entropy(y, weight=w), entropy, (x, y, w), order=2
    )
    yield Operation("nll_loss", "weights", lambda x, y, w: x.nll_loss(y, w), weighted, (x, y, w), order=2)
    without: Meaning = lambda x, y: weighted(x, y, np.ones(5), 2)
    yield Operation(
        "nll_loss", "ignored labels", lambda x, y: x.nll_loss(y, ignore_index=2), without, (x, y), order=2
    )
    flat = reals(6, 5), whole(6, low=0, high=5)
    sparse: Meaning = lambda x, y: _smoothed(x, y, 0.2).mean()
    yield Operation(
        "sparse_categorical_crossentropy",
        "label smoothing",
        lambda x, y: x.sparse_categorical_crossentropy(y, label_smoothing=0.2),
        sparse,
        flat,
        order=2,
    )


def _alignments(logs: Array, labels: list[int]) -> Any:
    """Return the log-probability of `labels` as the sum over all paths that collapse to them."""
    total = -np.inf
    for path in itertools.product(range(logs.shape[1]), repeat=len(logs)):
        collapsed = [label for label, _ in itertools.groupby(path) if label]
        if collapsed == labels:
            total = np.logaddexp(total, sum(logs[t, c] for t, c in enumerate(path)))
    return total


def _ctc() -> Iterator[Operation]:
    targets = np.array([[1, 1], [2, 1]], np.int32)

    def reference(x: Any, y: Any) -> Any:
        logs = _log_softmax(x, 2)
        return -np.array([_alignments(logs[:4, 0], [1, 1]), _alignments(logs[:3, 1], [2])])

    yield Operation(
        "ctc_loss",
        "different lengths",
        lambda x, y: x.log_softmax(2).ctc_loss(y, [4, 3], [2, 1], reduction="none"),
        reference,
        (reals(4, 2, 3), targets),
        order=2,
    )


def _random() -> Iterator[Operation]:
    """Yield the properties of random operations that hold for all draws."""
    shapes = {"dropout1d": (1, 2, 3), "dropout2d": (1, 2, 3, 1), "dropout3d": (1, 2, 1, 1, 3)}
    for name in ("dropout", *shapes, "alpha_dropout", "feature_alpha_dropout"):
        yield Operation(
            name,
            "outside of training",
            lambda x, name=name: getattr(x, name)(0.5),
            lambda x: x,
            (reals(*shapes.get(name, (2, 3))),),
            order=2,
        )
    certain = np.array([[0, 1, 0], [0, 0, 2]], np.float32)
    yield Operation(
        "multinomial",
        "certain",
        lambda x: x.multinomial(2, True),
        lambda x: np.array([[1, 1], [2, 2]]),
        (certain,),
        dtype="int32",
    )


CASES = (*_normalizations(), *_regressions(), *_binary(), *_classes(), *_ctc(), *_random())
