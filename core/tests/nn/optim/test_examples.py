"""The examples in optimizers' docstrings do what they show."""

import doctest
import importlib
import pkgutil

import pytest

from plugrad import Tensor
from plugrad.nn import optim

MODULES = [module.name for module in pkgutil.iter_modules(optim.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_show_what_happens(name: str) -> None:
    names = {"Tensor": Tensor, **{each: getattr(optim, each) for each in optim.__all__}}
    assert doctest.testmod(importlib.import_module(f"plugrad.nn.optim.{name}"), extraglobs=names).failed == 0
