"""All derivatives at once, against torch.func, in both modes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import GradientError, TransformError
from plugrad.transforms import hessian, jacfwd, jacobian, jacrev

# torch.func compiles its decompositions
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4))

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "waves": lambda x: x.cos() * x.sin() + x.tanh(),
    "softmax": lambda x: x.softmax(-1) ** 2,
    "matrix": lambda x: x @ x.T,
    "greatest": lambda x: x.amax(1) if isinstance(x, torch.Tensor) else x.max(1),
    "all_multiplied": lambda x: x.prod(1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobian_is_that_of_torch(name: str) -> None:
    expected = torch.func.jacrev(FUNCTIONS[name])(torch.tensor(X))
    for transform in (jacobian, jacfwd):
        found = transform(FUNCTIONS[name])(Tensor(X))
        assert found.shape == tuple(expected.shape)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["waves", "softmax", "all_multiplied"])
def test_hessian_is_that_of_torch(name: str) -> None:
    found = hessian(lambda x: FUNCTIONS[name](x).sum())(Tensor(X))
    expected = torch.func.hessian(lambda x: FUNCTIONS[name](x).sum())(torch.tensor(X))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-8, atol=1e-10)


def test_both_modes_nest() -> None:
    def f(x: Tensor) -> Tensor:
        return (x.sin() * x).sum()

    x = Tensor(X[0])
    expected = hessian(f)(x).numpy()
    for mixed in (jacfwd(jacrev(f)), jacrev(jacfwd(f)), jacfwd(jacfwd(f))):
        np.testing.assert_allclose(mixed(x).numpy(), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("transform", [jacobian, jacfwd])
def test_trees_and_several_arguments(transform: Callable[..., Any]) -> None:
    w, b = Tensor([1.0, 2.0]), Tensor([0.5, 0.25])
    by_w, by_b = transform(lambda w, b: w * b, (0, 1))(w, b)
    assert by_w.tolist() == [[0.5, 0.0], [0.0, 0.25]]
    assert by_b.tolist() == [[1.0, 0.0], [0.0, 2.0]]

    def f(p: dict[str, Any], scale: float = 1.0) -> dict[str, Any]:
        return {"product": p["w"] * p["b"][0] * scale, "sums": [p["b"][0].sum()]}

    found = transform(f)({"w": w, "b": [b]}, scale=2.0)
    assert found["product"]["w"].tolist() == [[1.0, 0.0], [0.0, 0.5]]
    assert found["product"]["b"][0].tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert found["sums"][0]["w"].tolist() == [0.0, 0.0]
    assert found["sums"][0]["b"][0].tolist() == [1.0, 1.0]
    (ww, wb), (bw, bb) = hessian(lambda w, b: (w * b * b).sum(), (0, 1))(w, b)
    assert (ww.tolist(), bb.tolist()) == ([[0.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 4.0]])
    assert wb.tolist() == bw.tolist() == [[1.0, 0.0], [0.0, 0.5]]


def test_few_elements_and_a_second_result() -> None:
    assert jacobian(lambda x: x * x)(Tensor(3.0)).item() == 6.0
    for transform in (jacobian, jacfwd):
        assert transform(lambda x: x * x)(Tensor.zeros(0, 2)).shape == (0, 2, 0, 2)
        assert transform(lambda x: Tensor([1.0, 2.0]))(Tensor([5.0])).tolist() == [[0.0], [0.0]]
    derivatives, note = jacobian(lambda x: (x * x, "said"), has_aux=True)(Tensor([1.0]))
    assert (derivatives.tolist(), note) == ([[2.0]], "said")


@pytest.mark.parametrize("transform", [jacobian, jacfwd])
def test_what_has_no_derivatives_is_refused(transform: Callable[..., Any]) -> None:
    what = transform.__name__
    for wrong in (Tensor([1]), 3.0, [Tensor([1.0]), Tensor([1])]):
        with pytest.raises(GradientError, match=f"{what}: an argument is .*, no float tensor"):
            transform(lambda x: x)(wrong)
    with pytest.raises(GradientError, match=f"{what}: the result is"):
        transform(lambda x: x > 0)(Tensor([1.0]))
    with pytest.raises(TransformError, match=f"{what}: argnums=1 for a call with 1 arguments"):
        transform(lambda x: x, 1)(Tensor([1.0]))
