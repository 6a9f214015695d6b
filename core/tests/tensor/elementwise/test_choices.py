import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import DtypeError, ShapeError

A = np.array([[1.5, -2.0, 3.25], [0.5, -0.25, 4.0]], np.float32)
B = np.array([[2.0, 0.5, -1.0]], np.float32)


def test_where_chooses_and_broadcasts() -> None:
    cond = np.array([[True], [False]])
    np.testing.assert_array_equal(Tensor(cond).where(Tensor(A), Tensor(B)).numpy(), np.where(cond, A, B))
    np.testing.assert_array_equal(Tensor(cond).where(Tensor(A), 0).numpy(), np.where(cond, A, 0))
    assert Tensor([True, False]).where(1, 0.5).tolist() == [1.0, 0.5]
    assert Tensor(True).where(Tensor([1, 2]), Tensor([3, 4])).tolist() == [1, 2]
    assert Tensor([1, 2]).masked_fill(Tensor([True, False]), 9).tolist() == [9, 2]
    with pytest.raises(DtypeError, match="where of int32: it takes a bool condition"):
        Tensor([1]).where(1, 2)
    with pytest.raises(ShapeError, match=r"where: shapes \(3,\), \(2,\)|where: shapes \(3,\) and \(2,\)"):
        Tensor([True] * 3).where(Tensor([1, 2]), 0)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32"])
def test_extremes_are_those_of_numpy(dtype: str) -> None:
    a, b = np.array([0, 1, 1, 0], dtype), np.array([0, 0, 1, 1], dtype)
    if dtype != "bool":
        a, b = a * 100, b * np.array(120, dtype)
    np.testing.assert_array_equal(Tensor(a).maximum(Tensor(b)).numpy(), np.maximum(a, b))
    np.testing.assert_array_equal(Tensor(a).minimum(Tensor(b)).numpy(), np.minimum(a, b))


def test_extremes_of_nan_are_nan_and_of_limits_are_limits() -> None:
    a = np.array([1.0, np.nan, np.inf], np.float32)
    np.testing.assert_array_equal(Tensor(a).maximum(0.5).numpy(), np.maximum(a, 0.5))
    np.testing.assert_array_equal(Tensor(a).minimum(0.5).numpy(), np.minimum(a, 0.5))
    lowest = -(1 << 31)
    assert Tensor([lowest, 5]).minimum(Tensor([3, lowest])).tolist() == [lowest, lowest]


def test_clamp_at_a_limit_that_is_nan_is_nan_as_torchs() -> None:
    nan = float("nan")
    x, low = np.array([-2.0, 3.0, 5.0], np.float32), np.array([nan, 0.0, nan], np.float32)
    for limits in ((low, None), (None, low), (low, 4.0), (nan, None), (None, nan)):
        ours = Tensor(x).clamp(*(Tensor(y) if isinstance(y, np.ndarray) else y for y in limits))
        theirs = torch.tensor(x).clamp(
            *(torch.tensor(y) if y is not None else None for y in limits)  # pyright: ignore
        )
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_clamp_is_that_of_torch_with_its_gradient_at_the_limits() -> None:
    values = [-2.0, -1.0, 0.5, 1.0, 3.0, float("nan")]
    ours, theirs = Tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    out = ours.clamp(-1, 1)
    np.testing.assert_array_equal(out.numpy(), theirs.clamp(-1, 1).detach().numpy())
    out.sum().backward()
    theirs.clamp(-1, 1).sum().backward()
    assert ours.grad is not None
    np.testing.assert_array_equal(ours.grad.numpy()[:5], theirs.grad.numpy()[:5])
    assert Tensor([1, 5]).clamp(max_=3).tolist() == [1, 3]
    assert Tensor([1, 5]).clip(2).tolist() == [2, 5]
    with pytest.raises(DtypeError, match="clamp without a limit"):
        Tensor([1]).clamp()


def test_limits_have_the_names_of_the_others() -> None:
    t = Tensor([-1, 2, 5])
    assert t.clamp(min=0).tolist() == [0, 2, 5]
    assert t.clamp(min=0, max=3).tolist() == [0, 2, 3]
    assert t.clip(a_min=0, a_max=3).tolist() == [0, 2, 3]
    assert t.clamp_min(min=0).tolist() == [0, 2, 5]
    assert t.clamp_max(max=3).tolist() == [-1, 2, 3]
