"""Random programs: the same for a seed, found out when a device is wrong, and then made small."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.device import Device
from plugrad.events import LowerEvent
from plugrad.float8 import E4M3, E4M3_FNUZ, E5M2, E5M2_FNUZ, Float8Layout
from plugrad.settings import context
from plugrad.uop.ops import Ops
from plugrad_conformance.programs.__main__ import main
from plugrad_conformance.programs.any_size import any_size
from plugrad_conformance.programs.check import MODES, difference
from plugrad_conformance.programs.generate import random_program
from plugrad_conformance.programs.meaning import evaluate, program_of
from plugrad_conformance.programs.op_table import CHANGES, OPS, SHARES
from plugrad_conformance.programs.ops.op_spec import is_tame
from plugrad_conformance.programs.program import Program, Step, needed_for
from plugrad_conformance.programs.shrink import shrink
from plugrad_conformance.testing import recorded_events


def test_a_seed_has_one_program() -> None:
    assert str(random_program(3)) == str(random_program(3))
    assert str(random_program(3)) != str(random_program(4))


def test_programs_use_every_word() -> None:
    operations = {step.op for seed in range(300) for step in random_program(seed).steps}
    assert operations == {*OPS, "input"}


@pytest.mark.parametrize("seed", range(20))
def test_values_are_exact_or_have_bounds(seed: int) -> None:
    program = random_program(seed)
    values = dict(zip(program.kept, program.expected, strict=True))
    assert all(is_tame(value) for place, value in values.items() if place not in program.bounds)
    for place, (lowest, highest) in program.bounds.items():
        within = (lowest <= values[place]) & (values[place] <= highest)
        assert np.all(within | np.isnan(values[place]))


def _of_constants(value: float, chain: tuple[tuple[str, float], ...]) -> Program:
    steps = (Step("input", (), (np.array([value], np.float32),)), Step("constants", (0,), (chain,)))
    return program_of(steps, [1], evaluate(steps))


@pytest.mark.parametrize(
    ("value", "chain", "wrong"),
    [
        (0.3125, (("+", 12582912.0), ("-", 12582912.0)), 0.3125),
        (1.0, (("+", 1e8), ("-", 1e8)), 1.0),
        (-1.0, (("+", 1.0), ("+", 1e-10)), 0.0),
        (1.5, (("*", 3e38), ("*", 1e-30)), 4.5e8),
        (0.5, (("*", 1e-38), ("*", 1e-38), ("*", 1e38)), 5e-39),
    ],
)
def test_a_rounding_that_matters_may_not_be_left_out(
    value: float, chain: tuple[tuple[str, float], ...], wrong: float
) -> None:
    program = _of_constants(value, chain)
    assert difference(program, "PYTHON") is None
    (want,) = program.expected
    lowest, highest = program.bounds.get(1, (want, want))
    assert not lowest[0] <= np.float32(wrong) <= highest[0]


def test_a_rounding_that_a_rule_leaves_out_may_differ_by_as_much() -> None:
    program = _of_constants(0.1, (("*", 3.0), ("*", 1.1)))
    ((lowest, highest),) = program.bounds.values()
    assert lowest[0] < np.float32(0.1) * np.float32(3.0 * 1.1) < highest[0]
    assert highest[0] - lowest[0] < 1e-6
    assert difference(program, "PYTHON") is None


def test_a_rounding_may_be_left_out_between_two_chains() -> None:
    first, second = (("*", 1.9599609375), ("*", 0.51025390625)), (("*", 0.004638671875), ("*", 215.625))
    steps = (
        Step("input", (), (np.array([-4.75], np.float16),)),
        Step("constants", (0,), (first,)),
        Step("constants", (1,), (second,)),
    )
    assert difference(program_of(steps, [2], evaluate(steps)), "PYTHON") is None


@pytest.mark.parametrize("seed", range(12))
def test_the_oracle_agrees_with_numpy(seed: int) -> None:
    assert difference(random_program(seed, 24), "PYTHON") is None


def test_views_share_memory_and_copies_do_not() -> None:
    steps = (
        Step("input", (), (np.arange(6, dtype=np.int32).reshape(2, 3),)),
        Step("permute", (0,), ((1, 0),)),
        Step("reshape", (1,), ((6,),)),
        Step("contiguous", (1,)),
        Step("index", (2,), ((slice(0, 6, 2),),)),
        Step("mul_by", (4,), (10,)),
    )
    values = [x.values().tolist() for x in evaluate(steps)]
    assert values[0] == [[0, 10, 20], [3, 4, 5]]
    assert values[2] == [0, 3, 10, 4, 20, 5]
    assert values[3] == [[0, 3], [1, 4], [2, 5]]
    assert values[5] == values[4] == [0, 10, 20]
    assert difference(Program(steps, tuple(range(6)), tuple(map(np.asarray, values))), "PYTHON") is not None
    expected = tuple(x.values() for x in evaluate(steps))
    assert difference(Program(steps, tuple(range(6)), expected), "PYTHON") is None


def test_what_shows_more_elements_than_there_are_is_not_written_to() -> None:
    array = np.zeros((1, 2), np.int32)
    steps = (
        Step("input", (), (array,)),
        Step("expand", (0,), ((3, 2),)),
        Step("index", (1,), ((0,),)),
        Step("expand", (0,), ((1, 2),)),
    )
    assert [x.is_expanded for x in evaluate(steps)] == [False, True, True, False]


def test_a_change_belongs_to_all_that_shows_its_memory() -> None:
    array = np.zeros(2, np.int32)
    steps = (
        Step("input", (), (array,)),
        Step("input", (), (array,)),
        Step("flip", (0,), ((0,),)),
        Step("add_to", (2, 1)),
        Step("neg", (0,)),
    )
    assert needed_for(steps, [4], CHANGES, SHARES) == [0, 1, 2, 3, 4]
    assert needed_for(steps, [1], CHANGES, SHARES) == [1]


@pytest.mark.parametrize(
    ("dtype", "layout"),
    {"fp8e4m3": E4M3, "fp8e5m2": E5M2, "fp8e4m3fnuz": E4M3_FNUZ, "fp8e5m2fnuz": E5M2_FNUZ}.items(),
)
def test_narrow_floats_are_rounded_to_the_nearest(dtype: str, layout: Float8Layout) -> None:
    numbers = np.arange(-(1 << 7) * 16, (1 << 7) * 16).astype(np.float32) / 16
    held = np.array([layout.decode(code) for code in range(256)])
    held = held[np.isfinite(held)]
    got = OPS["narrow"].on_numpy(numbers, dtype, "abs", False, ())
    nearest = np.min(np.abs(held[:, None] - np.abs(numbers)), axis=0)
    np.testing.assert_array_equal(np.abs(got - np.abs(numbers)), nearest)


def test_gradients_follow_from_what_words_mean() -> None:
    x, y, w = (np.array(v, np.float32) for v in ([[1.0, 2.0]], [[3.0], [5.0]], [[2.0]]))
    steps = (("matmul", ()), ("neg", ()))
    assert OPS["gradient_pair"].on_numpy(x, y, 0, steps, w).tolist() == [[-6, -10]]
    assert OPS["gradient_pair"].on_numpy(x, y, 1, steps, w).tolist() == [[-2], [-4]]
    assert OPS["gradient"].on_numpy(x, 0, (("max", ((1,), True)), ("abs", ())), w).tolist() == [[0, 2]]


def test_what_reads_values_is_not_jitted() -> None:
    array = np.array([0, 2], np.int32)
    program = Program(
        (Step("input", (), (array,)), Step("nonzero", (0,))), (1,), (np.array([[1]], np.int32),)
    )
    assert difference(program, "PYTHON") is None


def test_a_wrong_word_is_found_and_little_is_left_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPS, "flip", replace(OPS["flip"], on_tensor=lambda x, axes: x))

    def fails(program: Program) -> bool:
        return difference(program, "PYTHON", MODES[:1]) is not None

    program = next(p for p in map(random_program, range(200)) if fails(p))
    small = shrink(program, fails)
    assert "flip" in [step.op for step in small.steps]
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


def test_kernels_of_any_size_have_variables() -> None:
    arrays = [np.arange(4 * n, dtype=np.float32).reshape(n, 4) for n in range(2, 8)]

    def ops(scope: AbstractContextManager[None]) -> set[object]:
        with recorded_events(LowerEvent) as lowered, context(CACHELEVEL=1, SHARE_SIZES=0), scope:
            sums = [(Tensor(array, device="PYTHON") + 1).sum(1).tolist() for array in arrays]
        assert sums == [(array + 1).sum(1).tolist() for array in arrays]
        return {getattr(u, "op", None) for event in lowered for u in event.linear}

    assert Ops.DEFINE_VAR in ops(any_size())
    assert Ops.DEFINE_VAR not in ops(nullcontext())
