"""Elements inside of two symbolic bounds: gcc 12 loses some when it makes vectors of both loops."""

import numpy as np
import pytest

from plugrad import Tensor, Variable


@pytest.mark.parametrize("rows", [4, 8])
def test_all_elements_inside_of_both_bounds_are_kept(rows: int) -> None:
    x = np.arange(1, rows * 3 + 1, dtype=np.float32).reshape(rows, 3)
    whole = Tensor(x, device="CPU").realize()
    for m in range(1, rows + 1):
        for n in range(1, 4):
            height, width = Variable("m", 1, rows).bind(m), Variable("n", 1, 3).bind(n)
            found = whole[:height, :width].pad((0, 3 - width, 0, rows - height)).numpy()
            np.testing.assert_array_equal(found, np.pad(x[:m, :n], ((0, rows - m), (0, 3 - n))))
