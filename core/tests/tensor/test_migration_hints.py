"""Tests of plugrad.tensor.migration_hints: names that are not there."""

import importlib
import subprocess
import sys

import pytest

import plugrad
from plugrad import Tensor, dtypes
from plugrad.tensor.migration_hints import ADVICE, IN_PLACE, MODULE_ADVICE

x = Tensor([1.0, 2.0])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("shard", "no attribute 'shard'. Instead: a tensor lives on one device: x.to(device) moves it."),
        ("lazydata", "Instead: write x.uop."),
        ("relu_", "Nothing but `assign`, `+=` and `x[index] = y` writes in place: x.assign(x.relu(...))."),
        # what is filled in place has no method that its name without `_` would call
        ("normal_", "Instead: write x.assign(Tensor.normal(x.shape, mean=..., std=...))."),
        ("zero_", "Instead: write x.assign(x.zeros_like())."),
        ("values", "Instead: max and min give values only, so leave it out."),
    ],
)
def test_what_to_write_instead_is_said(name: str, message: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(x, name)
    assert message in str(caught.value)
    assert caught.value.name == name


def test_nothing_is_said_of_what_nobody_has() -> None:
    with pytest.raises(AttributeError, match=r"^'Tensor' object has no attribute '__qqq__'$"):
        getattr(x, "__qqq__")  # noqa: B009 - the static type has no such name


def test_names_that_are_there_have_no_advice() -> None:
    assert [name for name in ADVICE if hasattr(Tensor, name)] == []


def test_what_writes_in_place_elsewhere_is_a_method_here() -> None:
    assert [name for name in IN_PLACE if not hasattr(Tensor, name) or hasattr(Tensor, name + "_")] == []


def test_names_of_others_are_not_listed() -> None:
    assert not {"shard", "relu_"} & {*dir(x)}
    assert {"relu", "_storage", "__add__"} <= {*dir(x)}


def test_attributes_of_tensors_are_looked_up_by_place() -> None:
    # Python does so for classes without this alone
    assert not hasattr(Tensor, "__getattr__")


def test_new_attributes_are_refused_as_ever() -> None:
    with pytest.raises(AttributeError):
        x.colour = 3  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("module", "name", "message"),
    [
        ("plugrad", "from_numpy", "Instead: write Tensor(array, copy=False)."),
        ("plugrad", "allclose", "Instead: write x.allclose(...), a method of tensors."),
        ("plugrad", "normal", "Instead: write Tensor.normal(...), a method of tensors."),
        ("plugrad", "float16", "Instead: write dtypes.float16."),
        ("plugrad", "optim", "Instead: write plugrad.nn.optim."),
        ("plugrad.nn", "utils", "Instead: write nn.optim.clip_grad_norm_,"),
        ("plugrad.nn.optim", "lr_scheduler", "Instead: write nn.schedulers."),
    ],
)
def test_modules_say_what_to_write_instead(module: str, name: str, message: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(importlib.import_module(module), name)
    assert message in str(caught.value)
    assert caught.value.name == name


def test_names_of_modules_that_are_there_have_no_advice() -> None:
    there = {name: importlib.import_module(name) for name in MODULE_ADVICE}
    assert [
        (m, name) for m, names in MODULE_ADVICE.items() for name in names if hasattr(there[m], name)
    ] == []


def test_a_tensor_is_made_as_in_pytorch() -> None:
    made = plugrad.tensor([1, 2], dtype=dtypes.int8, requires_grad=False)  # pyright: ignore
    assert (made.tolist(), made.dtype) == ([1, 2], dtypes.int8)


@pytest.mark.parametrize(
    ("name", "similar"),
    [("plugrad.zeroes", "zeros"), ("plugrad.nn.Lineer", "Linear"), ("plugrad.nn.optim.Adamm", "Adam")],
)
def test_a_similar_name_of_a_module_is_suggested(name: str, similar: str) -> None:
    code = f"import plugrad.nn.optim; {name}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stderr.rstrip().endswith(f"Did you mean: '{similar}'?")
