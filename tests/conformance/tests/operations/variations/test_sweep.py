"""Dtypes that the sweep of the table leaves out are refused, and no method is left out."""

from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, context
from plugrad.errors import ArgumentError, DtypeError
from plugrad_conformance.operations import admitted
from plugrad_conformance.operations.operation import Operation
from plugrad_conformance.operations.table import OPERATIONS, WRITTEN
from plugrad_conformance.operations.variations import sweep

PLAIN = sweep.plain_cases(WRITTEN)
DTYPES = (*admitted.INTEGERS, *admitted.FLOATS, *admitted.BYTES)
#: Refuse another argument first, one that goes with floats only.
OTHERWISE = frozenset(("addmm", "addmv", "addr", "baddbmm", "addbmm"))
REFUSED = [(name, dtype) for name in PLAIN for dtype in DTYPES if not admitted.admits(name, dtype)]


def operands(case: Operation, dtype: str) -> list[Tensor]:
    """Return the inputs of a case with elements of a dtype."""
    elements = sweep.moved(case)
    is_whole = dtype in admitted.INTEGERS
    changed = [sweep.whole_numbers(x, dtype) if is_whole else x.astype(np.float32) for x in case.inputs]
    return [
        Tensor(new).cast(dtype) if i in elements else Tensor(x)
        for i, (x, new) in enumerate(zip(case.inputs, changed, strict=True))
    ]


@pytest.mark.parametrize(("name", "dtype"), REFUSED)
def test_dtypes_without_cases_are_refused(name: str, dtype: str) -> None:
    call: Any = PLAIN[name].call
    error = ArgumentError if name in OTHERWISE and dtype != "bool" else (DtypeError, ArgumentError)
    with context(DEVICE="PYTHON"), pytest.raises(error) as raised:
        call(*operands(PLAIN[name], dtype))
    assert isinstance(raised.value, DtypeError) or name in OTHERWISE


def test_every_method_is_swept() -> None:
    endings = (" in float16", " in integers")
    swept = {case.name for case in OPERATIONS[len(WRITTEN) :] if case.variation.endswith(endings)}
    assert {case.name for case in WRITTEN if case.inputs} - set(sweep.EXCUSED) == swept


def test_lists_name_methods_only() -> None:
    listed = (
        admitted.TO_FLOAT | admitted.WIDENING | admitted.NO_FLOATS | admitted.NO_BOOLS | admitted.NO_INTEGERS
    )
    assert not (listed | set(sweep.EXCUSED)) - {case.name for case in WRITTEN}


def test_numbers_are_distinct_and_in_order_as_integers() -> None:
    x = np.array([-1.75, -0.25, 0.125, 1.5], np.float32)
    for dtype in ("int8", "uint8", "uint64"):
        found = sweep.whole_numbers(x, dtype)
        assert found.dtype == dtype
        assert sorted(set(found.tolist())) == found.tolist()


def test_results_of_integers_are_computed_before_they_are_rounded() -> None:
    x = np.array([100.0, -100.0], np.float32)
    case = Operation("add", "numbers", lambda x: x + x, lambda x: x + x, (x,))
    done = sweep.in_integers(case, in_rows=True)
    reference: Any = done.reference
    (row,) = reference(*done.inputs)
    # 96 is the greatest number that is made of floats
    assert row.tolist()[2:6] == [-64, 64, 384 % 256, 0]


def test_a_case_of_integers_says_what_dtypes_its_results_have() -> None:
    found = [case for case in OPERATIONS if case.name == "float_power" and "in integers" in case.id]
    assert [case.stored for case in found] == [("float64",)]
