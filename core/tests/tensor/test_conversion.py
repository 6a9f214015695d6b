import numpy as np
import pytest
import torch

from plugrad import Tensor, dtypes
from plugrad.dtype import STORABLE, DType, to_numpy
from plugrad.errors import DtypeError, ShapeError


@pytest.mark.parametrize("target", [d for d in STORABLE if d is not dtypes.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("source", ["bool", "uint8", "int16", "int64", "float16", "float32", "float64"])
def test_casts_of_values_that_both_hold_are_those_of_numpy(source: str, target: DType) -> None:
    values = np.array([0, 1, 1, 0] if source == "bool" else [0, 1, 2, 100], source)
    out = Tensor(values).cast(target)
    assert out.dtype is target
    np.testing.assert_array_equal(out.numpy(), values.astype(to_numpy(target)))


def test_floats_to_integers_drop_the_fraction() -> None:
    assert Tensor([1.9, -1.9, 0.5]).int().tolist() == [1, -1, 0]


def test_anything_but_zero_is_true() -> None:
    assert Tensor([0.0, -0.0, 0.1, float("nan")]).bool().tolist() == [False, False, True, True]
    assert Tensor([256, 0]).bool().tolist() == [True, False]


def test_integers_wrap() -> None:
    assert Tensor([257, -1]).cast("uint8").tolist() == [1, 255]
    assert Tensor([1 << 31], dtype="int64").int().tolist() == [-(1 << 31)]


def test_bfloat16_rounds_as_in_torch() -> None:
    values = np.random.default_rng(0).standard_normal(100).astype(np.float32)
    expected = torch.tensor(values).bfloat16().float().numpy()
    np.testing.assert_array_equal(Tensor(values).cast("bfloat16").numpy(), expected)


def test_casting_to_the_same_dtype_is_the_tensor_itself() -> None:
    t = Tensor([1.0])
    assert t.float() is t
    assert t.bitcast(dtypes.float32) is t
    assert (t.half().dtype, t.double().dtype, t.long().dtype) == (
        dtypes.float16,
        dtypes.float64,
        dtypes.int64,
    )


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(DtypeError, match="'float33' is not a dtype"):
        Tensor([1.0]).cast("float33")


@pytest.mark.parametrize(
    ("source", "target"), [("float32", "int32"), ("float16", "int16"), ("int64", "float64")]
)
def test_bits_stay_where_sizes_are_equal(source: str, target: str) -> None:
    values = np.array([0, 1, 3, 100], source)
    np.testing.assert_array_equal(Tensor(values).bitcast(target).numpy(), values.view(target))


@pytest.mark.parametrize("target", ["uint8", "int16", "float32", "int64", "float16"])
@pytest.mark.parametrize("source", ["uint8", "int16", "float32", "float64"])
def test_bits_of_other_sizes_change_the_last_axis(source: str, target: str) -> None:
    values = (np.arange(24).reshape(3, 8) * 3 + 1).astype(source)
    np.testing.assert_array_equal(Tensor(values).bitcast(target).numpy(), values.view(target))


def test_bits_that_make_no_whole_element_are_refused() -> None:
    with pytest.raises(
        ShapeError, match=r"bitcast of shape \(3,\) from uint8 to float32.*multiple of 4 elements"
    ):
        Tensor(b"abc").bitcast("float32")
    with pytest.raises(DtypeError, match="bools have no bits of their own"):
        Tensor([True]).bitcast("uint8")
