"""The seven projects of the course find what their pages say."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest

from plugrad import Tensor, context

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "course"


def project(name: str) -> Any:
    """Return the module of a project."""
    spec = importlib.util.spec_from_file_location(f"course_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_01_nothing_runs_before_a_value_is_read_and_then_once() -> None:
    lazy = project("01_lazy_and_fusion")
    assert lazy.kernels_run() == (0, 1, 0)
    counts = lazy.kernel_counts()
    assert counts["x * 2 + y"] == counts["x.T + y"] == counts["(x @ y).relu() + 1"] == 1
    assert counts["with .contiguous()"] == 1
    assert counts["another order"] == counts["x @ y @ x"] == 2


def test_02_a_product_by_hand_is_the_built_in_one() -> None:
    from_parts = project("02_matmul")
    a, b = (Tensor.rand(*shape, device="PYTHON").realize() for shape in ((6, 5), (5, 4)))
    assert from_parts.matmul(a, b).numpy() == pytest.approx((a @ b).numpy(), rel=1e-6)
    stacked = Tensor.stack(a, a), Tensor.stack(b, b)
    assert from_parts.batched(*stacked).numpy() == pytest.approx((stacked[0] @ stacked[1]).numpy(), rel=1e-6)
    assert len(from_parts.matmul(a, b).schedule()) == 1


def test_03_gradients_agree_and_xor_is_learnt() -> None:
    autograd = project("03_autograd")
    assert autograd.finite_difference_error() < 1e-6
    assert autograd.huber_error() < 1e-6
    assert autograd.learn_xor() < 1e-4


def test_04_the_network_reads_98_percent_and_again_from_its_file() -> None:
    with context(SPEC=0):  # the graphs of training are verified elsewhere
        trained, loaded = project("04_cnn").main()
    assert trained == loaded
    assert trained >= 0.98


def test_05_a_target_decides_which_passes_change_a_kernel() -> None:
    pipeline = project("05_pipeline")
    (kernel,) = pipeline.kernels(pipeline.expression())
    _, scalar = pipeline.lowered(kernel, pipeline.SCALAR)
    _, vectors = pipeline.lowered(kernel, pipeline.VECTORS)
    assert {"expand", "vectorize"} <= set(vectors) - set(scalar)
    grid, _ = pipeline.lowered(kernel, pipeline.GRID)
    assert {"GLOBAL", "LOCAL"} <= {kind for _, kind in grid.axes}


def test_06_operations_of_ones_own_agree_and_fuse() -> None:
    custom = project("06_custom_ops")
    assert max(custom.differences().values()) < 1e-5
    counts = custom.kernel_counts()
    assert counts["gelu"] == counts["gelu(x @ w)"] == 1


@pytest.mark.skipif(shutil.which("cc") is None, reason="the backend compiles with cc")
def test_07_a_backend_of_few_lines_computes_what_the_cpu_does() -> None:
    lines, found = project("07_backend").main()
    assert lines < 512
    for program, (_, expected) in found["CPU"].items():
        for device in ("MYCHIP", "MYCHIP, vectors"):
            assert found[device][program][1] == pytest.approx(expected, rel=1e-4)
