"""Run models of support vectors."""

import itertools
from collections.abc import Sequence
from typing import Literal

import numpy as np

from plugrad import Tensor, dtypes
from plugrad_onnx.operators.ml.scores import labelled, transformed
from plugrad_onnx.operators.ml.trees import Transform
from plugrad_onnx.registry import ML, operator
from plugrad_onnx.values import Array

Kernel = Literal["LINEAR", "POLY", "RBF", "SIGMOID"]
_SURE = 1e-7  # how near to 0 and 1 the probability of one class against another comes


def _kernel(x: Tensor, vectors: Tensor, kind: str, parameters: Sequence[float]) -> Tensor:
    """Return the kernel between samples and vectors: `(samples, features) -> (samples, vectors)`."""
    gamma, coef0, degree = parameters
    products = x.matmul(vectors.transpose(0, 1))
    if kind == "RBF":
        distance = (x * x).sum(1, keepdim=True) - 2 * products + (vectors * vectors).sum(1)
        return (-gamma * distance).exp()
    if kind == "POLY":
        return (gamma * products + coef0) ** degree
    return (gamma * products + coef0).tanh() if kind == "SIGMOID" else products


def _matrix(numbers: Sequence[float], rows: int) -> Array:
    return np.array(numbers, np.float32).reshape(rows, -1)


@operator("SVMRegressor", domain=ML)
def svm_regressor(
    x: Tensor,
    *,
    coefficients: tuple[float, ...],
    kernel_params: tuple[float, ...] = (0.0, 0.0, 0.0),
    kernel_type: Kernel = "LINEAR",
    n_supports: int = 0,
    one_class: int = 0,
    post_transform: Transform = "NONE",
    rho: tuple[float, ...],
    support_vectors: tuple[float, ...] = (),
) -> Tensor:
    """Return a sum of kernels between the features and support vectors."""
    vectors = Tensor(_matrix(support_vectors, n_supports) if n_supports else _matrix(coefficients, 1))
    weights = Tensor(_matrix(coefficients if n_supports else (1.0,), n_supports or 1))
    out = _kernel(x.cast(dtypes.float32), vectors, kernel_type, kernel_params).matmul(weights) + rho[0]
    return (out > 0).where(1.0, -1.0) if one_class else transformed(out, post_transform)


@operator("SVMClassifier", domain=ML)
def svm_classifier(
    x: Tensor,
    *,
    classlabels_ints: tuple[int, ...] = (),
    coefficients: tuple[float, ...],
    kernel_params: tuple[float, ...] = (0.0, 0.0, 0.0),
    kernel_type: Kernel = "LINEAR",
    post_transform: Transform = "NONE",
    prob_a: tuple[float, ...] = (),
    prob_b: tuple[float, ...] = (),
    rho: tuple[float, ...],
    support_vectors: tuple[float, ...] = (),
    vectors_per_class: tuple[int, ...] = (),
) -> tuple[Tensor, Tensor]:
    """Return the label of each sample and its scores by pair or by class."""
    wide, count = x.cast(dtypes.float32), max(len(classlabels_ints), 1)
    labels = classlabels_ints or (0,)
    if not vectors_per_class:
        vectors = Tensor(_matrix(coefficients, count))
        scores = _kernel(wide, vectors, "LINEAR", kernel_params) + rho[0]
        return (
            _by_sign(scores, post_transform) if count == 1 else labelled(scores, labels, post_transform, 0.0)
        )
    pairs = list(itertools.combinations(range(count), 2))
    kernels = _kernel(
        wide, Tensor(_matrix(support_vectors, sum(vectors_per_class))), kernel_type, kernel_params
    )
    weights = _weights_of_pairs(_matrix(coefficients, count - 1), vectors_per_class, pairs)
    scores = kernels.matmul(Tensor(weights)) + Tensor(np.array(rho, np.float32))
    names, votes = Tensor(np.array(labels, np.int64)), _votes(scores, pairs, count)
    best = names.index_select(0, votes.argmax(1).cast(dtypes.int64))
    if prob_a:
        a, b = Tensor(np.array(prob_a, np.float32)), Tensor(np.array(prob_b, np.float32))
        return best, transformed(_coupled((-(scores * a + b)).sigmoid(), pairs, count), post_transform)
    if count == 2 and post_transform != "PROBIT":
        scores = Tensor.cat(-scores, scores, axis=1)
        if min(coefficients) >= 0:  # where no vector speaks against it, the second class holds
            best = names[1].expand(best.shape[0])
    return best, transformed(scores, post_transform)


def _by_sign(score: Tensor, transform: str) -> tuple[Tensor, Tensor]:
    """Return 1 where the only score is above 0."""
    return (score[:, 0] > 0).cast(dtypes.int64), transformed(score, transform)


def _weights_of_pairs(
    coefficients: Array, vectors_per_class: Sequence[int], pairs: Sequence[tuple[int, int]]
) -> Array:
    """Return the weight of each vector for each pair of classes: `(vectors, pairs)`.

    Row `j - 1` of the coefficients holds those of vectors of classes before `j` against `j`; row `i` those of
    classes behind `i` against `i`.
    """
    ends = np.cumsum(vectors_per_class)
    out = np.zeros((int(ends[-1]), len(pairs)), np.float32)
    for column, (i, j) in enumerate(pairs):
        first, second = (slice(ends[c] - vectors_per_class[c], ends[c]) for c in (i, j))
        out[first, column] = coefficients[j - 1, first]
        out[second, column] = coefficients[i, second]
    return out


def _votes(scores: Tensor, pairs: Sequence[tuple[int, int]], count: int) -> Tensor:
    """Count the pairs that each class wins: `(samples, pairs) -> (samples, classes)`."""
    wins, losses = (np.zeros((len(pairs), count), np.float32) for _ in range(2))
    for row, (i, j) in enumerate(pairs):
        wins[row, i] = losses[row, j] = 1
    is_first = (scores > 0).cast(dtypes.float32)
    return is_first.matmul(Tensor(wins)) + (1 - is_first).matmul(Tensor(losses))


def _coupled(chances: Tensor, pairs: Sequence[tuple[int, int]], count: int) -> Tensor:
    """Return probabilities of classes that fit those of pairs best: `(samples, pairs) -> (samples, classes)`.

    Other runtimes stop within 0.005 / classes of this solution.

    Source: Wu, Lin, Weng 2004, "Probability estimates for multi-class classification by pairwise coupling",
    equation 21, the linear system of its second method.
    """
    first = chances.clip(_SURE, 1 - _SURE)
    rows = [[Tensor.zeros(chances.shape[0])] * count for _ in range(count)]
    for column, (i, j) in enumerate(pairs):
        rows[i][j], rows[j][i] = first[:, column], 1 - first[:, column]
    against = [sum((rows[j][i] ** 2 for j in range(count)), start=rows[i][i]) for i in range(count)]
    lines = [
        [against[i] if i == j else -rows[j][i] * rows[i][j] for j in range(count)] + [rows[0][0] + 1]
        for i in range(count)
    ]
    border = [rows[0][0] + 1] * count + [rows[0][0]]
    system = Tensor.stack(*(Tensor.stack(*line, axis=1) for line in [*lines, border]), axis=1)
    right = np.eye(count + 1, dtype=np.float32)[-1].reshape(1, -1, 1)
    return system.solve(Tensor(right).expand(chances.shape[0], count + 1, 1))[:, :count, 0]
