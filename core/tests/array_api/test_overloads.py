"""Tests of plugrad.array_api.overloads: complex arrays whose types pyright checks as they run."""

from typing import assert_type

import plugrad.array_api as xp
from plugrad import Tensor, dtypes
from plugrad.array_api.complexes import Array, Complex
from plugrad.dtype import DType


def test_functions_of_complex_arrays_give_complex_ones_and_of_real_ones_real_ones() -> None:
    x = assert_type(xp.asarray([1.0, 2.0]), Tensor)
    z = assert_type(xp.asarray([1j, 2.0]), Complex)
    assert_type(xp.exp(x), Tensor)
    assert_type(xp.exp(z), Complex)
    assert_type(xp.flip(xp.reshape(z, (2, 1)), axis=0), Complex)
    assert_type(xp.concat([z, z]), Complex)
    assert_type(xp.stack([x, x], axis=1), Tensor)
    assert_type(xp.matmul(x, z), Complex)
    assert_type(xp.unstack(z), tuple[Complex, ...])
    assert xp.exp(x).relu().shape == (2,)


def test_operands_meet_in_the_wider_kind() -> None:
    x, z = xp.asarray([1.0, 2.0]), xp.asarray([1j, 2.0])
    assert_type(xp.add(x, 1), Tensor)
    assert_type(xp.add(x, z), Complex)
    assert_type(xp.multiply(z, 2j), Complex)
    assert_type(xp.where(x > 1, z, 0.0), Complex)
    assert_type(xp.result_type(x, dtypes.float32), DType)
    assert (x + z).shape == (z * 2j).shape == (2,)


def test_what_is_measured_of_complex_numbers_is_real() -> None:
    z = xp.asarray([1j, 2.0])
    assert_type(xp.abs(z), Tensor)
    assert_type(xp.equal(z, 1j), Tensor)
    assert_type(xp.any(z, axis=0), Tensor)
    assert xp.real(z).relu().tolist() == [0.0, 2.0]


def test_arrays_are_made_and_reduced_in_the_dtype_that_is_asked_for() -> None:
    x = assert_type(xp.zeros((2, 2)), Tensor)
    z = assert_type(xp.ones((2, 2), dtype=xp.complex64), Complex)
    assert_type(xp.full(2, 1j), Complex)
    assert_type(xp.full(2, 1.0), Tensor)
    assert_type(xp.sum(x, axis=0), Tensor)
    assert_type(xp.sum(x, dtype=xp.complex64), Complex)
    assert_type(xp.sum(z, axis=1, keepdims=True), Complex)
    assert_type(xp.zeros_like(z), Complex)
    assert_type(xp.astype(x, xp.complex128), Complex)
    assert xp.sum(z).item() == 4


def test_a_function_of_either_kind_takes_and_gives_either() -> None:
    def halved(x: Array) -> Array:
        return xp.divide(xp.positive(x), 2)

    assert halved(xp.asarray([2.0])).tolist() == [1.0]
    assert halved(xp.asarray([2j])).tolist() == [1j]
