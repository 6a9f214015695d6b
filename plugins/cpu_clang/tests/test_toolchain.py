import os
import stat
import subprocess
import sys

import pytest

from plugrad.errors import DeviceNotFound, SettingsError
from plugrad.settings import context
from plugrad_cpu_clang import process, toolchain
from plugrad_cpu_clang.toolchain import Toolchain, choose_toolchain, parse_version


@pytest.mark.parametrize(
    ("banner", "expected"),
    [
        ("Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu", ("clang", (14, 0, 6))),
        ("Ubuntu clang version 19.1.1 (1ubuntu1~24.04.2)", ("clang", (19, 1, 1))),
        ("Apple clang version 15.0.0 (clang-1500.3.9.4)", ("clang", (15, 0, 0))),
        ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022", ("gcc", (12, 2, 0))),
        ("gcc (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0", ("gcc", (13, 3, 0))),
        ("gcc (GCC) 14.2.1 20240910 (Red Hat 14.2.1-3)", ("gcc", (14, 2, 1))),
        ("cc (Debian 12.2.0-14) 12.2.0\nCopyright (C) Free Software Foundation", ("gcc", (12, 2, 0))),
        ("tcc version 0.9.27", None),
        ("", None),
    ],
)
def test_versions_are_read_from_banners(banner, expected):
    assert parse_version(banner) == expected


def _made_up(kind, *version):
    return Toolchain(kind, (kind,), version, "")


def test_ranking_is_the_documented_one():
    best_first = [
        _made_up("clang", 19, 1),
        _made_up("clang", 15),
        _made_up("gcc", 14),
        _made_up("gcc", 11, 2),
        _made_up("zig", 0, 17),
        _made_up("clang", 14, 0, 6),
        _made_up("gcc", 10),
    ]
    assert sorted(best_first, key=lambda t: t.rank, reverse=True) == best_first


def _script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_plugrad_cc_is_taken_first(choice):
    for usable in (choice.toolchain, *(t for t in choice.others if not t.problem)):
        with context(PLUGRAD_CC=" ".join(usable.command)):
            found = choose_toolchain()
        assert found.toolchain == usable
        assert "PLUGRAD_CC" in found.reason


def test_plugrad_cc_that_is_not_there_is_an_error():
    with context(PLUGRAD_CC="no-such-cc"), pytest.raises(SettingsError, match="no program 'no-such-cc'"):
        choose_toolchain()


@pytest.mark.parametrize("wish", [" ", "clang 'x"])
def test_plugrad_cc_that_is_no_command_is_an_error(wish):
    with context(PLUGRAD_CC=wish), pytest.raises(SettingsError, match="is no command"):
        choose_toolchain()


def test_plugrad_cc_that_cannot_be_used_is_never_replaced():
    code = "from plugrad import Tensor; Tensor([1.0, 2.0]).sum().item()"
    environment = {**os.environ, "PLUGRAD_CC": "no-such-cc"}
    environment.pop("DEVICE", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "SettingsError: PLUGRAD_CC='no-such-cc': there is no program 'no-such-cc' on PATH" in done.stderr


def test_a_compiler_is_looked_for_once(monkeypatch, choice):
    choose_toolchain()
    monkeypatch.setattr(toolchain, "_look", _refuse)
    assert choose_toolchain() is choose_toolchain()
    toolchain.forget_choices()
    with pytest.raises(AssertionError):
        choose_toolchain()


def test_plugrad_cc_that_is_no_compiler_is_an_error(tmp_path):
    command = _script(tmp_path / "cc1", "echo hello 1.0\n")
    with context(PLUGRAD_CC=command), pytest.raises(SettingsError, match="is no compiler that is known"):
        choose_toolchain()


def test_a_compiler_that_cannot_link_is_passed_over(tmp_path, monkeypatch, choice):
    answer = '[ "$1" = --version ] && echo clang version 30.0.0 || { echo no ld >&2; exit 1; }\n'
    _script(tmp_path / "clang-30", answer)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    found = choose_toolchain()
    assert found.toolchain == choice.toolchain
    (broken,) = [t for t in found.others if t.version == (30, 0, 0)]
    assert "no ld" in broken.problem


def test_without_any_compiler_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "_zig_binary", lambda: None)
    with pytest.raises(DeviceNotFound, match=r"pip install '.*cpu[-_]clang\[zig\]'"):
        choose_toolchain()


