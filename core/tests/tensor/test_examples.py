"""The examples in docstrings do what they show."""

import doctest
import importlib
import pkgutil

import pytest

import plugrad.tensor
from plugrad import Tensor, dtypes

MODULES = [module.name for module in pkgutil.walk_packages(plugrad.tensor.__path__, "plugrad.tensor.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_show_what_happens(name: str) -> None:
    names = {"Tensor": Tensor, "dtypes": dtypes}
    assert doctest.testmod(importlib.import_module(name), extraglobs=names).failed == 0
