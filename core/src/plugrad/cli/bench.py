"""`plugrad bench`: measure the limits of a device and the share that kernels reach."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from plugrad.cli.output import add_json_option, new_table, print_json, print_rich
from plugrad.cli.script import run_script
from plugrad.device import Device
from plugrad.engine.compile import compile_kernels
from plugrad.engine.search.trial import Trial, Variant
from plugrad.errors import CacheError
from plugrad.observe.machine_limits import MachineLimits, keep_limits
from plugrad.observe.style import duration
from plugrad.settings import context
from plugrad.tensor import Tensor
from plugrad.uop import Ops

NAME = "bench"
SUMMARY = "Measure the limits of a device; with a program, show the share of them that each kernel reaches."

# Sizes from a cache's to memory's; the next one is not run after one that takes this long.
_COPIED_FLOATS = (1 << 16, 1 << 20, 1 << 24)
_MATRICES = (32, 128, 512, 1024, 4096)
_LONG_ENOUGH_SECONDS = 0.05
_ROUNDS = 9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_json_option(parser)
    parser.add_argument("--device", help="the device to measure (default: the default device)")
    parser.add_argument("script", nargs="?", type=Path, help="a program to run afterwards, with PROFILE=1")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is given")


def run(arguments: argparse.Namespace) -> int:
    """Measure, keep and print the limits; run the program.

    Raises:
        CacheError: the limits cannot be kept.
        PlugradError: there is no such program.
    """
    name = Device.canonicalize(arguments.device)
    limits = measure(name)
    try:
        keep_limits(name, limits)
    except OSError as error:
        raise CacheError(f"cannot keep the limits of {name}: {error.strerror or error}.") from error
    if arguments.json:
        print_json({"device": name, **asdict(limits)})
    else:
        table = new_table("limits of " + name, "")
        table.add_row("float32 operations", f"{limits.flops / 1e9:,.1f} GFLOP/s")
        table.add_row("memory, read and written", f"{limits.bandwidth / 1e9:,.1f} GB/s")
        table.add_row("smallest kernel", duration(limits.launch_seconds))
        print_rich(table, "DEBUG=2 and PROFILE=1 show the share of these that each kernel reaches.")
    if arguments.script is not None:
        sys.stdout.flush()
        with context(PROFILE=1):
            run_script(arguments.script, arguments.arguments)
    return 0


def measure(device: str) -> MachineLimits:
    """Return the limits that kernels of plugrad reach: a copy, matrix products, one element."""
    return MachineLimits(
        flops=max(_rates(_MATRICES, lambda n: (2 * n**3, _product(n, device)))),
        bandwidth=_rates(_COPIED_FLOATS, lambda n: (2 * 4 * n, Tensor.empty(n, device=device) + 1))[-1],
        launch_seconds=_seconds(Tensor.empty(1, device=device) + 1),
    )


def _product(size: int, device: str) -> Tensor:
    left, right = (Tensor.empty(size, size, device=device) for _ in range(2))
    return left @ right


def _rates(sizes: Sequence[int], make: Callable[[int], tuple[int, Tensor]]) -> list[float]:
    """Return the work per second at each size, up to one that takes long."""
    found: list[float] = []
    for size in sizes:
        amount, value = make(size)
        seconds = _seconds(value)
        found.append(amount / seconds)
        if seconds > _LONG_ENOUGH_SECONDS:
            break
    return found


def _seconds(value: Tensor) -> float:
    """Return the least time of a run of the last kernel that computes a value."""
    device = Device[value.device]
    asts = [item.ast for item in value.schedule() if item.ast.op is Ops.SINK]
    kernel = compile_kernels(device, asts)[-1]
    variant = Variant(kernel.program, kernel.runner, [])
    Trial(device, asts[-1], kernel.program.estimates.flops).time([variant], _ROUNDS)
    return variant.best
