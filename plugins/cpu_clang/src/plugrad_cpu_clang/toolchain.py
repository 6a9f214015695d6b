"""Find the C compilers of this machine and choose one, once.

A compiler is known by what `--version` says; the best one makes a trial compile, and the next only if that
fails. A recent one is tried while slower ones have yet to answer. Both are kept in the cache directory under
the compiler's path, modification time and size. So a process that finds its kernels in the cache runs no
compiler.

Ranking, best first (kernels of the same tile, measured: clang 15+, gcc 11+ and zig reach the same speed):

| rank | compiler  | why there                                                              |
|------|-----------|------------------------------------------------------------------------|
| 5    | clang 15+ | best code for wide register tiles and masks                            |
| 4    | gcc 11+   | the same speed on tiles, compiles twice as fast, weaker selects        |
| 3    | zig       | a recent clang by pip, slow only with an empty cache                   |
| 2    | clang 12+ | spills wide register tiles: 8 x 2 vectors reach 84 of 117 GFLOP/s      |
| 1    | older     | gcc 9 and clang 9 are the first with `__builtin_convertvector`         |
"""

import contextlib
import importlib.util
import json
import os
import re
import threading
from pathlib import Path
from typing import Any, Literal

from plugrad._frozen import frozen
from plugrad._util import dataclasses, shlex, shutil
from plugrad.errors import CompileError, DeviceNotFound, SettingsError
from plugrad.plugin.hints import install_line
from plugrad.runtime.private_folder import exposure, make_private
from plugrad.settings import cache_dir, settings
from plugrad_cpu_clang.process import run_compiler, scratch_directory

Kind = Literal["clang", "gcc", "zig"]

_CHOOSE_HINT = "Give the path of a clang, gcc or zig, or unset PLUGRAD_CC."
_OLDEST: dict[str, int] = {"clang": 9, "gcc": 9, "zig": 0}
_CLANG_SUFFIXES = ("", *(f"-{number}" for number in range(40, 8, -1)))
_GCC_SUFFIXES = ("", *(f"-{number}" for number in range(25, 8, -1)))
# zig's first run takes a few seconds; one that takes this long is not going to end.
_TRIAL_SECONDS = 120.0
# the rank from which a compiler is tried before all have answered
_RECENT: tuple[int, tuple[int, ...]] = (4, ())
_TRIAL = "typedef float v4 __attribute__((vector_size(16)));\nvoid trial(v4 *x) { *x += *x; }\n"


@frozen
class Toolchain:
    """One compiler, with what is known of it.

    Attributes:
        kind: whose command line it understands.
        command: how to call it, without flags.
        version: as the compiler says.
        banner: the first line of its `--version`.
        problem: why it cannot be used, or empty.
    """

    kind: Kind
    command: tuple[str, ...]
    version: tuple[int, ...]
    banner: str
    problem: str = ""

    @property
    def rank(self) -> tuple[int, tuple[int, ...]]:
        """Sorts by preference: see the table above."""
        major = self.version[0] if self.version else 0
        if self.kind == "zig":
            return 3, self.version
        if self.kind == "clang":
            return (5 if major >= 15 else 2 if major >= 12 else 1), self.version
        return (4 if major >= 11 else 1), self.version

    @property
    def name(self) -> str:
        """Kind and version, such as "clang 19.1.7"."""
        return f"{self.kind} {'.'.join(map(str, self.version))}"


@frozen
class Choice:
    """The chosen compiler, the reason, and the rejected ones."""

    toolchain: Toolchain
    reason: str
    others: tuple[Toolchain, ...] = ()


# what was chosen in this process, with the state of its program: by PLUGRAD_CC, PATH and where records are
_choices: dict[tuple[str, str, Path], tuple[Choice, str]] = {}


def install_hint() -> str:
    """Return the sentence that says how to get a compiler."""
    command = install_line("plugrad-plugin-cpu-clang[zig]", "plugins/cpu_clang")
    return f"Install one: `{command}`, or your system's clang or gcc package."


def choose_toolchain() -> Choice:
    """Return the compiler to use: `PLUGRAD_CC` if set, else the best that works.

    It is looked for once in a process, unless it is exchanged meanwhile.

    Raises:
        DeviceNotFound: there is none; says where it looked and what to install.
        SettingsError: `PLUGRAD_CC` names one that cannot be used.
    """
    wish = settings.PLUGRAD_CC, os.environ.get("PATH", ""), cache_dir()
    choice, stamp = _choices.get(wish, (None, ""))
    if choice is None or stamp != _stamp(choice.toolchain.command):
        choice = _look(settings.PLUGRAD_CC)
        _choices[wish] = choice, _stamp(choice.toolchain.command)
    return choice


