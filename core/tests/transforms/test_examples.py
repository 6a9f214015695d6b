"""The examples in docstrings do what they show."""

import doctest
import importlib
import pkgutil

import pytest

import plugrad.autodiff
import plugrad.transforms
from plugrad import Tensor, dtypes
from plugrad.uop.uop import UOp

PACKAGES = (plugrad.transforms, plugrad.autodiff)
MODULES = [m.name for p in PACKAGES for m in pkgutil.iter_modules(p.__path__, f"{p.__name__}.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_show_what_happens(name: str) -> None:
    names = {"Tensor": Tensor, "UOp": UOp, "dtypes": dtypes}
    assert doctest.testmod(importlib.import_module(name), extraglobs=names).failed == 0
