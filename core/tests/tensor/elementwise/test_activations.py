import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.engine.resolve_graph import resolve_graph
from plugrad.uop import Ops

VALUES = [
    -200.0,
    -90.0,
    -8.0,
    -6.0,
    -3.0,
    -1.0,
    -0.7,
    -0.5,
    -1e-3,
    0.0,
    1e-3,
    0.5,
    0.7,
    1.0,
    3.0,
    6.0,
    8.0,
    90.0,
    200.0,
]
NAMES = {
    "relu": F.relu, "relu6": F.relu6, "leaky_relu": F.leaky_relu, "sigmoid": torch.sigmoid,
    "logsigmoid": F.logsigmoid, "tanh": torch.tanh, "silu": F.silu, "swish": F.silu,
    "gelu": lambda x: F.gelu(x, approximate="tanh"), "elu": F.elu, "selu": F.selu, "celu": F.celu,
    "softplus": F.softplus, "mish": F.mish, "softsign": F.softsign, "hardtanh": F.hardtanh,
    "hardsigmoid": F.hardsigmoid, "hardswish": F.hardswish,
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_torch(name: str) -> None:
    out = getattr(Tensor(VALUES), name)().numpy()
    expected = NAMES[name](torch.tensor(VALUES, dtype=torch.float64)).numpy()
    np.testing.assert_allclose(out, expected, rtol=2e-6, atol=3e-7)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_torch_at_kinks_and_far_out(name: str) -> None:
    x = Tensor(VALUES, requires_grad=True)
    getattr(x, name)().sum().backward()
    y = torch.tensor(VALUES, dtype=torch.float64, requires_grad=True)
    NAMES[name](y).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-5, atol=2e-6)


def test_nan_stays_nan() -> None:
    for name in ("relu", "relu6", "sigmoid", "tanh", "hardtanh", "leaky_relu"):
        assert np.isnan(getattr(Tensor([float("nan")]), name)().item()), name


def test_parameters_are_those_of_torch() -> None:
    x, y = Tensor(VALUES), torch.tensor(VALUES)
    np.testing.assert_allclose(x.leaky_relu(0.2).numpy(), F.leaky_relu(y, 0.2).numpy(), rtol=1e-6)
    np.testing.assert_allclose(x.elu(2.0).numpy(), F.elu(y, 2.0).numpy(), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(x.celu(0.5).numpy(), F.celu(y, 0.5).numpy(), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(x.softplus(2.0).numpy(), F.softplus(y, 2.0).numpy(), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(x.hardtanh(-2, 3).numpy(), F.hardtanh(y, -2, 3).numpy())
    np.testing.assert_allclose(
        x.quick_gelu().numpy(), (y * torch.sigmoid(1.702 * y)).numpy(), rtol=2e-6, atol=1e-7
    )


def test_softplus_keeps_its_digits_where_it_vanishes() -> None:
    x = np.linspace(-80, 80, 161).astype(np.float32)
    exact = np.logaddexp(x.astype(np.float64), 0)
    np.testing.assert_allclose(Tensor(x).softplus().numpy(), exact, rtol=4e-7)


def test_tanh_is_precise_near_zero_and_in_double() -> None:
    x = np.array([1e-30, 1e-8, 1e-4, 0.1, 0.6, 0.63, 2.0, 30.0])
    np.testing.assert_allclose(Tensor(x.astype(np.float32)).tanh().numpy(), np.tanh(x), rtol=4e-7)


def test_integers_become_floats_where_they_must() -> None:
    assert Tensor([-1, 2]).relu().tolist() == [0, 2]
    np.testing.assert_allclose(Tensor([0, 1]).sigmoid().numpy(), [0.5, 0.7310586], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["tanh", "sigmoid", "silu", "gelu", "softplus", "exp", "log", "cos"])
def test_sixteen_bit_floats_round_once(name: str, dtype: str) -> None:
    x = Tensor([0.25, 0.5, 1.0, 3.0], dtype=dtype)
    wide = getattr(x.cast("float32"), name)()
    assert getattr(x, name)().tolist() == wide.cast(dtype).tolist()


@pytest.mark.parametrize("name", ["elu", "celu", "selu"])
def test_units_of_exponentials_keep_the_digits_of_small_numbers(name: str) -> None:
    x = np.array([-1e-30, -1e-10, -1e-4, -0.3], np.float32)
    want = getattr(F, name)(torch.tensor(x, dtype=torch.float64)).numpy()
    np.testing.assert_allclose(getattr(Tensor(x), name)().numpy(), want, rtol=3e-7)


@pytest.mark.parametrize("name", ["mish", "hardswish", "hardsigmoid", "softsign", "tanhshrink", "selu"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_rounded_once(name: str, dtype: str) -> None:
    x = Tensor(np.linspace(-9, 9, 401, dtype=np.float32)).cast(dtype).realize()
    got = getattr(x, name)()
    assert got.dtype.name == dtype
    np.testing.assert_array_equal(got.numpy(), getattr(x.float(), name)().cast(dtype).numpy())


def test_double_tanh_keeps_its_digits_up_to_where_exponentials_take_over() -> None:
    x = np.linspace(-0.7, 0.7, 1001)
    np.testing.assert_allclose(Tensor(x).tanh().numpy(), np.tanh(x), rtol=8e-16)


def test_gelu_keeps_its_digits_where_it_is_small() -> None:
    x = np.linspace(-7, -3, 101, dtype=np.float32)
    wide = x.astype(np.float64)
    want = wide / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    np.testing.assert_allclose(Tensor(x).gelu().numpy(), want, rtol=1e-5)


def test_the_exact_gelu_and_its_gradient_share_their_exponential() -> None:
    x = Tensor.empty(4)
    (gradient,) = x.gelu("none").sum().gradient(x)
    assert [u.op for u in resolve_graph(gradient.uop)].count(Ops.EXP) == 1


def test_activations_take_their_constants() -> None:
    values = np.linspace(-4, 4, 9, dtype=np.float32)
    np.testing.assert_allclose(
        Tensor(values).hardsigmoid(0.2, 0.4).numpy(), np.clip(values * 0.2 + 0.4, 0, 1)
    )
    want = np.where(values > 0, values, 2 * np.expm1(values)) * 3
    np.testing.assert_allclose(Tensor(values).selu(2, 3).numpy(), want, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "uint64"])
def test_logsigmoid_takes_what_cannot_be_negative(dtype: str) -> None:
    found = Tensor([0, 1]).cast(dtype).logsigmoid().numpy()
    np.testing.assert_allclose(found, F.logsigmoid(torch.tensor([0.0, 1.0])), rtol=1e-6)
