"""Time whole models beside PyTorch, with their memory: `python benchmarks/models.py --help`."""

import os

# what processor time is a measure for: neighbours of the machine matter little
os.environ["THREADS"] = "1"

import statistics

import numpy as np
from suite.model_command import Call, run, take_turns
from suite.models import with_plugrad, with_torch
from suite.models.cases import Case, cases
from suite.models.peak import peak_bytes

from plugrad import Tensor, nn

EXPLANATION = """\
The same network in plugrad, jitted, and in PyTorch, eager, from the same weights: outputs, or the losses of
the first steps, are compared. Each figure is the least processor time of {calls} calls, in brackets the
median; both take turns in one process, with one thread each. Memory is the most that is resident in a
process of its own, in which one of them, from its import on, makes four calls.
"""


def make_calls(case: Case, where: str = "cpu") -> dict[str, Call]:
    """Return what computes a result, or a step's loss, in plugrad and in PyTorch, compared.

    Args:
        case: the model.
        where: PyTorch's device.
    """
    theirs, ours = with_torch.make_network(case), with_plugrad.make_network(case)
    nn.state.load_state_dict(ours, {n: Tensor(v.numpy().copy()) for n, v in theirs.state_dict().items()})
    calls = with_plugrad.make_call(case, ours), with_torch.make_call(case, theirs, where)
    for _ in range(4):
        np.testing.assert_allclose(calls[0](), calls[1](), rtol=1e-2, atol=1e-2, err_msg=case.title)
    return {"plugrad": calls[0], "torch": calls[1]}


def measure(quick: bool, calls: int) -> list[list[str]]:
    """Return the rows of the table: time of each library, their ratio, and memory of each."""
    rows = [["model", "plugrad", "torch", "torch / plugrad", "memory", "torch's memory"]]
    for number, case in enumerate(cases(quick)):
        samples = take_turns(make_calls(case), calls, warm=False).values()
        ours, theirs = (min(times) for times in samples)
        cells = [f"{min(times) * 1e3:.1f} ms ({statistics.median(times) * 1e3:.1f})" for times in samples]
        peaks = [f"{peak_bytes(name, number, quick) / 1e6:.0f} MB" for name in ("plugrad", "torch")]
        rows.append([case.title, *cells, f"{theirs / ours:.2f}", *peaks])
    return rows


if __name__ == "__main__":
    run("Whole models", measure, EXPLANATION, "models.py", calls=8)
