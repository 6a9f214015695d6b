"""Time whole models beside PyTorch: `python benchmarks/models.py --help`."""

import os

# what processor time is a measure for: neighbours of the machine matter little
os.environ["THREADS"] = "1"

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from suite.model_command import Call, run, take_turns
from suite.networks import convnet, language_model, resnet18

from plugrad import Tensor, jit, nn

EXPLANATION = """\
The same network in plugrad, jitted, and in PyTorch, eager, from the same weights: outputs, or the losses of
the first steps, are compared. Each figure is the least processor time of {calls} calls, in brackets the
median; both take turns in one process, with one thread each.
"""


@dataclass(frozen=True)
class Case:
    """Describe a model, its input and, where it is trained, its labels and step size."""

    title: str
    network: Callable[[Any, Any], Any]
    example: np.ndarray
    labels: np.ndarray | None = None
    decay: float = 0.0


def cases(quick: bool) -> list[Case]:
    rng = np.random.default_rng(0)

    def images(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    def resnet(library: Any, _: Any) -> Any:
        return resnet18(library)

    def digits(library: Any, _: Any) -> Any:
        return convnet(library)

    def text(rows: int, length: int) -> np.ndarray:
        return rng.integers(0, 65, (rows, length))

    if quick:
        model = partial(language_model, layers=1)
        return [
            Case("ResNet-18, 1 image of 32 x 32", resnet, images(1, 3, 32, 32)),
            Case("language model, 2 x 8 characters", model, text(2, 8), text(2, 8), 0.01),
        ]
    return [
        Case("ResNet-18, 1 image of 224 x 224", resnet, images(1, 3, 224, 224)),
        Case("ResNet-18, 8 images of 224 x 224", resnet, images(8, 3, 224, 224)),
        Case("step of a convnet, 256 digits", digits, images(256, 1, 28, 28), rng.integers(0, 10, 256)),
        Case("step of a language model, 8 x 256", language_model, text(8, 256), text(8, 256), 0.01),
    ]


def make_calls(case: Case, where: str = "cpu") -> dict[str, Call]:
    """Return what computes a result, or a step's loss, in plugrad and in PyTorch, compared.

    Args:
        case: the model.
        where: PyTorch's device.
    """
    torch.manual_seed(0)
    theirs = case.network(torch.nn, F.scaled_dot_product_attention)
    ours = case.network(nn, Tensor.scaled_dot_product_attention)
    nn.state.load_state_dict(ours, {n: Tensor(v.numpy().copy()) for n, v in theirs.state_dict().items()})
    theirs.to(where)
    calls = (_steps if case.labels is not None else _results)(case, ours, theirs, where)
    for _ in range(4):
        np.testing.assert_allclose(calls[0](), calls[1](), rtol=1e-2, atol=1e-2, err_msg=case.title)
    return {"plugrad": calls[0], "torch": calls[1]}


def _results(case: Case, ours: Any, theirs: Any, where: str) -> tuple[Call, Call]:
    ours.eval(), theirs.eval()
    x, example = Tensor(case.example).contiguous().realize(), torch.from_numpy(case.example).to(where)
    replayed = jit(lambda x: ours(x))
    return lambda: replayed(x).numpy(), torch.inference_mode()(lambda: theirs(example).cpu().numpy())


def _steps(case: Case, ours: Any, theirs: Any, where: str) -> tuple[Call, Call]:
    assert case.labels is not None
    theirs.train()
    parameters = nn.state.get_parameters(ours)
    optimizer = nn.optim.AdamW(parameters, lr=1e-4, weight_decay=case.decay)
    other = torch.optim.AdamW(theirs.parameters(), lr=1e-4, weight_decay=case.decay)
    x, y = (Tensor(a).contiguous().realize() for a in (case.example, case.labels.reshape(-1)))
    examples, labels = (torch.from_numpy(a).to(where) for a in (case.example, case.labels.reshape(-1)))

    @jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        with Tensor.train():
            optimizer.zero_grad()
            loss = ours(x).cross_entropy(y)
            loss.backward()
            return loss.realize(*optimizer.schedule_step())

    def other_step() -> float:
        other.zero_grad()
        loss = F.cross_entropy(theirs(examples), labels)
        loss.backward()
        other.step()
        return float(loss.detach())

    return lambda: step(x, y).item(), other_step


def measure(quick: bool, calls: int) -> list[list[str]]:
    """Return the rows of the table: least and median time of each library, and their ratio."""
    rows = [["model", "plugrad", "torch", "torch / plugrad"]]
    for case in cases(quick):
        samples = take_turns(make_calls(case), calls, warm=False).values()
        ours, theirs = (min(times) for times in samples)
        cells = [f"{min(times) * 1e3:.1f} ms ({statistics.median(times) * 1e3:.1f})" for times in samples]
        rows.append([case.title, *cells, f"{theirs / ours:.2f}"])
    return rows


if __name__ == "__main__":
    run("Whole models", measure, EXPLANATION, "models.py", calls=8)
