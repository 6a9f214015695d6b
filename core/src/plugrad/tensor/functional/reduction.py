"""Weights and reductions of the losses of a batch."""

from typing import Any, Literal

from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.arguments import tensors
from plugrad.tensor.shapes import broadcast_shapes, show

Reduction = Literal["mean", "sum", "none"]


def check_reduction(reduction: str, what: str) -> None:
    """Refuse what is no reduction.

    Raises:
        ArgumentError: it is none.
    """
    # an array beside a word is an array of answers
    if not isinstance(reduction, str) or reduction not in ("mean", "sum", "none"):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(f"{what}: reduction={reduction!r} is none of 'mean', 'sum', 'none'.")


def reduced(losses: Any, reduction: str) -> Any:
    """Return losses as `reduction` says, which was checked.

    Example:
        >>> reduced(Tensor([1.0, 3.0]), "mean").item()
        2.0
    """
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.mean()


def weighted_by(losses: Any, weight: Any, what: str) -> Any:
    """Return losses times `weight`, which broadcasts to them; without a weight, the losses.

    Raises:
        ShapeError: the weight does not broadcast to the losses.

    Example:
        >>> weighted_by(Tensor([1.0, 3.0]), Tensor([2.0, 1.0]), "loss").tolist()
        [2.0, 3.0]
    """
    if weight is None:
        return losses
    tensors(weight=weight)
    if broadcast_shapes(losses.shape, weight.shape, what=what) != losses.shape:
        raise ShapeError(
            f"{what} of shape {show(losses.shape)} with a weight of shape {show(weight.shape)}: it must "
            "broadcast to the losses."
        )
    return losses * weight
