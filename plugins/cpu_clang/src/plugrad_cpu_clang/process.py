"""Run compiler processes that leave nothing behind: no file, no child after Ctrl-C."""

import atexit
import functools
import os
import signal
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plugrad._frozen import frozen
from plugrad._util import LazyModule, shlex, shutil
from plugrad.errors import CompileError
from plugrad.runtime.private_folder import exposure, make_private
from plugrad.settings import cache_dir

if TYPE_CHECKING:
    import subprocess
    import tempfile
else:
    # a process that finds its kernels in the cache runs no compiler
    subprocess, tempfile = map(LazyModule, ("subprocess", "tempfile"))


@frozen
class Output:
    """The output of a finished process."""

    stdout: str
    stderr: str


_SCRATCH = "plugrad-cc-"
# No compiler runs for so long.
_ABANDONED_SECONDS = 24 * 3600
# What zig writes for some hundred kernels is a tenth of it.
_ZIG_ROOM_BYTES = 16 << 20


@functools.cache
def _passing_zig_cache() -> str:
    folder = tempfile.mkdtemp(prefix="plugrad-zig-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def scratch_directory() -> Generator[Path]:
    """Give a new directory that is removed when the block ends, however it ends."""
    _remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, ignore_cleanup_errors=True) as name:
        yield Path(name)


@functools.cache
def _remove_abandoned() -> None:
    """Remove what processes left that were killed while they compiled, once in a process."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*"):
        with suppress(OSError):  # of somebody else, or removed by another process meanwhile
            if time.time() - folder.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(folder)


def run_compiler(
    command: Sequence[str], *, source: str = "", folder: Path | None = None, seconds: float | None = None
) -> Output:
    """Run one command to its end, in `folder`, for `seconds` at most.

    Raises:
        CompileError: it cannot be started, does not end in time, or ends with another status than 0.
    """
    return run_compilers([(command, source)], folder=folder, seconds=seconds)[0]


def run_compilers(
    jobs: Sequence[tuple[Sequence[str], str]],
    *,
    folder: Path | None = None,
    seconds: float | None = None,
) -> list[Output]:
    """Run several `(command, source)` jobs side by side; `source` is only what an error shows.

    Raises:
        CompileError: of the first job that failed, once all have ended.
    """
    try:
        with ExitStack() as running:
            processes = [running.enter_context(_run(*job, folder)) for job in jobs]
            outputs = [Output(*process.communicate(timeout=seconds)) for process in processes]
    except subprocess.TimeoutExpired as error:
        message = f"{os.path.basename(error.cmd[0])} does not end: it was stopped after {seconds:g} seconds."
        raise CompileError(message, log=message, command=tuple(error.cmd)) from error
    for (command, source), process, output in zip(jobs, processes, outputs, strict=True):
        if process.returncode != 0:
            raise CompileError(
                f"{os.path.basename(command[0])} ended with status {process.returncode}. "
                f"To see it again, save the source as {command[-1]} and run the command.",
                source=source,
                log=output.stderr or output.stdout,
                command=tuple(shlex.quote(part) for part in command),
            )
    return outputs


@contextmanager
def _run(command: Sequence[str], source: str, folder: Path | None) -> "Generator[subprocess.Popen[str]]":
    with _start(command, source, folder) as process:
        try:
            yield process
        finally:
            # compilers start others, which would go on, and which hold the pipes open
            if process.poll() is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _start(command: Sequence[str], source: str, folder: Path | None) -> "subprocess.Popen[str]":
    environment = compiler_environment(os.environ)
    if folder is not None:
        # a compiler that is killed leaves files of its own, which go with the folder
        environment.update(dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(folder)))
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment,
            process_group=0,
        )
    except OSError as error:
        raise CompileError(
            f"cannot run {command[0]}: {error}", source=source, log=str(error), command=command
        ) from error


def compiler_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of compilers: English messages, zig's caches beside ours.

    Where ours cannot be written, is full, or others may write to it, zig gets a directory for as long as this
    process lives: without one it fails, or looks for one forever.
    """
    folder = cache_dir() / "zig"
    zig_cache = str(folder)
    try:
        make_private(folder)
        is_private = not exposure(folder, cache_dir()) and os.access(folder, os.W_OK)
        usable = is_private and shutil.disk_usage(folder).free >= _ZIG_ROOM_BYTES
    except OSError:
        usable = False
    if not usable:
        zig_cache = _passing_zig_cache()
    return {**environment, "LC_ALL": "C", "ZIG_GLOBAL_CACHE_DIR": zig_cache, "ZIG_LOCAL_CACHE_DIR": zig_cache}
