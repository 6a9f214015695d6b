"""Run all mutants: `python -m plugrad_conformance.mutants [--write FILE] [NAME ...]`."""

import argparse
import sys
import time
from pathlib import Path

from plugrad_conformance.mutants.harness import Verdict, judge, kill_matrix
from plugrad_conformance.mutants.register import all_mutants


def main() -> int:
    """Judge every mutant and return 1 if one survives."""
    parser = argparse.ArgumentParser("python -m plugrad_conformance.mutants", description=__doc__)
    parser.add_argument("--write", type=Path, help="where to write the kill matrix, in Markdown")
    parser.add_argument("names", nargs="*", help="only these mutants")
    arguments = parser.parse_args()
    verdicts: list[Verdict] = []
    for mutant in all_mutants():
        if arguments.names and mutant.name not in arguments.names:
            continue
        started = time.perf_counter()
        verdict = judge(mutant)
        verdicts.append(verdict)
        fate = "killed  " if verdict.is_killed else "SURVIVES"
        print(f"{fate} {mutant.name} ({time.perf_counter() - started:.1f} s)")
        for row in verdict.rows:
            reason = row.reason.splitlines()[0][:150] if row.reason else ""
            print(f"    {row.outcome}: {row.id}: {reason}")
    if arguments.write is not None:
        arguments.write.parent.mkdir(parents=True, exist_ok=True)
        arguments.write.write_text(kill_matrix(verdicts), encoding="utf-8")
    return int(not all(verdict.is_killed for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
