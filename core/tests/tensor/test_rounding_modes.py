import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import ArgumentError

VALUES = [-7, -6, -1, 0, 1, 6, 7]
DIVISORS = [-3, -2, -1, 1, 2, 3, 4]


@pytest.mark.parametrize("mode", ["trunc", "floor"])
@pytest.mark.parametrize("dtype", ["int32", "int8", "int64", "float32", "float64"])
def test_quotients_are_rounded_as_asked_for(mode: str, dtype: str) -> None:
    a, b = (
        np.array(v, dtype)[:, None] if i else np.array(v, dtype) for i, v in enumerate((VALUES, DIVISORS))
    )
    got = Tensor(a).div(Tensor(b), rounding_mode=mode)  # pyright: ignore[reportArgumentType]
    want = torch.div(torch.tensor(a), torch.tensor(b), rounding_mode=mode)
    assert got.dtype.name == dtype
    np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_the_operands_may_be_reversed_and_numbers() -> None:
    assert Tensor([2, -2]).div(7, reverse=True, rounding_mode="trunc").tolist() == [3, -3]
    assert Tensor([7, -7]).div(2, rounding_mode="floor").tolist() == [3, -4]
    assert Tensor([7, 8], dtype="uint8").div(2, rounding_mode="trunc").tolist() == [3, 4]


def test_truncated_integers_by_zero_are_zero() -> None:
    assert Tensor([-5, 0, 5]).div(0, rounding_mode="trunc").tolist() == [0, 0, 0]


def test_unknown_modes_are_refused() -> None:
    with pytest.raises(ArgumentError, match="no rounding_mode 'up'; there are 'trunc' and 'floor'"):
        Tensor([1]).div(2, rounding_mode="up")  # pyright: ignore[reportArgumentType]


def test_what_is_infinite_may_be_asked_for_by_sign() -> None:
    x = Tensor([1.0, float("inf"), float("-inf")])
    assert x.isinf().tolist() == [False, True, True]
    assert x.isinf(detect_negative=False).tolist() == [False, True, False]
    assert x.isinf(detect_positive=False).tolist() == [False, False, True]


def test_activations_take_their_constants() -> None:
    values = np.linspace(-4, 4, 9, dtype=np.float32)
    np.testing.assert_allclose(
        Tensor(values).hardsigmoid(0.2, 0.4).numpy(), np.clip(values * 0.2 + 0.4, 0, 1)
    )
    want = np.where(values > 0, values, 2 * np.expm1(values)) * 3
    np.testing.assert_allclose(Tensor(values).selu(2, 3).numpy(), want, rtol=1e-6)


def test_a_clone_has_memory_of_its_own_and_a_gradient() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x.detach().clone()
    y += 1
    assert (x.tolist(), y.tolist()) == ([1.0, 2.0], [2.0, 3.0])
    (x.clone() * 3).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 3.0]
