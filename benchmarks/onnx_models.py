"""Time models that PyTorch exports, beside onnxruntime: `python benchmarks/onnx_models.py --help`."""

import os

# what processor time is a measure for: neighbours of the machine matter little
os.environ["THREADS"] = "1"

import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
import torch
from suite.model_command import Call, run, take_turns
from suite.networks import resnet18, sentence_encoder

from plugrad import Tensor, jit, nn
from plugrad_onnx import load

EXPLANATION = """\
The same network, exported by PyTorch and loaded by `plugrad.onnx`; written with `plugrad.nn`; in
onnxruntime; and in PyTorch, eager. Each figure is the least processor time of {calls} calls, in brackets the
multiple of the loaded model's; all take turns in one process, with one thread each. What is jitted is
replayed; what is not builds its graph in each call. Outputs are first compared with PyTorch's.
"""


@dataclass(frozen=True)
class Case:
    """Describe a model and its input."""

    title: str
    network: Callable[[Any], Any]
    example: np.ndarray


def cases(quick: bool) -> list[Case]:
    rng = np.random.default_rng(0)
    if quick:
        return [Case("ResNet-18, 1 image of 32 x 32", resnet18, np.ones((1, 3, 32, 32), np.float32))]
    images, tokens = (
        rng.standard_normal((1, 3, 224, 224)).astype(np.float32),
        rng.integers(0, 30522, (8, 64)),
    )
    return [
        Case("ResNet-18, 1 image of 224 x 224", resnet18, images),
        Case("sentence encoder, 1 x 16 tokens", sentence_encoder, tokens[:1, :16]),
        Case("sentence encoder, 8 x 64 tokens", sentence_encoder, tokens),
    ]


def make_calls(case: Case) -> dict[str, Call]:
    """Return what computes the outputs in each way, each compared with PyTorch."""
    torch.manual_seed(0)
    network = case.network(torch.nn).eval()
    example, file = torch.from_numpy(case.example), io.BytesIO()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        want = network(example).numpy()
        torch.onnx.export(network, (example,), file, dynamo=False, input_names=["x"], output_names=["y"])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])
    loaded, written = load(file.getvalue()), case.network(nn)
    written.eval()
    state = {name: Tensor(value.numpy()) for name, value in network.state_dict().items()}
    nn.state.load_state_dict(written, state)
    x = Tensor(case.example).realize()
    replayed, replayed_by_hand = jit(lambda x: loaded(x)["y"]), jit(lambda x: written(x))

    def in_torch() -> Any:
        with torch.no_grad():
            return network(example).numpy()

    calls: dict[str, Call] = {
        "loaded": lambda: replayed(x).numpy(),
        "by hand": lambda: replayed_by_hand(x).numpy(),
        "onnxruntime": lambda: session.run(None, {"x": case.example})[0],
        "torch": in_torch,
        "loaded, not jitted": lambda: loaded(x)["y"].numpy(),
        "by hand, not jitted": lambda: written(x).numpy(),
    }
    for name, call in calls.items():
        for _ in range(3):
            np.testing.assert_allclose(call(), want, rtol=1e-2, atol=1e-3, err_msg=name)
    return calls


def measure(quick: bool, calls: int) -> list[list[str]]:
    """Return the rows of the table: the least time of each way, and its multiple of the loaded model's."""
    rows: list[list[str]] = []
    for case in cases(quick):
        samples = take_turns(make_calls(case), calls)
        least = {name: min(times) for name, times in samples.items()}
        rows = rows or [["model", *least]]
        cells = [f"{seconds * 1e3:.1f} ms (x {seconds / least['loaded']:.2g})" for seconds in least.values()]
        rows.append([case.title, *cells])
    return rows


if __name__ == "__main__":
    run("Models of ONNX", measure, EXPLANATION, "onnx_models.py", peers=(onnxruntime, torch))
