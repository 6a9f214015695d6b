"""Parse sizes, steps and padding of windows: a number, one for each axis, or words."""

from collections.abc import Sequence
from typing import Any

from plugrad.errors import ShapeError
from plugrad.tensor.shapes import Dim, as_dim, as_int
from plugrad.uop import UOp, least

Sizes = int | Sequence[int]
#: Sizes, some of which may be symbolic.
Dims = Dim | Sequence[Dim]
Padding = int | Sequence[int] | Sequence[Sequence[int]] | str
Widths = tuple[tuple[int, int], ...]


def per_axis(value: Any, axes: int, what: str) -> tuple[Any, ...]:
    """Return a list as a tuple, and a single value once for each axis.

    Example:
        >>> per_axis([1, 2], 2, "stride"), per_axis(3, 2, "stride")
        ((1, 2), (3, 3))
    """
    values: Any = value
    given: tuple[Any, ...] = tuple(values) if isinstance(value, (list, tuple)) else (value,) * axes
    if len(given) != axes:
        raise ShapeError(
            f"{what}={given} has {len(given)} numbers. Pass one, or one for each of {axes} axes."
        )
    return given


def sizes_of(value: Sizes, axes: int, what: str) -> tuple[int, ...]:
    """Return one number for all of `axes` axes, or those that were given."""
    return tuple([as_int(number, what) for number in per_axis(value, axes, what)])


def dims_of(value: Any, axes: int, what: str) -> tuple[Any, ...]:
    """Return `sizes_of`, of which some may be symbolic: nodes."""
    given = per_axis(value, axes, what)
    return tuple([as_dim(size, what) if isinstance(size, UOp) else as_int(size, what) for size in given])


def widths_of(padding: Padding, axes: int, what: str = "operation") -> Widths:
    """Return (before, after) of each axis.

    Args:
        padding: one width; one for each axis; (before, after) of the last axis, then of those before it;
            or a pair for each axis.
        axes: how many there are.
        what: who asks, for messages.

    Example:
        >>> widths_of((1, 2, 3, 4), 2, "conv2d")
        ((3, 4), (1, 2))
    """
    given: Any = padding if isinstance(padding, (list, tuple, str)) else (padding,) * axes
    pairs: list[Any] = [pair for pair in given if isinstance(pair, (list, tuple))]
    if not pairs and not isinstance(given, str):
        widths = [as_int(width, "padding") for width in given]
        if len(widths) == axes:
            return tuple([(width, width) for width in widths])
        if len(widths) == 2 * axes:
            return tuple(zip(widths[::2], widths[1::2], strict=True))[::-1]
    elif len(pairs) == len(given) == axes and all(len(pair) == 2 for pair in pairs):
        return tuple([(as_int(before, "padding"), as_int(after, "padding")) for before, after in pairs])
    text = given if isinstance(given, str) else f"{tuple(given)} has {len(given)} numbers"
    raise ShapeError(
        f"{what}: padding={text}. Pass one width, one for each of {axes} axes, or (before, after) of the "
        "last axis and then of those before it: (left, right, top, bottom)."
    )


def not_negative(widths: Widths, what: str = "operation") -> Widths:
    """Return the widths of a convolution's padding."""
    if min((least(width) for pair in widths for width in pair), default=0) < 0:
        raise ShapeError(f"{what}: padding {widths} (before, after) is negative. Cut with slices before.")
    return widths


def widths_of_words(
    padding: Padding,
    kernel: tuple[Any, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    what: str = "operation",
) -> Widths:
    """Return `widths_of`, which also takes "valid" (nothing) and "same" (as many windows as elements).

    Where "same" has an odd number of zeros to add, the last one goes behind.
    """
    if not isinstance(padding, str) or padding not in ("valid", "same"):
        return widths_of(padding, len(kernel), what)
    if padding == "valid":
        return ((0, 0),) * len(kernel)
    if any(step != 1 for step in stride):
        raise ShapeError(
            f"{what}: padding='same' with stride={stride}: steps leave fewer windows than elements. Use "
            "stride=1, or give the widths."
        )
    totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    return tuple((total // 2, (total + 1) // 2) for total in totals)
