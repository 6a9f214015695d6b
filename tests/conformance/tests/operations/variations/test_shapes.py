"""Each method has cases without elements and without axes, or refuses such tensors in its own words."""

from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, context
from plugrad.errors import PlugradError
from plugrad_conformance.operations import Operation, do, faults
from plugrad_conformance.operations.table import OPERATIONS, WRITTEN
from plugrad_conformance.operations.variations import empties, scalars, shapes, sweep

PLAIN = sweep.plain_cases(WRITTEN, ())
NAMES = {case.name for case in WRITTEN}
#: Methods whose plain case chooses a part before it calls them, which is refused in other words.
IN_OTHER_WORDS = frozenset(("cholesky", "ctc_loss", "diag", "diag_embed", "eigh"))


def shapes_of(case: Operation) -> list[tuple[int, ...]]:
    """Return the shapes of inputs, and those of results of what has none."""
    reference: Any = case.reference
    return [np.shape(x) for x in case.inputs or (reference(),)]


def test_every_method_has_a_case_of_no_elements_or_an_excuse() -> None:
    met = {case.name for case in OPERATIONS if any(0 in shape for shape in shapes_of(case))}
    missing = NAMES - met - set(empties.EXCUSED)
    assert not missing, f"add cases to operations.variations.empties for {sorted(missing)}"
    assert not met & set(empties.EXCUSED)


def test_every_method_has_a_case_without_axes_or_an_excuse() -> None:
    met = {case.name for case in OPERATIONS if () in shapes_of(case)}
    missing = NAMES - met - set(scalars.EXCUSED)
    assert not missing, f"add cases to operations.variations.scalars for {sorted(missing)}"
    assert {case.name for case in scalars.CASES}.isdisjoint(scalars.EXCUSED)


@pytest.mark.parametrize("name", sorted(set(scalars.EXCUSED) & set(PLAIN)))
def test_methods_that_need_axes_refuse_tensors_without(name: str) -> None:
    call: Any = PLAIN[name].call
    numbers = [x.reshape(-1)[0] for x in PLAIN[name].inputs]
    with context(DEVICE="PYTHON"), pytest.raises(PlugradError) as raised:
        call(*[Tensor(number) for number in numbers])
    # an alias names itself as the function that it is
    called = getattr(getattr(Tensor, name), "__name__", name)
    what = {"__imatmul__": "matmul", "__matmul__": "matmul", "__rmatmul__": "matmul"}.get(called, called)
    assert name in IN_OTHER_WORDS or str(raised.value).startswith(what)


@pytest.mark.parametrize("name", sorted(empties.EXCUSED))
def test_methods_that_need_elements_refuse_tensors_without(name: str) -> None:
    call: Any = PLAIN[name].call
    with context(DEVICE="PYTHON"), pytest.raises(PlugradError, match=name):
        call(*[Tensor(x[..., :0]) for x in PLAIN[name].inputs])


def test_tables_name_methods_and_sizes_that_there_are() -> None:
    for table in (shapes.NEVER_EMPTY, shapes.NEVER_ONE):
        for name, sizes in table.items():
            assert sizes <= {size for x in PLAIN[name].inputs for size in x.shape}, name
    assert shapes.ONE_IMAGE | shapes.NEVER_REPEATED <= set(PLAIN)


# --- how cases are derived ---


def sums_of_rows(order: int = 2) -> Operation:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    return Operation("sum", "plain", lambda x: x.sum(1), lambda x: x.sum(1), (x,), order=order)


def test_each_axis_is_cut_to_nothing() -> None:
    by_variation = {case.variation: case for case in shapes.shaped([sums_of_rows()], {"sum"})}
    assert [x.shape for x in by_variation[shapes.NO_ELEMENTS].inputs] == [(0, 3), (2, 0)]
    assert [x.shape for x in by_variation[shapes.AXES_OF_ONE].inputs] == [(1, 1)]
    assert shapes.NO_AXES not in by_variation


def test_parts_of_a_case_are_done_one_after_another() -> None:
    (case,) = [c for c in shapes.shaped([sums_of_rows()], {"sum"}) if c.variation == shapes.NO_ELEMENTS]
    done = do(case, "PYTHON")
    assert [x.tolist() for x in done.results] == [[], [0.0, 0.0]]
    assert [x.shape for x in done.gradients] == [(0, 3), (2, 0)]
    assert faults(done) == []


def test_repeated_elements_lie_once_and_in_the_other_order() -> None:
    case = shapes.repeated(sums_of_rows())
    assert case.inputs[0].tolist() == [[0.0], [1.0], [2.0]]
    done = do(case, "PYTHON")
    assert done.results[0].tolist() == [3.0, 3.0]
    assert faults(done) == []


def test_a_wrong_answer_for_no_elements_is_a_fault() -> None:
    x = np.ones((2, 3), np.float32)
    wrong = Operation("sum", "plain", lambda x: x.sum(1) + 1, lambda x: x.sum(1) + (x.shape[1] > 0), (x,))
    (case,) = [c for c in shapes.shaped([wrong], {"sum"}) if c.variation == shapes.NO_ELEMENTS]
    (fault,) = faults(do(case, "PYTHON"))
    assert "result 1 is np.float32(1.0) at (0,) where np.float64(0.0) is expected" in fault
