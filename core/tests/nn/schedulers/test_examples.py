"""The examples in schedules' docstrings do what they show."""

import doctest
import importlib
import pkgutil

import pytest

from plugrad import Tensor
from plugrad.nn import optim, schedulers

MODULES = [module.name for module in pkgutil.iter_modules(schedulers.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_show_what_happens(name: str) -> None:
    names = {
        "Tensor": Tensor,
        **{each: getattr(optim, each) for each in optim.__all__},
        **{each: getattr(schedulers, each) for each in schedulers.__all__},
    }
    module = importlib.import_module(f"plugrad.nn.schedulers.{name}")
    assert doctest.testmod(module, extraglobs=names).failed == 0
