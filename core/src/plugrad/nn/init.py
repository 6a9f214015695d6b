"""Initial values of parameters: the distributions that PyTorch's layers start from."""

import math

from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike

__all__ = ["kaiming_uniform", "parameter", "xavier_uniform"]


def parameter(values: Tensor) -> Tensor:
    """Return `values` as a tensor to be trained."""
    values.requires_grad = True
    return values


def kaiming_uniform(
    *shape: int, fan_in: int, device: str | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """Return weights, or a bias, drawn evenly from +-1/sqrt(fan_in).

    Source: He et al. 2015 with a leaky slope of sqrt(5), as `torch.nn.Linear.reset_parameters` uses it.
    """
    return _uniform(*shape, bound=1 / math.sqrt(max(fan_in, 1)), device=device, dtype=dtype)


def xavier_uniform(
    rows: int, columns: int, *, device: str | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """Return a matrix drawn evenly from +-sqrt(6 / (rows + columns)).

    Source: Glorot and Bengio 2010, equation 16.
    """
    return _uniform(rows, columns, bound=math.sqrt(6 / (rows + columns)), device=device, dtype=dtype)


def _uniform(*shape: int, bound: float, device: str | None, dtype: DTypeLike | None) -> Tensor:
    return parameter(Tensor.rand(*shape, device=device, dtype=dtype) * (2 * bound) - bound)
