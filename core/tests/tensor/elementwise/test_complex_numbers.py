"""Tests of complex tensors beside NumPy and PyTorch, on the reference device and on the processor."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, dtypes, jit
from plugrad.errors import DtypeError, GradientError, ShapeError
from plugrad.transforms import jvp, vmap

DEVICES = ("PYTHON", "CPU")
DTYPES = ("complex64", "complex128")
TOLERANCE = {"complex64": 2e-5, "complex128": 1e-13, "float32": 2e-5, "float64": 1e-13}
Array = Any


def samples(*shape: int, dtype: str = "complex64", seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def reals(*shape: int, dtype: str = "complex64", seed: int = 7) -> Array:
    return samples(*shape, dtype=dtype, seed=seed).real.copy()


def check(got: Tensor, expected: Array) -> None:
    found, expected = got.numpy(), np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    tolerance = TOLERANCE.get(found.dtype.name, 0)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.fixture(params=DTYPES)
def dtype(request: pytest.FixtureRequest) -> str:
    return request.param


ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)


@pytest.mark.parametrize("op", ARITHMETIC, ids=lambda op: op.__name__)
def test_arithmetic_is_numpys(op: Callable[[Any, Any], Any], dtype: str) -> None:
    a, b, r = samples(3, 4, dtype=dtype), samples(3, 4, dtype=dtype, seed=1), reals(3, 4, dtype=dtype)
    x, y, z = (Tensor(array) for array in (a, b, r))
    check(op(x, y), op(a, b))
    check(op(x, z), op(a, r))
    check(op(x, 2), op(a, 2))
    check(op(x, 2 - 1j), op(a, a.dtype.type(2 - 1j)))
    check(op(2 - 1j, x), op(a.dtype.type(2 - 1j), a))
    if op is not operator.pow:
        check(op(z, x), op(r, a))


UNARY = {
    **{
        name: name
        for name in ("exp", "log", "log2", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{
        name: name
        for name in ("expm1", "log1p", "exp2", "reciprocal", "square", "abs", "angle", "conj", "isnan")
    },
    **{name: name for name in ("isinf", "isfinite", "round")},
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_are_numpys(name: str) -> None:
    a = samples(5, 4) * 2
    check(getattr(Tensor(a), name)(), getattr(np, UNARY[name])(a))


MOVED: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Array], Array]]] = {
    "transpose": (lambda x: x.T, lambda a: a.T),
    "slice": (lambda x: x[1:, ::2], lambda a: a[1:, ::2]),
    "flip": (lambda x: x.flip(0), lambda a: a[::-1]),
    "gather": (lambda x: x[[0, 2, 1]], lambda a: a[[0, 2, 1]]),
    "cat": (lambda x: Tensor.cat(x, x * 2, axis=1), lambda a: np.concatenate([a, a * 2], 1)),
    "stack": (lambda x: Tensor.stack(x, x.real), lambda a: np.stack([a, a.real])),
    "pad": (lambda x: x.pad(((1, 0), (0, 2))), lambda a: np.pad(a, ((1, 0), (0, 2)))),
    "roll": (lambda x: x.roll(1, 0), lambda a: np.roll(a, 1, 0)),
    "where": (lambda x: (x.real > 0).where(x, 2j), lambda a: np.where(a.real > 0, a, np.complex64(2j))),
    "real": (lambda x: x.real, lambda a: a.real),
    "imag": (lambda x: x.imag, lambda a: a.imag),
    "equal": (lambda x: x == x.conj(), lambda a: a == a.conj()),
    "differs": (lambda x: x != x.conj(), lambda a: a != a.conj()),
    "parts": (lambda x: x.view_as_real(), lambda a: a.view(np.float32).reshape(*a.shape, 2)),
    "of parts": (lambda x: x.view_as_real().view_as_complex(), lambda a: a),
    "wider": (lambda x: x.cast("complex128"), lambda a: a.astype(np.complex128)),
    "truth": (lambda x: x.cast("bool"), lambda a: a.astype(bool)),
    "of real": (lambda x: x.real.cast("complex64"), lambda a: a.real.astype(np.complex64)),
    "sum": (lambda x: x.sum(1), lambda a: a.sum(1)),
    "sum of all": (lambda x: x.sum(), lambda a: a.sum()),
    "mean": (lambda x: x.mean(0), lambda a: a.mean(0)),
    "var": (lambda x: x.var(correction=0), lambda a: a.var()),
    "std": (lambda x: x.std(0, correction=0), lambda a: a.std(0)),
    "prod": (lambda x: x.prod(1), lambda a: a.prod(1)),
    "prod of all": (lambda x: x.prod(), lambda a: a.prod()),
    "prod of none": (lambda x: x[:0].prod(0), lambda a: a[:0].prod(0)),
    "cumsum": (lambda x: x.cumsum(1), lambda a: a.cumsum(1)),
    "cumprod": (lambda x: x.cumprod(1), lambda a: a.cumprod(1)),
    "matmul": (lambda x: x @ x.T, lambda a: a @ a.T),
    "mixed matmul": (lambda x: x @ x.real.T, lambda a: a @ a.real.T),
    "einsum": (lambda x: Tensor.einsum("ij,kj->ik", x, x), lambda a: np.einsum("ij,kj->ik", a, a)),
    "any": (lambda x: x.any(0), lambda a: a.any(0)),
    "all": (lambda x: x.all(0), lambda a: a.all(0)),
}


@pytest.mark.parametrize("name", MOVED)
def test_what_moves_and_combines_elements_is_numpys(name: str) -> None:
    ours, theirs = MOVED[name]
    a = samples(3, 4)
    check(ours(Tensor(a)), theirs(a))


def test_long_products_are_right() -> None:
    a = np.exp(1j * reals(37)).astype(np.complex64)
    check(Tensor(a).prod(), a.prod())


def test_memory_is_written_in_place() -> None:
    a, b = samples(3, 4), samples(4, seed=1)
    x = Tensor(a).clone().realize()
    row = x[1]
    row.assign(Tensor(b))
    x[0, 0] = 5j
    x += 1j
    a = a.copy()
    a[1] = b
    a[0, 0] = 5j
    a += 1j
    check(x, a)
    check(row, a[1])


def test_a_value_and_its_parts_are_realized_together() -> None:
    a = samples(3)
    z = Tensor(a) * 2
    both, real = z.view_as_real(), z.real
    Tensor.realize(z, both, real)
    check(z, a * 2)
    check(both, (a * 2).view(np.float32).reshape(3, 2))
    check(real, (a * 2).real)
    real += 1.0
    check(z, a * 2)


@pytest.mark.parametrize("other", DEVICES)
def test_devices_exchange_complex_numbers(other: str) -> None:
    a = samples(3, 4)
    x = Tensor(a)
    check(x.to(other), a)
    check(x.T[1:].to(other), a.T[1:])
    check(x.imag.to(other), a.imag)


def test_python_reads_and_makes_them(dtype: str) -> None:
    x = Tensor([[1, 2j], [3.5, True]])
    assert x.dtype is dtypes.complex64
    assert x.tolist() == [[1, 2j], [3.5, 1]]
    assert Tensor(1j, dtype=dtype).item() == complex(Tensor(1j)) == 1j
    assert bool(Tensor(1j))
    assert Tensor.full((2,), 1j, dtype=dtype).tolist() == [1j, 1j]
    assert Tensor.zeros(2, dtype=dtype).tolist() == [0, 0]
    assert Tensor([1j, 2]).data().tolist() == [[0.0, 1.0], [2.0, 0.0]]
    assert Tensor([1.0, 2.0], dtype=dtype).dtype.name == dtype
    with pytest.raises(DtypeError, match="no real number"):
        float(Tensor(1j))
    with pytest.raises(DtypeError):
        Tensor([1j], dtype="float32")
    with pytest.raises(DtypeError, match="imaginary part"):
        Tensor(samples(2), dtype="float32")


def test_other_libraries_exchange_them(dtype: str) -> None:
    a = samples(3, 4, dtype=dtype)
    x = Tensor(a)
    assert torch.equal(torch.from_dlpack(x), torch.tensor(a))
    assert torch.equal(x.to_torch(), torch.tensor(a))
    assert np.array_equal(np.from_dlpack(x), a)
    assert np.array_equal(np.asarray(x), a)
    check(Tensor.from_dlpack(a), a)
    check(Tensor.from_torch(torch.tensor(a).T), a.T)


LOSSES: dict[str, Callable[[Any], Any]] = {
    "length": lambda z: (z * z.conj()).real.sum(),
    "abs": lambda z: z.abs().sum(),
    "cube": lambda z: (z * z * z).real.sum(),
    "exp": lambda z: z.exp().imag.sum(),
    "log": lambda z: z.log().abs().sum(),
    "sqrt": lambda z: z.sqrt().imag.sum(),
    "acos": lambda z: z.acos().real.sum(),
    "quotient": lambda z: (z / (z + 2)).abs().sum(),
    "inverse": lambda z: (1 / z).real.sum(),
    "power": lambda z: (z**3.5).angle().sum(),
    "prod": lambda z: z.prod().real,
    "cumprod": lambda z: z.cumprod(1).real.sum(),
    "matmul": lambda z: (z @ z.T).abs().sum(),
    "parts": lambda z: (z.real * z.imag).sum(),
    "mean": lambda z: (z.mean(0) * 1j).real.sum(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_pytorchs(name: str) -> None:
    a = samples(3, 4)
    theirs = torch.tensor(a, requires_grad=True)
    LOSSES[name](theirs).backward()
    x = Tensor(a)
    assert theirs.grad is not None
    check(LOSSES[name](x).gradient(x)[0], theirs.grad.numpy())


def test_the_gradient_of_a_real_operand_is_real() -> None:
    a, r = samples(3, 4), reals(3, 4)
    theirs = torch.tensor(r, requires_grad=True)
    (theirs * torch.tensor(a)).abs().sum().backward()
    x = Tensor(r, requires_grad=True)
    (x * Tensor(a)).abs().sum().backward()
    assert theirs.grad is not None
    assert x.grad is not None
    check(x.grad, theirs.grad.numpy())


def test_a_gradient_of_a_gradient_is_pytorchs() -> None:
    a = samples(3)
    theirs = torch.tensor(a, requires_grad=True)
    (first,) = torch.autograd.grad((1 / theirs).abs().sum(), theirs, create_graph=True)
    (second,) = torch.autograd.grad(first.abs().sum(), theirs)
    x = Tensor(a)
    (ours,) = (1 / x).abs().sum().gradient(x)
    check(ours.abs().sum().gradient(x)[0], second.numpy())


def test_a_gradient_starts_at_a_real_number() -> None:
    x = Tensor([1j])
    with pytest.raises(GradientError, match="starts at a real number"):
        (x * x).sum().gradient(x)
    assert (x * x).gradient(x, gradient=Tensor([1.0]))[0].tolist() == [-2j]


def test_transforms_and_jitted_functions_take_them() -> None:
    a = samples(3, 4)
    x = Tensor(a)
    check(vmap(lambda row: row * row.sum())(x), a * a.sum(1, keepdims=True))
    _, moved = jvp(lambda z: z * z, (x,), (x * 1j,))
    check(moved, 2j * a * a)

    @jit
    def square(z: Tensor) -> Tensor:
        return (z * z).realize()

    for factor in range(1, 4):
        check(square((x * factor).realize()), (a * factor) ** 2)


def test_symbolic_sizes() -> None:
    from plugrad.uop.uop import UOp

    a = samples(6)
    x = Tensor(a)
    for count in (2, 5):
        n = UOp.variable("n", 1, 6).bind(count)
        check((x[:n] * 2j).realize(), a[:count] * np.complex64(2j))
        check(x[:n].sum(), a[:count].sum())


@pytest.mark.parametrize(
    "refused",
    [
        lambda z: z < z,
        lambda z: z.maximum(z),
        lambda z: z.max(),
        lambda z: z.argmin(),
        lambda z: z.sort(),
        lambda z: z // 2,
        lambda z: z % 2,
        lambda z: z & z,
        lambda z: ~z,
        lambda z: z.floor(),
        lambda z: z.trunc(),
        lambda z: z.sigmoid(),
        lambda z: z.softmax(),
        lambda z: z.erf(),
        lambda z: z.hypot(z),
        lambda z: z.clamp(0, 1),
        lambda z: z.bitcast("float32"),
        lambda z: z.signbit(),
        lambda z: z.frac(),
    ],
)
def test_what_needs_an_order_or_bits_is_refused(refused: Callable[[Tensor], Any]) -> None:
    with pytest.raises(DtypeError):
        refused(Tensor([1 + 2j, 3]))


def test_parts_have_to_fit() -> None:
    with pytest.raises(DtypeError, match="both parts"):
        Tensor.complex(Tensor([1]), Tensor([2]))
    with pytest.raises(ShapeError, match="last axis"):
        Tensor([1.0, 2.0, 3.0]).view_as_complex()
    with pytest.raises(DtypeError, match="takes complex numbers"):
        Tensor([1.0]).view_as_real()
    check(Tensor.polar(Tensor([2.0]), Tensor([0.5])), np.array([2 * np.exp(0.5j)], np.complex64))
    check(Tensor.complex(Tensor([1.0, 2.0]), Tensor(3.0)), np.array([1 + 3j, 2 + 3j], np.complex64))
    check(Tensor([[1j, 2.0]]).mH, np.array([[-1j], [2]], np.complex64))
