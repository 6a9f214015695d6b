"""Time whole models beside PyTorch and JAX, with their memory: `python benchmarks/models.py --help`."""

import os

# what processor time is a measure for: neighbours of the machine matter little
os.environ["THREADS"] = "1"

import importlib.util
import statistics
from types import ModuleType
from typing import Any

import numpy as np
import torch
from suite.model_command import Call, run, take_turns
from suite.models import with_plugrad, with_torch
from suite.models.cases import Case, cases
from suite.models.peak import peak_bytes

from plugrad import Tensor, nn

with_jax: Any = None
peers: list[ModuleType] = [torch]
if importlib.util.find_spec("jax"):
    from suite.models import with_jax

    peers.append(with_jax.jax)

EXPLANATION = """\
The same network in plugrad, jitted; in PyTorch, eager; and as JAX computes what PyTorch exports, jitted. All
have the same weights: outputs, or the losses of the first steps, are compared. `WINO=1` lets plugrad convolve
by fewer multiplications, whose rounding docs/floats.md describes. Each figure is the least processor time of
{calls} calls, in brackets the median; all take turns in one process, with one thread each. Memory is the
most that is resident in a process of its own, in which one of them, from its import on, makes four calls.
"""


def make_calls(case: Case, where: str = "cpu") -> dict[str, Call]:
    """Return what computes a result, or a step's loss, in plugrad and in its peers, compared.

    Args:
        case: the model.
        where: PyTorch's device. JAX takes part on the processor alone.
    """
    theirs, ours = with_torch.make_network(case), with_plugrad.make_network(case)
    nn.state.load_state_dict(ours, {n: Tensor(v.numpy().copy()) for n, v in theirs.state_dict().items()})
    calls = {"plugrad": with_plugrad.make_call(case, ours)}
    if with_jax and where == "cpu":
        calls["jax"] = with_jax.make_call(case, theirs)
    calls["torch"] = with_torch.make_call(case, theirs, where)
    for _ in range(4):
        expected = calls["torch"]()
        for call in list(calls.values())[:-1]:
            np.testing.assert_allclose(call(), expected, rtol=1e-2, atol=1e-2, err_msg=case.title)
    return calls


def measure(quick: bool, calls: int) -> list[list[str]]:
    """Return the rows of the table: time of each library, the best ratio, and memory of two."""
    names = ["plugrad", "torch", *(["jax"] if with_jax else [])]
    rows = [["model", *names, "best / plugrad", "memory", "torch's memory"]]
    for number, case in enumerate(cases(quick)):
        samples = take_turns(make_calls(case), calls, warm=False)
        least = {name: min(times) for name, times in samples.items()}
        ours = least.pop("plugrad")
        cells = [_cell(samples[name]) for name in names]
        peaks = [f"{peak_bytes(name, number, quick) / 1e6:.0f} MB" for name in ("plugrad", "torch")]
        rows.append([case.title, *cells, f"{min(least.values()) / ours:.2f}", *peaks])
    return rows


def _cell(times: list[float]) -> str:
    return f"{min(times) * 1e3:.1f} ms ({statistics.median(times) * 1e3:.1f})"


if __name__ == "__main__":
    run("Whole models", measure, EXPLANATION, "models.py", peers, calls=8)
