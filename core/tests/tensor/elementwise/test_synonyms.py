"""Second names, and the keywords that PyTorch and NumPy have for limits."""

from plugrad import Tensor, dtypes


def test_limits_have_the_names_of_the_others() -> None:
    t = Tensor([-1, 2, 5])
    assert t.clamp(min=0).tolist() == [0, 2, 5]
    assert t.clamp(min=0, max=3).tolist() == [0, 2, 3]
    assert t.clip(a_min=0, a_max=3).tolist() == [0, 2, 3]
    assert t.clamp_min(min=0).tolist() == [0, 2, 5]
    assert t.clamp_max(max=3).tolist() == [-1, 2, 3]


def test_alpha_keeps_the_dtype_of_integers() -> None:
    t = Tensor([5, 6]).sub(Tensor([1, 2]), alpha=3)
    assert t.dtype is dtypes.int32
    assert t.tolist() == [2, 0]
