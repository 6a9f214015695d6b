"""Measure operations of the API beside torch, one core each: `python benchmarks/operations.py --help`."""

import os

os.environ["THREADS"] = "1"

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from suite.machine import describe
from suite.operations import OPERATIONS, Operation
from suite.sections import section_body, write_section
from suite.table import markdown, show_time

from plugrad import Tensor, dtypes
from plugrad.events import KernelEvent, subscribe
from plugrad.jit import jit

_LEAST_CALLS = 3
_WARM_UP_CALLS = 3  # a jitted function has recorded by then
_HEADINGS = ("operation", "plugrad", "torch", "torch / plugrad", "kernels", "memory")
_EXPLANATION = """\
{count} operations at sizes of real programs, one thread each, the slowest beside PyTorch first. Each figure
is the least processor time of a call; both libraries take turns in one process. plugrad is jitted unless the
shape of the result depends on values, PyTorch is eager; results are compared before they are timed. Kernels
are those of one call, and memory is the most that buffers grow by in it. The geometric mean of the ratios is
**{mean:.2f}**; in {ahead} of them plugrad is at least as fast, in {behind} it has less than 0.8 of
PyTorch's speed.
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurement of one operation."""

    name: str
    seconds: float
    torch_seconds: float
    kernels: int
    nbytes: int

    @property
    def ratio(self) -> float:
        """The time of torch as a multiple of plugrad's: above 1, plugrad is faster."""
        return self.torch_seconds / self.seconds

    def cells(self) -> tuple[str, ...]:
        """Return a row of the table."""
        times = show_time(self.seconds), show_time(self.torch_seconds), f"{self.ratio:.2f}"
        return self.name, *times, str(self.kernels), f"{self.nbytes / 1e6:.1f} MB"


def measure(operation: Operation, seconds: float) -> Measured:
    """Return the least processor time of a call in both libraries, which take turns."""
    torch_inputs = [_torch_input(array, operation) for array in operation.inputs]
    inputs = [_input(array, operation) for array in operation.inputs]
    theirs = (
        _with_gradient(operation, torch_inputs)
        if operation.backward
        else lambda: operation.torch(*torch_inputs)
    )
    wanted = theirs()
    flow = (
        [Tensor(_array(torch.ones_like(operation.torch(*torch_inputs)))).realize()]
        if operation.backward
        else []
    )
    function = _function(operation, flow, [i for i, a in enumerate(operation.inputs) if a.dtype.kind == "f"])
    nbytes, kernels, found = _watched(function, inputs)
    if operation.compares:
        _compare(operation, found, wanted)
    called = function if operation.eager else jit(function)
    ours = lambda: called(*inputs)  # noqa: E731
    for _ in range(_WARM_UP_CALLS):
        ours(), theirs()
    best, torch_best = _least((ours, theirs), seconds)
    return Measured(operation.name, best, torch_best, kernels, nbytes)


def _torch_input(array: Any, operation: Operation) -> torch.Tensor:
    tensor = torch.tensor(array)
    return tensor.to(getattr(torch, operation.dtype)) if tensor.is_floating_point() else tensor


def _input(array: Any, operation: Operation) -> Tensor:
    dtype = getattr(dtypes, operation.dtype) if array.dtype.kind == "f" else None
    return Tensor(array, dtype=dtype).contiguous().realize()


def _function(operation: Operation, flow: list[Tensor], floats: list[int]) -> Callable[..., list[Tensor]]:
    # jit compares again in each call what the function names: not the arrays of the operation
    run, backward = operation.plugrad, operation.backward

    def function(*inputs: Tensor) -> list[Tensor]:
        result = run(*inputs)
        if backward:
            result = result.gradient(*(inputs[i] for i in floats), gradient=flow[0])
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        results[0].realize(*results[1:])
        return results

    return function


def _with_gradient(operation: Operation, inputs: list[torch.Tensor]) -> Callable[[], Any]:
    targets = [x.requires_grad_() for x in inputs if x.is_floating_point()]

    def function() -> Any:
        result = operation.torch(*inputs)
        return torch.autograd.grad(result, targets, torch.ones_like(result))

    return function


def _watched(function: Callable[..., list[Tensor]], inputs: list[Tensor]) -> tuple[int, int, list[Tensor]]:
    """Return the most bytes that a call needs beside its inputs, and how many kernels it launches."""
    used: list[int] = []
    with subscribe(KernelEvent, lambda event: used.append(event.memory_used)):
        found = function(*inputs)
    return max(used, default=0) - min(used, default=0), len(used), found


def _array(tensor: torch.Tensor) -> Any:
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor).numpy()


def _compare(operation: Operation, found: list[Tensor], wanted: Any) -> None:
    for ours, theirs in zip(found, wanted if isinstance(wanted, (tuple, list)) else [wanted], strict=True):
        expected = np.asarray(_array(theirs), np.float64)
        error = np.abs(np.asarray(ours.float().numpy(), np.float64).reshape(expected.shape) - expected).max()
        scale = np.abs(expected).max()
        limit = 2e-2 if operation.dtype in ("float16", "bfloat16") else 2e-3
        if not error <= limit * max(scale, 1):
            raise AssertionError(f"off by {error:.3g}, values up to {scale:.3g}")


def _least(calls: tuple[Callable[[], Any], ...], seconds: float) -> list[float]:
    best = [float("inf")] * len(calls)
    end = time.process_time() + seconds
    count = 0
    while count < _LEAST_CALLS or time.process_time() < end:
        count += 1
        for i, call in enumerate(calls):
            started = time.process_time()
            call()
            best[i] = min(best[i], time.process_time() - started)
    return best


def _found(names: list[str], seconds: float) -> Iterator[Measured | tuple[str, str]]:
    for operation in OPERATIONS:
        if names and not any(name in operation.name for name in names):
            continue
        try:
            yield measure(operation, seconds)
        except Exception as error:
            yield operation.name, f"{type(error).__name__}: {error}".splitlines()[0]


def main() -> None:
    """Measure what the command line asks for, and print it, the slowest beside torch first."""
    parser = argparse.ArgumentParser(description="Measure operations beside torch, on one core.")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="names that have this")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each (default: %(default)s)")
    parser.add_argument("--write", action="store_true", help="write the section of the page of benchmarks")
    options = parser.parse_args()
    torch.set_num_threads(1)
    measured: list[Measured] = []
    failed = False
    for found in _found(options.only, options.seconds):
        if isinstance(found, Measured):
            measured.append(found)
            print(*found.cells(), sep="  ", file=sys.stderr, flush=True)
        else:
            failed = True
            print("fails:", *found, file=sys.stderr, flush=True)
    text = _section(measured)
    if options.write:
        write_section("Operations", text)
    print(text)
    sys.exit(failed)


def _section(measured: list[Measured]) -> str:
    """Return the table of all operations, and what their ratios are together."""
    measured = sorted(measured, key=lambda found: found.ratio)
    ratios = [found.ratio for found in measured]
    explanation = _EXPLANATION.format(
        count=len(ratios),
        mean=statistics.geometric_mean(ratios) if ratios else 1.0,
        ahead=sum(ratio >= 1 for ratio in ratios),
        behind=sum(ratio < 0.8 for ratio in ratios),
    )
    table = markdown([_HEADINGS, *(found.cells() for found in measured)])
    return section_body("operations.py", [torch], table, explanation, describe())


if __name__ == "__main__":
    main()
