"""Initial values of parameters: functions that fill a tensor, and the draws of layers."""

import math
from typing import Literal

from plugrad.errors import ArgumentError, ShapeError
from plugrad.nn.checks import ANY_NUMBER, NOT_NEGATIVE, check_numbers, check_tensors
from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike
from plugrad.tensor.shapes import check_choice, fixed_shape

__all__ = [
    "calculate_gain",
    "constant_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

Fan = Literal["fan_in", "fan_out"]


def _fill(tensor: Tensor, values: Tensor) -> Tensor:
    return tensor.assign(values.to(tensor.device).cast(tensor.dtype)).realize()


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill a tensor with numbers drawn evenly from `a` to `b`; return it.

    Example:
        >>> w = uniform_(Tensor.zeros(100), -2.0, -1.0)
        >>> -2.0 <= w.min().item() <= w.max().item() <= -1.0
        True
    """
    check_tensors("uniform_", tensor=tensor)
    check_numbers("uniform_", ANY_NUMBER, a=a, b=b)
    return _fill(tensor, Tensor.rand(*tensor.shape) * (b - a) + a)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill a tensor with numbers drawn from a normal distribution; return it.

    Example:
        >>> normal_(Tensor.ones(2, 3), mean=5.0, std=0.0).tolist()
        [[5.0, 5.0, 5.0], [5.0, 5.0, 5.0]]
    """
    check_tensors("normal_", tensor=tensor)
    check_numbers("normal_", ANY_NUMBER, mean=mean)
    check_numbers("normal_", NOT_NEGATIVE, std=std)
    return _fill(tensor, Tensor.randn(*tensor.shape) * std + mean)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0
) -> Tensor:
    """Fill a tensor with normal numbers between `a` and `b`; return it.

    Raises:
        ArgumentError: `std` is not above 0, or `a` above `b`.

    Example:
        >>> w = trunc_normal_(Tensor.zeros(100), a=-0.5, b=0.5)
        >>> w.abs().max().item() <= 0.5
        True
    """
    check_tensors("trunc_normal_", tensor=tensor)
    check_numbers("trunc_normal_", ANY_NUMBER, mean=mean, a=a, b=b)
    check_numbers("trunc_normal_", NOT_NEGATIVE, std=std)
    if not std or a > b:
        raise ArgumentError(f"trunc_normal_: std={std}, a={a}, b={b}. Pass std above 0, and a below b.")
    # the inverse of the distribution function, of even numbers between its values at both ends
    low, high = (math.erf((end - mean) / std / math.sqrt(2)) for end in (a, b))
    even = Tensor.rand(*tensor.shape) * (high - low) + low
    return _fill(tensor, (even.erfinv() * (std * math.sqrt(2)) + mean).clamp(a, b))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill a tensor with one number; return it.

    Example:
        >>> constant_(Tensor.zeros(2), 3.0).tolist()
        [3.0, 3.0]
    """
    check_tensors("constant_", tensor=tensor)
    check_numbers("constant_", ANY_NUMBER, val=val)
    return _fill(tensor, Tensor.full(tensor.shape, val))


def zeros_(tensor: Tensor) -> Tensor:
    """Fill a tensor with zeros; return it.

    Example:
        >>> zeros_(Tensor.ones(2)).tolist()
        [0.0, 0.0]
    """
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill a tensor with ones; return it.

    Example:
        >>> ones_(Tensor.zeros(2)).tolist()
        [1.0, 1.0]
    """
    return constant_(tensor, 1.0)


