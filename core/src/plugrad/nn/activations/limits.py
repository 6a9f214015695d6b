"""Activations that cut off: beyond limits, or around 0."""

from plugrad.nn.activations.in_place import InPlace
from plugrad.nn.checks import check_tensors
from plugrad.tensor import Tensor


class Hardtanh(InPlace):
    """Elements limited to `min_val` to `max_val`: `Tensor.hardtanh`.

    Example:
        >>> Hardtanh()(Tensor([-3.0, 0.5])).tolist()
        [-1.0, 0.5]
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.min_val = min_val
        self.max_val = max_val

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.hardtanh(self.min_val, self.max_val)


class Threshold(InPlace):
    """Elements above `threshold`, and `value` in place of the others: `Tensor.threshold`.

    Example:
        >>> Threshold(1.0, 9.0)(Tensor([1.0, 2.0])).tolist()
        [9.0, 2.0]
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.threshold(self.threshold, self.value)


class Hardshrink:
    """Elements, 0 in place of those within `lambd` of it: `Tensor.hardshrink`.

    Example:
        >>> Hardshrink()(Tensor([0.25, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.hardshrink(self.lambd)


class Softshrink:
    """Elements moved towards 0 by `lambd`: `Tensor.softshrink`.

    Example:
        >>> Softshrink()(Tensor([0.25, 2.0])).tolist()
        [0.0, 1.5]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.softshrink(self.lambd)
