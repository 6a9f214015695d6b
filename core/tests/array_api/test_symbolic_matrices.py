"""Complex matrices of symbolic sizes: one set of kernels serves all values, those of NumPy."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, Variable, context
from plugrad import array_api as xp
from plugrad.dtype import is_complex
from plugrad.jit import jit

RANDOM = np.random.default_rng(7)
A = (RANDOM.standard_normal((2, 4, 3)) + 1j * RANDOM.standard_normal((2, 4, 3))).astype(np.complex64)
# of rank 1
LOW = A[:, :, :1] * A[:, :1].conj()
# Hermitian and positive definite
POSITIVE = A.conj().swapaxes(-1, -2) @ A + np.eye(3, dtype=np.complex64)
#: Rows and columns.
SIZES = ((4, 2), (2, 3))


def wide(*cases: tuple[Any, ...]) -> list[Any]:
    """Return cases that run on request."""
    return [pytest.param(*case, marks=pytest.mark.wide) for case in cases]


def flipped(x: Any) -> Any:
    return x.swapaxes(-1, -2) if isinstance(x, np.ndarray) else x.mT


MATRICES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "rows": lambda x, m, n: x[:, :m, :2],
    "rows and columns": lambda x, m, n: x[:, :m, :n],
    "columns and rows": lambda x, m, n: flipped(x[:, :m, :n]),
    "squares": lambda x, m, n: x[:, :n, :n],
}


@pytest.fixture(autouse=True)
def unverified() -> Iterator[None]:
    # graphs are verified after each pass in the tests of the single operations
    with context(SPEC=0):
        yield


def array(x: np.ndarray) -> Tensor:
    return Tensor.complex(Tensor(x.real.copy()).realize(), Tensor(x.imag.copy()).realize())


def bound(rows: int, columns: int) -> tuple[Any, Any]:
    return Variable("m", 1, 4).bind(rows), Variable("n", 1, 3).bind(columns)


def tensors(found: Sequence[Any]) -> list[Tensor]:
    """Return the parts of arrays in shapes that are the same for all values."""
    parts = [part for x in found for part in ((x.real, x.imag) if is_complex(x.dtype) else (x,))]
    return [
        part.pad(tuple((0, 0 if isinstance(size, int) else 4 - size) for size in part.shape))
        for part in parts
    ]


def taken_apart(wanted: Sequence[Any]) -> list[np.ndarray]:
    arrays = [np.asarray(x) for x in wanted]
    return [part for x in arrays for part in ((x.real, x.imag) if np.iscomplexobj(x) else (x,))]


def check(
    f: Callable[[Any], Sequence[Any]],
    expected: Callable[[Any], Sequence[Any]],
    x: np.ndarray,
    kind: str = "rows and columns",
) -> None:
    """Compare what `f` gives of symbolic sizes with what is expected of an array of the sizes of today."""
    whole, programs = array(x), set[tuple[Any, ...]]()
    for rows, columns in SIZES:
        found = tensors(f(MATRICES[kind](whole, *bound(rows, columns))))
        programs.add(tuple(item.ast for item in found[0].schedule(*found[1:])))
        # as they are scheduled: asked for one by one they would be other programs, of much the same kernels
        found[0].realize(*found[1:])
        wanted = taken_apart(expected(MATRICES[kind](x, rows, columns)))
        for got, want in zip(found, wanted, strict=True):
            shown = got.numpy()
            inside = tuple(slice(size) for size in want.shape)
            np.testing.assert_allclose(shown[inside], want, rtol=1e-3, atol=3e-4)
            shown = shown.copy()
            shown[inside] = 0
            assert not shown.any(), "more elements than there are"
    assert len(programs) == 1


def eyes(count: int) -> np.ndarray:
    return np.broadcast_to(np.eye(count, dtype=np.complex64), (2, count, count))


def turned(x: Any) -> Any:
    return xp.conj(xp.matrix_transpose(x))


# of square matrices
SQUARES: dict[str, tuple[Callable[[Any], Sequence[Any]], Callable[[Any], Sequence[Any]]]] = {
    "inverses": (lambda x: (xp.linalg.inv(x),), lambda x: (np.linalg.inv(x),)),
    "determinants": (
        lambda x: (xp.linalg.det(x), *xp.linalg.slogdet(x)),
        lambda x: (np.linalg.det(x), *np.linalg.slogdet(x)),
    ),
    "triangles": (
        lambda x: (xp.linalg.cholesky(x), xp.linalg.cholesky(x, upper=True)),
        lambda x: (np.linalg.cholesky(x), np.linalg.cholesky(x).conj().swapaxes(-1, -2)),
    ),
    "powers": (
        lambda x: [xp.linalg.matrix_power(x, count) for count in (-2, 0, 3)],
        lambda x: [np.linalg.matrix_power(x, count) for count in (-2, 0, 3)],
    ),
    "solutions": (
        lambda x: (
            xp.linalg.solve(x, x[..., :1]), xp.linalg.solve(x, x), xp.linalg.solve(x, x.real),
            xp.linalg.solve(x.real, x), xp.linalg.solve(x, x[0, 0]),
        ),
        lambda x: (
            np.linalg.solve(x, x[..., :1]), eyes(x.shape[-1]), np.linalg.solve(x, x.real),
            np.linalg.solve(x.real, x), np.linalg.solve(x, x[0, 0][:, None])[..., 0],
        ),
    ),
    "traces": (lambda x: (xp.linalg.trace(x),), lambda x: (np.trace(x, 0, -2, -1),)),
}  # fmt: skip


@pytest.mark.parametrize(("f", "expected"), SQUARES.values(), ids=SQUARES)
def test_square_matrices(f: Any, expected: Any) -> None:
    check(f, expected, POSITIVE, "squares")


@pytest.mark.parametrize("x", [POSITIVE, LOW[:, :3] + LOW[:, :3].conj().swapaxes(-1, -2)])
def test_eigenvalues_and_eigenvectors(x: np.ndarray) -> None:
    def parts(x: Tensor) -> Sequence[Any]:
        w, v = xp.linalg.eigh(x)
        return w, xp.linalg.eigvalsh(x), (v * w[:, None]) @ turned(v), turned(v) @ v

    check(parts, lambda x: (*[np.linalg.eigvalsh(x)] * 2, x, eyes(x.shape[-1])), x, "squares")


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        *[("rows and columns", mode) for mode in ("reduced", "complete")],
        *[(kind, "reduced") for kind in ("rows", "columns and rows")],
        *wide(("rows", "complete"), ("columns and rows", "complete"), ("squares", "reduced")),
        *wide(("squares", "complete")),
    ],
)
def test_qr(kind: str, mode: Any) -> None:
    def parts(x: Tensor) -> Sequence[Any]:
        q, r = xp.linalg.qr(x, mode=mode)
        return q @ r, turned(q) @ q, xp.abs(r)

    def expected(x: np.ndarray) -> Sequence[Any]:
        q, r = np.linalg.qr(x, mode)
        return x, eyes(q.shape[-1]), np.abs(r)

    check(parts, expected, A, kind)


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (A, "rows and columns"),
        *wide((LOW, "rows and columns"), (A, "columns and rows"), (A, "rows")),
    ],
)
def test_svd(x: np.ndarray, kind: str) -> None:
    def parts(x: Tensor) -> Sequence[Any]:
        u, s, vh = xp.linalg.svd(x)
        thin, _, short = xp.linalg.svd(x, full_matrices=False)
        return turned(u) @ u, vh @ turned(vh), s, (thin * s[:, None]) @ short, xp.linalg.svdvals(x)

    def expected(x: np.ndarray) -> Sequence[Any]:
        s = np.linalg.svd(x)[1]
        return eyes(x.shape[-2]), eyes(x.shape[-1]), s, x, s

    check(parts, expected, x, kind)


@pytest.mark.parametrize("x", [LOW, *wide((A,))])
def test_what_is_made_of_singular_values(x: np.ndarray) -> None:
    orders: Any = ("fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf)
    check(
        lambda x: (
            xp.linalg.pinv(x), xp.linalg.pinv(x, rtol=1e-4), xp.linalg.matrix_rank(x),
            *[xp.linalg.matrix_norm(x, ord=order) for order in orders],
        ),
        lambda x: (
            np.linalg.pinv(x, 1e-5), np.linalg.pinv(x, 1e-4), np.linalg.matrix_rank(x),
            *[np.linalg.norm(x, order, (-2, -1)) for order in orders],
        ),
        x,
    )  # fmt: skip


# --- gradients ---


def weights(x: Any) -> Any:
    """Return a number for each place, which is the same for all sizes: (..., 4, 4) is enough."""
    places = Tensor.arange(16).reshape(4, 4).cos()
    return places[: x.shape[-2], : x.shape[-1]]


def weighed(*found: Any) -> Tensor:
    """Return a number that depends on each part of each element, weighed by its place."""
    parts = [
        part for x in found for part in ((x.real, x.imag) if is_complex(x.dtype) else (x.unsqueeze(-1),))
    ]
    return (
        sum(((part * part * 0.5 + part).sin() * weights(part)).sum() for part in parts[1:])
        + (parts[0] * weights(parts[0])).sum()
    )


GRADIENTS: dict[str, tuple[str, Callable[[Any], Tensor]]] = {
    "inverses": ("squares", lambda x: weighed(xp.linalg.inv(x))),
    "determinants": ("squares", lambda x: (xp.linalg.det(x).real * xp.linalg.slogdet(x).logabsdet).sum()),
    "triangles": ("squares", lambda x: weighed(xp.linalg.cholesky(x @ turned(x) + hermitian(x)))),
    "solutions": ("squares", lambda x: weighed(xp.linalg.solve(x, x[..., :1]))),
    "powers": ("squares", lambda x: weighed(xp.linalg.matrix_power(x / 8, 2))),
    "eigenvalues": ("squares", lambda x: weighed(*projected(x))),
    "qr": ("rows and columns", lambda x: weighed(*xp.linalg.qr(x))),
    "complete qr": ("columns and rows", lambda x: weighed(*spanned(*xp.linalg.qr(x, mode="complete")))),
    "singular values": ("columns and rows", lambda x: weighed(*halved(x))),
    "pseudo-inverses": ("rows and columns", lambda x: weighed(xp.linalg.pinv(x))),
}
#: Pseudo-inverses, and the gradients of real matrices, are made of the same rules.
LONG_GRADIENTS = ("eigenvalues", "complete qr", "singular values")


def hermitian(x: Tensor) -> Tensor:
    """Return the identity."""
    size: Any = x.shape[-1]
    return Tensor.eye(size)


def projected(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return eigenvalues, and what is made of eigenvectors and does not depend on their phases."""
    w, v = xp.linalg.eigh(x)
    return w, (v * (w / 8).cos()[:, None]) @ turned(v)


