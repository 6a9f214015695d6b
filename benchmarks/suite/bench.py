"""Run each measurement in a process of its own, libraries in turn."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from suite.cases import Case
from suite.peers import Peer
from suite.table import Result, Results

FOLDER = Path(__file__).parent.parent
# of the calls in one process
SECONDS, QUICK_SECONDS = 1.0, 0.02
ROUNDS, QUICK_ROUNDS = 5, 1
_MOST_SECONDS = 600
_TIME_IMPORT = "import time\nstart = time.perf_counter()\n{}\nprint(time.perf_counter() - start)"

# a user's second process finds bytecode; a setting that keeps it from being written is not theirs
_INHERITED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

Sample = dict[str, Any]


class Bench:
    """The measurements of one run.

    Args:
        scratch: a folder for caches.
        rounds: how often each case is measured; 0: as often as usual.
        quick: take small sizes and little time.
        measures_machine: measure the machine's limits between the cases that they bound.
        progress: is told what is being measured.
    """

    def __init__(
        self, scratch: Path, rounds: int, quick: bool, measures_machine: bool, progress: Callable[[str], None]
    ) -> None:
        self.rounds = rounds or (QUICK_ROUNDS if quick else ROUNDS)
        self.samples: dict[tuple[str, str], list[Sample]] = {}
        self.errors: dict[tuple[str, str], str] = {}
        self.machine: list[Sample] = []
        self._beside: dict[str, list[Sample]] = {}
        self._quick = quick
        self._seconds = QUICK_SECONDS if quick else SECONDS
        self._scratch = scratch
        self._measures_machine = measures_machine
        self._progress = progress
        self._empty_caches = 0

    def run(self, cases: Sequence[Case], peers: Sequence[Peer]) -> None:
        """Measure `cases`, round by round."""
        for case in cases:
            here = list(peers)
            if case.kind in ("import", "first"):
                # once unmeasured: that leaves bytecode, files in the system's cache, kernels in the library's
                for peer in peers:
                    self._attempt(case, peer)
            for number in range(self.rounds):
                self._progress(f"{case.name}, round {number + 1} of {self.rounds}")
                if self._measures_machine and (case.limit or not self.machine):
                    limits = self._python("-m", "suite.machine", str(self._seconds / 5))
                    self.machine.append(limits)
                    self._beside.setdefault(case.name, []).append(limits)
                for peer in here.copy():
                    sample = self._attempt(case, peer)
                    if sample:
                        self.samples.setdefault((case.name, peer.name), []).append(sample)
                    else:
                        here.remove(peer)

    def results(self) -> Results:
        """Return a figure for each case and library that was measured."""
        found = {key: _summary(samples) for key, samples in self.samples.items()}
        return {**found, **{key: Result(error=error) for key, error in self.errors.items()}}

    def description(self) -> Mapping[str, str]:
        """Say what the machine is."""
        return {k: v for k, v in self.machine[0].items() if isinstance(v, str)} if self.machine else {}

    def limits(self, case: str = "") -> Mapping[str, float]:
        """Return what the machine did: the median over the rounds of a case, or over all.

        Memory that neighbours of a virtual machine use too is fast in one minute and slow in the next.
        """
        samples = self._beside.get(case, self.machine)
        names = [k for k, v in samples[0].items() if isinstance(v, float)] if samples else []
        return {name: statistics.median(sample[name] for sample in samples) for name in names}

    def report(self) -> dict[str, object]:
        """Return everything that was measured, as plain data."""
        return {
            "machine": {**self.description(), **self.limits()},
            "results": [
                {"case": case, "library": library, "samples": samples}
                for (case, library), samples in self.samples.items()
            ],
            "errors": [
                {"case": case, "library": library, "error": error}
                for (case, library), error in self.errors.items()
            ],
        }

    def _attempt(self, case: Case, peer: Peer) -> Sample:
        """Measure once; return nothing if the library does not have the case, or fails."""
        try:
            return self._measure(case, peer)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            said = error.stderr or ""
            self.errors[case.name, peer.name] = f"{error}\n{said.strip()[-2000:]}"
            return {}

    def _measure(self, case: Case, peer: Peer) -> Sample:
        environment = self._environment(peer, is_empty=case.name == "first_cold")
        if case.kind == "import":
            seconds = self._python("-c", _TIME_IMPORT.format(peer.importing), **environment)
            return {"best": seconds}
        if case.kind == "first":
            start = time.perf_counter()
            self._python("-c", peer.first, **environment)
            return {"best": time.perf_counter() - start}
        quick = ["--quick"] if self._quick else []
        command = ("-m", "suite.worker", peer.name, case.name, str(self._seconds), *quick)
        return self._python(*command, **environment)

    def _environment(self, peer: Peer, *, is_empty: bool) -> dict[str, str]:
        if not peer.cache_variable:
            return dict(peer.environment)
        folder = self._scratch / "filled"
        if is_empty:
            self._empty_caches += 1
            folder = self._scratch / f"empty{self._empty_caches}"
        folder.mkdir(exist_ok=True)
        return {**peer.environment, peer.cache_variable: str(folder / peer.cache_name)}

    def _python(self, *arguments: str, **environment: str) -> Any:
        """Run Python in the benchmarks' folder and return what it prints, read as JSON."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=FOLDER,
            env={**_INHERITED, **environment},
            capture_output=True,
            text=True,
            check=True,
            timeout=_MOST_SECONDS,
        )
        return json.loads(done.stdout)


def _summary(samples: Sequence[Sample]) -> Result:
    if "rate" in samples[0]:
        return Result(rate=statistics.median(sample["rate"] for sample in samples))
    return Result(seconds=statistics.median(sample["best"] for sample in samples))
