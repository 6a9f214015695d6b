"""Linear algebra beside NumPy's, of real and complex matrices: random ones, and those that are hard."""

import inspect
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import plugrad.array_api as xp
from plugrad import Variable, context
from plugrad.dtype import dtypes, is_complex
from plugrad.errors import ArgumentError, AxisError, DtypeError, ShapeError
from plugrad.tensor import Tensor

# Source: Python array API standard 2024.12, "Linear Algebra Extension".
SIGNATURES = {
    "cholesky": "(x, /, *, upper=False)",
    "cross": "(x1, x2, /, *, axis=-1)",
    "diagonal": "(x, /, *, offset=0)",
    "matrix_norm": "(x, /, *, keepdims=False, ord='fro')",
    "matrix_power": "(x, n, /)",
    "qr": "(x, /, *, mode='reduced')",
    "svd": "(x, /, *, full_matrices=True)",
    "tensordot": "(x1, x2, /, *, axes=2)",
    "trace": "(x, /, *, offset=0, dtype=None)",
    "vecdot": "(x1, x2, /, *, axis=-1)",
    "vector_norm": "(x, /, *, axis=None, keepdims=False, ord=2)",
    **dict.fromkeys(("det", "eigh", "eigvalsh", "inv", "matrix_transpose", "slogdet", "svdvals"), "(x, /)"),
    **dict.fromkeys(("matmul", "outer", "solve"), "(x1, x2, /)"),
    **dict.fromkeys(("matrix_rank", "pinv"), "(x, /, *, rtol=None)"),
}
RANDOM = np.random.default_rng(1)
FEW = settings(max_examples=2, deadline=None)


@pytest.fixture(autouse=True)
def unverified() -> Iterator[None]:
    # graphs are verified after each pass in the tests of real matrices
    with context(SPEC=0):
        yield


def mostly(names: Iterable[str], wide: str) -> list[Any]:
    """Return names, of which those in `wide` run on request: tests of tensors have their kind of matrix."""
    on_request = wide.split(", ")
    return [pytest.param(name, marks=[pytest.mark.wide] * (name in on_request)) for name in names]


def array(x: np.ndarray) -> Any:
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return Tensor.complex(Tensor(np.array(x.real)), Tensor(np.array(x.imag)))
    return Tensor(x)


def values(*arrays: Any) -> Any:
    """Return what was computed, all at once."""
    parts = [part for x in arrays for part in ((x.real, x.imag) if is_complex(x.dtype) else (x,))]
    parts[0].realize(*parts[1:])
    found = [x.real.numpy() + 1j * x.imag.numpy() if is_complex(x.dtype) else x.numpy() for x in arrays]
    return found if len(found) > 1 else found[0]


