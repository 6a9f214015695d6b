"""Random programs: the same for a seed, found out when a device is wrong, and then made small."""

from dataclasses import replace

import pytest

from plugrad.device import Device
from plugrad.testing.programs.__main__ import main
from plugrad.testing.programs.check import MODES, difference
from plugrad.testing.programs.generate import random_program
from plugrad.testing.programs.program import Program
from plugrad.testing.programs.shrink import shrink
from plugrad.testing.programs.vocabulary import CHANGES, WORDS, is_tame


def test_a_seed_has_one_program() -> None:
    assert str(random_program(3)) == str(random_program(3))
    assert str(random_program(3)) != str(random_program(4))


def test_programs_use_every_word() -> None:
    words = {step.word for seed in range(300) for step in random_program(seed).steps}
    assert words == {*WORDS, "input"}


@pytest.mark.parametrize("seed", range(20))
def test_values_are_exact(seed: int) -> None:
    assert all(is_tame(value) for value in random_program(seed).expected)


@pytest.mark.parametrize("seed", range(12))
def test_the_oracle_agrees_with_numpy(seed: int) -> None:
    assert difference(random_program(seed, 24), "PYTHON") is None


def test_a_wrong_word_is_found_and_little_is_left_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORDS, "flip", replace(WORDS["flip"], on_tensor=lambda x, axes: x))

    def fails(program: Program) -> bool:
        return difference(program, "PYTHON", MODES[:1]) is not None

    program = next(p for p in map(random_program, range(200)) if fails(p))
    small = shrink(program, fails)
    assert [step.word for step in small.steps if step.word not in CHANGES][-1:] == ["flip"]
    assert len(small.steps) <= 4


def test_the_command_says_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "1", "--length", "6", "--device", "PYTHON"]) == 0
    assert capsys.readouterr().out == "1 programs of 6 steps on PYTHON: 0 differ\n"


def test_the_interpreter_and_the_default_device_are_compared_unless_others_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for default, compared in (("NULL", "PYTHON, NULL"), ("PYTHON", "PYTHON")):
        monkeypatch.setattr(Device, "_assigned", default)
        assert main(["--count", "0"]) == 0
        assert capsys.readouterr().out == f"0 programs of 40 steps on {compared}: 0 differ\n"
