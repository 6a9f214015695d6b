"""The cases of the table on PYTHON, and one of each method on CPU; with EVERYTHING=1 all cases on both.

What is left out on PYTHON are dtypes of floats: each method is tried in one of them, and methods take turns.

`PLUGRAD_TEST_DEVICES="CUDA OPENCL"` names other devices to run them on.
"""

import os
from collections import Counter
from functools import lru_cache

import numpy as np
import pytest

from plugrad import Device, context
from plugrad.errors import DeviceNotFound
from plugrad_conformance.operations import EXCUSED, OPERATIONS, Done, do, faults
from plugrad_conformance.operations.admitted import BYTES, FLOATS
from plugrad_conformance.operations.table import public_names

#: How many cases are compiled in one go.
BATCH = 40
DEVICES = os.environ.get("PLUGRAD_TEST_DEVICES", "PYTHON CPU").split()
IN_FLOATS = tuple(f" in {dtype}" for dtype in (*FLOATS, *BYTES))


def out_of_turn() -> set[int]:
    """Return the cases of a method's plain case in floats, but for one that differs from method to method."""
    swept: dict[str, list[int]] = {}
    for number, case in enumerate(OPERATIONS):
        if case.variation.endswith(IN_FLOATS):
            swept.setdefault(case.name, []).append(number)
    return {
        number
        for turn, numbers in enumerate(swept.values())
        for i, number in enumerate(numbers)
        if i != turn % len(numbers)
    }


#: The first case of each method, all others, and those in further dtypes.
FIRST = tuple({case.name: number for number, case in reversed(list(enumerate(OPERATIONS)))}.values())
FURTHER = tuple(sorted(out_of_turn() - set(FIRST)))
OTHERS = tuple(sorted(set(range(len(OPERATIONS))) - set(FIRST) - set(FURTHER)))
CASES = [
    pytest.param(
        numbers[i],
        device,
        tuple(numbers[i // BATCH * BATCH :][:BATCH]),
        id=f"{device}-{OPERATIONS[numbers[i]].id}",
        marks=[pytest.mark.wide] if is_wide else [],
    )
    for device in DEVICES
    for numbers, is_wide in ((FIRST, False), (OTHERS, device != "PYTHON"), (FURTHER, True))
    for i in range(len(numbers))
]


def asked(number: int, device: str) -> Done | Exception:
    try:
        return do(OPERATIONS[number], device)
    except Exception as error:  # raised again by the test of this case
        return error


@lru_cache(maxsize=2)
def batch(numbers: tuple[int, ...], device: str) -> dict[int, Done | Exception]:
    """Compute some cases together."""
    # graphs are verified after each pass in the tests of the single operations
    with context(DEVICE=device, SPEC=0), np.errstate(all="ignore"):
        found = {number: asked(number, device) for number in numbers}
        first, *others = [t for done in found.values() if isinstance(done, Done) for t in done.tensors]
        first.realize(*others)
    return found


@pytest.mark.parametrize(("number", "device", "together"), CASES)
def test_results_and_derivatives_are_right(number: int, device: str, together: tuple[int, ...]) -> None:
    try:
        device = Device.canonicalize(device)
    except DeviceNotFound as error:
        pytest.skip(str(error))
    done = batch(together, device)[number]
    if isinstance(done, Exception):
        raise done
    assert not faults(done)


def test_every_public_name_has_a_case_or_an_excuse() -> None:
    names = {case.name for case in OPERATIONS}
    missing = [name for name in public_names() if name not in names and name not in EXCUSED]
    assert not missing, f"add cases to plugrad_conformance.operations for {missing}"


def test_no_name_is_left_over() -> None:
    names = {case.name for case in OPERATIONS}
    assert not names - set(public_names())
    assert not set(EXCUSED) & names
    assert not set(EXCUSED) - set(public_names())


def test_cases_have_ids_of_their_own() -> None:
    counts = Counter(case.id for case in OPERATIONS)
    assert [case for case, count in counts.items() if count > 1] == []
