"""Factors and transforms of symbolic sizes: one set of kernels serves all values."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from test_symbolic import filled_up, shown

from plugrad import Tensor, Variable, context
from plugrad.errors import ArgumentError, ShapeError
from plugrad.jit import jit

A = np.random.default_rng(3).standard_normal((4, 3)).astype(np.float32)
# of rank 1
LOW = A[:, :1] * A[0]
# rows and columns
SIZES = ((4, 2), (2, 3))

MATRICES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "rows": lambda x, m, n: x[:m, :2],
    "rows and columns": lambda x, m, n: x[:m, :n],
    "squares": lambda x, m, n: x[:n, :n],
}


@pytest.fixture(autouse=True)
def unverified() -> Iterator[None]:
    # graphs are verified after each pass in the tests of the single operations
    with context(SPEC=0):
        yield


def bound(rows: int, columns: int) -> tuple[Any, Any]:
    return Variable("m", 1, 4).bind(rows), Variable("n", 1, 3).bind(columns)


def check(f: Callable[[Any], Sequence[Tensor]], expected: Any, matrices: Any, x: np.ndarray = A) -> None:
    """Compare what `f` gives of symbolic sizes with what is expected of an array of the sizes of today."""
    whole, programs = Tensor(x).realize(), set[tuple[Any, ...]]()
    for sizes in SIZES:
        found = [filled_up(y) for y in f(matrices(whole, *bound(*sizes)))]
        programs.add(tuple(item.ast for item in found[0].schedule(*found[1:])))
        found[0].realize(*found[1:])
        for got, want in zip(found, expected(matrices(x, *sizes)), strict=True):
            np.testing.assert_allclose(shown(got, np.shape(want)), want, rtol=1e-3, atol=2e-4)
    assert len(programs) == 1


@pytest.mark.parametrize("matrices", MATRICES.values(), ids=MATRICES)
def test_qr(matrices: Any) -> None:
    def parts(x: Tensor) -> Sequence[Tensor]:
        (q, r), (whole, tall) = x.qr(), x.qr("complete")
        return q, r, whole @ tall, whole.T @ whole

    check(parts, lambda x: (*np.linalg.qr(x), x, np.eye(len(x))), matrices)


@pytest.mark.parametrize("matrices", [MATRICES["rows and columns"], MATRICES["squares"]])
def test_svd(matrices: Any) -> None:
    def parts(x: Tensor) -> Sequence[Tensor]:
        u, s, vh = x.svd()
        count: Any = s.shape[0]
        return (u[:, :count] * s) @ vh[:count], s, u.T @ u, vh @ vh.T

    def expected(x: np.ndarray) -> Sequence[np.ndarray]:
        return x, np.linalg.svd(x)[1], np.eye(len(x)), np.eye(x.shape[1])

    for x in (A, LOW):
        check(parts, expected, matrices, x)


def test_svd_without_the_other_vectors() -> None:
    def parts(x: Tensor) -> Sequence[Tensor]:
        u, s, vh = x.svd(False)
        return (u * s) @ vh, u.T @ u, vh @ vh.T

    check(parts, lambda x: (x, np.eye(min(x.shape)), np.eye(min(x.shape))), MATRICES["rows and columns"])


def test_eigh() -> None:
    def parts(x: Tensor) -> Sequence[Tensor]:
        w, v = x.eigh()
        return w, (v * w) @ v.T, v.T @ v

    def expected(x: np.ndarray) -> Sequence[np.ndarray]:
        w, v = np.linalg.eigh(x)
        return w, (v * w) @ v.T, np.eye(len(x))

    for x in (A, LOW):
        check(parts, expected, MATRICES["squares"], x)


@pytest.mark.wide_on_cpu
def test_what_is_made_of_singular_values() -> None:
    check(
        lambda x: (x.pinv(1e-4), *(x.matrix_norm(p) for p in ("nuc", 2, -2))),
        lambda x: (np.linalg.pinv(x, 1e-4), *(np.linalg.norm(x, p) for p in ("nuc", 2, -2))),
        MATRICES["rows and columns"],
    )


@pytest.mark.wide_on_cpu
def test_lstsq() -> None:
    b = A[:, 2] + 1

    def expected(x: np.ndarray) -> Sequence[np.ndarray]:
        solution, residuals, rank, s = np.linalg.lstsq(x, b[: len(x)], 1e-4)
        return solution, np.squeeze(residuals), np.array(rank), s

    check(lambda x: x.lstsq(Tensor(b[: x.shape[0]]), 1e-4), expected, lambda x, m, n: x[:, :n])
    with pytest.raises(ShapeError, match=r"lstsq of shape \(m, n\): only where there are always more rows"):
        MATRICES["rows and columns"](Tensor(A), *bound(4, 2)).lstsq(Tensor(b)[: bound(4, 2)[0]])


@pytest.mark.wide_on_cpu
def test_gradients() -> None:
    def of_factors(x: Tensor) -> Sequence[Tensor]:
        q, r = x.qr()
        u, s, vh = x.svd(False)
        total = (q**3).sum() + (r**3).sum() + (((u * s * s) @ vh) ** 3).sum() + (s**3).sum()
        return total.gradient(x)

    def expected(x: np.ndarray) -> Sequence[np.ndarray]:
        return [y.numpy() for y in of_factors(Tensor(x))]

    check(of_factors, expected, MATRICES["rows and columns"])


@pytest.mark.wide_on_cpu
def test_a_replay_factorizes_other_sizes() -> None:
    @jit
    def step(x: Tensor, m: Any, n: Any) -> tuple[Tensor, ...]:
        return tuple(filled_up(y) + 0 for y in (x[:m, :n].qr()[1], x[:m, :n].svd()[1]))

    whole = Tensor(A).realize()
    for sizes in (*SIZES, (3, 1), (3, 3), (1, 3)):
        x = A[: sizes[0], : sizes[1]]
        for got, want in zip(
            step(whole, *bound(*sizes)), (np.linalg.qr(x)[1], np.linalg.svd(x)[1]), strict=True
        ):
            np.testing.assert_allclose(shown(got, want.shape), want, rtol=1e-3, atol=2e-4)
    assert step.captures == 1


# --- Fourier transforms ---

NUMBERS = (np.random.default_rng(4).standard_normal((4, 3, 2)).astype(np.float32) @ (1, 1j)).astype(
    "complex64"
)


# of tensors (m, n), and of arrays
TRANSFORMS: dict[str, tuple[Callable[[Any], Sequence[Tensor]], Callable[[Any], Sequence[Any]]]] = {
    "fft": (
        lambda x: (x.fft(axis=0), x.fft(axis=0, norm="ortho"), x.fft(axis=1, norm="forward")),
        lambda x: [
            np.fft.fft(x, axis=axis, norm=norm)
            for axis, norm in ((0, None), (0, "ortho"), (1, "forward"))
        ],
    ),
    "ifft along several axes": (
        lambda x: (x.ifft2(),), lambda x: (np.fft.ifft2(x),),
    ),
    "rfft": (
        lambda x: (x.real.rfft(axis=0), x.imag.rfftn(axes=(1, 0))),
        lambda x: (np.fft.rfft(x.real, axis=0), np.fft.rfftn(x.imag, axes=(1, 0))),
    ),
    "irfft": (
        lambda x: (x.irfft(axis=0), x.real.rfft(axis=0).irfft(n=x.shape[0], axis=0)),
        lambda x: (np.fft.irfft(x, axis=0), x.real),
    ),
    "padded to a symbolic number": (
        lambda x: (x.fft(n=x.shape[0], axis=1),),
        lambda x: (np.fft.fft(x, len(x), axis=1),),
    ),
    "gradient": (
        lambda x: x.fft(axis=0)[:1].abs().square().sum().gradient(x),
        lambda x: (np.broadcast_to(2 * x.sum(0), x.shape),),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("f", "expected"), TRANSFORMS.values(), ids=TRANSFORMS)
def test_transforms(f: Any, expected: Any) -> None:
    check(f, expected, lambda x, m, n: x[:m, :n], NUMBERS)


@pytest.mark.wide_on_cpu
def test_a_long_axis_is_transformed_by_a_convolution() -> None:
    x = (np.random.default_rng(5).standard_normal((700, 2)) @ (1, 1j)).astype(np.complex64)
    programs: set[tuple[Any, ...]] = set()
    for value in (1, 257, 700):
        y = Tensor(x)[: Variable("n", 1, 700).bind(value)].fft()
        y = y.pad((0, 700 - y.shape[0]))
        programs.add(tuple(item.ast for item in y.schedule()))
        found = y.numpy()
        np.testing.assert_allclose(found[:value], np.fft.fft(x[:value]), atol=5e-4)
        assert not found[value:].any()
    assert len(programs) == 1


def test_a_replay_transforms_other_sizes() -> None:
    @jit
    def step(x: Tensor, m: Any) -> Tensor:
        return filled_up(x[:m].rfft(axis=0)) + 0

    for value in (4, 2, 3, 4, 2):
        expected = np.fft.rfft(NUMBERS[:value, 0].real)
        found = step(Tensor(NUMBERS[:, 0].real), bound(value, 1)[0]).numpy()[: len(expected)]
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert step.captures == 1


def test_there_is_an_element_to_transform_today() -> None:
    x = Tensor(NUMBERS)[: Variable("n", 0, 5).bind(0)]
    with pytest.raises(ArgumentError, match="fft: n=0 elements"):
        x.fft(axis=0)
