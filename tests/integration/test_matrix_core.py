"""The core without any plugin: `./test -e py311-core` runs this where nothing else is installed."""

import json
import os
import pkgutil
import subprocess
import sys

import pytest

import plugrad
from plugrad.plugin.discovery import find_sources
from plugrad.plugin.hints import HINTS, Hint

pytestmark = pytest.mark.skipif(
    bool(find_sources()), reason="plugins are installed here; `./test -e py311-core` has none"
)
# begin to run when they are imported
PROGRAM = "__main__"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {"NO_COLOR": "1", "COLUMNS": "200", **environment}
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | settings, check=False)


def test_every_module_imports_in_a_process_of_its_own() -> None:
    found = pkgutil.walk_packages(plugrad.__path__, "plugrad.")
    names = [module.name for module in found if PROGRAM not in module.name.split(".")]
    assert len(names) > 100
    done = run("-c", "\n".join(f"import {name}" for name in names))
    assert done.returncode == 0, done.stderr


def test_no_test_tool_is_imported_with_plugrad() -> None:
    done = run("-c", "import sys, plugrad; print({'pytest', 'hypothesis', 'torch'} & set(sys.modules))")
    assert done.stdout == "set()\n", done.stderr


@pytest.mark.parametrize("hint", HINTS, ids=lambda hint: hint.device)
def test_a_device_that_needs_a_plugin_is_told_how_to_install_it(hint: Hint) -> None:
    done = run("-c", f"from plugrad import Tensor; Tensor([1.0], device='{hint.device}').realize()")
    assert "DeviceNotFound" in done.stderr
    assert hint.install_line in done.stderr


def test_the_interpreter_is_used_with_a_warning_that_says_what_to_install() -> None:
    program = "from plugrad import Tensor; print((Tensor([1.0, 2.0]) + 1).tolist())"
    done = run("-W", "default", "-c", program, DEVICE="")
    assert done.stdout == "[2.0, 3.0]\n", done.stderr
    assert "no backend that compiles is usable; PYTHON interprets, which is very slow" in done.stderr
    assert HINTS[0].install_line in done.stderr


def test_who_is_content_with_the_interpreter_is_not_warned() -> None:
    program = (
        "from plugrad import Tensor\n"
        "x = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)\n"
        "(x @ x).sum().backward()\n"
        "print(x.grad.tolist())"
    )
    done = run("-c", program, DEVICE="PYTHON")
    assert (done.stdout, done.stderr) == ("[[7.0, 11.0], [9.0, 13.0]]\n", "")


def test_the_list_of_devices_says_what_could_be_installed() -> None:
    backends = json.loads(run("-m", "plugrad", "devices", "--json").stdout)["backends"]
    remedies = {b["name"]: b["remedy"] for b in backends if b["state"] == "not installed"}
    assert remedies == {hint.device: hint.install_line for hint in HINTS}
    assert {"PYTHON", "NULL"} <= {b["name"] for b in backends if b["state"] == "ready"}


def test_the_conformance_command_says_what_it_needs() -> None:
    done = run("-m", "plugrad", "conformance", "--device", "PYTHON")
    assert done.returncode == 1
    assert "pip install plugrad-conformance" in done.stderr + done.stdout