def eye_(tensor: Tensor) -> Tensor:
    """Make a matrix the identity; return it.

    Raises:
        ShapeError: it has not two axes.

    Example:
        >>> eye_(Tensor.zeros(2, 2)).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    check_tensors("eye_", tensor=tensor)
    if tensor.ndim != 2:
        raise ShapeError(f"eye_: a tensor of shape {tensor.shape}; it takes a matrix.")
    rows, columns = fixed_shape(tensor.shape, "eye_")
    return _fill(tensor, Tensor.eye(rows, columns))


def orthogonal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Make the rows (or columns, if there are more rows) orthogonal; return the tensor.

    Raises:
        ShapeError: it has fewer than two axes.

    Source: Saxe, McClelland and Ganguli 2014.

    Example:
        >>> w = orthogonal_(Tensor.zeros(2, 3))
        >>> (w @ w.T).round(decimals=3).tolist() == [[1.0, 0.0], [0.0, 1.0]]
        True
    """
    check_tensors("orthogonal_", tensor=tensor)
    check_numbers("orthogonal_", ANY_NUMBER, gain=gain)
    if tensor.ndim < 2:
        raise ShapeError(f"orthogonal_: a tensor of shape {tensor.shape}; it takes two axes or more.")
    rows, *others = fixed_shape(tensor.shape, "orthogonal_")
    columns = math.prod(others)
    drawn = Tensor.randn(max(rows, columns), min(rows, columns)).qr()
    # with the signs of R's diagonal, all orthogonal matrices are equally likely
    made = drawn.Q * drawn.R.diagonal().sign()
    return _fill(tensor, (made if rows >= columns else made.transpose(0, 1)).reshape(tensor.shape) * gain)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return by how much a nonlinearity shrinks values, for the functions here: PyTorch's table.

    Args:
        nonlinearity: "linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu", or the name of a convolution.
        param: the negative slope of "leaky_relu", 0.01 if left out.

    Raises:
        ArgumentError: there is no such nonlinearity.

    Example:
        >>> calculate_gain("leaky_relu", 0.0) == calculate_gain("relu")
        True
    """
    slope = 0.01 if param is None else param
    check_numbers("calculate_gain", ANY_NUMBER, param=slope)
    gains = {"tanh": 5 / 3, "relu": math.sqrt(2), "leaky_relu": math.sqrt(2 / (1 + slope**2)), "selu": 3 / 4}
    convolutions = (f"conv{kind}{axes}d" for kind in ("", "_transpose") for axes in (1, 2, 3))
    gains |= dict.fromkeys(("linear", "sigmoid", *convolutions), 1.0)
    check_choice(nonlinearity, tuple(gains), "calculate_gain: nonlinearity")
    return gains[nonlinearity]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill a weight evenly from +-gain * sqrt(6 / (fan_in + fan_out)); return it.

    Raises:
        ShapeError: it has fewer than two axes.

    Source: Glorot and Bengio 2010, equation 16.

    Example:
        >>> xavier_uniform_(Tensor.zeros(3, 3)).abs().max().item() <= 1.0
        True
    """
    bound = gain * math.sqrt(6 / max(sum(_fans("xavier_uniform_", tensor)), 1))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill a weight with normal numbers of deviation `gain * sqrt(2/(fan_in+fan_out))`; return it.

    Raises:
        ShapeError: it has fewer than two axes.

    Source: Glorot and Bengio 2010, equation 12.

    Example:
        >>> xavier_normal_(Tensor.zeros(50, 50)).std().item() < 0.3
        True
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2 / max(sum(_fans("xavier_normal_", tensor)), 1)))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0.0, mode: Fan = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Fill a weight evenly from +-gain * sqrt(3 / fan); return it.

    Args:
        tensor: the weight, (out, in, ...).
        a: the negative slope of "leaky_relu".
        mode: which fan: "fan_in" keeps the variance of values, "fan_out" that of gradients.
        nonlinearity: whose gain, see `calculate_gain`.

    Raises:
        ShapeError: it has fewer than two axes.
        ArgumentError: there is no such mode or nonlinearity.

    Source: He et al. 2015, equation 10.

    Example:
        >>> kaiming_uniform_(Tensor.zeros(3, 6)).abs().max().item() <= 1.0
        True
    """
    bound = math.sqrt(3) * _kaiming_std("kaiming_uniform_", tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: Tensor, a: float = 0.0, mode: Fan = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Fill a weight with normal numbers of deviation gain / sqrt(fan); return it.

    Takes the arguments of `kaiming_uniform_`.

    Raises:
        ShapeError: it has fewer than two axes.
        ArgumentError: there is no such mode or nonlinearity.

    Source: He et al. 2015, equation 10.

    Example:
        >>> kaiming_normal_(Tensor.zeros(50, 50)).std().item() < 0.4
        True
    """
    return normal_(tensor, 0.0, _kaiming_std("kaiming_normal_", tensor, a, mode, nonlinearity))


def _fans(function: str, tensor: Tensor) -> tuple[int, int]:
    check_tensors(function, tensor=tensor)
    if tensor.ndim < 2:
        raise ShapeError(f"{function}: a tensor of shape {tensor.shape}; it takes two axes or more.")
    outputs, inputs, *window = fixed_shape(tensor.shape, function)
    return inputs * math.prod(window), outputs * math.prod(window)


def _kaiming_std(function: str, tensor: Tensor, a: float, mode: Fan, nonlinearity: str) -> float:
    check_choice(mode, ("fan_in", "fan_out"), f"{function}: mode")
    fan = _fans(function, tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(max(fan, 1))


# --- what layers start from ---


def parameter(values: Tensor) -> Tensor:
    """Return `values` as a tensor to be trained."""
    values.requires_grad = True
    return values


def draw_by_fan_in(
    *shape: int, fan_in: int, device: str | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """Return weights, or a bias, drawn evenly from +-1/sqrt(fan_in).

    Source: He et al. 2015 with a leaky slope of sqrt(5), as `torch.nn.Linear.reset_parameters` uses it.
    """
    return _draw_evenly(*shape, bound=1 / math.sqrt(max(fan_in, 1)), device=device, dtype=dtype)


def draw_by_both_fans(
    rows: int, columns: int, *, device: str | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """Return a matrix drawn evenly from +-sqrt(6 / (rows + columns)).

    Source: Glorot and Bengio 2010, equation 16.
    """
    return _draw_evenly(rows, columns, bound=math.sqrt(6 / (rows + columns)), device=device, dtype=dtype)


def _draw_evenly(*shape: int, bound: float, device: str | None, dtype: DTypeLike | None) -> Tensor:
    return parameter(Tensor.rand(*shape, device=device, dtype=dtype) * (2 * bound) - bound)
