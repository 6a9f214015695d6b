"""What programs for tinygrad find under its names; whole programs are in tests/integration."""

import subprocess
import sys
from pathlib import Path

import pytest

from plugrad import Tensor, nn
from plugrad.errors import PlugradError
from plugrad.settings import context
from plugrad.tinygrad import main, mapped


def test_names_come_from_where_tinygrad_has_them() -> None:
    with mapped():
        import tinygrad.nn as theirs
        from tinygrad import Tensor as OfTop
        from tinygrad.dtype import dtypes
        from tinygrad.engine.jit import TinyJit
        from tinygrad.tensor import Tensor as OfTensor
        from tinygrad.uop.ops import Ops, UOp

        assert OfTop is OfTensor is Tensor
        assert theirs.Linear is nn.Linear
        assert theirs.optim.Adam is not None
        assert TinyJit.__module__.startswith("plugrad.")
        assert (dtypes.float32.itemsize, Ops.ADD.name, UOp.variable("i", 0, 3).vmax) == (4, "ADD", 3)


def test_what_was_imported_before_is_there_again() -> None:
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "tinygrad"}
    with mapped():
        import tinygrad  # noqa: F401
    after = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "tinygrad"}
    assert after == before


def test_a_name_without_a_counterpart_can_be_imported_and_says_so_when_used() -> None:
    with mapped():
        from tinygrad.codegen.search import beam_search
        from tinygrad.helpers import diskcache

    with pytest.raises(PlugradError, match=r"tinygrad\.codegen\.search\.beam_search has no counterpart"):
        beam_search()
    with pytest.raises(PlugradError, match=r"tinygrad\.helpers\.diskcache has no counterpart"):
        diskcache.get("key")


def test_settings_compare_as_their_values() -> None:
    with mapped():
        from tinygrad.helpers import DEBUG, TRAINING

    with context(DEBUG=2), Tensor.train():
        assert (DEBUG >= 2, DEBUG == 2, DEBUG < 2, bool(TRAINING), int(DEBUG)) == (True, True, False, True, 2)
    assert not TRAINING


def test_arguments_keep_their_order() -> None:
    with mapped():
        from tinygrad import nn as theirs

    assert theirs.BatchNorm(4, 1e-3, False).weight is None
    assert theirs.Embedding(vocab_size=5, embed_size=3).weight.shape == (5, 3)
    assert theirs.ConvTranspose2d(4, 6, 3, 1, 0, 0, 1, 2).weight.shape == (4, 3, 3, 3)
    assert theirs.optim.AdamW([Tensor([1.0])], 0.1, 0.8, 0.9, 1e-6).param_groups[0]["betas"] == (0.8, 0.9)


def test_functions_are_marked_without_a_difference() -> None:
    with mapped():
        from tinygrad import function

    @function
    def double(x: Tensor) -> Tensor:
        return x * 2

    @function(precompile=True)
    def half(x: Tensor) -> Tensor:
        return x / 2

    x = Tensor([3.0], requires_grad=True)
    half(double(x) * x).sum().backward()
    assert x.grad is not None
    assert x.grad.item() == 6.0
    with pytest.raises(PlugradError, match=r"transforms\.custom_gradient"):
        function(double, grad_fxn=half)


def test_all_tensors_of_floats_are_trained() -> None:
    with mapped():
        from tinygrad.nn.state import get_parameters

    class Model:
        def __init__(self) -> None:
            self.weight, self.steps = Tensor([1.0]), Tensor([1])

    model = Model()
    assert get_parameters(model) == [model.weight]
    assert model.weight.requires_grad


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, "\rloss 0\x1b[K\rloss 1\x1b[K\n"), (False, "")])
def test_what_is_said_of_a_loop_is_shown_on_a_terminal(
    is_terminal: bool, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with mapped():
        from tinygrad.helpers import trange
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    for i in (t := trange(2)):
        t.set_description(f"loss {i}")
    assert capsys.readouterr().err == shown


def test_a_script_gets_its_arguments_and_its_folder(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("from tinygrad import Tensor\n", encoding="utf-8")
    script = tmp_path / "script.py"
    text = "import sys; from beside import Tensor; print(sys.argv[1], Tensor([2]).item())"
    script.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "plugrad.tinygrad", script, "one"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "one 2\n"


def test_a_script_is_jitted_without_warnings(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import warnings; warnings.simplefilter('error')\n"
        "from tinygrad import Tensor, TinyJit, nn\n"
        "class Model:\n"
        "    def __init__(self): self.layer = nn.Linear(2, 2)\n"
        "    def __call__(self, x): return self.layer(x)\n"
        "model = Model()\n"
        "optimizer = nn.optim.Adam(nn.state.get_parameters(model))\n"
        "@TinyJit\n"
        "@Tensor.train()\n"
        "def step(x):\n"
        "    loss = model(x).square().mean().backward()\n"
        "    optimizer.step()\n"
        "    return loss\n"
        "for _ in range(3): step(Tensor.ones(2, 2).realize())\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "plugrad.tinygrad", script]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_script_the_usage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert (main([]), main(["--help"])) == (2, 0)
    assert "python -m plugrad.tinygrad SCRIPT.py" in capsys.readouterr().out
