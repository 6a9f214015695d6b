"""Tests of plugrad.observe.style."""

import io

import pytest

from plugrad.observe.style import AXIS_COLOURS, duration, fold, pad, paint, plain, rate, wants_colour
from plugrad.uop.ops import AxisType


def test_plain_undoes_paint() -> None:
    assert paint("x", "red") == "\x1b[31mx\x1b[0m"
    assert plain(paint("x", "red")) == "x"
    assert paint("x", None) == "x"


def test_padding_does_not_count_colours() -> None:
    assert plain(pad(paint("ab", "blue"), 4)) == "ab  "


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5e-5, "25.00us"), (0.0999, "99.90ms"), (12.0, "12.00s"), (0.0, "0.00us")]
)
def test_durations_have_a_unit_that_fits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_rate_without_time_is_a_dash() -> None:
    assert rate(5e9, 0.5) == "10.00"
    assert rate(5e9, None) == "-"
    assert rate(5e9, 0.0) == "-"


def test_colour_follows_the_environment_before_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert not wants_colour(stream)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert wants_colour(stream)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(stream)


def test_every_kind_of_axis_but_a_plain_loop_has_a_colour() -> None:
    assert {kind.name for kind in AxisType} - set(AXIS_COLOURS) == {"LOOP"}


def test_long_lines_fold_below_their_own_indentation() -> None:
    assert fold("short\n  of some words", 12) == "short\n  of some\n      words"
    assert fold("name: of some words", 12, 5) == "name: of\n     some\n     words"
    assert fold("name: of some words", None) == "name: of some words"


def test_folded_lines_of_a_difference_keep_their_mark() -> None:
    assert fold("+  some long words", 12) == "+  some long\n+      words"


def test_deep_lines_leave_half_of_the_width_for_words() -> None:
    assert fold(" " * 30 + "some words", 20) == " " * 10 + "some words"
