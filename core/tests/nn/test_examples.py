"""The examples in layers' docstrings do what they show."""

import doctest
import importlib
import pkgutil
from typing import Any

import pytest

from plugrad import Tensor, dtypes, nn

# those read files: test_file_examples.py; and those have a test of their own
ELSEWHERE = (
    "plugrad.nn.datasets",
    "plugrad.nn.state",
    "plugrad.nn.formats",
    "plugrad.nn.optim",
    "plugrad.nn.schedulers",
)
MODULES = [
    each.name
    for each in pkgutil.walk_packages(nn.__path__, "plugrad.nn.")
    if not each.name.startswith(ELSEWHERE)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_show_what_happens(name: str) -> None:
    names: dict[str, Any] = {
        "Tensor": Tensor,
        "dtypes": dtypes,
        "nn": nn,
        **{layer: getattr(nn, layer) for layer in nn.__all__},
        **{name: getattr(nn.data, name) for name in nn.data.__all__},
    }
    assert doctest.testmod(importlib.import_module(name), extraglobs=names).failed == 0
