"""What is done with the losses of a batch: their mean, their sum, or nothing."""

from typing import Any, Literal

from plugrad.errors import ArgumentError

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
