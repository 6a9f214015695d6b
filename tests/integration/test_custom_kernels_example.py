"""The examples of kernels written in Python compute what they say."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "custom_kernels"


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"custom_kernels_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_optimizer_fits_a_line() -> None:
    assert example("optimizer").main() == pytest.approx([3, -1], abs=0.05)


def test_the_histogram_counts_as_numpy_does() -> None:
    x = np.random.default_rng(0).normal(size=500).astype("float32")
    found = example("histogram").histogram(Tensor(x), 8, -1.0, 1.0)
    assert found.tolist() == np.histogram(x, 8, (-1.0, 1.0))[0].tolist()


def test_attention_agrees_with_the_built_in_one_in_values_and_gradients() -> None:
    assert example("attention").main() < 1e-5
