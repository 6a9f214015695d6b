"""NumPy's functions on tensors, and operators between arrays and tensors."""

from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, dtypes
from plugrad.errors import DtypeError, GradientError, JitError
from plugrad.jit import jit


def test_functions_of_numpy_compute_on_arrays_and_give_tensors() -> None:
    t = Tensor([1.0, 2.0], device="PYTHON")
    outs: list[Any] = [np.sin(t), np.hypot(t, 2), np.maximum(np.array([3, 0], np.float32), t), *np.modf(t)]  # pyright: ignore
    x = t.numpy()
    wants: list[Any] = [np.sin(x), np.hypot(x, 2), np.maximum(np.array([3, 0], np.float32), x), *np.modf(x)]
    for out, want in zip(outs, wants, strict=True):
        assert isinstance(out, Tensor)
        assert (out.device, out.dtype) == ("PYTHON", dtypes.float32)
        np.testing.assert_array_equal(out.numpy(), want)


def test_functions_that_are_operators_are_those_of_tensors() -> None:
    t = Tensor([1.0, 2.0], requires_grad=True)
    for y in (np.multiply(np.array([3, 4], np.float32), t), np.multiply(t, t.detach() + 2)):  # pyright: ignore
        loss: Any = y.sum()  # pyright: ignore
        assert loss.gradient(t)[0].tolist() == [3.0, 4.0]
    less: Any = np.less(np.array([0, 5], np.float32), t)  # pyright: ignore
    assert less.tolist() == [True, False]


def test_an_array_takes_tensors_in_place() -> None:
    array: Any = np.ones(2, np.float32)
    kept = array
    array *= Tensor([3.0, 4.0])
    array += Tensor(1.0)
    assert array is kept
    assert array.tolist() == [4.0, 5.0]
    with pytest.raises(TypeError, match="Cannot cast"):
        np.add(np.ones(2, np.int64), Tensor([0.5, 0.5]), out=np.ones(2, np.int64))  # pyright: ignore


def test_updates_at_positions_are_written_into_arrays_only() -> None:
    array: Any = np.zeros(3)
    assert np.add.at(array, [0, 0, 2], Tensor([1.0, 2.0, 3.0])) is None  # pyright: ignore
    assert array.tolist() == [3.0, 0.0, 3.0]
    x: Any = Tensor([1.0, 2.0]).realize()
    with pytest.raises(DtypeError, match=r"np\.add\.at writes into arrays, not into <Tensor"):
        np.add.at(x, [0], 1.0)
    assert x.tolist() == [1.0, 2.0]


def test_what_would_lose_a_gradient_is_refused() -> None:
    w: Any = Tensor([1.0], requires_grad=True)
    with pytest.raises(GradientError, match=r"np\.sin of <Tensor .* has no gradient"):
        np.sin(w)
    array: Any = np.ones(1)
    with pytest.raises(GradientError, match=r"np\.add of"):
        array += w
    assert np.sin(w.detach()).tolist() == np.sin(np.array([1], np.float32)).tolist()


def test_a_jitted_function_may_not_leave_tensors() -> None:
    with pytest.raises(JitError, match="reads the elements"):
        jit(lambda x: np.sin(x))(Tensor([1.0]))  # pyright: ignore
