"""Parse sizes, steps and padding of windows: a number, one for each axis, or words."""

from collections.abc import Sequence
from typing import Any

from plugrad.errors import ShapeError
from plugrad.tensor.arguments import several, whole
from plugrad.tensor.shapes import Dim, as_dim
from plugrad.uop.shape import least
from plugrad.uop.uop import UOp

Sizes = int | Sequence[int]
#: Sizes, some of which may be symbolic.
Dims = Dim | Sequence[Dim]
Padding = int | Sequence[int] | Sequence[Sequence[int]] | str
Widths = tuple[tuple[int, int], ...]


def sizes_of(value: Sizes, axes: int, what: str) -> tuple[int, ...]:
    """Return one number for all of `axes` axes, or those that were given.

    Raises:
        ShapeError: there are more or fewer.
        ArgumentError: something is no integer.

    Example:
        >>> sizes_of(2, 3, "stride")
        (2, 2, 2)
    """
    given = several(value)
    if given is None:
        return (whole(value, what),) * axes
    if len(given) != axes:
        raise ShapeError(
            f"{what}={given} has {len(given)} numbers. Pass one, or one for each of {axes} axes."
        )
    return tuple(whole(number, what) for number in given)


def dims_of(value: Any, axes: int, what: str) -> tuple[Any, ...]:
    """Return `sizes_of`, of which some may be symbolic: nodes.

    Raises:
        ShapeError: there are more or fewer.
        ArgumentError: something is no integer.

    Example:
        >>> dims_of((2, 3), 2, "kernel_size")
        (2, 3)
    """
    if isinstance(value, UOp):
        return (as_dim(value, what),) * axes
    given = several(value)
    if given is None or not any(isinstance(number, UOp) for number in given):
        return sizes_of(value, axes, what)
    numbers = sizes_of([1 if isinstance(number, UOp) else number for number in given], axes, what)
    pairs = zip(given, numbers, strict=True)
    return tuple([as_dim(node, what) if isinstance(node, UOp) else number for node, number in pairs])


def widths_of(padding: Padding, axes: int, what: str) -> Widths:
    """Return (before, after) of each axis.

    Args:
        padding: one width; one for each axis; (before, after) of the last axis, then of those before it;
            or a pair for each axis.
        axes: how many there are.
        what: who asks, for messages.

    Raises:
        ShapeError: the number of widths does not fit.
        ArgumentError: something is no integer.

    Example:
        >>> widths_of((1, 2, 3, 4), 2, "conv2d")
        ((3, 4), (1, 2))
    """
    given = several(padding)
    if given is None and not isinstance(padding, str):
        width = whole(padding, "padding")
        return ((width, width),) * axes
    pairs = [several(pair) for pair in given or ()]
    if given and not any(pairs):
        widths = [whole(width, "padding") for width in given]
        if len(widths) == axes:
            return tuple((width, width) for width in widths)
        if len(widths) == 2 * axes:
            return tuple(zip(widths[::2], widths[1::2], strict=True))[::-1]
    elif len(pairs) == axes and all(pair is not None and len(pair) == 2 for pair in pairs):
        return tuple((whole(pair[0], "padding"), whole(pair[1], "padding")) for pair in pairs if pair)
    text = padding if given is None else f"{given} has {len(given)} numbers"
    raise ShapeError(
        f"{what}: padding={text}. Pass one width, one for each of {axes} axes, or (before, after) of the "
        "last axis and then of those before it: (left, right, top, bottom)."
    )


def not_negative(widths: Widths, what: str) -> Widths:
    """Return the widths of a convolution's padding.

    Raises:
        ShapeError: one is negative.

    Example:
        >>> not_negative(((1, 0),), "conv1d")
        ((1, 0),)
    """
    if min((least(width) for pair in widths for width in pair), default=0) < 0:
        raise ShapeError(f"{what}: padding {widths} (before, after) is negative. Cut with slices before.")
    return widths


def widths_of_words(
    padding: Padding, kernel: tuple[Any, ...], stride: tuple[int, ...], dilation: tuple[int, ...], what: str
) -> Widths:
    """Return `widths_of`, which also takes "valid" (nothing) and "same" (as many windows as elements).

    Where "same" has an odd number of zeros to add, the last one goes behind.

    Raises:
        ShapeError: the number of widths does not fit, or "same" comes with steps.
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
