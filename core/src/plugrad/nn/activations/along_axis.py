"""Activations along an axis."""

from plugrad.nn.checks import check_tensors
from plugrad.tensor import Tensor


class GLU:
    """The first half along an axis times the sigmoid of the other: `Tensor.glu`.

    Example:
        >>> GLU()(Tensor([2.0, 0.0])).tolist()
        [1.0]
    """

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.glu(self.dim)


class Softmax:
    """Numbers that add up to 1 along an axis: `Tensor.softmax`.

    Example:
        >>> Softmax(0)(Tensor([1.0, 1.0])).tolist()
        [0.5, 0.5]
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.softmax(self.dim)


class Softmin:
    """`Softmax` of the negative elements: `Tensor.softmin`.

    Example:
        >>> Softmin(0)(Tensor([1.0, 1.0])).tolist()
        [0.5, 0.5]
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.softmin(self.dim)


class LogSoftmax:
    """The logarithm of `Softmax`: `Tensor.log_softmax`.

    Example:
        >>> LogSoftmax(0)(Tensor([3.0])).tolist()
        [0.0]
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.log_softmax(self.dim)
