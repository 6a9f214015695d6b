import numpy as np
import pytest

from plugrad import Tensor
from plugrad.errors import DtypeError


def test_bits_of_floats_are_refused() -> None:
    with pytest.raises(
        DtypeError, match="bitwise operation of float32 and int32: it takes integers or bools"
    ):
        _ = Tensor([1.0]) & Tensor([1])
    with pytest.raises(DtypeError, match="~ of float32"):
        _ = ~Tensor([1.0])
    with pytest.raises(DtypeError, match="<< of float32 and 1"):
        _ = Tensor([1.0]) << 1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_shifts_by_any_amount_are_those_of_endless_bits(dtype: str) -> None:
    info = np.iinfo(dtype)
    values = [info.max, info.min, 1, 5, info.max // 3]
    width = info.bits
    for amount in (0, 1, width - 1, width, width + 3):
        left = [
            Tensor([(v << amount) & ((1 << width) - 1)], dtype="uint64").cast(dtype).item() for v in values
        ]
        right = [v >> amount for v in values]
        t = Tensor(values, dtype=dtype)
        amounts = Tensor([amount] * len(values), dtype=dtype)
        assert (t << amount).tolist() == (t << amounts).tolist() == left
        assert (t >> amount).tolist() == (t >> amounts).tolist() == right


def test_numbers_are_shifted_by_tensors() -> None:
    assert (1 << Tensor([0, 1, 4])).tolist() == [1, 2, 16]
    assert (-16 >> Tensor([0, 1, 5])).tolist() == [-16, -8, -1]
    assert (1 << Tensor([1], dtype="uint8")).dtype.name == "uint8"
    with pytest.raises(DtypeError, match="integers"):
        _ = 1 << Tensor([1.0])
