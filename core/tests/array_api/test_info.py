"""Tests of plugrad.array_api.info: dtypes, their limits and how they meet."""

import numpy as np
import pytest

import plugrad.array_api as xp
from plugrad.dtype import dtypes
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor import Tensor

# Source: Python array API standard 2024.12, "Data Types"; without the complex ones.
DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
]


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_limits_of_floats_are_numpys(name: str) -> None:
    ours, theirs = xp.finfo(getattr(dtypes, name)), np.finfo(name)
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(ours, field) == float(getattr(theirs, field))
    assert xp.finfo(Tensor([1.0])).dtype is dtypes.float32
    with pytest.raises(DtypeError, match="finfo of int32"):
        xp.finfo(dtypes.int32)


@pytest.mark.parametrize("name", DTYPES[1:9])
def test_limits_of_integers_are_numpys(name: str) -> None:
    ours, theirs = xp.iinfo(getattr(xp, name)), np.iinfo(name)
    assert (ours.bits, ours.max, ours.min) == (theirs.bits, theirs.max, theirs.min)
    with pytest.raises(DtypeError, match="iinfo of float32"):
        xp.iinfo(dtypes.float32)


def test_promotion_is_that_of_the_standard() -> None:
    names = DTYPES
    for left in names:
        for right in names:
            kinds = {np.dtype(left).kind, np.dtype(right).kind}
            if kinds in ({"i"}, {"u"}, {"f"}, {"b"}) or (
                kinds == {"i", "u"} and "uint64" not in (left, right)
            ):
                found = xp.result_type(getattr(xp, left), getattr(xp, right))
                assert found.name == np.result_type(left, right).name
                assert xp.can_cast(getattr(xp, left), getattr(xp, right)) == np.can_cast(left, right)
    assert xp.result_type(Tensor([1], dtype="int8"), 1) is dtypes.int8
    assert not xp.can_cast(xp.float32, xp.int64)


def test_kinds_of_dtypes() -> None:
    for name in DTYPES:
        for kind in ("bool", "signed integer", "unsigned integer", "integral", "real floating", "numeric"):
            assert xp.isdtype(getattr(xp, name), kind) == np.isdtype(np.dtype(name), kind)
    assert xp.isdtype(xp.int8, ("bool", xp.int8))
    with pytest.raises(ArgumentError, match="isdtype of kind 'float'"):
        xp.isdtype(xp.int8, "float")