def forget_choices() -> None:
    """Forget the compilers found, to look for them again."""
    _choices.clear()


def _look(asked: str) -> Choice:
    records = _Records.load()
    if asked:
        found = records.identify(_asked_command(asked))
        found = found if found.problem else records.tried(found)
        records.save()
        if found.problem:
            raise SettingsError(
                f"PLUGRAD_CC={asked!r} cannot be used: {found.problem}. {_CHOOSE_HINT}", name="PLUGRAD_CC"
            )
        return Choice(found, "PLUGRAD_CC asks for it")
    known = records.identify_all(candidates())
    usable = sorted((t for t in known if not t.problem), key=lambda t: t.rank, reverse=True)
    while usable and (best := records.tried(usable[0])).problem:
        known[known.index(usable.pop(0))] = best
    records.save()
    if not usable:
        tried = [f"{' '.join(t.command)}: {t.problem}" for t in known] or ["no clang, gcc or cc on PATH"]
        if _zig_binary() is None:
            tried.append("no ziglang package")
        raise DeviceNotFound(f"no working C compiler ({'; '.join(tried)}). {install_hint()}", device="CPU")
    others = (*usable[1:], *(t for t in known if t.problem))
    return Choice(usable[0], _reason(usable), others)


def candidates() -> list[tuple[str, ...]]:
    """Return the commands of all compilers on PATH and in ziglang, each binary once."""
    names = (
        [f"clang{suffix}" for suffix in _CLANG_SUFFIXES]
        + [f"gcc{suffix}" for suffix in _GCC_SUFFIXES]
        + ["cc"]
    )
    commands: dict[str, tuple[str, ...]] = {}
    for folder in dict.fromkeys(os.get_exec_path()):
        for name in names:
            path = os.path.join(folder, name)
            if os.access(path, os.X_OK):
                commands.setdefault(os.path.realpath(path), (path,))
    zig = _zig_binary()
    if zig:
        commands.setdefault(os.path.realpath(zig), (zig, "cc"))
    return list(commands.values())


def parse_version(banner: str) -> tuple[Kind, tuple[int, ...]] | None:
    """Return the kind and version that a `--version` line speaks of, or None.

    Example:
        >>> parse_version("gcc (Debian 12.2.0-14) 12.2.0")
        ('gcc', (12, 2, 0))
    """
    if found := re.search(r"clang version (\d+(?:\.\d+)*)", banner):
        return "clang", _numbers(found[1])
    if "gcc" in banner.lower() or "Free Software Foundation" in banner:
        found = re.search(r"(\d+(?:\.\d+)+)\s*(?:\d{8}.*)?$", banner.splitlines()[0]) or re.search(
            r"\)\s*(\d+(?:\.\d+)+)", banner
        )
        return ("gcc", _numbers(found[1])) if found else None
    return None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _reason(usable: list[Toolchain]) -> str:
    best, *rest = usable
    if not rest:
        return "the only one that works here"
    beaten = ", ".join(t.name for t in rest)
    if any(t.kind == "clang" and t.rank[0] < 5 for t in rest) and best.kind != "clang":
        return f"ranked before {beaten} (clang before 15 spills wide register tiles)"
    return f"ranked before {beaten}"


def _asked_command(asked: str) -> tuple[str, ...]:
    try:
        command, *arguments = shlex.split(asked)
    except ValueError as error:  # a quote that is not closed, or nothing but spaces
        raise SettingsError(
            f"PLUGRAD_CC={asked!r} is no command: {error}. {_CHOOSE_HINT}", name="PLUGRAD_CC"
        ) from error
    path = _zig_binary() if command == "zig" else shutil.which(command)
    if path is None:
        raise SettingsError(
            f"PLUGRAD_CC={asked!r}: there is no program {command!r} on PATH. {_CHOOSE_HINT}",
            name="PLUGRAD_CC",
        )
    if os.path.basename(path) in ("zig", "zig.exe") and not arguments:
        arguments = ["cc"]
    return (path, *arguments)


def _zig_binary() -> str | None:
    """Find the zig binary of the ziglang package, whose entry point starts a Python."""
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec("ziglang")
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            path = os.path.join(folder, "zig")
            if os.access(path, os.X_OK):
                return path
    return shutil.which("zig")


