import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from plugrad.errors import CompileError
from plugrad.settings import settings
from plugrad_cpu_clang import process
from plugrad_cpu_clang.process import compiler_environment, run_compiler, scratch_directory


def test_a_compiler_that_does_not_end_is_stopped() -> None:
    with pytest.raises(CompileError, match=r"does not end: it was stopped after 0\.2 seconds"):
        run_compiler([sys.executable, "-c", "import time; time.sleep(60)"], seconds=0.2)


def test_a_compiler_is_stopped_with_what_it_started() -> None:
    started = time.monotonic()
    with pytest.raises(CompileError, match="does not end"):
        run_compiler(["sh", "-c", "sleep 60; true"], seconds=0.2)
    assert time.monotonic() - started < 30


def test_an_interrupt_leaves_nothing_open() -> None:
    program = (
        "import signal\n"
        "from plugrad_cpu_clang.process import run_compiler\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "run_compiler(['sh', '-c', 'kill -INT $PPID; sleep 60; true'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=30
    )
    assert ended.stderr.rstrip().endswith("KeyboardInterrupt")


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


def test_zig_gets_a_passing_cache_where_ours_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = compiler_environment({})["ZIG_GLOBAL_CACHE_DIR"]
    monkeypatch.setattr(process.shutil, "disk_usage", lambda path: SimpleNamespace(free=4096))
    assert compiler_environment({})["ZIG_GLOBAL_CACHE_DIR"] != ours


def test_zig_gets_a_passing_cache_where_others_may_write_to_ours() -> None:
    ours = Path(compiler_environment({})["ZIG_GLOBAL_CACHE_DIR"])
    ours.chmod(0o777)
    try:
        assert compiler_environment({})["ZIG_GLOBAL_CACHE_DIR"] != str(ours)
    finally:
        ours.chmod(0o700)


def test_the_passing_cache_goes_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    program = (
        "from plugrad_cpu_clang.process import compiler_environment\n"
        "print(compiler_environment({})['ZIG_GLOBAL_CACHE_DIR'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "PLUGRAD_CACHE": str(tmp_path / "file" / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr == ""
    assert not Path(ended.stdout.strip()).exists()


def test_what_killed_processes_left_is_removed_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    process._remove_abandoned.cache_clear()
    old, new, other = (tmp_path / name for name in ("plugrad-cc-old", "plugrad-cc-new", "other"))
    for folder in (old, new, other):
        folder.mkdir()
        (folder / "kernel.c").write_text("")
    for folder in (old, other):
        os.utime(folder, (0, 0))
    with scratch_directory() as folder:
        assert folder.parent == tmp_path
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "plugrad-cc-new"]


def test_what_a_killed_compiler_leaves_lies_in_the_folder_of_its_compile() -> None:
    program = "import os, tempfile; tempfile.mkstemp(); os.kill(os.getpid(), 9)"
    with scratch_directory() as folder:
        with pytest.raises(CompileError, match="ended with status -9"):
            run_compiler([sys.executable, "-c", program], folder=folder)
        assert len(list(folder.iterdir())) == 1


def test_a_killed_process_leaves_what_the_next_removes_a_day_later(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    compile_and = (
        "import os, sys\n"
        "from plugrad_cpu_clang.process import run_compiler, scratch_directory\n"
        "with scratch_directory() as folder:\n"
        "    (folder / 'kernel.c').write_text('')\n"
        "    {}\n"
    )
    killed = compile_and.format("run_compiler(['sh', '-c', 'kill -9 $PPID'], folder=folder)")
    ended = subprocess.run([sys.executable, "-c", killed], env=environment, check=False)
    assert ended.returncode == -9
    (left,) = tmp_path.iterdir()
    for age, remaining in ((3600, [left]), (25 * 3600, [])):
        os.utime(left, (time.time() - age,) * 2)
        subprocess.run([sys.executable, "-c", compile_and.format("pass")], env=environment, check=True)
        assert list(tmp_path.iterdir()) == remaining
