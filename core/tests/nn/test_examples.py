"""The examples in layers' docstrings do what they show."""

import doctest
import importlib
import pkgutil
from typing import Any

import pytest

from plugrad import Tensor, dtypes, nn

# those read files: test_file_examples.py
FILES = {"datasets", "state"}
MODULES = [
    each.name for each in pkgutil.iter_modules(nn.__path__) if not each.ispkg and each.name not in FILES
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_show_what_happens(name: str) -> None:
    names: dict[str, Any] = {
        "Tensor": Tensor,
        "dtypes": dtypes,
        "nn": nn,
        **{layer: getattr(nn, layer) for layer in nn.__all__},
    }
    assert doctest.testmod(importlib.import_module(f"plugrad.nn.{name}"), extraglobs=names).failed == 0
