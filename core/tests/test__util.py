"""Tests of plugrad._util."""

import subprocess
import sys

from plugrad._util import closest, did_you_mean, slots_in


def test_the_closest_name_ignores_case() -> None:
    assert closest("debgu", ["DEVICE", "DEBUG"]) == "DEBUG"


def test_nothing_is_close_to_an_unrelated_name() -> None:
    assert closest("zebra", ["DEVICE", "DEBUG"]) is None
    assert did_you_mean("zebra", ["DEVICE", "DEBUG"]) == ""


def test_did_you_mean_starts_with_a_space() -> None:
    assert did_you_mean("DEVCE", ["DEVICE", "DEBUG"]) == " Did you mean 'DEVICE'?"


class Slotted:
    __slots__ = ("__own", "__weakref__", "x")


class One:
    __slots__ = "only"


def test_slots_go_by_the_names_of_their_attributes() -> None:
    assert slots_in(Slotted) == ["_Slotted__own", "x"]
    assert (slots_in(One), slots_in(int)) == (["only"], [])


def test_importing_plugrad_leaves_out_what_is_slow_and_not_always_needed() -> None:
    code = "import sys; before = set(sys.modules); import plugrad; print(*sorted(set(sys.modules) - before))"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    slow = {"numpy", "rich", "importlib.metadata", "email", "socket", "subprocess", "tempfile", "zipfile"}
    slow |= {"ctypes", "difflib", "hashlib", "json", "pickle", "random", "traceback", "platformdirs"}
    assert not slow & set(loaded)
    assert not [name for name in loaded if name.startswith("plugrad.codegen.")]
