"""Tests of plugrad.float8: every code is that of torch, and so is what every kind of number becomes."""

import math

import numpy as np
import pytest
import torch

from plugrad.float8 import E4M3, E4M3_FNUZ, E5M2, E5M2_FNUZ, Float8Layout

LAYOUTS = [
    (E4M3, torch.float8_e4m3fn),
    (E5M2, torch.float8_e5m2),
    (E4M3_FNUZ, torch.float8_e4m3fnuz),
    (E5M2_FNUZ, torch.float8_e5m2fnuz),
]


@pytest.mark.parametrize(("layout", "theirs"), LAYOUTS)
def test_every_code_is_the_number_that_torch_says(layout: Float8Layout, theirs: torch.dtype) -> None:
    expected = torch.arange(256, dtype=torch.uint8).view(theirs).float().tolist()
    for code, number in enumerate(expected):
        ours = layout.decode(code)
        assert ours == number or (math.isnan(ours) and math.isnan(number)), code
        assert math.isnan(number) or math.copysign(1, ours) == math.copysign(1, number), code
        assert math.isnan(number) or layout.encode(ours) == code
    assert layout.largest == max(number for number in expected if math.isfinite(number))


@pytest.mark.parametrize(("layout", "theirs"), LAYOUTS)
def test_numbers_round_as_in_torch(layout: Float8Layout, theirs: torch.dtype) -> None:
    sizes = np.array([layout.decode(code) for code in range(layout.largest_code + 1)], np.float32)
    ties = (sizes[1:] + sizes[:-1]) / 2
    beyond = layout.largest + (sizes[-1] - sizes[-2]) * np.array([0.4, 0.5, 0.6, 1, 2, 1e9], np.float32)
    beside = [np.nextafter(ties, np.float32(end)) for end in (0, math.inf)]
    values = np.concatenate([sizes, ties, *beside, beyond, [math.inf, 1e-40]]).astype(np.float32)
    values = np.concatenate([values, -values])
    expected = torch.tensor(values).to(theirs).view(torch.uint8).tolist()
    assert [layout.encode(float(v)) for v in values] == expected
    assert math.isnan(layout.decode(layout.encode(math.nan)))


def test_python_floats_are_rounded_once() -> None:
    # halfway between 1 and 1.125, and by less than float32 shows more than that
    assert (E4M3.encode(1.0625), E4M3.encode(1.0625 + 2.0**-40)) == (0x38, 0x39)
    assert (E5M2.encode(1e308), E5M2.encode(5e-324)) == (0x7C, 0)
