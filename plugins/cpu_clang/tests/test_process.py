import sys
from pathlib import Path

import pytest

from plugrad.errors import CompileError
from plugrad.settings import settings
from plugrad_cpu_clang.process import compiler_environment, run_compiler


def test_a_compiler_that_does_not_end_is_stopped() -> None:
    with pytest.raises(CompileError, match=r"does not end: it was stopped after 0\.2 seconds"):
        run_compiler([sys.executable, "-c", "import time; time.sleep(60)"], seconds=0.2)


def test_zig_caches_beside_our_kernels() -> None:
    folder = Path(compiler_environment({})["ZIG_GLOBAL_CACHE_DIR"])
    assert folder.name == "zig"
    assert folder.is_dir()


def test_zig_gets_a_passing_cache_where_ours_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PLUGRAD_CACHE", str(tmp_path / "file" / "cache"))
    settings.refresh()
    try:
        folder = Path(compiler_environment({"A": "1"})["ZIG_LOCAL_CACHE_DIR"])
    finally:
        monkeypatch.undo()
        settings.refresh()
    assert folder.is_dir()
    assert tmp_path not in folder.parents
