"""Tests of plugrad.tensor.shape.spatial."""

import pytest

from plugrad.errors import ShapeError
from plugrad.tensor.shape.spatial import sizes_of, widths_of, widths_of_words


def test_one_number_stands_for_all_axes() -> None:
    assert sizes_of(2, 3, "stride") == (2, 2, 2)
    assert sizes_of([1, 3], 2, "stride") == (1, 3)
    with pytest.raises(ShapeError, match=r"stride=\(1,\) has 1 numbers. Pass one, or one for each of 2 axes"):
        sizes_of([1], 2, "stride")


def test_widths_come_in_all_forms() -> None:
    assert widths_of(1, 2, "f") == ((1, 1), (1, 1))
    assert widths_of((1, 2), 2, "f") == ((1, 1), (2, 2))
    assert widths_of((1, 2), 1, "f") == ((1, 2),)
    assert widths_of((1, 2, 3, 4), 2, "f") == ((3, 4), (1, 2))
    assert widths_of(((1, 2), (3, 4)), 2, "f") == ((1, 2), (3, 4))
    for wrong in ((1, 2, 3), "same", ((1, 2), 3)):
        with pytest.raises(ShapeError, match="f: padding="):
            widths_of(wrong, 2, "f")


def test_words_say_how_many_windows_there_are() -> None:
    assert widths_of_words("valid", (3,), (2,), (1,), "f") == ((0, 0),)
    assert widths_of_words("same", (3, 2), (1, 1), (2, 1), "f") == ((2, 2), (0, 1))
    assert widths_of_words(1, (3,), (2,), (1,), "f") == ((1, 1),)
    with pytest.raises(ShapeError, match="padding='same' with stride"):
        widths_of_words("same", (3,), (2,), (1,), "f")
