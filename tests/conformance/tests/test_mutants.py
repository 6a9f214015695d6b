"""Every mutant is killed by the cases it names, and these pass without its defect."""

from pathlib import Path

import pytest

from plugrad_conformance.harness import facts
from plugrad_conformance.harness.result import Row
from plugrad_conformance.mutants.harness import Verdict, judge, kill_matrix, killers_of
from plugrad_conformance.mutants.register import UNMUTATED, all_mutants, mutants_like

PAGE = Path(__file__).parents[3] / "docs" / "conformance" / "kill-matrix.md"


@pytest.mark.parametrize("mutant", all_mutants(), ids=lambda mutant: mutant.name)
def test_a_mutant_is_killed(mutant, monkeypatch):
    # what is slow by itself is slow each time: more runs are for plugins on a busy machine
    monkeypatch.setattr(facts, "_MOST_RUNS", facts._RUNS)
    verdict = judge(mutant)
    survived = [row.id for row in verdict.rows if row.outcome != "fail"]
    assert not survived, f"{mutant.name} ({mutant.defect}) survives {survived}"


@pytest.mark.parametrize("mutant", UNMUTATED, ids=lambda mutant: mutant.name)
def test_the_unmutated_passes(mutant):
    verdict = judge(mutant, killers_of(mutants_like(mutant)))
    failed = [f"{row.id}: {row.reason}" for row in verdict.rows if row.outcome not in ("pass", "unsupported")]
    assert not failed, "\n".join(failed)


def test_each_mutant_is_like_one_without_a_defect():
    alike = [mutant.name for unmutated in UNMUTATED for mutant in mutants_like(unmutated)]
    assert sorted(alike) == sorted(mutant.name for mutant in all_mutants())


def test_there_are_enough_of_them():
    assert len(all_mutants()) >= 30
    assert len({mutant.device for mutant in all_mutants()}) == len(all_mutants())


def test_the_published_matrix_is_up_to_date():
    verdicts = [Verdict(m, tuple(Row(i, "fail") for i in m.killed_by)) for m in all_mutants()]
    assert PAGE.read_text(encoding="utf-8") == kill_matrix(verdicts)
