"""Time calls in turn by processor time, and write them as a section of a page."""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import torch

from suite.machine import describe
from suite.sections import PAGE, section_body, write_section
from suite.table import markdown

Call = Callable[[], Any]
Samples = dict[str, list[float]]


def take_turns(calls: Mapping[str, Call], count: int, *, warm: bool = True) -> Samples:
    """Return the seconds of processor time of each call, `count` times, all taking turns.

    Args:
        calls: the calls by name.
        count: the number of samples of each.
        warm: call once more before each sample, to fill the caches that another has emptied.
    """
    samples: Samples = {name: [] for name in calls}
    for _ in range(count):
        for name, call in calls.items():
            if warm:
                call()
            started = time.process_time()
            call()
            samples[name].append(time.process_time() - started)
    return samples


def run(
    title: str,
    measure: Callable[[bool, int], Sequence[Sequence[str]]],
    explanation: str,
    script: str,
    peers: Sequence[ModuleType] = (torch,),
    calls: int = 20,
) -> None:
    """Parse the command line, measure, print the section, and write it where that is asked for.

    Args:
        title: heading of the section.
        measure: takes whether sizes are small and the number of calls, and returns the rows of the table.
        explanation: what the figures are; `{calls}` is put in.
        script: name of the file that is run.
        peers: the libraries whose versions are told.
        calls: how often each is called unless the command line says.
    """
    parser = argparse.ArgumentParser(description=f"{title}, timed beside other libraries.")
    parser.add_argument("--calls", type=int, default=calls, help="of each, in turn (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run at all?")
    parser.add_argument("--write", action="store_true", help=f"write the section of {PAGE.name}")
    options = parser.parse_args()
    torch.set_num_threads(1)
    table = markdown(measure(options.quick, options.calls))
    text = section_body(script, peers, table, explanation.format(calls=options.calls), describe())
    if options.write:
        write_section(title, text)
    print(text)