def spanned(q: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
    """Return R, and the projection onto the directions of other columns of Q, of which there may be none."""
    return r, q @ turned(q * (1.0 + Tensor.arange(4)[: q.shape[-1]]))


def halved(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return singular values, and the matrix with their squares instead."""
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    return s, (u * (s * s)[:, None]) @ vh


@pytest.mark.parametrize(
    ("kind", "f"),
    [
        pytest.param(*case, id=name, marks=[pytest.mark.wide] if name in LONG_GRADIENTS else [])
        for name, case in GRADIENTS.items()
    ],
)
def test_gradients(kind: str, f: Any) -> None:
    def slopes(x: Any) -> Sequence[Any]:
        real, imag = x.real, x.imag
        return f(Tensor.complex(real, imag)).gradient(real, imag)

    def expected(x: np.ndarray) -> Sequence[Any]:
        return [y.numpy() for y in slopes(array(x))]

    check(slopes, expected, POSITIVE if kind == "squares" else A, kind)


def test_a_replay_factorizes_other_sizes() -> None:
    @jit
    def step(real: Tensor, imag: Tensor, m: Any, n: Any) -> list[Tensor]:
        x = Tensor.complex(real[:, :m, :n], imag[:, :m, :n])
        return [y + 0 for y in tensors([xp.linalg.svdvals(x), xp.linalg.pinv(x)])]

    whole = array(A)
    for sizes in (*SIZES, (3, 1), (3, 3), (1, 3)):
        x = A[:, : sizes[0], : sizes[1]]
        wanted = taken_apart([np.linalg.svd(x)[1], np.linalg.pinv(x)])
        for got, want in zip(step(whole.real, whole.imag, *bound(*sizes)), wanted, strict=True):
            found = got.numpy()[tuple(slice(size) for size in want.shape)]
            np.testing.assert_allclose(found, want, rtol=1e-3, atol=2e-4)
    assert step.captures == 1
