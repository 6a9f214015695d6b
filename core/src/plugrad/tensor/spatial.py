"""What callers say about windows: sizes, steps and padding, as one number, one for each axis, or words."""

from collections.abc import Sequence
from typing import Any

from plugrad.errors import ShapeError

Sizes = int | Sequence[int]
Padding = int | Sequence[int] | Sequence[Sequence[int]] | str
Widths = tuple[tuple[int, int], ...]


def sizes_of(value: Sizes, axes: int, what: str) -> tuple[int, ...]:
    """Return one number for all of `axes` axes, or those that were given.

    Raises:
        ShapeError: there are more or fewer.

    Example:
        >>> sizes_of(2, 3, "stride")
        (2, 2, 2)
    """
    if isinstance(value, int):
        return (value,) * axes
    if len(value) != axes:
        raise ShapeError(
            f"{what}={tuple(value)} has {len(value)} numbers. Pass one, or one for each of {axes} axes."
        )
    return tuple(value)


def widths_of(padding: Padding, axes: int, what: str) -> Widths:
    """Return (before, after) of each axis.

    Args:
        padding: one width; one for each axis; (before, after) of the last axis, then of those before it;
            or a pair for each axis.
        axes: how many there are.
        what: who asks, for messages.

    Raises:
        ShapeError: the number of widths does not fit.

    Example:
        >>> widths_of((1, 2, 3, 4), 2, "conv2d")
        ((3, 4), (1, 2))
    """
    if isinstance(padding, int):
        return ((padding, padding),) * axes
    given: Any = padding
    if not isinstance(padding, str):
        if len(given) == axes and all(not isinstance(width, int) and len(width) == 2 for width in given):
            return tuple((before, after) for before, after in given)
        if all(isinstance(width, int) for width in given):
            if len(given) == axes:
                return tuple((width, width) for width in given)
            if len(given) == 2 * axes:
                return tuple(zip(given[::2], given[1::2], strict=True))[::-1]
        given = f"{tuple(given)} has {len(given)} numbers"
    raise ShapeError(
        f"{what}: padding={given}. Pass one width, one for each of {axes} axes, or (before, after) of the "
        "last axis and then of those before it: (left, right, top, bottom)."
    )


def widths_of_words(
    padding: Padding, kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...], what: str
) -> Widths:
    """Return `widths_of`, which also takes "valid" (nothing) and "same" (as many windows as elements).

    Where "same" has an odd number of zeros to add, the last one goes behind.

    Raises:
        ShapeError: the number of widths does not fit, or "same" comes with steps.
    """
    if padding == "valid":
        return ((0, 0),) * len(kernel)
    if padding != "same":
        return widths_of(padding, len(kernel), what)
    if any(step != 1 for step in stride):
        raise ShapeError(
            f"{what}: padding='same' with stride={stride}: steps leave fewer windows than elements. Use "
            "stride=1, or give the widths."
        )
    totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    return tuple((total // 2, total - total // 2) for total in totals)
