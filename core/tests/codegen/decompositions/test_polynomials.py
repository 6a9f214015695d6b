"""Tests of plugrad.codegen.decompositions.polynomials: the stated errors, measured again in 60 digits."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from mpmath import mp, mpf

from plugrad.codegen.decompositions import polynomials
from plugrad.dtype import DType, dtypes


def _derivation() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "derive", Path(__file__).with_name("derive_coefficients.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


derive = _derivation()

ERRORS = {
    ("EXP", dtypes.float32): -27.9,
    ("EXP", dtypes.float64): -57.7,
    ("EXP2", dtypes.float32): -28.0,
    ("EXP2", dtypes.float64): -57.3,
    ("LOG", dtypes.float32): -30.0,
    ("ATANH", dtypes.float64): -59.4,
    ("ATANH_TAIL", dtypes.float32): -36.7,
    ("ATANH_TAIL", dtypes.float64): -66.1,
    ("SINE", dtypes.float32): -27.8,
    ("SINE", dtypes.float64): -57.8,
    ("COSINE", dtypes.float32): -32.9,
    ("COSINE", dtypes.float64): -63.7,
}


@pytest.mark.parametrize(("name", "dtype"), ERRORS)
def test_each_polynomial_is_as_close_as_stated(name: str, dtype: DType) -> None:
    coefficients = getattr(polynomials, name)[dtype]
    assert derive.worst_error(derive.PROBLEMS[name], coefficients) <= ERRORS[name, dtype]


def test_the_digits_of_two_over_pi_are_right() -> None:
    with mp.workprec(1400):
        digits = int(mp.floor(2 / mp.pi * mpf(2) ** 1280))
    words = [digits >> 32 * (39 - i) & 0xFFFFFFFF for i in range(40)]
    assert list(polynomials.TWO_OVER_PI) == words
