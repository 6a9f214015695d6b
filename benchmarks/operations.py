"""Measure operations beside torch and JAX, one core each: `python benchmarks/operations.py --help`."""

import os

os.environ["THREADS"] = "1"
if hasattr(os, "sched_setaffinity"):
    # JAX computes in a thread of its own, whose processor time shows here late, or when it waits for a core:
    # with two cores, (64 x 20000) @ (20000 x 64) seemed to take 0.07 ms of its 1.8
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import argparse
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import torch
from suite.machine import describe
from suite.operations import OPERATIONS, Operation, with_jax
from suite.sections import section_body, write_section
from suite.table import markdown, show_time

from plugrad import Tensor, dtypes
from plugrad.events import KernelEvent, subscribe
from plugrad.jit import jit

_LEAST_CALLS = 3
_WARM_UP_CALLS = 3  # a jitted function has recorded by then
_BEHIND = 0.8  # of the speed of a peer
_HEADINGS = ("operation", "plugrad", "torch", "jax", "best / plugrad", "kernels", "memory")
_EXPLANATION = """\
{count} operations at sizes of real programs, one thread each, the slowest beside the faster peer first. Each
figure is the least processor time of a call; the libraries take turns in one process. plugrad is jitted,
unless the shape of the result depends on values, PyTorch is eager, and JAX computes what PyTorch exports,
jitted; results are compared before they are timed. Kernels are those of one call, and memory is the most
that buffers grow by in it.

In the geometric mean PyTorch takes **{torch:.2f}** times plugrad's time, JAX **{jax:.2f}** times, of
{jax_count} operations, and the faster of both **{mean:.2f}** times. In {ahead} operations plugrad is at least
as fast as both; in {behind} it has less than 0.8 of the faster one's speed, in {behind_torch} of PyTorch's.
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurement of one operation."""

    name: str
    seconds: float
    torch_seconds: float
    jax_seconds: float
    """Infinite where JAX has no such operation."""
    kernels: int
    nbytes: int

    @property
    def ratio(self) -> float:
        """The time of the faster peer as a multiple of plugrad's: above 1, plugrad is faster."""
        return min(self.torch_seconds, self.jax_seconds) / self.seconds

    def cells(self) -> tuple[str, ...]:
        """Return a row of the table."""
        times = map(show_time, (self.seconds, self.torch_seconds))
        theirs = show_time(self.jax_seconds) if math.isfinite(self.jax_seconds) else "-"
        return (
            self.name,
            *times,
            theirs,
            f"{self.ratio:.2f}",
            str(self.kernels),
            f"{self.nbytes / 1e6:.1f} MB",
        )


def measure(operation: Operation, seconds: float) -> Measured:
    """Return the least processor time of a call in each library; they take turns."""
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
        _compare(operation, [ours.float().numpy() for ours in found], wanted)
    called = function if operation.eager else jit(function)
    ours = lambda: called(*inputs)  # noqa: E731
    calls = [ours, theirs]
    with_xla = with_jax.make_call(operation, torch_inputs)
    if with_xla is not None:
        if operation.compares:
            _compare(operation, jax.tree.leaves(with_xla()), wanted)
        calls.append(with_xla)
    for _ in range(_WARM_UP_CALLS):
        for call in calls:
            call()
    best, torch_best, *jax_best = _least(calls, seconds)
    return Measured(operation.name, best, torch_best, *(jax_best or [math.inf]), kernels, nbytes)


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


def _compare(operation: Operation, found: list[Any], wanted: Any) -> None:
    for ours, theirs in zip(found, wanted if isinstance(wanted, (tuple, list)) else [wanted], strict=True):
        expected = np.asarray(_array(theirs), np.float64)
        error = np.abs(np.asarray(ours, np.float64).reshape(expected.shape) - expected).max()
        scale = np.abs(expected).max()
        limit = 2e-2 if operation.dtype in ("float16", "bfloat16") else 2e-3
        if not error <= limit * max(scale, 1):
            raise AssertionError(f"off by {error:.3g}, values up to {scale:.3g}")


def _least(calls: Sequence[Callable[[], Any]], seconds: float) -> list[float]:
    best = [float("inf")] * len(calls)
    end = time.process_time() + seconds
    count = 0
    turns = list(enumerate(calls))
    # in a fixed order, one library would always pay for the threads and the cold cache that one other leaves
    order = random.Random(0)
    while count < _LEAST_CALLS or time.process_time() < end:
        count += 1
        order.shuffle(turns)
        for i, call in turns:
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
    """Measure what the command line asks for, and print it, the slowest beside its peers first."""
    parser = argparse.ArgumentParser(description="Measure operations beside torch and JAX, on one core.")
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
    beside_torch = [found.torch_seconds / found.seconds for found in measured]
    beside_jax = [x.jax_seconds / x.seconds for x in measured if math.isfinite(x.jax_seconds)]
    mean_torch, mean_jax, mean = (
        statistics.geometric_mean(each) if each else 1.0 for each in (beside_torch, beside_jax, ratios)
    )
    explanation = _EXPLANATION.format(
        count=len(ratios),
        torch=mean_torch,
        jax_count=len(beside_jax),
        jax=mean_jax,
        mean=mean,
        ahead=sum(ratio >= 1 for ratio in ratios),
        behind=sum(ratio < _BEHIND for ratio in ratios),
        behind_torch=sum(ratio < _BEHIND for ratio in beside_torch),
    )
    table = markdown([_HEADINGS, *(found.cells() for found in measured)])
    return section_body("operations.py", [torch, jax], table, explanation, describe())


if __name__ == "__main__":
    main()