def _stamp(command: tuple[str, ...]) -> str:
    """Name the state of a program; nothing where it went away."""
    try:
        stat = os.stat(command[0])
    except OSError:
        return ""
    return f"{' '.join(command)}|{stat.st_mtime_ns}|{stat.st_size}"


class _Records:
    """The findings of earlier processes on compilers: a JSON file of stamps to toolchains."""

    def __init__(self, path: Path, known: dict[str, dict[str, Any]]) -> None:
        self.path = path
        self.known = known
        self.changed = False

    @staticmethod
    def load() -> "_Records":
        path = cache_dir() / "cpu_clang" / "toolchains.json"
        known: Any = None
        # what it says is run
        if not exposure(path.parent, cache_dir()):
            with contextlib.suppress(OSError, ValueError):
                known = json.loads(path.read_bytes())
        return _Records(path, known if isinstance(known, dict) else {})  # pyright: ignore[reportUnknownArgumentType]

    def identify(self, command: tuple[str, ...]) -> Toolchain:
        stamp = _stamp(command)
        try:
            found = self.known[stamp]
            return Toolchain(
                found["kind"],
                tuple(found["command"]),
                tuple(found["version"]),
                found["banner"],
                found["problem"],
            )
        except (KeyError, TypeError):
            pass
        toolchain = _ask(command)
        if not toolchain.problem:
            self.known[stamp] = dataclasses.asdict(toolchain)
            self.changed = True
        return toolchain

    def identify_all(self, commands: list[tuple[str, ...]]) -> list[Toolchain]:
        """Return all compilers; those not known yet run side by side."""
        found: dict[tuple[str, ...], Toolchain] = {}

        def examine(command: tuple[str, ...]) -> None:
            toolchain = found[command] = self.identify(command)
            best = max([_RECENT, *(other.rank for other in [*found.values()] if not other.problem)])
            # nearly always this is the one: its trial does not wait for those that have not answered yet
            if not toolchain.problem and toolchain.rank >= best:
                self.tried(toolchain)

        unknown = [command for command in commands if _stamp(command) not in self.known]
        threads = [threading.Thread(target=examine, args=(command,)) for command in unknown]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [found.get(command) or self.identify(command) for command in commands]

    def tried(self, toolchain: Toolchain) -> Toolchain:
        """Return the compiler after its trial compile, with what was wrong with it."""
        known = self.known.get(_stamp(toolchain.command), {})
        if known.get("works"):
            return toolchain
        # a problem is asked about again: a full disk or a missing linker is none of the compiler's
        if problem := _try(toolchain):
            return dataclasses.replace(toolchain, problem=problem)
        known["works"] = self.changed = True
        return toolchain

    def save(self) -> None:
        """Write the file atomically.

        A cache that cannot be written costs time in the next process, nothing else.
        """
        if not self.changed:
            return
        with contextlib.suppress(OSError):
            make_private(self.path.parent)
            temporary = self.path.with_suffix(f".{os.getpid()}")
            temporary.write_text(json.dumps(self.known, indent=1))
            temporary.replace(self.path)


def _ask(command: tuple[str, ...]) -> Toolchain:
    """Run the compiler for its version."""
    is_zig = command[1:2] == ("cc",)
    try:
        log = run_compiler([command[0], "version"] if is_zig else [*command, "--version"]).stdout
    except CompileError as error:
        return Toolchain(
            "zig" if is_zig else "clang", command, (), "", f"does not run: {error.log.strip()[:200]}"
        )
    banner = log.splitlines()[0].strip() if log.strip() else ""
    kind_version = (
        ("zig", _numbers(re.split(r"[-+]", banner)[0])) if is_zig and banner else parse_version(log)
    )
    if kind_version is None:
        return Toolchain("clang", command, (), banner, f"is no compiler that is known here (says {banner!r})")
    kind, version = kind_version
    is_old = version[0] < _OLDEST[kind]
    problem = f"is too old: {kind} {_OLDEST[kind]} is needed" if is_old else ""
    return Toolchain(kind, command, version, banner, problem)


def _try(toolchain: Toolchain) -> str:
    try:
        with scratch_directory() as folder:
            (folder / "trial.c").write_text(_TRIAL)
            flags = ("-shared", "-fPIC", "-nostdlib", "-o", "trial.so")
            run_compiler([*toolchain.command, *flags, "trial.c"], folder=folder, seconds=_TRIAL_SECONDS)
            return "" if (folder / "trial.so").exists() else "makes no shared library"
    except CompileError as error:
        return f"cannot make a shared library: {error.log.strip()[:300]}"
