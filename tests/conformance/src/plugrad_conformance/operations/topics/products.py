"""Sums of products: matrices, tensors by index formulas, linear layers, attention."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.operations.operation import Meaning, Operation, bools, reals, whole

_A, _B = reals(3, 4), reals(4, 2, seed=1)


def _products() -> Iterator[Operation]:
    shapes = (((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((3, 4), (4, 2)), ((2, 1, 3, 4), (5, 4, 2)))
    for left, right in shapes:
        pair = reals(*left), reals(*right, seed=1)
        yield Operation("matmul", f"{left} and {right}", lambda x, y: x.matmul(y), np.matmul, pair, order=2)
    yield Operation(
        "matmul",
        "no terms",
        lambda x, y: x.matmul(y),
        np.matmul,
        (np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32)),
    )
    yield Operation(
        "matmul",
        "int8",
        lambda x, y: x.matmul(y),
        np.matmul,
        (whole(3, 4, dtype="int8"), whole(4, 2, dtype="int8")),
    )
    halves = _A.astype(np.float16), _B.astype(np.float16)
    yield Operation("dot", "float16", lambda x, y: x.dot(y), np.dot, halves)
    yield Operation("dot", "reals", lambda x, y: x.dot(y), np.dot, (_A, _B), order=2)
    yield Operation("__matmul__", "reals", lambda x, y: x @ y, np.matmul, (_A, _B), order=2)
    biased: Meaning = lambda x, w, b: x @ w + b
    yield Operation("linear", "bias", lambda x, w, b: x.linear(w, b), biased, (_A, _B, reals(2)), order=2)
    wide: Meaning = lambda x, w: (x @ w).astype(np.float64)
    yield Operation(
        "linear", "in float64", lambda x, w: x.linear(w, dtype="float64"), wide, (_A, _B), dtype="float64"
    )
    yield Operation(
        "outer", "vectors", lambda x, y: x.outer(y), np.outer, (reals(3), reals(4, seed=1)), order=2
    )
    yield Operation(
        "inner", "last axes", lambda x, y: x.inner(y), np.inner, (reals(2, 3, 4), reals(5, 4)), order=2
    )
    yield Operation(
        "vdot", "all elements", lambda x, y: x.vdot(y), np.vdot, (reals(5), reals(5, seed=1)), order=2
    )
    yield Operation("kron", "matrices", lambda x, y: x.kron(y), np.kron, (_A, _B), order=2)
    yield Operation("trace", "offset 1", lambda x: x.trace(1), lambda x: np.trace(x, 1), (_A,), order=2)
    yield Operation(
        "cross", "broadcast", lambda x, y: x.cross(y), np.cross, (reals(4, 3), reals(3, seed=1)), order=2
    )
    yield Operation(
        "tensordot",
        "two axes",
        lambda x, y: x.tensordot(y),
        np.tensordot,
        (reals(2, 3, 4), reals(3, 4, 2)),
        order=2,
    )
    crossed: Meaning = lambda x, y: np.tensordot(x, y, ((0, 2), (2, 1)))
    yield Operation(
        "tensordot",
        "named axes",
        lambda x, y: x.tensordot(y, ((0, 2), (2, 1))),
        crossed,
        (reals(2, 3, 4), reals(3, 4, 2)),
        order=2,
    )


def _einsums() -> Iterator[Operation]:
    formulas: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = (
        ("ij,jk->ik", ((3, 4), (4, 2))),
        ("bij,bkj->bik", ((2, 3, 4), (2, 5, 4))),
        ("ii->i", ((3, 3),)),
        ("...j,j->...", ((2, 3, 4), (4,))),
        ("i,j,ij->", ((3,), (4,), (3, 4))),
    )
    for formula, shapes in formulas:
        inputs = tuple(reals(*shape, seed=i) for i, shape in enumerate(shapes))
        yield Operation(
            "einsum",
            formula,
            _einsum(Tensor, formula, len(shapes)),
            _einsum(np, formula, len(shapes)),
            inputs,
            order=2,
        )


def _einsum(where: Any, formula: str, count: int) -> Meaning:
    if count == 1:
        return lambda x: where.einsum(formula, x)
    if count == 2:
        return lambda x, y: where.einsum(formula, x, y)
    return lambda x, y, z: where.einsum(formula, x, y, z)


def _attention(q: Any, k: Any, v: Any, mask: Any = True) -> Any:
    scores = np.where(mask, q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def _attentions() -> Iterator[Operation]:
    name = "scaled_dot_product_attention"
    q, k, v = reals(2, 3, 4), reals(2, 5, 4, seed=1), reals(2, 5, 3, seed=2)
    yield Operation(
        name, "plain", lambda q, k, v: q.scaled_dot_product_attention(k, v), _attention, (q, k, v), order=2
    )
    mask = bools(3, 5) | (np.arange(5) == 1)
    yield Operation(
        name,
        "mask",
        lambda q, k, v, m: q.scaled_dot_product_attention(k, v, m),
        _attention,
        (q, k, v, mask),
        order=2,
    )
    causal: Meaning = lambda q, k, v: _attention(q, k, v, np.tri(3, 5, dtype=bool))
    yield Operation(
        name,
        "causal",
        lambda q, k, v: q.scaled_dot_product_attention(k, v, is_causal=True),
        causal,
        (q, k, v),
        order=2,
    )
    grouped: Meaning = lambda q, k, v: _attention(q, np.repeat(k, 2, -3), np.repeat(v, 2, -3))
    heads = reals(4, 3, 4), k, v
    yield Operation(
        name,
        "grouped",
        lambda q, k, v: q.scaled_dot_product_attention(k, v, enable_gqa=True),
        grouped,
        heads,
        order=2,
    )


CASES = (*_products(), *_einsums(), *_attentions())
