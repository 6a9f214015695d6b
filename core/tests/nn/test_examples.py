"""The examples in layers' docstrings do what they show."""

import doctest
import importlib
from typing import Any

import pytest

from plugrad import Tensor, nn

MODULES = [
    "activations.along_axis",
    "activations.curves",
    "activations.fixed",
    "activations.learnt",
    "activations.limits",
    "attention",
    "checks",
    "containers",
    "conv",
    "dropout",
    "instance_norm",
    "linear",
    "losses",
    "norm",
    "padding",
    "plain",
    "pooling",
    "recurrent",
    "shaping",
    "transformer",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_show_what_happens(name: str) -> None:
    names: dict[str, Any] = {
        "Tensor": Tensor,
        "nn": nn,
        **{layer: getattr(nn, layer) for layer in nn.__all__},
    }
    assert doctest.testmod(importlib.import_module(f"plugrad.nn.{name}"), extraglobs=names).failed == 0
