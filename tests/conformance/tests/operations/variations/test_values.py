"""Each method that takes floats meets NaN in some case, or says why it has none."""

import numpy as np

from plugrad import Tensor, context
from plugrad_conformance.operations import Operation, do, faults
from plugrad_conformance.operations.admitted import NO_FLOATS
from plugrad_conformance.operations.table import AT_EDGES, IN_DTYPES, OPERATIONS, WRITTEN
from plugrad_conformance.operations.variations import values


def takes_floats() -> set[str]:
    return {case.name for case in (*WRITTEN, *AT_EDGES, *IN_DTYPES) if case.inputs} - NO_FLOATS


def test_every_method_of_floats_meets_nan_or_has_an_excuse() -> None:
    met = {case.name for case in OPERATIONS if values.has_nan(case)}
    missing = takes_floats() - met - set(values.EXCUSED)
    assert not missing, f"add cases to plugrad_conformance.operations.variations.values for {sorted(missing)}"


def test_no_excuse_is_left_over() -> None:
    met = {case.name for case in OPERATIONS if values.has_nan(case)}
    assert set(values.EXCUSED) <= takes_floats() - met


def test_methods_of_single_elements_meet_every_pair_of_special_numbers() -> None:
    (case,) = [case for case in OPERATIONS if case.id == "add/special numbers"]
    x, y = case.inputs
    assert len(x) == len(values.specials("float32")) ** 2
    assert len({(a.tobytes(), b.tobytes()) for a, b in zip(x, y, strict=True)}) == len(x)


def fault(call: object, reference: object) -> str:
    x = np.array([0.0, -0.0, 1.0], np.float32)
    case = Operation("it", "x", call, reference, (x,), signed=True)  # type: ignore[arg-type]
    return " ".join(faults(do(case, "PYTHON")))


def test_signs_of_zeros_count_where_a_case_says_so() -> None:
    assert fault(lambda x: -x, lambda x: -x) == ""
    assert "at (0,)" in fault(lambda x: -x, lambda x: 0 - x)


def test_results_without_an_error_are_compared_exactly() -> None:
    x = np.array([np.nan, 1e-45, 1.0], np.float32)
    case = Operation("it", "x", lambda x: x * 1.0000001, lambda x: x, (x,), accuracy=0.0)
    with context(DEVICE="PYTHON"):
        (found,) = faults(do(case))
    assert "at (2,)" in found
    same = Operation("it", "x", Tensor.contiguous, lambda x: x, (x,), accuracy=0.0)
    assert faults(do(same, "PYTHON")) == []
