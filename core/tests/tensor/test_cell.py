"""What tensors share with their views."""

import gc

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.engine.realize import realize
from plugrad.tensor.cell import Cell, cell_showing, path_between, shown
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


def test_a_cell_becomes_the_memory_that_its_value_was_realized_into() -> None:
    value = put([1.0]) + 1
    cell = Cell(value, "PYTHON")
    assert not cell.settle()
    realize([value])
    assert cell.settle()
    assert cell.uop is storage.resolve(value)


def test_of_two_cells_of_one_value_one_becomes_its_memory() -> None:
    value = put([1.0]) + 1
    one, other = Cell(value, "PYTHON"), Cell(value, "PYTHON")
    realize([value])
    assert (one.settle(), other.settle()) == (True, False)
    del one
    gc.collect()
    assert other.settle()


def test_a_cell_with_a_history_keeps_it() -> None:
    value = put([1.0]) + 1
    cell = Cell(value, "PYTHON", has_history=True)
    realize([value])
    assert not cell.settle()
    assert cell.uop is value


def test_what_shows_the_memory_of_another_cell_is_a_copy() -> None:
    x = put([1.0, 2.0])
    owner = Cell(x, "PYTHON")
    assert owner.is_memory
    for uop in (x, x.pad(((1, 0),)), x.reshape((2, 1)).detach()):
        copy = Cell(uop, "PYTHON")
        assert copy.is_copy
        assert copy.uop is uop.contiguous()


def test_a_value_that_is_written_whole_is_not_computed() -> None:
    cell = Cell(put([1.0, 2.0]) + 1, "PYTHON")
    value = put([[5.0], [6.0]])
    cell.write(path_between(cell.uop.reshape((2, 1)), cell.uop), value)
    assert not any(u.op is Ops.ADD for u in cell.uop.toposort())
    np.testing.assert_array_equal(get(cell.uop), [5, 6])


def test_a_write_to_a_part_keeps_the_rest() -> None:
    x = put([1.0, 2.0, 3.0])
    cell = Cell(x + 1, "PYTHON")
    cell.write(path_between(cell.uop.shrink(((1, 2),)), cell.uop), put([9.0]))
    np.testing.assert_array_equal(get(cell.uop), [2, 9, 4])
    np.testing.assert_array_equal(get(x), [1, 2, 3])


def test_a_write_through_padding_writes_what_is_there() -> None:
    cell = Cell(put([1.0, 2.0, 3.0]), "PYTHON")
    wide = cell.uop.pad(((0, 1),)).reshape((2, 2)).shrink(((0, 2), (1, 2)))
    cell.write(path_between(wide, cell.uop), UOp.const(dtypes.float32, 7.0))
    np.testing.assert_array_equal(get(cell.uop), [1, 7, 3])


def test_the_cell_of_memory_is_found_by_whatever_shows_it() -> None:
    x = Tensor([1, 2, 3, 4]).realize()
    view = x.uop.reshape((2, 2)).permute((1, 0))
    found = cell_showing(view)
    assert found is not None
    assert found == (x._cell, path_between(view, x.uop))
    assert cell_showing(put([1.0])) is None
    x.assign(x + 1)
    assert cell_showing(view) is None
    waiting = cell_showing(x.uop)
    assert waiting is not None
    assert waiting[0] is x._cell
