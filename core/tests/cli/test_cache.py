"""Tests of plugrad.cli.cache."""

import json
from pathlib import Path

import pytest

from plugrad.cli import main
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.engine.search.results import search_results
from plugrad.runtime.disk_cache import kernel_cache
from plugrad.settings import cache_dir, context
from plugrad_conformance.testing import temporary_cache


def test_info_counts_kernels_and_recordings(capsys: pytest.CaptureFixture[str]) -> None:
    with temporary_cache() as folder:
        kernel_cache().put(b"key", kernel_cache().put_blob(b"library"))
        (folder / "viz").mkdir()
        (folder / "viz" / "run.jsonl").write_text("{}\n")
        with context(CACHE_DISK_MB=3):
            assert main(["cache", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["directory"] == str(folder)
    assert (report["kernels"], report["recordings"], report["recording_bytes"]) == (1, 1, 3)
    assert (report["libraries"], report["limit_bytes"]) == (1, 3 << 20)
    assert report["kernel_bytes"] > len(b"library") + 32


def test_clear_removes_both_and_says_how_many(capsys: pytest.CaptureFixture[str]) -> None:
    with temporary_cache() as folder:
        kernel_cache().put(b"key", b"payload")
        (folder / "viz").mkdir()
        (folder / "viz" / "run.jsonl").touch()
        assert main(["cache", "clear"]) == 0
        assert kernel_cache().get(b"key") is None
        assert list((folder / "viz").iterdir()) == []
    text = capsys.readouterr().out
    assert "removed_kernels: 1" in text
    assert "removed_recordings: 1" in text


def test_clearing_an_empty_cache_is_no_error() -> None:
    with temporary_cache():
        assert main(["cache", "clear"]) == 0
        assert cache_dir().exists()


def test_results_of_searches_are_exported_and_imported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "shared.jsonl"
    with temporary_cache():
        search_results().put("key", (Opt(OptOps.UPCAST, (0,), 4),))
        assert main(["cache", "export", str(file)]) == 0
    with temporary_cache():
        assert main(["cache", "import", str(file)]) == 0
        assert search_results().get("key") == (Opt(OptOps.UPCAST, (0,), 4),)
        assert main(["cache", "clear"]) == 0
        assert len(search_results()) == 0
    assert "removed_searches: 1" in capsys.readouterr().out


def test_importing_needs_a_file_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    with temporary_cache():
        assert main(["cache", "import"]) == 1
        assert main(["cache", "import", "/not/there"]) == 1
    text = capsys.readouterr().err
    assert "give a file to import" in text
    assert "cannot import /not/there: No such file or directory" in text
