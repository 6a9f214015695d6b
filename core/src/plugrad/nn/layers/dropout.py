"""Dropout: noise against overfitting."""

from plugrad.nn.module import UnaryFunction
from plugrad.tensor import Tensor
from plugrad.tensor.functional.dropout import check_probability

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d"]


class Dropout(UnaryFunction, function=Tensor.dropout):
    """Set elements to zero with probability `p`, and scale the others by 1/(1-p), while training.

    Args:
        p: the probability.
        inplace: taken and of no effect: the result is a new tensor.

    Source: Srivastava et al. 2014.

    Raises:
        ArgumentError: `p` lies outside of 0..1.

    Example:
        >>> Dropout(0.5)(Tensor.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """

    p: float = 0.5
    inplace: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no probability."""
        check_probability(self.p, type(self).__name__)


class Dropout1d(Dropout, function=Tensor.dropout1d):
    """`Dropout` of whole channels of sequences (N, C, L): `Tensor.dropout1d`.

    Example:
        >>> Dropout1d(0.5)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 4)
    """


class Dropout2d(Dropout, function=Tensor.dropout2d):
    """`Dropout` of whole channels of images (N, C, H, W): `Tensor.dropout2d`.

    Example:
        >>> Dropout2d(0.5)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 4, 4)
    """


class Dropout3d(Dropout, function=Tensor.dropout3d):
    """`Dropout` of whole channels of volumes (N, C, D, H, W): `Tensor.dropout3d`.

    Example:
        >>> Dropout3d(0.5)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 4, 4, 4)
    """


class AlphaDropout(Dropout, function=Tensor.alpha_dropout):
    """`Dropout` for outputs of `SELU`, keeping mean 0 and variance 1: `Tensor.alpha_dropout`.

    Source: Klambauer et al. 2017, section 3.

    Example:
        >>> AlphaDropout(0.5)(Tensor.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """
