import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad import Tensor, Variable, dtypes
from plugrad.errors import DtypeError, ShapeError

RNG = np.random.default_rng(0)


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 4), (4, 5)), ((4,), (4,)), ((4,), (4, 5)), ((3, 4), (4,)),
        ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((1, 1), (1, 1)), ((0, 3), (3, 2)),
        ((2, 0), (0, 3)), ((17, 33), (33, 9)),
    ],
)  # fmt: skip
def test_products_are_those_of_numpy(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = random(*left), random(*right)
    out = Tensor(a) @ Tensor(b)
    assert out.shape == (a @ b).shape
    np.testing.assert_allclose(out.numpy(), a @ b, rtol=1e-4, atol=1e-5)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6))
def test_products_of_any_size(m: int, k: int, n: int) -> None:
    a, b = random(m, k), random(k, n)
    np.testing.assert_allclose(Tensor(a).dot(Tensor(b)).numpy(), a @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64"])
def test_integers_wrap_like_those_of_numpy(dtype: str) -> None:
    a = (RNG.integers(0, 2 if dtype == "bool" else 100, (3, 4))).astype(dtype)
    out = Tensor(a) @ Tensor(a.T)
    assert out.dtype.name == dtype
    np.testing.assert_array_equal(out.numpy(), a @ a.T)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_bytes_whose_sums_leave_16_bits_wrap_as_well(dtype: str) -> None:
    a = RNG.integers(-128, 128, (5, 300)).astype(np.int8).view(dtype)
    exact = a.astype(np.int64) @ a.T.astype(np.int64)
    np.testing.assert_array_equal((Tensor(a) @ Tensor(a.T)).numpy(), exact.astype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_multiply_and_sum_in_single_precision(dtype: str) -> None:
    a = Tensor(random(4, 300), dtype="float32").cast(dtype)
    wide = a.numpy().astype(np.float32)
    out = a @ a.T
    assert out.dtype.name == dtype
    exact = Tensor(wide @ wide.T).cast(dtype).numpy()
    np.testing.assert_allclose(out.numpy(), exact, rtol=1e-2, atol=1e-2)
    assert a.matmul(a.T, dtype="float32").dtype is dtypes.float32
    np.testing.assert_allclose(a.matmul(a.T, dtype="float32").numpy(), wide @ wide.T, rtol=1e-4, atol=1e-4)


def test_factors_are_promoted() -> None:
    assert (Tensor([[1, 2]]) @ Tensor([[0.5], [0.25]])).tolist() == [[1.0]]


def test_a_product_is_one_kernel() -> None:
    a, b = Tensor(random(4, 5)).realize(), Tensor(random(5, 6)).realize()
    assert len((a @ b).relu().schedule()) == 1


def test_a_linear_layer_is_a_product_and_a_sum() -> None:
    x, w, b = random(2, 3), random(3, 4), random(4)
    got = Tensor(x).linear(Tensor(w), Tensor(b)).numpy()
    np.testing.assert_allclose(got, x @ w + b, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(Tensor(x).linear(Tensor(x[0])).numpy(), x * x[0], rtol=1e-6)


def test_the_gradient_of_a_matrix_that_all_rows_share_is_one_sum() -> None:
    x = Tensor(np.arange(48, dtype=np.float32).reshape(2, 3, 8)).realize()
    weight = Tensor.ones(8, 5, requires_grad=True)
    (slope,) = (x @ weight).sum().gradient(weight)
    assert len(slope.schedule()) == 1
    assert np.array_equal(slope.numpy(), np.repeat(x.numpy().sum((0, 1))[:, None], 5, 1))


def test_a_variable_may_be_the_number_of_rows() -> None:
    a, b = random(8, 4), random(4, 3)
    for rows in (1, 5, 8):
        n = Variable("rows", 1, 8).bind(rows)
        out = Tensor(a)[:n] @ Tensor(b)
        assert out.shape == (n, 3)
        np.testing.assert_allclose(out.sum(0).numpy(), (a[:rows] @ b).sum(0), rtol=1e-4, atol=1e-5)


def test_factors_that_do_not_fit_are_refused() -> None:
    with pytest.raises(
        ShapeError, match=r"shapes \(2, 3\) and \(4, 5\): the left has 3 columns, the right 4 rows"
    ):
        Tensor(random(2, 3)) @ Tensor(random(4, 5))
    with pytest.raises(ShapeError, match=r"matmul: shapes \(2,\) and \(3,\) do not broadcast"):
        Tensor(random(2, 3, 4)) @ Tensor(random(3, 4, 2))
    with pytest.raises(ShapeError, match=r"matmul of shapes \(\) and \(2,\): a scalar is no matrix"):
        Tensor(1.0) @ Tensor([1.0, 2.0])
    with pytest.raises(DtypeError, match=r"matmul: other=2 \(int\) is no tensor"):
        Tensor([1.0]) @ 2


def test_linear_casts_everything_first() -> None:
    x, weight, bias = Tensor([[1, 2]]), Tensor([[0.5], [0.25]]), Tensor([1])
    out = x.linear(weight, bias, dtype="float64")
    assert (out.dtype.name, out.tolist()) == ("float64", [[2.0]])
    assert x.linear(weight, bias, dtype="int32").tolist() == [[1]]
    with pytest.raises(DtypeError, match=r"linear: weight=2 \(int\) is no tensor"):
        x.linear(2)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("size", [16, 96])
def test_long_sums_of_products_lose_no_more_than_those_of_blas(size: int) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((size, 40_000), np.float32), rng.random((40_000, size), np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    error = np.abs((Tensor(a) @ Tensor(b)).numpy() - exact).max() / exact.max()
    # NumPy's BLAS: 5e-7; in one chain it is 1e-5
    assert error < 2e-6
