"""Activations with parameters that are learnt."""

from plugrad.nn.checks import check_tensors
from plugrad.nn.init import parameter
from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike


class PReLU:
    """Elements, the negative ones times a learnt slope: `Tensor.prelu`.

    Args:
        num_parameters: one slope for all, or one for each channel (axis 1).
        init: the first value of the slope.
        device: where it lives; `Device.DEFAULT` if left out.
        dtype: its dtype; the default float if left out.

    Source: He et al. 2015.

    Example:
        >>> PReLU()(Tensor([-4.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        self.weight = parameter(Tensor.ones(num_parameters, device=device, dtype=dtype) * init)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        check_tensors(self, x=x)
        return x.prelu(self.weight)
