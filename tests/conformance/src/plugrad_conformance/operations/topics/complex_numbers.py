"""Operations on complex numbers, as pairs of floats, so that differences exist."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.operations.operation import Array, Meaning, Operation, reals


def numbers(x: Any) -> Any:
    """Return the pairs along an array's or tensor's last axis as complex numbers."""
    return x[..., 0] + 1j * x[..., 1] if isinstance(x, np.ndarray) else x.view_as_complex()


def pairs(x: Any) -> Any:
    """Return complex numbers as pairs along a new last axis, others unchanged."""
    if isinstance(x, (tuple, list)):
        return tuple(pairs(part) for part in x)
    if isinstance(x, Tensor):
        return x.view_as_real() if x.is_complex() else x
    return np.stack([x.real, x.imag], -1) if np.iscomplexobj(x) else x


def _case(name: str, call: Meaning, meaning: Meaning, *inputs: Array, **settings: Any) -> Operation:
    """Return a case of complex operands; `call` and `meaning` take and return complex numbers."""
    on_tensors: Any = call
    on_arrays: Any = meaning
    defaults = {"order": 2, "accuracy": 2.0}
    return Operation(
        name,
        settings.pop("variation", "of complex numbers"),
        lambda *xs: pairs(on_tensors(*map(numbers, xs))),
        lambda *xs: pairs(on_arrays(*map(numbers, xs))),
        inputs,
        **{**defaults, **settings},
    )


def _elementwise() -> Iterator[Operation]:
    x, y = reals(3, 4, 2), reals(3, 4, 2, seed=1)
    yield _case("add", lambda x, y: x + y, lambda x, y: x + y, x, y)
    yield _case("sub", lambda x, y: x - y, lambda x, y: x - y, x, y[0])
    yield _case("mul", lambda x, y: x * y, lambda x, y: x * y, x, y[:, :1])
    yield _case("div", lambda x, y: x / y, lambda x, y: x / y, x, y, accuracy=20.0)
    yield _case("pow", lambda x, y: x**y, lambda x, y: x**y, x, y, accuracy=200.0)
    yield _case("reciprocal", lambda x: x.reciprocal(), np.reciprocal, x, accuracy=20.0)
    yield _case("abs", lambda x: x.abs(), np.abs, x)
    for name in [
        "neg",
        "exp",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "square",
        "sqrt",
        "log",
        "log2",
        "log10",
    ]:
        meaning: Any = np.negative if name == "neg" else getattr(np, name)
        # away from the cuts of the logarithm and the root, and from the poles of the tangent
        yield _case(name, lambda x, name=name: getattr(x, name)(), meaning, x, accuracy=20.0)
    for name in ["sin", "cos", "tan", "sinh", "cosh", "tanh"]:
        inverse: Any = getattr(np, f"arc{name}")
        yield _case(f"a{name}", lambda x, name=name: getattr(x, f"a{name}")(), inverse, x, accuracy=50.0)
    yield _case("eq", lambda x, y: x == y, lambda x, y: x == y, x, x.copy(), dtype="bool", order=0)
    for name in ("isfinite", "isinf", "isnan"):
        special = np.array([[1, np.nan], [np.inf, 0], [-np.inf, np.nan], [1, -2]], np.float32)
        # a sum makes NaN of an infinity in one part: parts are put together as they are
        yield Operation(
            name,
            "of complex numbers",
            lambda x, name=name: getattr(x.view_as_complex(), name)(),
            lambda x, name=name: getattr(np, name)(x.astype(np.float64).view(np.complex128)[..., 0]),
            (special,),
            "bool",
        )
    where: Meaning = lambda x, y: np.where(np.abs(x) < 1, x, y)
    yield _case("where", lambda x, y: (x.abs() < 1).where(x, y), where, x, y)


def _part_cases() -> Iterator[Operation]:
    x, y = reals(3, 4, 2), reals(3, 4, seed=1)
    yield _case("real", lambda x: x.real, np.real, x)
    yield _case("imag", lambda x: x.imag, np.imag, x)
    yield _case("conj", lambda x: x.conj(), np.conj, x)
    yield _case("angle", lambda x: x.angle(), np.angle, x)
    yield _case("H", lambda x: x.H, lambda x: np.conj(x.T), x)
    yield _case("mH", lambda x: x.mH, lambda x: np.conj(x.swapaxes(-1, -2)), reals(2, 3, 4, 2))
    yield _case("view_as_real", lambda x: x.view_as_real(), pairs, x)
    yield _case("view_as_complex", lambda x: x * 2j, lambda x: x * 2j, x)
    made: Meaning = lambda a, b: pairs(a + 1j * b)
    yield Operation("complex", "of two", lambda a, b: pairs(Tensor.complex(a, b)), made, (y, y + 1), order=2)
    turned: Meaning = lambda a, b: pairs(a * np.exp(1j * b))
    yield Operation("polar", "of two", lambda a, b: pairs(Tensor.polar(a, b)), turned, (y, y + 1), order=2)


def _movement() -> Iterator[Operation]:
    x, at = reals(3, 4, 2), np.array([2, 0, 1, 2], np.int32)
    yield _case("permute", lambda x: x.permute(1, 0) * 1, lambda x: x.T, x)
    yield _case("reshape", lambda x: x.reshape(2, 6) * 1, lambda x: x.reshape(2, 6), x)
    yield _case("flip", lambda x: x.flip(1) * 1, lambda x: x[:, ::-1], x)
    yield _case("pad", lambda x: x.pad(((1, 0), (0, 2))), lambda x: np.pad(x, ((1, 0), (0, 2))), x)
    yield _case("cat", lambda x: Tensor.cat(x, x * 1j), lambda x: np.concatenate([x, x * 1j]), x)
    yield _case("__getitem__", lambda x: x[1:, ::2] * 1, lambda x: x[1:, ::2], x)
    yield _case(
        "__getitem__",
        lambda x: x[Tensor(at, device=x.device)],
        lambda x: x[at],
        x,
        variation="by complex rows",
    )


def _sums() -> Iterator[Operation]:
    x = reals(3, 4, 2)
    for name in ("sum", "mean", "prod", "cumsum", "cumprod"):
        meaning: Meaning = lambda x, name=name: getattr(np, name)(x, axis=1)
        yield _case(name, lambda x, name=name: getattr(x, name)(1), meaning, x, accuracy=20.0)
    yield _case("var", lambda x: x.var(1), lambda x: np.var(x, 1, ddof=1), x)
    yield _case("cov", lambda x: x.cov(), lambda x: np.cov(x), x)
    yield _case("corrcoef", lambda x: x.corrcoef(), lambda x: np.corrcoef(x), x, order=1, accuracy=20.0)
    yield _case("norm", lambda x: x.norm(), lambda x: np.linalg.norm(x), x)


def _matrices() -> Iterator[Operation]:
    x, y = reals(2, 3, 3, 2), reals(2, 3, 4, 2, seed=1)
    x[..., 0] += 2 * np.eye(3, dtype=np.float32)
    loose = {"accuracy": 50.0}
    yield _case("matmul", lambda x, y: x @ y, lambda x, y: x @ y, x, y)
    yield _case("dot", lambda x, y: x.dot(y), lambda x, y: x @ y, x[0], y[0])
    outer: Meaning = lambda x, y: np.einsum("bij,bik->bjk", x, y)
    yield _case("einsum", lambda x, y: Tensor.einsum("bij,bik->bjk", x, y), outer, x, y)
    yield _case("inv", lambda x: x.inv(), lambda x: np.linalg.inv(x), x, **loose)
    yield _case("det", lambda x: x.det(), lambda x: np.linalg.det(x), x, **loose)
    yield _case("solve", lambda x, y: x.solve(y), lambda x, y: np.linalg.solve(x, y), x, y, **loose)
    for n in (-2, 3):
        power: Meaning = lambda x, n=n: np.linalg.matrix_power(x, n)
        raised: Meaning = lambda x, n=n: x.matrix_power(n)
        yield _case("matrix_power", raised, power, x, variation=f"of complex numbers to {n}", accuracy=200.0)
    definite: Meaning = lambda x: np.linalg.cholesky(x @ np.conj(x.swapaxes(-1, -2)))
    yield _case("cholesky", lambda x: (x @ x.mH).cholesky(), definite, x, **loose)
    hermitian: Meaning = lambda x: np.linalg.eigvalsh(x + np.conj(x.swapaxes(-1, -2)))
    yield _case("eigh", lambda x: (x + x.mH).eigh()[0], hermitian, x, order=1, **loose)
    values: Meaning = lambda x: np.linalg.svd(x, compute_uv=False)
    yield _case("svd", lambda x: x.svd()[1], values, y, order=1, **loose)


CASES = (*_elementwise(), *_part_cases(), *_movement(), *_sums(), *_matrices())
