from typing import Any

import pytest

from plugrad import Tensor, Variable
from plugrad.errors import ArgumentError, AxisError, ShapeError
from plugrad.tensor.shapes import (
    as_shape,
    axes_along,
    broadcast_shapes,
    check_sizes,
    fixed_shape,
    one_axis,
    show,
    some_axes,
)
from plugrad.uop.uop import UOp


def test_shapes_come_as_arguments_or_as_one_sequence() -> None:
    assert as_shape((2, 3)) == as_shape(((2, 3),)) == as_shape(([2, 3],)) == (2, 3)
    assert as_shape(()) == as_shape(((),)) == ()


def test_a_constant_node_is_a_number() -> None:
    assert as_shape((UOp.const(Variable("n", 1, 2).dtype, 5),)) == (5,)


def test_a_size_that_is_no_integer_is_refused_with_its_value() -> None:
    with pytest.raises(ShapeError, match=r"2\.5 \(float\) is no size of an axis\. Pass integers"):
        as_shape((2.5,))  # type: ignore[arg-type]


def test_negative_sizes_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"\(2, -3\) has a negative size"):
        check_sizes((2, -3))


def test_axes_count_from_both_ends() -> None:
    assert one_axis(-1, 3) == one_axis(2, 3) == 2
    assert some_axes(None, 2) == some_axes((-1, 0), 2) == (0, 1)


@pytest.mark.parametrize(
    ("axis", "ndim", "message"),
    [
        (2, 2, "axis 2 is out of range. The axes of this tensor run from -2 to 1."),
        (-3, 2, "axis -3 is out of range. The axes of this tensor run from -2 to 1."),
        (0, 0, "axis 0 is out of range. The axes of this tensor do not exist: it has shape ()."),
    ],
)
def test_an_axis_that_does_not_exist_is_refused(axis: int, ndim: int, message: str) -> None:
    with pytest.raises(AxisError) as caught:
        one_axis(axis, ndim)
    assert str(caught.value) == message


def test_a_single_element_lies_along_axis_0_and_none_is_left() -> None:
    assert axes_along(0, 0) == axes_along((-1,), 0) == axes_along(None, 0) == ()
    assert axes_along((), 2) == ()
    with pytest.raises(AxisError, match="axis 1 is out of range"):
        axes_along(1, 0)


def test_an_axis_that_comes_twice_is_refused() -> None:
    with pytest.raises(AxisError, match=r"axes \(0, -2\) name one axis twice"):
        some_axes((0, -2), 2)


def test_sizes_of_one_broadcast_from_the_last_axis() -> None:
    assert broadcast_shapes((3, 1), (2, 1, 4)) == (2, 3, 4)
    assert broadcast_shapes((), (0,)) == (0,)
    assert broadcast_shapes() == ()


def test_sizes_that_differ_name_the_axis_and_both_shapes() -> None:
    with pytest.raises(ShapeError) as caught:
        broadcast_shapes((2, 3), (4, 2, 5))
    assert "(2, 3) and (4, 2, 5) do not broadcast: axis -1 has sizes 3 and 5" in str(caught.value)


def test_equal_symbolic_sizes_broadcast() -> None:
    n = Variable("n", 1, 9)
    assert broadcast_shapes((n, 3), (n, 1)) == (n, 3)
    assert show((n, 3)) == "(n, 3)"


def test_sizes_beyond_all_memory_are_refused() -> None:
    for size in (1 << 63, 1 << 70):
        with pytest.raises(ShapeError, match=r"has a size of 2\*\*63 or more"):
            Tensor.zeros(2, size)
    assert Tensor.zeros(1 << 40, 1 << 20).sum(1)[0].item() == 0


LONG = 10**5000


@pytest.mark.parametrize(
    "call",
    [
        lambda x: Tensor.zeros(LONG),
        lambda x: Tensor.randn(2, LONG),
        lambda x: Tensor.eye(LONG),
        lambda x: Tensor.linspace(0, 1, LONG),
        lambda x: Tensor.zeros(-LONG),
        lambda x: x.reshape(LONG),
        lambda x: x.expand(LONG, 2),
        lambda x: x.repeat(LONG),
        lambda x: x.shrink_to(LONG),
        lambda x: x.unfold(0, LONG, 1),
        lambda x: x.topk(LONG),
        lambda x: x.repeat_interleave(LONG),
        lambda x: x.multinomial(LONG),
        lambda x: x.rfft(LONG),
        lambda x: x.reshape(1, 1, 2).max_pool1d(LONG),
        lambda x: x.reshape(1, 1, 2).conv1d(x.reshape(1, 1, 2), groups=LONG),
        lambda x: x.reshape(1, 1, 2).conv1d(x.reshape(1, 1, 2), dilation=LONG),
    ],
)
def test_integers_that_are_too_long_are_refused_without_their_digits(call: Any) -> None:
    with pytest.raises((ShapeError, AxisError, ArgumentError), match=r"\d+ bits"):
        call(Tensor([1.0, 2.0]))


def test_a_symbolic_shape_is_refused_to_who_asks_for_a_fixed_one() -> None:
    assert fixed_shape((2, 3)) == (2, 3)
    with pytest.raises(ShapeError, match=r"the shape \(2, n\) is symbolic\. Take a slice of fixed size"):
        fixed_shape((2, Variable("n", 1, 3)))
