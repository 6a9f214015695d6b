"""Inverses, determinants and decompositions of matrices, single and stacked."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad_conformance.operations.operation import Array, Meaning, Operation, reals, whole


def _regular(*shape: int, seed: int = 0) -> Array:
    """Return matrices far from singular, whose pivots are not on the diagonal."""
    return np.roll(reals(*shape, seed=seed) / 4 + 2 * np.eye(*shape[-2:], dtype=np.float32), 1, -2)


def _square(*shape: int) -> Array:
    """Return symmetric positive definite matrices."""
    x = _regular(*shape)
    return x @ x.swapaxes(-1, -2)


def _cases() -> Iterator[Operation]:
    pair = _regular(2, 3, 3)
    whole_inverse: Meaning = lambda x: np.linalg.inv(x)
    yield Operation("inv", "stacked", lambda x: x.inv(), whole_inverse, (pair,), order=2, accuracy=4.0)
    yield Operation("det", "stacked", lambda x: x.det(), np.linalg.det, (pair,), order=2, accuracy=4.0)
    logs: Meaning = lambda x: tuple(np.linalg.slogdet(x))
    yield Operation("slogdet", "stacked", lambda x: x.slogdet(), logs, (pair,), order=2, accuracy=4.0)
    solved: Meaning = lambda x, b: np.linalg.solve(x, b)
    sides = pair, reals(2, 3, 2, seed=1)
    yield Operation("solve", "stacked", lambda x, b: x.solve(b), solved, sides, order=2, accuracy=4.0)
    # of a matrix and its transpose: both read one triangle only
    yield Operation(
        "cholesky",
        "stacked",
        lambda x: (x + x.transpose(1, 2)).cholesky(),
        lambda x: np.linalg.cholesky(x + x.swapaxes(1, 2)),
        (_square(2, 3, 3),),
        order=2,
        accuracy=4.0,
    )
    for mode in ("reduced", "complete"):
        tall = _regular(2, 4, 3)
        yield Operation(
            "qr",
            mode,
            lambda x, mode=mode: x.qr(mode),
            lambda x, mode=mode: tuple(np.linalg.qr(x, mode)),
            (tall,),
            order=2 if mode == "reduced" else 0,
            accuracy=4.0,
        )
    for n in (-2, 0, 3):
        power: Meaning = lambda x, n=n: np.linalg.matrix_power(x, n)
        raised: Meaning = lambda x, n=n: x.matrix_power(n)
        yield Operation("matrix_power", f"to {n}", raised, power, (pair,), order=2 if n else 0, accuracy=20.0)
    cubed: Meaning = lambda x: np.linalg.matrix_power(x, 3)
    yield Operation("matrix_power", "int32", lambda x: x.matrix_power(3), cubed, (whole(3, 3),))


def _polynomials() -> Iterator[Operation]:
    def moved(x: Any, steps: int, *factors: float) -> Any:
        x = x / (np.linalg.norm(x, axis=(-2, -1), keepdims=True) + 1e-7)
        for _ in range(steps):
            square = x @ x.swapaxes(-2, -1)
            powers = [np.linalg.matrix_power(square, i) @ x for i in range(len(factors))]
            x = sum(factor * power for factor, power in zip(factors, powers, strict=True))
        return x

    factors = (3.4445, -4.775, 2.0315)
    for shape in ((2, 4, 3), (3, 4)):
        yield Operation(
            "newton_schulz",
            f"of {shape}",
            lambda x: x.newton_schulz(3, factors),
            lambda x: moved(x, 3, *factors),
            (_regular(*shape),),
            order=2,
            accuracy=8.0,
        )


def _spectra() -> Iterator[Operation]:
    """Yield cases of results with arbitrary signs, by invariants."""
    tall = _regular(2, 4, 3)
    singular: Meaning = lambda x: np.linalg.svd(x, compute_uv=False)
    yield Operation("svd", "values", lambda x: x.svd()[1], singular, (tall,), order=1, accuracy=4.0)
    yield Operation(
        "svd", "product", lambda x: _product(*x.svd(False)), lambda x: x, (tall,), order=1, accuracy=4.0
    )
    definite = (_square(2, 3, 3),)
    balanced: Meaning = lambda x: (x + x.transpose(1, 2)).eigh()[0]
    eigenvalues: Meaning = lambda x: np.linalg.eigvalsh(x + x.swapaxes(1, 2))
    yield Operation("eigh", "values", balanced, eigenvalues, definite, order=2, accuracy=4.0)
    squared: Meaning = lambda x: _turned_back(*((x + x.transpose(1, 2)) / 2).eigh())
    mean: Meaning = lambda x: (x + x.swapaxes(1, 2)) / 2
    yield Operation("eigh", "product", squared, mean, definite, order=2, accuracy=4.0)
    inverse: Meaning = lambda x: np.linalg.pinv(x)
    yield Operation("pinv", "stacked", lambda x: x.pinv(), inverse, (tall,), order=2, accuracy=4.0)
    nearest: Meaning = lambda x, b: np.linalg.pinv(x) @ b
    sides = tall, reals(2, 4, 2, seed=1)
    yield Operation(
        "lstsq", "stacked", lambda x, b: x.lstsq(b).solution, nearest, sides, order=2, accuracy=4.0
    )
    for p in ("fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf):
        norm: Meaning = lambda x, p=p: np.linalg.norm(x, p, axis=(-2, -1))
        measured: Meaning = lambda x, p=p: x.matrix_norm(p)
        # in single precision, second derivatives of one singular value are not exact enough
        order = 1 if p in (2, -2) else 2
        yield Operation("matrix_norm", f"p={p}", measured, norm, (tall,), order=order, accuracy=4.0)


def _product(u: Any, s: Any, vh: Any) -> Any:
    return u @ s.diag_embed() @ vh


def _turned_back(values: Any, vectors: Any) -> Any:
    return vectors @ values.diag_embed() @ vectors.transpose(1, 2)


CASES = (*_cases(), *_polynomials(), *_spectra())
