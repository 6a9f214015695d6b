"""Search for faster optimisations than the heuristic's: `python benchmarks/search.py --help`."""

import os

# neighbours of the machine matter less, and kernels of all sizes are alike
os.environ["THREADS"] = "1"
# lists that an earlier search has found are searched again
os.environ["CACHELEVEL"] = "1"

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from suite.first_call import SHAPES, make_call
from suite.machine import describe
from suite.models import with_plugrad
from suite.models.cases import cases
from suite.sections import PAGE, section_body, write_section
from suite.table import markdown, show_time

from plugrad import Tensor, nn
from plugrad.events import SearchEvent, subscribe
from plugrad.settings import context

_EXPLANATION = """\
`BEAM={beam}` measures neighbours of the optimisations that the heuristic chooses for a kernel, and neighbours
of the fastest of those. What it gains, the heuristic lacks: the aim is less than 5 % in the geometric mean.
Kernels are those of a model's first call, up to the one that the search was at after {seconds:g} seconds.
Times are the least of one run, in processor time with one thread, before and after in turn, on memory that is
not in the second cache. Gains below 2 % count as none. Kernels that gain a tenth are listed.
"""
# Gains of kernels to list.
_LISTED = 1.1


class _TimeIsUp(Exception):
    """The search has taken as long as it may."""


def search(name: str, beam: int, seconds: float, quick: bool) -> list[SearchEvent]:
    """Return what searches found for the kernels of a model's first call, in their order."""
    found: list[SearchEvent] = []
    end = time.monotonic() + seconds

    def observe(event: SearchEvent) -> None:
        found.append(event)
        print(f"{name}: {', '.join(cells(event))}", flush=True)
        if time.monotonic() > end:
            raise _TimeIsUp

    call = _call_of(name, quick)
    try:
        with context(BEAM=beam), subscribe(SearchEvent, observe):
            call()
    except _TimeIsUp:
        pass
    return found


def _call_of(name: str, quick: bool) -> Callable[[], Any]:
    if name in SHAPES:
        return make_call(name, SHAPES[name][0 if quick else 1])
    case = next(case for case in cases(quick) if name in case.title)
    network = with_plugrad.make_network(case)
    Tensor.realize(*nn.state.get_parameters(network))
    return with_plugrad.make_call(case, network)


def gain(event: SearchEvent) -> float:
    """Return how many times as fast a kernel became."""
    return event.seconds_before / event.seconds_after


def cells(event: SearchEvent) -> list[str]:
    """Return a kernel's row."""
    times = show_time(event.seconds_before), show_time(event.seconds_after), f"{gain(event):.2f}"
    after = "the same" if event.after == event.before else _as_text(event.after)
    return [event.name, *times, _as_text(event.before), after]


def row(name: str, found: Sequence[SearchEvent]) -> list[str]:
    """Return a model's row: kernels, the mean of their gains, and all of their times together."""
    before, after = sum(e.seconds_before for e in found), sum(e.seconds_after for e in found)
    mean = statistics.geometric_mean(map(gain, found))
    times = show_time(before), show_time(after), f"{before / after:.3f}"
    return [name, str(len(found)), f"{mean:.3f}", *times]


def _as_text(opts: Sequence[Any]) -> str:
    """Return a list of optimisations as `UPCAST 0.1 4, THREAD 1 2`."""
    named = ((opt.op.name, ".".join(map(str, opt.axis)), str(opt.arg or "")) for opt in opts)
    return ", ".join(" ".join(filter(None, each)) for each in named) or "none"


def main() -> None:
    """Search as the command line asks, print what was gained, and write it where that is asked for."""
    parser = argparse.ArgumentParser(description="Search for faster optimisations than the heuristic's.")
    parser.add_argument(
        "--only", action="append", help="a part of a model's title (default: all of models.py)"
    )
    parser.add_argument("--beam", type=int, default=2, help="the setting BEAM (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=900, help="of each model (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run at all?")
    parser.add_argument("--write", action="store_true", help=f"write the section of {PAGE.name}")
    options = parser.parse_args()
    names = options.only or [case.title for case in cases(options.quick)]
    found = {n: search(n, options.beam, options.seconds, options.quick) for n in names}
    models = [["kernels of", "number", "mean gain", "before", "after", "gain of all"]]
    models += [row(name, events) for name, events in found.items()]
    kernels = [["kernel", "before", "after", "gain", "the heuristic's optimisations", "the search's"]]
    events = sorted((e for each in found.values() for e in each), key=gain, reverse=True)
    kernels += [cells(event) for event in events if gain(event) >= _LISTED]
    table = markdown(models) + "\n\n" + markdown(kernels)
    explanation = _EXPLANATION.format(beam=options.beam, seconds=options.seconds)
    text = section_body("search.py", (), table, explanation, describe())
    if options.write:
        write_section("Searches", text)
    print(text)


if __name__ == "__main__":
    main()
