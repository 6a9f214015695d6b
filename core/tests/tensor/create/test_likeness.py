import numpy as np
import pytest

from plugrad import Tensor, dtypes
from plugrad.errors import DeviceNotFound


def test_new_tensors_take_dtype_and_device_but_not_the_shape() -> None:
    t = Tensor([[1, 2]], dtype="int16")
    assert (t.new_zeros(2, 2).tolist(), t.new_zeros((2, 2)).dtype) == ([[0, 0], [0, 0]], dtypes.int16)
    assert (t.new_ones(3).tolist(), t.new_full((), 7).tolist()) == ([1, 1, 1], 7)
    assert (t.new_empty(2, 0).shape, t.new_empty(2).dtype) == ((2, 0), dtypes.int16)
    assert t.new_tensor([1.9, 2]).tolist() == [1, 2]
    assert t.new_zeros(2, device="PYTHON", dtype="float64").device == "PYTHON"


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"])
def test_gradients_may_be_asked_for_after_a_pattern(name: str) -> None:
    assert getattr(Tensor([1.0, 2.0]), name)(requires_grad=True).requires_grad
    assert Tensor([1.0]).full_like(3, requires_grad=True).requires_grad
    assert Tensor([1.0]).new_zeros(3, requires_grad=True).requires_grad


def test_a_device_that_is_none_is_refused_and_not_passed_over() -> None:
    t = Tensor([1.0])
    for wrong in ("", [], {}, 0, np.array([1, 0])):
        for make in (t.zeros_like, t.new_zeros, t.new_tensor, t.rand_like, t.empty_like):
            given = () if make.__name__.endswith("_like") else ([1],)
            with pytest.raises(DeviceNotFound, match="is no name of a device"):
                make(*given, device=wrong)  # pyright: ignore
