"""Every error that a method of Tensor is documented to raise, with its message."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from refusals import CASES

from plugrad import Tensor, Variable
from plugrad.errors import (
    ArgumentError,
    AxisError,
    DtypeError,
    PlugradError,
    ShapeError,
    ViewError,
)

# errors that say which method refused what it was given
REFUSALS = (ArgumentError, AxisError, DtypeError, ShapeError, ViewError)

#: What cannot be had here.
ELSEWHERE = {
    ("to_torch", "ArgumentError"): "PyTorch is installed",
    ("cpu", "DeviceNotFound"): "the device is installed",
    **dict.fromkeys(
        (
            ("custom_kernel", error)
            for error in ("ArgumentError", "VerifyError", "DtypeError", "DeviceError", "ShapeError")
        ),
        "test_custom_kernel.py writes kernels that are wrong",
    ),
}


@pytest.fixture
def operands(tmp_path: Path, device: str) -> SimpleNamespace:
    return SimpleNamespace(
        floats=Tensor.ones(2, 3),
        ints=Tensor.ones(2, 3, dtype="int32"),
        bools=Tensor.ones(2, 3, dtype="bool"),
        vector=Tensor.ones(3),
        row=Tensor([0, 1]),
        square=Tensor.eye(3),
        images=Tensor.ones(1, 5, 4, 4),
        grid=Tensor.ones(1, 2, 2, 2),
        pairs=Tensor.ones(4, 2),
        unbound=Tensor.ones(Variable("size", 1, 10)),
        symbolic=Tensor.ones(10).contiguous()[: Variable("size", 1, 10).bind(3)],
        tracked=Tensor.ones(2, 3, requires_grad=True) * 2,
        folder=str(tmp_path),
        elsewhere="NULL",
    )


@pytest.mark.parametrize(
    ("error", "call", "message"),
    [row[1:] for row in CASES],
    ids=[f"{row[0]}-{row[1].__name__}" for row in CASES],
)
def test_what_is_wrong_is_said(
    error: type[Exception], call: Callable[[Any], Any], message: str, operands: SimpleNamespace
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call(operands)


@pytest.mark.parametrize(
    ("name", "call"),
    [(case[0], case[2]) for case in CASES if issubclass(case[1], REFUSALS)],
    ids=[f"{case[0]}-{case[1].__name__}" for case in CASES if issubclass(case[1], REFUSALS)],
)
def test_what_is_wrong_names_the_method(
    name: str, call: Callable[[Any], Any], operands: SimpleNamespace
) -> None:
    with pytest.raises(PlugradError) as caught:
        call(operands)
    assert name in str(caught.value)


def test_every_documented_error_has_a_case() -> None:
    names = [name for name in dir(Tensor) if not name.startswith("_") and hasattr(Tensor, name)]
    documented = {
        (name, error)
        for name in names
        if getattr(getattr(Tensor, name), "__name__", name) == name
        for error in re.findall(r"^    (\w+): ", _raises(getattr(Tensor, name)), re.MULTILINE)
    }
    tested = {(name, error.__name__) for name, error, _, _ in CASES}
    assert not documented - tested - set(ELSEWHERE)
    assert not tested - documented


def _raises(value: object) -> str:
    """Return the section of a docstring on errors."""
    doc = inspect.getdoc(value) or ""
    return doc.partition("Raises:\n")[2].partition("\n\n")[0]


def test_errors_are_those_of_plugrad() -> None:
    assert all(issubclass(error, PlugradError) for _, error, _, _ in CASES)
