"""Tests of plugrad.engine.search.results."""

from pathlib import Path

import pytest

from plugrad.codegen.opt.opt_ops import GroupTile, MatrixTile, Opt, OptOps
from plugrad.engine.search.results import SearchResults, as_line, read_lines
from plugrad.settings import context

LIST = (
    Opt(OptOps.UPCAST, (0, 1), 4),
    Opt(OptOps.SWAP, (0, 0), (1, 0)),
    Opt(OptOps.TC, (1,), MatrixTile("16x8x8", (0,), (2,))),
    Opt(OptOps.SHARE, (2,), GroupTile(8, ((0, 1), (1,)))),
    Opt(OptOps.STAGE, (0,)),
)


def test_lists_of_all_kinds_come_back(tmp_path: Path) -> None:
    SearchResults(tmp_path / "a.jsonl").put("key", LIST)
    assert SearchResults(tmp_path / "a.jsonl").get("key") == LIST
    assert SearchResults(tmp_path / "a.jsonl").get("other") is None


def test_the_last_list_of_a_key_counts(tmp_path: Path) -> None:
    results = SearchResults(tmp_path / "a.jsonl")
    results.put("key", LIST)
    results.put("key", ())
    assert SearchResults(tmp_path / "a.jsonl").get("key") == ()


def test_lines_that_are_none_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    torn = as_line("torn", LIST)[:30]
    file.write_text(
        f'{as_line("good", LIST)}[]\n{{"key": 1}}\n{{"key": "x", "opts": [["NONE", [0], 1]]}}\n{torn}'
    )
    assert read_lines(file) == {"good": LIST}


def test_an_export_is_merged_elsewhere(tmp_path: Path) -> None:
    one, other = SearchResults(tmp_path / "a.jsonl"), SearchResults(tmp_path / "b.jsonl")
    one.put("key", LIST)
    assert one.export(tmp_path / "shared.jsonl") == 1
    assert other.merge(tmp_path / "shared.jsonl") == 1
    assert other.merge(tmp_path / "shared.jsonl") == 0
    assert SearchResults(tmp_path / "b.jsonl").get("key") == LIST


def test_without_the_disk_lists_stay_in_memory(tmp_path: Path) -> None:
    with context(CACHELEVEL=1):
        results = SearchResults(tmp_path / "a.jsonl")
        results.put("key", LIST)
        assert results.get("key") == LIST
    assert not (tmp_path / "a.jsonl").exists()


def test_a_disk_that_refuses_warns(tmp_path: Path) -> None:
    results = SearchResults(tmp_path)
    with pytest.warns(RuntimeWarning, match="Each process searches again with BEAM"):
        results.put("key", LIST)
    assert results.get("key") == LIST
