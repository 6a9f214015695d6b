"""Dropout: noise against overfitting."""

from plugrad.nn.checks import check_probability
from plugrad.nn.module import UnaryModule
from plugrad.tensor import Tensor

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d"]


class Dropout(UnaryModule):
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

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        check_probability(self, p=p)
        self.p = p
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        return x.dropout(self.p)


class Dropout1d(Dropout):
    """`Dropout` of whole channels of sequences (N, C, L): `Tensor.dropout1d`.

    Example:
        >>> Dropout1d(0.5)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 4)
    """

    def forward(self, x: Tensor) -> Tensor:
        return x.dropout1d(self.p)


class Dropout2d(Dropout):
    """`Dropout` of whole channels of images (N, C, H, W): `Tensor.dropout2d`.

    Example:
        >>> Dropout2d(0.5)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 4, 4)
    """

    def forward(self, x: Tensor) -> Tensor:
        return x.dropout2d(self.p)


class Dropout3d(Dropout):
    """`Dropout` of whole channels of volumes (N, C, D, H, W): `Tensor.dropout3d`.

    Example:
        >>> Dropout3d(0.5)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 4, 4, 4)
    """

    def forward(self, x: Tensor) -> Tensor:
        return x.dropout3d(self.p)


class AlphaDropout(Dropout):
    """`Dropout` for outputs of `SELU`, keeping mean 0 and variance 1: `Tensor.alpha_dropout`.

    Source: Klambauer et al. 2017, section 3.

    Example:
        >>> AlphaDropout(0.5)(Tensor.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """

    def forward(self, x: Tensor) -> Tensor:
        return x.alpha_dropout(self.p)
