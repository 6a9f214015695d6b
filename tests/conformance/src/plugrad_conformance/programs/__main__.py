"""Search for programs on which devices and NumPy differ: `python -m plugrad_conformance.programs --help`."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from itertools import product

from rich.console import Console
from rich.progress import track

from plugrad.device import Device
from plugrad_conformance.programs import kept
from plugrad_conformance.programs.check import MODES, difference
from plugrad_conformance.programs.generate import random_program
from plugrad_conformance.programs.shrink import shrink


def main(arguments: Sequence[str] | None = None) -> int:
    """Run programs of many seeds and print shrunken failures; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m plugrad_conformance.programs", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--count", type=int, default=100, help="how many seeds (100)")
    parser.add_argument("--length", type=int, default=40, help="steps of a program, about (40)")
    parser.add_argument(
        "--device", action="append", help="a device; may be repeated (PYTHON and the default one)"
    )
    parser.add_argument(
        "--one-mode",
        action="store_true",
        help="run a program in one mode, in turn, not in all",
    )
    parser.add_argument(
        "--kept", action="store_true", help="functions that are built again while their values are kept"
    )
    given = parser.parse_args(arguments)
    devices: list[str] = given.device or list(dict.fromkeys(("PYTHON", Device.DEFAULT)))
    console, failed = Console(stderr=True), 0
    seeds = range(given.first, given.first + given.count)
    if given.kept:
        for seed, device, requires_grad in product(seeds, devices, (False, True)):
            problem = kept.difference(seed, device, requires_grad=requires_grad)
            if problem is not None:
                print(f"{problem}\n", flush=True)
                failed += 1
        print(f"{given.count} functions built again on {', '.join(devices)}: {failed} differ")
        return 1 if failed else 0
    for seed in track(seeds, "programs", console=console):
        program = random_program(seed, given.length)
        modes = (MODES[seed % len(MODES)],) if given.one_mode else MODES
        for device, mode in product(devices, modes):
            differs = partial(difference, device=device, modes=(mode,))
            if differs(program) is not None:
                small = shrink(program, lambda p, differs=differs: differs(p) is not None)
                print(f"seed {seed}:\n{small}\n{differs(small)}\n", flush=True)
                failed += 1
                break
    print(f"{given.count} programs of {given.length} steps on {', '.join(devices)}: {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
