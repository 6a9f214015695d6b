"""Tests of what `import plugrad` gives."""

import subprocess
import sys
from pathlib import Path

import pytest

import plugrad
from plugrad import Tensor


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    "before",
    [
        "",
        "import plugrad.jit",
        "from plugrad.jit import jit",
        "import plugrad.jit.leaves",
        "import plugrad.nn",
    ],
)
def test_jit_of_plugrad_is_the_decorator_whatever_was_imported_before(before: str) -> None:
    code = f"""{before}
from plugrad import Tensor, TinyJit, jit
@jit
def double(x):
    return x * 2
print(isinstance(double, TinyJit), double(Tensor([2], device="PYTHON")).tolist())"""
    assert run(code) == "True [4]"


def test_modules_of_jit_are_found_as_ever() -> None:
    code = """import plugrad, plugrad.jit
from plugrad.jit.leaves import Leaves
print(plugrad.jit.jit is plugrad.TinyJit, plugrad.jit.leaves.Leaves is Leaves)"""
    assert run(code) == "True True"


def test_packages_are_imported_when_they_are_asked_for() -> None:
    code = """import sys, plugrad
later = ["plugrad.transforms", "plugrad.nn", "plugrad.jit", "plugrad.array_api"]
print(any(name in sys.modules for name in later))
print(plugrad.transforms.grad.__name__, plugrad.nn.Linear.__name__)"""
    assert run(code) == "False\ngrad Linear"


def test_slow_modules_are_imported_when_they_are_needed() -> None:
    # in the order of what they take, together a fifth of the import
    later = ("numpy", "inspect", "dataclasses", "pluggy", "pathlib", "plugrad.plugin.hook_calls")
    assert run(f"import sys, plugrad; print([name for name in {later} if name in sys.modules])") == "[]"


def test_a_name_that_plugrad_has_not_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="module 'plugrad' has no attribute 'tensors'"):
        _ = plugrad.tensors  # pyright: ignore[reportAttributeAccessIssue]


def test_all_names_are_there() -> None:
    assert {*plugrad.__all__} <= {*dir(plugrad)}
    assert all(getattr(plugrad, name) is not None for name in plugrad.__all__)
    assert plugrad.Tensor is Tensor


def test_functions_of_tensors_are_at_the_top() -> None:
    plugrad.manual_seed(1)
    first = plugrad.rand(3).tolist()
    plugrad.manual_seed(1)
    assert plugrad.rand(3).tolist() == first
    x, y = plugrad.zeros(2, 2), plugrad.ones((2, 2))
    assert (
        plugrad.cat([x, y]).tolist()
        == plugrad.cat([x, y], dim=0).tolist()
        == [[0.0] * 2] * 2 + [[1.0] * 2] * 2
    )
    assert plugrad.stack([x, y], dim=1).shape == (2, 2, 2)
    assert plugrad.where(y > 0, x, 3.0).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with plugrad.no_grad():
        assert not (Tensor([1.0], requires_grad=True) * 2).requires_grad


def test_weights_are_saved_and_loaded_from_the_top(tmp_path: Path) -> None:
    plugrad.save({"w": Tensor([1.0])}, tmp_path / "model.pt")
    assert plugrad.load(tmp_path / "model.pt")["w"].tolist() == [1.0]


def test_the_module_of_a_program_that_is_not_installed_says_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plugrad, "_load_extension", lambda group, name: None)
    with pytest.raises(AttributeError, match=r"comes with plugrad-onnx\. Install it: pip install"):
        _ = plugrad.onnx
