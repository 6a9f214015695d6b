"""Tests of plugrad.errors."""

import pickle
from collections.abc import Callable

import pytest

from plugrad import Tensor, Variable, errors, nn
from plugrad.errors import CompileError, DeviceOutOfMemory, PlugradError
from plugrad.transforms import vmap

NAMES = [
    name
    for name, cls in vars(errors).items()
    if name[0] != "_" and getattr(cls, "__module__", "") == errors.__name__
]


@pytest.mark.parametrize("name", NAMES)
def test_each_error_derives_from_plugrad_error_and_has_a_help_page(name: str) -> None:
    error = getattr(errors, name)
    assert issubclass(error, PlugradError)
    assert len(error.__doc__.splitlines()) > 2


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("ShapeError", ValueError),
        ("ShapeError", RuntimeError),
        ("ArgumentError", ValueError),
        ("DtypeError", TypeError),
        ("DtypeError", RuntimeError),
        ("AxisError", IndexError),
        ("AxisError", ValueError),
        ("GradientError", RuntimeError),
        ("StateError", LookupError),
        ("StateError", RuntimeError),
        ("DeviceOutOfMemory", MemoryError),
        ("SettingsError", ValueError),
        ("FileFormatError", ValueError),
        ("RewriteLoopError", RecursionError),
    ],
)
def test_an_error_is_also_the_builtin_that_programs_expect(name: str, builtin: type[Exception]) -> None:
    assert issubclass(getattr(errors, name), builtin)


def test_a_compile_error_shows_source_log_and_command() -> None:
    error = CompileError("compiler exited with 1", source="int x", log="expected ';'", command=["cc", "-O2"])
    text = str(error)
    assert "compiler exited with 1" in text
    assert "int x" in text
    assert "expected ';'" in text
    assert "cc -O2" in text


def test_a_compile_error_without_details_is_only_its_message() -> None:
    assert str(CompileError("no output")) == "no output"


def test_errors_with_attributes_survive_pickling() -> None:
    error = pickle.loads(pickle.dumps(DeviceOutOfMemory("full", device="NULL", requested_bytes=64)))
    assert (str(error), error.device, error.requested_bytes) == ("full", "NULL", 64)


def test_a_pickled_compile_error_does_not_repeat_its_details() -> None:
    error = CompileError("compiler exited with 1", source="int x")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def _symbolic(x: Tensor) -> Tensor:
    return x[:, : Variable("n", 1, 3).bind(2)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.norm(axis=7), "norm: axis 7 is out of range"),
        (lambda x: x.softmin(7), "softmin: axis 7 is out of range"),
        (lambda x: x.sort(7), "sort: axis 7 is out of range"),
        (lambda x: x.add(Tensor.ones(5)), "add: shapes (2, 3) and (5,) do not broadcast"),
        (lambda x: x.dot(Tensor.ones(5)), "dot of shapes (2, 3) and (5,)"),
        (lambda x: x.reshape_as(Tensor.ones(5)), "reshape_as: cannot reshape (2, 3) to (5,)"),
        (lambda x: x.lshift(1), "lshift: << of float32 and 1 (int)"),
        (lambda x: Tensor.zeros(0).argmax(), "argmax over axis None"),
        # who writes an operator calls no method
        (lambda x: x + Tensor.ones(5), "broadcast: shapes (2, 3) and (5,)"),
        (lambda x: vmap(lambda row: row.norm(axis=1))(x), "norm: axis 1 is out of range"),
        # a function that is told who asks
        (lambda x: _symbolic(x).nbytes, "nbytes: the shape (2, n) is symbolic"),
        (lambda x: Tensor.ones(Variable("n", 1, 3)).numpy(), "numpy: the shape (n,) has a variable without"),
        (lambda x: bytes(Tensor.ones(Variable("n", 1, 3))), "bytes: the shape (n,) has a variable without"),
        (lambda x: nn.Embedding.from_pretrained(_symbolic(x)), "Embedding.from_pretrained: the shape (2, n)"),
        (lambda x: nn.Linear(5, 4)(x), "Linear of 5 inputs got shape (2, 3)"),
    ],
)
def test_a_refusal_names_the_method_that_was_called(call: Callable[[Tensor], object], message: str) -> None:
    with pytest.raises(PlugradError) as caught:
        call(Tensor.ones(2, 3))
    assert str(caught.value).startswith(message)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
