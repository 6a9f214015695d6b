"""Initial values of parameters: the distributions that PyTorch's layers start from."""

import math

from plugrad.tensor import Tensor

__all__ = ["kaiming_uniform", "parameter", "uniform_bias", "xavier_uniform"]


def parameter(values: Tensor) -> Tensor:
    """Return `values` as a tensor to be trained."""
    values.requires_grad = True
    return values


def kaiming_uniform(*shape: int, fan_in: int) -> Tensor:
    """Return weights drawn evenly from +-1/sqrt(fan_in).

    Source: He et al. 2015 with a leaky slope of sqrt(5), as `torch.nn.Linear.reset_parameters` uses it.
    """
    return _uniform(*shape, bound=1 / math.sqrt(max(fan_in, 1)))


def uniform_bias(size: int, fan_in: int) -> Tensor:
    """Return a bias of `size` elements drawn evenly from +-1/sqrt(fan_in)."""
    return _uniform(size, bound=1 / math.sqrt(max(fan_in, 1)))


def xavier_uniform(rows: int, columns: int) -> Tensor:
    """Return a matrix drawn evenly from +-sqrt(6 / (rows + columns)).

    Source: Glorot and Bengio 2010, equation 16.
    """
    return _uniform(rows, columns, bound=math.sqrt(6 / (rows + columns)))


def _uniform(*shape: int, bound: float) -> Tensor:
    return parameter(Tensor.rand(*shape) * (2 * bound) - bound)