def near(found: Any, wanted: Any, size: float | None = None, tolerance: float = 1e-10) -> None:
    """Compare within a part of the greatest element."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    size = float(np.abs(wanted).max(initial=0.0)) if size is None else size
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * size if size else 1e-300)


def adjoint(x: np.ndarray) -> np.ndarray:
    return x.conj().swapaxes(-1, -2)


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


def unitary(size: int) -> np.ndarray:
    return np.linalg.qr(numbers(size, size))[0]


def of_values(*sizes: float) -> np.ndarray:
    """Return a matrix with these singular values."""
    return unitary(len(sizes)) * np.array(sizes) @ adjoint(unitary(len(sizes)))


SQUARES = {
    "random": numbers(4, 4),
    "graded": numbers(4, 4) * 10.0 ** -np.arange(0, 20, 5),
    "rank two": numbers(4, 2) @ numbers(2, 4),
    "rank one": np.outer(numbers(4), numbers(4)),
    "repeated values": of_values(2, 2, 1, 1),
    "close values": of_values(1, 1 + 1e-9, 1 + 1e-12, 0.5),
    "small values": of_values(1, 1e-6, 1e-12, 1e-15),
    "unitary": unitary(4),
    "zeros": np.zeros((4, 4), "complex128"),
    "ones in the diagonal": np.eye(4, dtype="complex128"),
    "imaginary diagonal": 1j * np.eye(4),
    "triangle": np.triu(numbers(4, 4)),
    "nilpotent": np.eye(4, k=1, dtype="complex128"),
    "huge": numbers(4, 4) * 1e150,
    "tiny": numbers(4, 4) * 1e-150,
    "real": RANDOM.normal(size=(4, 4)) + 0j,
    "of real dtype": RANDOM.normal(size=(4, 4)),
}
SIZES = {
    "one element": numbers(1, 1),
    "tall": numbers(4, 2),
    "wide": numbers(2, 4),
    "tall of rank one": np.outer(numbers(4), numbers(2)),
    "batch": numbers(2, 3, 3),
    "empty": numbers(0, 0),
    "no rows": numbers(0, 3),
    "no columns": numbers(3, 0),
    "no matrices": numbers(0, 2, 2),
    "tall of real dtype": RANDOM.normal(size=(4, 2)),
}
MATRICES = SQUARES | SIZES
#: All hard matrices at once, for one of them takes as many launches; small numbers below are a batch, too.
STACKS = {
    "hard": np.stack(list(SQUARES.values())),
    "of real dtype": np.stack([SQUARES["of real dtype"], SQUARES["real"].real]),
    **{name: x for name, x in SIZES.items() if name != "batch"},
}
#: Those whose kinds are in core/tests/tensor/linalg, too.
PLAIN = "of real dtype, one element, batch, wide, tall of real dtype"
SQUARE_STACKS = {name: x for name, x in STACKS.items() if x.shape[-1] == x.shape[-2]}


def scales(x: np.ndarray) -> np.ndarray:
    """Return the greatest magnitudes of matrices: (..., m, n) -> (..., 1, 1)."""
    return np.abs(x).max(axis=(-2, -1), keepdims=True, initial=1e-300)


def is_unitary(x: np.ndarray) -> None:
    columns = x.shape[-1]
    wanted = np.zeros((*x.shape[:-2], columns, columns), x.dtype) + np.eye(columns)
    near(adjoint(x) @ x, wanted, size=1.0)


# --- factors ---


@pytest.mark.parametrize("name", mostly(STACKS, PLAIN))
def test_qr_multiplies_to_the_matrix(name: str) -> None:
    x = STACKS[name]
    for mode in ("reduced", "complete") if x.shape[-1] < x.shape[-2] else ("reduced",):
        result = xp.linalg.qr(array(x), mode=mode)
        q, r = values(*result)
        assert result._fields == ("Q", "R")
        wanted = np.linalg.qr(x, mode=mode)
        assert (q.shape, r.shape) == (wanted.Q.shape, wanted.R.shape)
        near(q @ r / scales(x), x / scales(x), 1.0)
        is_unitary(q)
        assert not np.tril(r, -1).any()
        assert not np.diagonal(r, axis1=-2, axis2=-1).imag.any()


@pytest.mark.parametrize("name", mostly(STACKS, PLAIN))
def test_svd_multiplies_to_the_matrix(name: str) -> None:
    x = STACKS[name]
    wanted = np.linalg.svd(x, compute_uv=False)
    count = wanted.shape[-1]
    ours = array(x)
    kinds = (True, False) if x.shape[-1] != x.shape[-2] else (True,)
    results = [xp.linalg.svd(ours, full_matrices=full) for full in kinds]
    assert results[0]._fields == ("U", "S", "Vh")
    alone, *found = values(xp.linalg.svdvals(ours), *[part for result in results for part in result])
    for i, full in enumerate(kinds):
        u, s, vh = found[3 * i : 3 * i + 3]
        sizes = x.shape[-2:] if full else (count, count)
        assert (u.shape[-1], vh.shape[-2]) == sizes
        near((u[..., :count] * s[..., None, :]) @ vh[..., :count, :] / scales(x), x / scales(x), 1.0)
        is_unitary(u)
        is_unitary(adjoint(vh))
        near(s / scales(x)[..., 0], wanted / scales(x)[..., 0], 1.0)
        near(alone / scales(x)[..., 0], wanted / scales(x)[..., 0], 1.0)
        assert (np.diff(s, axis=-1) <= 0).all()
        assert (s >= 0).all()


@pytest.mark.parametrize("name", mostly(SQUARE_STACKS, PLAIN))
def test_eigenvectors_are_stretched(name: str) -> None:
    x = SQUARE_STACKS[name]
    x = x + adjoint(x)
    ours = array(x)
    result = xp.linalg.eigh(ours)
    assert result._fields == ("eigenvalues", "eigenvectors")
    w, v, alone = values(*result, xp.linalg.eigvalsh(ours))
    near(x @ v / scales(x), v * w[..., None, :] / scales(x), 1.0)
    is_unitary(v)
    near(w / scales(x)[..., 0], np.linalg.eigvalsh(x) / scales(x)[..., 0], 1.0)
    assert (w == alone).all()


def test_only_the_lower_triangle_of_hermitian_matrices_is_read() -> None:
    x = numbers(3, 3)
    near(values(xp.linalg.eigvalsh(array(x))), np.linalg.eigvalsh(x))
    positive = np.tril(x, -1) + np.diag([9.0, 9.0, 9.0])
    near(values(xp.linalg.cholesky(array(positive + 1j * np.eye(3)))), np.linalg.cholesky(positive))


def test_many_rows_and_columns() -> None:
    x = numbers(10, 8)
    ours = array(x)
    q, r, u, s, vh, w, v = values(
        *xp.linalg.qr(ours), *xp.linalg.svd(ours), *xp.linalg.eigh(array(adjoint(x) @ x))
    )
    near(q @ r, x)
    near((u[:, :8] * s) @ vh, x)
    near(s, np.linalg.svd(x, compute_uv=False))
    near(v * w @ adjoint(v), adjoint(x) @ x)
    for each in (q, u, vh, v):
        is_unitary(each)


def test_complex64_is_precise_for_its_width() -> None:
    x = numbers(3, 3).astype("complex64")
    ours = array(x)
    u, s, vh, q, r, inverse = values(*xp.linalg.svd(ours), *xp.linalg.qr(ours), xp.linalg.inv(ours))
    assert (u.dtype, s.dtype, q.dtype, r.dtype) == ("complex64", "float32", "complex64", "complex64")
    near((u * s) @ vh, x, tolerance=1e-5)
    near(q @ r, x, tolerance=1e-5)
    near(inverse, np.linalg.inv(x), tolerance=1e-4)


whole = st.integers(-2, 2)
WHOLE_MATRICES = hnp.arrays("complex128", (8, 3, 3), elements=st.builds(complex, whole, whole))


@FEW
@given(x=WHOLE_MATRICES)
def test_matrices_of_small_numbers(x: Any) -> None:
    hermitian, ours = x + adjoint(x), array(x)
    q, r, u, s, vh, w, v, d = values(
        *xp.linalg.qr(ours), *xp.linalg.svd(ours), *xp.linalg.eigh(array(hermitian)), xp.linalg.det(ours)
    )
    near(q @ r, x, 1.0)
    near((u * s[..., None, :]) @ vh, x, 1.0)
    near(s, np.linalg.svd(x, compute_uv=False), 1.0)
    near(v * w[..., None, :] @ adjoint(v), hermitian, 1.0)
    near(d, np.linalg.det(x), 1.0)
    for each in (q, u, vh, v):
        is_unitary(each)


# --- inverses and determinants ---

REGULAR = ("random", "unitary", "imaginary diagonal", "triangle", "real", "repeated values")
REGULAR_STACKS = {
    "regular": np.stack([SQUARES[name] for name in REGULAR]),
    "far from 1": np.stack([SQUARES["huge"], SQUARES["tiny"]]),
    **{name: MATRICES[name] for name in ("of real dtype", "one element", "batch", "empty", "no matrices")},
}


@pytest.mark.parametrize("name", mostly(REGULAR_STACKS, PLAIN))
def test_inverses_and_determinants(name: str) -> None:
    x = REGULAR_STACKS[name]
    wanted, ours = np.linalg.slogdet(x), array(x)
    inverse, sign, logarithm, determinant = values(
        xp.linalg.inv(ours), *xp.linalg.slogdet(ours), xp.linalg.det(ours)
    )
    expected = np.linalg.inv(x)
    near(inverse / scales(expected), expected / scales(expected), 1.0)
    near(sign, wanted.sign, 1.0)
    near(logarithm, wanted.logabsdet, 1.0)
    if name != "far from 1":
        near(determinant, np.linalg.det(x))


def test_powers_of_matrices() -> None:
    for x in (numbers(2, 3, 3), numbers(0, 0), RANDOM.normal(size=(3, 3))):
        ours, powers = array(x), (-2, 0, 1, 3)
        found = values(*[xp.linalg.matrix_power(ours, n) for n in powers])
        for power, n in zip(found, powers, strict=True):
            near(power, np.linalg.matrix_power(x, n))


def test_a_singular_matrix_has_no_determinant() -> None:
    x = array(np.stack([SQUARES["zeros"], SQUARES["nilpotent"]]))
    result = xp.linalg.slogdet(x)
    assert result._fields == ("sign", "logabsdet")
    sign, logarithm, determinant = values(*result, xp.linalg.det(x))
    assert (sign.tolist(), logarithm.tolist(), determinant.tolist()) == ([0, 0], [-np.inf] * 2, [0, 0])


def test_rows_are_exchanged_for_greater_pivots() -> None:
    x = np.array([[1e-20, 1j], [1, 1]])
    near(values(xp.linalg.det(array(x))), np.array(-1j))
    near(values(xp.linalg.inv(array(x))), np.linalg.inv(x))


@pytest.mark.parametrize("left", ["complex128", "float64"])
@pytest.mark.parametrize("right", ["complex128", "float64"])
def test_systems_of_equations(left: str, right: str) -> None:
    def of(dtype: str, *shape: int) -> Any:
        return numbers(*shape) if dtype[0] == "c" else RANDOM.normal(size=shape)

    systems: Any = (
        ((3, 3), (3,)),
        ((3, 3), (3, 2)),
        ((2, 3, 3), (3, 2)),
        ((2, 3, 3), (3,)),
        ((3, 3), (2, 3, 2)),
        # what could be vectors by its shape is a matrix
        ((3, 3, 3), (3, 3)),
        ((3, 3), (3, 0)),
    )
    given = [(of(left, *shape), of(right, *sides)) for shape, sides in systems]
    for found, (x, b) in zip(
        values(*[xp.linalg.solve(array(x), array(b)) for x, b in given]), given, strict=True
    ):
        near(found, np.linalg.solve(x, b[:, None])[..., 0] if b.ndim == 1 else np.linalg.solve(x, b))


def test_cholesky_of_hermitian_matrices() -> None:
    for x in (numbers(4, 4), numbers(2, 3, 3), numbers(0, 0), RANDOM.normal(size=(4, 4))):
        positive = x @ adjoint(x) + np.eye(x.shape[-1])
        lower = values(xp.linalg.cholesky(array(positive)))
        near(lower, np.linalg.cholesky(positive))
        near(values(xp.linalg.cholesky(array(positive), upper=True)), adjoint(lower))
    assert np.isnan(values(xp.linalg.cholesky(array(-np.eye(2, dtype="complex128"))))).any()


# --- pseudo-inverses, ranks and norms ---


DEFICIENT = {
    "squares": np.stack([SQUARES[name] for name in ("random", "rank one", "rank two", "zeros", "real")]),
    **{name: SIZES[name] for name in ("tall", "wide", "tall of rank one")},
}


@pytest.mark.parametrize("name", mostly(DEFICIENT, "tall, wide, tall of rank one"))
def test_pseudo_inverses_and_ranks(name: str) -> None:
    x = DEFICIENT[name]
    ours = array(x)
    inverse, rank, all_of_it = values(
        xp.linalg.pinv(ours), xp.linalg.matrix_rank(ours), xp.linalg.matrix_rank(ours, rtol=2.0)
    )
    near(inverse, np.linalg.pinv(x, rcond=1e-14), tolerance=1e-9)
    assert rank.dtype == dtypes.default_int.name
    assert rank.tolist() == np.linalg.matrix_rank(x).tolist()
    assert not all_of_it.any()


def test_ranks_of_each_matrix_by_its_own_tolerance() -> None:
    for dtype in ("complex128", "float64"):
        x = np.stack([np.diag([1.0, 0.1, 0.01]).astype(dtype)] * 2)
        each = array(np.array([0.05, 0.5]))
        ours = array(x)
        ranks, found = values(xp.linalg.matrix_rank(ours, rtol=each), xp.linalg.pinv(ours, rtol=each))
        assert ranks.tolist() == [2, 1]
        near(found, np.linalg.pinv(x, rcond=np.array([0.05, 0.5])))
    for name in ("empty", "no rows", "no columns"):
        assert values(xp.linalg.matrix_rank(array(SIZES[name]))) == 0
        assert values(xp.linalg.pinv(array(SIZES[name]))).shape == SIZES[name].shape[::-1]


@pytest.mark.parametrize("name", mostly(["tall", "batch", "tall of real dtype"], "tall, tall of real dtype"))
def test_norms_of_matrices(name: str) -> None:
    x = MATRICES[name]
    ours, orders = array(x), ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf, None)
    kinds: Any = list(itertools.product(orders, (False, True)))
    found = values(*[xp.linalg.matrix_norm(ours, ord=ord, keepdims=keep) for ord, keep in kinds])
    for norm, (ord, keep) in zip(found, kinds, strict=True):
        near(norm, np.linalg.norm(x, ord, axis=(-2, -1), keepdims=keep))


def test_norms_of_vectors() -> None:
    kinds: Any = list(itertools.product((2, 1, 0, 3.5, np.inf, -np.inf), (None, -1, (0, 1)), (False, True)))
    for x in (numbers(2, 3), RANDOM.normal(size=(2, 3))):
        ours = array(x)
        norms = [xp.linalg.vector_norm(ours, ord=o, axis=a, keepdims=keep) for o, a, keep in kinds]
        for found, (ord, axis, keep) in zip(values(*norms), kinds, strict=True):
            flat = x if axis == -1 else x.reshape(-1)
            wanted = np.linalg.norm(flat, ord, axis=-1)
            near(found, np.reshape(wanted, np.sum(x, axis=axis, keepdims=True).shape) if keep else wanted)
    assert values(xp.linalg.vector_norm(array(np.array(3 + 4j)))) == 5


# --- products and diagonals ---


def test_products_of_vectors() -> None:
    for left, right in ((numbers(3), numbers(3)), (numbers(3), RANDOM.normal(size=3))):
        for x, y in ((left, right), (right, left)):
            near(values(xp.linalg.outer(array(x), array(y))), np.outer(x, y))
            near(values(xp.linalg.cross(array(x), array(y))), np.cross(x, y))
            near(values(xp.linalg.vecdot(array(x), array(y))), np.vecdot(x, y))
    x, y = numbers(3, 2), numbers(2, 3, 2)
    near(values(xp.linalg.cross(array(x), array(y), axis=-2)), np.cross(x, y, axis=-2))


def test_functions_of_the_namespace_are_in_the_extension_too() -> None:
    x, y = numbers(2, 3), numbers(3, 2)
    near(values(xp.linalg.matmul(array(x), array(y))), x @ y)
    near(values(xp.linalg.matrix_transpose(array(x))), x.T)
    near(values(xp.linalg.tensordot(array(x), array(y), axes=1)), np.tensordot(x, y, axes=1))


def test_diagonals_and_their_sums() -> None:
    for x in (numbers(2, 3, 4), RANDOM.normal(size=(2, 3, 4)), np.arange(6).reshape(2, 3).astype("int32")):
        for offset in (-4, -1, 0, 2, 4):
            diagonal, trace = values(
                xp.linalg.diagonal(array(x), offset=offset), xp.linalg.trace(array(x), offset=offset)
            )
            near(diagonal, np.diagonal(x, offset, -2, -1))
            near(trace, np.trace(x, offset, -2, -1).astype(trace.dtype))
    assert xp.linalg.trace(array(numbers(2, 2)), dtype=xp.complex64).dtype is xp.complex64
    assert values(xp.linalg.trace(Tensor([[1, 2], [3, 4]]), dtype=xp.complex128)) == 5 + 0j
    assert xp.linalg.trace(Tensor([[1, 2], [3, 4]], dtype="int8"), dtype=xp.int64).dtype is dtypes.int64


# --- symbolic sizes ---


def test_how_many_matrices_there_are_may_be_symbolic() -> None:
    x = numbers(4, 2, 2)
    count = Variable("n", 1, 4).bind(3)
    given = Tensor.complex(Tensor(x.real.copy())[:count], Tensor(x.imag.copy())[:count])
    found = values(
        *[xp.sum(f(given)) for f in (xp.linalg.inv, xp.linalg.det, xp.linalg.svdvals, xp.linalg.eigvalsh)]
    )
    x = x[:3]
    wanted = (np.linalg.inv(x), np.linalg.det(x), np.linalg.svd(x, compute_uv=False), np.linalg.eigvalsh(x))
    for ours, theirs in zip(found, wanted, strict=True):
        near(ours, theirs.sum(), size=float(np.abs(theirs).max()))


# --- gradients ---


def weigh(x: Any) -> Any:
    """Return a number that depends on each element, and on no phases."""
    size = (x.real.square() + x.imag.square()) if is_complex(x.dtype) else x
    return (size * (Tensor.arange(size.numel()) + 1).reshape(size.shape)).sum()


def parts(x: Any) -> Any:
    """Return a number that depends on each part of each element."""
    weights = (Tensor.arange(x.real.numel()) + 1).reshape(x.real.shape)
    return (x.real * weights - x.imag.sin() * weights).sum()


GRADIENTS: dict[str, Any] = {
    "svd": lambda z: sum(weigh(x) for x in xp.linalg.svd(z)),
    "svd of a wide matrix": lambda z: sum(weigh(x) for x in xp.linalg.svd(z[:1], full_matrices=False)),
    "svd of all columns": lambda z: weigh(xp.linalg.svd(z[:, :1]).U[:, :1]),
    "one phase of svd": lambda z: parts((lambda u, s, vh: u[:, :1] @ vh[:1])(*xp.linalg.svd(z))),
    "eigh": lambda z: sum(weigh(x) for x in xp.linalg.eigh(z + xp.conj(z).mT)),
    "qr": lambda z: sum(parts(x) for x in xp.linalg.qr(z)),
    "qr of a wide matrix": lambda z: sum(parts(x) for x in xp.linalg.qr(z[:1])),
    "det": lambda z: parts(xp.linalg.det(z)),
    "slogdet": lambda z: parts(xp.linalg.slogdet(z).sign) + xp.linalg.slogdet(z).logabsdet,
    "inv": lambda z: parts(xp.linalg.inv(z)),
    "solve": lambda z: parts(xp.linalg.solve(z, z.mT)),
    "cholesky": lambda z: parts(xp.linalg.cholesky(z @ xp.conj(z).mT)),
    "pinv": lambda z: parts(xp.linalg.pinv(z[:, :1])),
    "norms": lambda z: xp.linalg.matrix_norm(z, ord="nuc") + xp.linalg.vector_norm(z),
}


@pytest.mark.parametrize(
    "name",
    # those that are compared with torch's as methods
    mostly(GRADIENTS, "det, slogdet, inv, solve, cholesky, qr, qr of a wide matrix, eigh, pinv"),
)
def test_gradients_are_those_of_small_steps(name: str) -> None:
    rng = np.random.default_rng(3)
    x, step = rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2, 2))

    def of(given: Tensor) -> Any:
        return GRADIENTS[name](Tensor.complex(given[0], given[1]))

    given = Tensor(x, requires_grad=True)
    of(given).backward()
    assert given.grad is not None
    moved = (given.grad.numpy() * step).sum()
    after, before = values(*[of(Tensor(x + sign * 1e-6 * step)) for sign in (1, -1)])
    assert moved == pytest.approx((after - before) / 2e-6, rel=1e-5, abs=1e-6)


# --- names and errors ---


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_the_standards(name: str) -> None:
    parameters = inspect.signature(getattr(xp.linalg, name)).parameters.values()
    kept = [p.replace(annotation=p.empty) for p in parameters]
    assert str(inspect.Signature(kept)) == SIGNATURES[name]


def test_the_extension_has_the_standards_names() -> None:
    assert set(xp.linalg.__all__) == set(SIGNATURES)


OF_SQUARES = ("cholesky", "det", "eigh", "eigvalsh", "inv", "slogdet")
OF_MATRICES = ("qr", "svd", "svdvals", "pinv", "matrix_rank", "matrix_norm", "diagonal", "trace")


@pytest.mark.parametrize("name", OF_SQUARES + OF_MATRICES)
def test_what_is_no_matrix_is_refused_by_name(name: str) -> None:
    function = getattr(xp.linalg, name)
    for x in (np.ones(2), np.array(1.0), np.ones((2, 3))):
        if x.ndim < 2 or name in OF_SQUARES:
            for dtype in ("complex64", "float32"):
                with pytest.raises(ShapeError, match=f"^{name} of shape "):
                    function(array(x.astype(dtype)))


def test_wrong_arguments_are_refused_by_name() -> None:
    x, z = Tensor([[1.0, 2.0], [3.0, 4.0]]), array(numbers(2, 2))
    la: Any = xp.linalg
    for each in (x, z):
        for error, message, call in (
            (ArgumentError, "matrix_norm: ord=3 is none of", lambda y: la.matrix_norm(y, ord=3)),
            (ArgumentError, "matrix_norm: ord='x' is none of", lambda y: la.matrix_norm(y, ord="x")),
            (ArgumentError, "matrix_norm: ord=.* is no number", lambda y: la.matrix_norm(y, ord=[])),
            (ArgumentError, "vector_norm: ord='fro' .* is no number", lambda y: la.vector_norm(y, ord="fro")),
            (AxisError, "vector_norm: axis 2 is out of range", lambda y: la.vector_norm(y, axis=2)),
            (AxisError, "vector_norm: .* one axis twice", lambda y: la.vector_norm(y, axis=(0, 0))),
            (ArgumentError, "matrix_power: n=1.5 .* is no integer", lambda y: la.matrix_power(y, 1.5)),
            (ShapeError, "matrix_power of shape", lambda y: la.matrix_power(y[0], 2)),
            (DtypeError, "pinv: cannot compute with 'x'", lambda y: la.pinv(y, rtol="x")),
            (ShapeError, "solve of shapes", lambda y: la.solve(y, Tensor([1.0, 2.0, 3.0]))),
            (ShapeError, "solve of shapes", lambda y: la.solve(y, Tensor(1.0))),
            (ShapeError, "solve of shape", lambda y: la.solve(y[:1], y)),
            (ShapeError, "outer of shapes", lambda y: la.outer(y, y)),
            (ShapeError, "cross of shapes", lambda y: la.cross(y, y)),
            (AxisError, "cross: axis 2 is out of range", lambda y: la.cross(y, y, axis=2)),
            (ArgumentError, "diagonal: offset='x' .* is no integer", lambda y: la.diagonal(y, offset="x")),
            (ArgumentError, "trace: offset='x' .* is no integer", lambda y: la.trace(y, offset="x")),
        ):
            with pytest.raises(error, match=f"^{message}"):
                call(each)
    with pytest.raises(ShapeError, match=r"^vector_norm of shape \(0,\) with ord=inf"):
        la.vector_norm(Tensor.zeros(0), ord=float("inf"))
