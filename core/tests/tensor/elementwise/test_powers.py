import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad import Tensor
from plugrad.errors import DtypeError

A = np.array([[1.5, -2.0, 3.25], [0.5, -0.25, 4.0]], np.float32)


def test_small_constant_powers_are_products() -> None:
    np.testing.assert_allclose((Tensor(A) ** 3).numpy(), A**3, rtol=1e-6)
    np.testing.assert_allclose((Tensor(A) ** -2).numpy(), A**-2, rtol=1e-6)
    np.testing.assert_allclose((Tensor(A) ** 5.0).numpy(), A**5, rtol=1e-6)
    np.testing.assert_array_equal((Tensor(A) ** 0).numpy(), A**0)
    np.testing.assert_allclose((Tensor(np.abs(A)) ** 0.5).numpy(), np.abs(A) ** 0.5, rtol=1e-6)
    np.testing.assert_allclose((Tensor(np.abs(A)) ** 1.7).numpy(), np.abs(A) ** 1.7, rtol=1e-5)
    x = Tensor(A)
    assert (x**2).uop is (x * x).uop


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=4),
    st.lists(st.integers(0, 40), min_size=4, max_size=4),
)
def test_integer_powers_wrap_like_multiplication(base: list[int], exponents: list[int]) -> None:
    exponent = exponents[: len(base)]
    expected = np.array(base, np.int32) ** np.array(exponent, np.int32)
    np.testing.assert_array_equal((Tensor(base) ** Tensor(exponent)).numpy(), expected)


@pytest.mark.parametrize("exponent", range(-8, 9))
def test_powers_of_a_constant_are_those_of_what_is_computed(exponent: int) -> None:
    assert (Tensor(2.0) ** exponent).item() == 2.0**exponent
    assert (Tensor.full((3,), 2.0) ** exponent).tolist() == [2.0**exponent] * 3
    if exponent >= 0:
        assert (Tensor(3) ** exponent).item() == 3**exponent


def test_integers_to_a_negative_power_are_refused() -> None:
    with pytest.raises(
        DtypeError, match=r"int32 to the power of -1 is no integer. Cast to a float dtype first, or"
    ):
        _ = Tensor([2]) ** -1
    assert (Tensor([2]) ** -1.0).tolist() == [0.5]


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("exponent", [0, 0.0, -0.0, False])
def test_the_power_of_zero_has_a_gradient_of_zero(exponent: float, requires_grad: bool) -> None:
    x = Tensor([0.0, 2.0, float("inf"), float("nan")], requires_grad=requires_grad)
    y = x**exponent
    assert y.sum().gradient(x)[0].tolist() == [0.0] * 4
    assert (y * x).sum().gradient(x)[0].tolist() == [1.0] * 4
    assert y.tolist() == [1.0] * 4
    assert (Tensor.zeros(0, 3) ** exponent).shape == (0, 3)
