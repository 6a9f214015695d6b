"""Short transforms are written out as what NumPy computes."""

import numpy as np
import pytest

from plugrad.codegen.prepare.butterflies import transformed, turned
from plugrad.dtype import dtypes
from plugrad.uop import UOp, simplify
from plugrad.uop.ops import Ops


def pairs_of(numbers: np.ndarray) -> list[tuple[UOp, UOp]]:
    return [(UOp.const(dtypes.float64, z.real), UOp.const(dtypes.float64, z.imag)) for z in numbers.tolist()]


def numbers_of(pairs: list[tuple[UOp, UOp]]) -> np.ndarray:
    return np.array([simplify(real).arg + 1j * simplify(imaginary).arg for real, imaginary in pairs])


@pytest.mark.parametrize("size", [*range(1, 14), 15, 16, 20, 25, 32])
def test_short_transforms_are_those_of_numpy(size: int) -> None:
    rng = np.random.default_rng(size)
    x = rng.normal(size=size) + 1j * rng.normal(size=size)
    np.testing.assert_allclose(numbers_of(transformed(pairs_of(x), -1)), np.fft.fft(x), atol=1e-13)
    np.testing.assert_allclose(numbers_of(transformed(pairs_of(x), 1)), np.fft.ifft(x) * size, atol=1e-13)


def test_quarters_of_a_circle_take_no_products() -> None:
    x = UOp.variable("x", 0, 9, dtypes.int32).cast(dtypes.float32)
    y = UOp.variable("y", 0, 9, dtypes.int32).cast(dtypes.float32)
    for part in range(4):
        real, imaginary = turned((x, y), part, 4, -1)
        assert not any(
            u.op is Ops.MUL and u.src[1].arg not in (-1.0,) for u in real.toposort() | imaginary.toposort()
        )


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("part", range(16))
def test_numbers_are_turned_by_parts_of_a_circle(part: int, sign: int) -> None:
    z = 2 - 3j
    found = numbers_of([turned(pairs_of(np.array([z]))[0], part, 16, sign)])
    np.testing.assert_allclose(found, [z * np.exp(sign * 2j * np.pi * part / 16)], atol=1e-15 * 16)
