"""Paths from memory to views of it, and writes through them."""

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.engine.view_path import path_between, shown, written_through
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import get, put


def test_a_path_leads_from_memory_to_a_view_and_is_walked_on_other_memory() -> None:
    x, other = put(np.zeros((2, 3))), put(np.ones((2, 3)))
    view = x.permute((1, 0)).shrink(((1, 3), (0, 2))).reshape((4,))
    path = path_between(view, x)
    assert [op for op, _, _ in path] == [Ops.PERMUTE, Ops.SHRINK, Ops.RESHAPE]
    assert shown(x, path) is view
    assert shown(other, path) is other.permute((1, 0)).shrink(((1, 3), (0, 2))).reshape((4,))
    assert path_between(x, x) == ()


def test_a_way_that_is_no_view_is_a_mistake_of_ours() -> None:
    x = put([1.0])
    with pytest.raises(AssertionError, match="not by ADD"):
        path_between(x + 1, x)


def test_a_write_through_padding_writes_what_is_there() -> None:
    x = put([1.0, 2.0, 3.0])
    wide = x.pad(((0, 1),)).reshape((2, 2)).shrink(((0, 2), (1, 2)))
    changed = written_through(x, path_between(wide, x), UOp.const(dtypes.float32, 7.0))
    np.testing.assert_array_equal(get(changed), [1, 7, 3])
