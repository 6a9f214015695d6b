"""Dropout: noise against overfitting."""

from plugrad.errors import ArgumentError
from plugrad.tensor import Tensor

__all__ = ["Dropout"]


class Dropout:
    """Set elements to zero with probability `p`, and scale the others by 1/(1-p), while training.

    Source: Srivastava et al. 2014.

    Raises:
        ArgumentError: `p` lies outside of 0..1.

    Example:
        >>> Dropout(0.5)(Tensor.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """

    def __init__(self, p: float = 0.5) -> None:
        if not 0 <= p <= 1:
            raise ArgumentError(
                f"Dropout: p={p} lies outside of 0..1. It is the share of elements that is dropped."
            )
        self.p = p

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        return x.dropout(self.p)
