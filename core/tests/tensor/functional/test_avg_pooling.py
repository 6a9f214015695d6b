"""Tests of plugrad.tensor.functional.pooling, against torch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("divisor", [1, 5, -2])
def test_sums_are_divided_by_another_number_as_in_torch(axes: int, divisor: int) -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, *(7,) * axes)).astype(np.float32)
    out = getattr(Tensor(x), f"avg_pool{axes}d")(
        3, 2, padding=1, ceil_mode=True, count_include_pad=False, divisor_override=divisor
    )
    if axes == 1:
        expected = F.avg_pool2d(torch.tensor(x[..., None]), (3, 1), (2, 1), (1, 0), True, False, divisor)[
            ..., 0
        ]
    else:
        function = getattr(F, f"avg_pool{axes}d")
        expected = function(torch.tensor(x), 3, 2, 1, True, False, divisor_override=divisor)
    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