def test_a_known_compiler_is_not_run_again(monkeypatch, choice):
    monkeypatch.setattr(process.subprocess, "Popen", _refuse)
    assert choose_toolchain() == choice


def test_an_exchanged_compiler_is_asked_again(tmp_path, monkeypatch):
    monkeypatch.setattr(toolchain, "_zig_binary", lambda: None)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    text = '[ "$1" = --version ] && echo clang version %d.0.0 && exit; : > trial.so\n'
    command = _script(tmp_path / "clang", text % 90)
    assert choose_toolchain().toolchain.version == (90, 0, 0)
    _script(tmp_path / "clang", text % 91)
    os.utime(command, ns=(1, 1))
    assert choose_toolchain().toolchain.version == (91, 0, 0)


def test_torn_records_are_ignored(tmp_path, choice):
    folder = tmp_path / "cpu_clang"
    folder.mkdir()
    for text in ('{"/usr/bin', "[]", '{"a": 3}'):
        (folder / "toolchains.json").write_text(text)
        with context(PLUGRAD_CACHE=str(tmp_path)):
            assert choose_toolchain().toolchain == choice.toolchain


def test_records_that_others_may_write_are_ignored(tmp_path):
    folder = tmp_path / "cpu_clang"
    folder.mkdir(mode=0o700)
    (folder / "toolchains.json").write_text('{"stamp": {}}')
    with context(PLUGRAD_CACHE=str(tmp_path)):
        assert toolchain._Records.load().known == {"stamp": {}}
        folder.chmod(0o777)
        assert toolchain._Records.load().known == {}


def _refuse(*args, **options):
    raise AssertionError(f"a process was started: {args}")


def test_zig_means_the_packaged_one_where_none_is_on_path(monkeypatch, choice):
    packaged = [t for t in (choice.toolchain, *choice.others) if t.kind == "zig" and not t.problem]
    if not packaged:
        pytest.skip("no ziglang package here")
    monkeypatch.setenv("PATH", "")
    with context(PLUGRAD_CC="zig"):
        assert choose_toolchain().toolchain.command == packaged[0].command


def test_a_compiler_that_failed_once_is_tried_again(tmp_path, monkeypatch):
    command = _script(tmp_path / "gcc", "echo no space left >&2; exit 1\n")
    with context(PLUGRAD_CC=command, PLUGRAD_CACHE=str(tmp_path)):
        with pytest.raises(SettingsError, match="no space left"):
            choose_toolchain()
        works = toolchain.Toolchain("gcc", (command,), (13, 2), "gcc 13.2")
        monkeypatch.setattr(toolchain, "_ask", lambda command: works)
        monkeypatch.setattr(toolchain, "_try", lambda toolchain: "")
        assert choose_toolchain().toolchain is works


def test_the_best_compiler_is_tried_and_the_next_only_if_that_fails(tmp_path, monkeypatch):
    versions = {"gcc-13": (13, 2), "gcc-12": (12, 1), "gcc-11": (11, 4)}
    monkeypatch.setattr(toolchain, "candidates", lambda: [(name,) for name in versions])
    made = {name: toolchain.Toolchain("gcc", (name,), version, name) for name, version in versions.items()}
    monkeypatch.setattr(toolchain, "_ask", lambda command: made[command[0]])
    monkeypatch.setattr(toolchain, "_stamp", lambda command: command[0])
    tried = []

    def attempt(toolchain):
        tried.append(toolchain.banner)
        return "no linker" if toolchain.banner == "gcc-13" else ""

    monkeypatch.setattr(toolchain, "_try", attempt)
    with context(PLUGRAD_CC="", PLUGRAD_CACHE=str(tmp_path)):
        chosen = choose_toolchain()
        assert chosen.toolchain.banner == "gcc-12"
        assert {t.banner: t.problem for t in chosen.others} == {"gcc-13": "no linker", "gcc-11": ""}
        # those that answer before better ones may be tried as well
        assert {"gcc-13", "gcc-12"} <= set(tried)
        first = len(tried)
        toolchain.forget_choices()
        choose_toolchain()
        assert tried[first:] == ["gcc-13"]
