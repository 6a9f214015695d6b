"""Random tensors: numbers of a distribution, the same bits on every device for a seed.

A shape may be symbolic: the bits are those of a tensor of the size that it has today. Limits that depend on a
symbolic size are computed on the device, in the dtype of the numbers, and may be off by their last digit.

`manual_seed` makes them repeatable; each draw goes on where the last one ended.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack

from plugrad.device import Device
from plugrad.dtype import DType, dtypes, is_float, is_int, truncate
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.base import DTypeLike, Tensor, the_dtype
from plugrad.tensor.create.creation import asked_shape, from_graph
from plugrad.tensor.create.random import below, normal_bits, stream, uniform_bits, wide_float, within
from plugrad.tensor.host.host_data import finite
from plugrad.tensor.keywords import ShapeNames, renamed
from plugrad.tensor.scalars import check_fits
from plugrad.tensor.shapes import Dim, Shape, as_int, product, show
from plugrad.uop import UOp, add_sizes


def manual_seed(cls: type[Tensor], seed: int = 0) -> None:
    """Restart the random stream; the same seed gives the same numbers on every device.

    Raises:
        ArgumentError: the seed is no integer.

    Example:
        >>> Tensor.manual_seed(1)
        >>> first = Tensor.rand(2).tolist()
        >>> Tensor.manual_seed(1)
        >>> first == Tensor.rand(2).tolist()
        True
    """
    stream.restart(as_int(seed, "seed"))


def random_bits(shape: Any, device: str | None) -> tuple[UOp, tuple[int, ...]]:
    """Return random bits for each element of a shape, and its sizes."""
    return stream.draw(product(shape), Device.present(device)), shape


def rand(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return random floats, uniform in [0, 1): the same bits on every device.

    Raises:
        DtypeError: `dtype` is no float.

    Example:
        >>> Tensor.rand(2, 3).shape
        (2, 3)
    """
    chosen = _float_dtype(dtype)
    bits, dims = random_bits(asked_shape(cls.rand, shape, names), device)
    return from_graph(cls, uniform_bits(bits, chosen).reshape(dims), device, requires_grad)


def randn(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return random floats of the standard normal distribution.

    Raises:
        DtypeError: `dtype` is no float.

    Example:
        >>> Tensor.randn(2, 3).dtype
        dtypes.float32
    """
    chosen = _float_dtype(dtype)
    bits, dims = random_bits(asked_shape(cls.randn, shape, names), device)
    return from_graph(cls, normal_bits(bits, chosen).reshape(dims), device, requires_grad)


def bernoulli(self: Tensor, p: float | None = None) -> Tensor:
    """Return 1 with probability `p`, or with the probability in each element, else 0.

    The probabilities are not looked at: those below 0 count as 0, those above 1 as 1, NaN as 0. No
    gradient flows through a draw.

    Args:
        p: one probability for all elements, whatever this tensor holds.

    Raises:
        DtypeError: the elements are probabilities, and no floats; or `p` is no number.
        ArgumentError: `p` is not in 0..1.

    Example:
        >>> Tensor([0.0, 1.0, 1.0]).bernoulli().tolist(), Tensor([7, 8]).bernoulli(0).tolist()
        ([0.0, 1.0, 1.0], [0, 0])
    """
    if p is None and not is_float(self.dtype):
        raise DtypeError(
            f"bernoulli of {self.dtype.name}: probabilities are floats. Cast them, or pass p=0.5."
        )
    chance: Any = self._graph.detach()
    if p is not None:
        chance = finite(p)
        if not 0 <= chance <= 1:
            raise ArgumentError(f"p={p} is no probability. Pass one in 0..1.")
    elif self.dtype is not dtypes.float64:
        chance = chance.cast(dtypes.float32)
    bits, dims = random_bits(self.shape, self._device)
    wide = wide_float(self.dtype)
    return self._make((uniform_bits(bits, wide).reshape(dims) < chance).cast(self.dtype), self._device)


def randint(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    low: int = 0,
    high: int = 10,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return random integers, uniform in `low..high-1`; `randint(low, high, (3, 4))` as in PyTorch does too.

    Raises:
        DtypeError: `dtype` is no integer, or does not hold the limits.
        ArgumentError: there is no integer between the limits, or one is no integer.

    Example:
        >>> Tensor.randint(3, low=5, high=6).tolist()
        [5, 5, 5]
    """
    if names:
        (shape,) = renamed(cls.randint, names, shape=shape)
    if 2 <= len(shape) <= 3 and isinstance(shape[-1], (tuple, list)):
        given: Any = shape
        *limits, shape = given
        low, high = (low, *limits)[-2:]
    chosen = the_dtype(dtype, dtypes.default_int)
    if not is_int(chosen):
        raise DtypeError(f"randint of {chosen.name}: it takes an integer dtype. Use uniform for floats.")
    low, high = as_int(low, "low"), as_int(high, "high")
    if high <= low:
        raise ArgumentError(f"there is no integer from {low} to below {high}. Make high greater than low.")
    check_fits(low, chosen)
    check_fits(high - 1, chosen)
    bits, dims = random_bits(asked_shape(cls.randint, shape, {}), device)
    bits = below(bits, high - low)
    # adding wraps, so that a negative low needs no wider type
    lowest = UOp.const(dtypes.uint64, low)
    return from_graph(cls, (bits + lowest).cast(chosen).reshape(dims), device, False)


def uniform(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    low: float = 0.0,
    high: float = 1.0,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return random floats, uniform in [low, high).

    Raises:
        DtypeError: `dtype` is no float, or a limit no number.
        ArgumentError: `low` is above `high`, or they are too far apart for the dtype.

    Example:
        >>> Tensor.uniform(8, low=2, high=3).floor().tolist()[:3]
        [2.0, 2.0, 2.0]
    """
    chosen = _float_dtype(dtype)
    low, high = finite(low), finite(high)
    wide = wide_float(chosen)
    if low > high or not math.isfinite(truncate(float(high) - float(low), wide)):
        why = "is above" if low > high else f"is too far, for {wide.name}, below"
        raise ArgumentError(f"low={low} {why} high={high}. Pass limits in order and near enough.")
    bits, dims = random_bits(asked_shape(cls.uniform, shape, names), device)
    return from_graph(cls, within(bits, low, high, chosen).reshape(dims), device, requires_grad)


def normal(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    mean: float = 0.0,
    std: float = 1.0,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return random floats of the normal distribution with that mean and standard deviation.

    Raises:
        DtypeError: `dtype` is no float, or `mean` or `std` no number.
        ArgumentError: `std` is negative, or one of them is infinite or NaN.

    Example:
        >>> Tensor.normal(2, mean=3.0, std=0.0).tolist()
        [3.0, 3.0]
    """
    chosen = _float_dtype(dtype)
    mean, std = finite(mean), finite(std)
    if std < 0:
        raise ArgumentError(f"std={std} is negative. Pass 0 or more.")
    bits, dims = random_bits(asked_shape(cls.normal, shape, names), device)
    return from_graph(cls, normal_bits(bits, chosen, mean, std).reshape(dims), device, requires_grad)


def scaled_uniform(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return random floats, uniform in +-1/sqrt(number of elements).

    Example:
        >>> abs(Tensor.scaled_uniform(4, 4)).max().item() <= 0.25
        True
    """
    dims, chosen = asked_shape(cls.scaled_uniform, shape, names), _float_dtype(dtype)
    bound = _root_of_share(1, product(dims), chosen)
    return _within(cls, bound, dims, chosen, device, requires_grad)


def glorot_uniform(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return random floats, uniform in +-sqrt(6 / (fan_in + fan_out)), for weights (out, in, *kernel).

    The fans are `in * kernel` and `out * kernel`, as `torch.nn.init.xavier_uniform_` counts them.

    Source: Glorot and Bengio 2010, equation 16.

    Raises:
        ShapeError: there are fewer than two axes.

    Example:
        >>> abs(Tensor.glorot_uniform(3, 3)).max().item() <= 1
        True
    """
    dims, chosen = asked_shape(cls.glorot_uniform, shape, names), _float_dtype(dtype)
    bound = _root_of_share(6, add_sizes(*_fans(dims)), chosen)
    return _within(cls, bound, dims, chosen, device, requires_grad)


def kaiming_uniform(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    a: float = 0.01,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return random floats, uniform in +-sqrt(6 / ((1 + a**2) * fan_in)), for weights (out, in, *kernel).

    Args:
        a: the negative slope of the leaky ReLU behind the layer.

    Source: He et al. 2015, section 2.2.

    Raises:
        ShapeError: there are fewer than two axes.

    Example:
        >>> abs(Tensor.kaiming_uniform(2, 6, a=0)).max().item() <= 1
        True
    """
    dims, chosen = asked_shape(cls.kaiming_uniform, shape, names), _float_dtype(dtype)
    bound = _kaiming_std(dims, a, chosen) * math.sqrt(3)
    return _within(cls, bound, dims, chosen, device, requires_grad)


def kaiming_normal(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    a: float = 0.01,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return normal random floats of deviation sqrt(2 / ((1 + a**2) * fan_in)); see `kaiming_uniform`.

    Source: He et al. 2015, section 2.2.

    Raises:
        ShapeError: there are fewer than two axes.

    Example:
        >>> Tensor.kaiming_normal(4, 3).shape
        (4, 3)
    """
    dims, chosen = asked_shape(cls.kaiming_normal, shape, names), _float_dtype(dtype)
    std = _kaiming_std(dims, a, chosen)
    bits, sizes = random_bits(dims, device)
    return from_graph(cls, normal_bits(bits, chosen, std=std).reshape(sizes), device, requires_grad)


def _within(
    kind: type[Tensor], bound: Any, shape: Shape, dtype: DType, device: str | None, requires_grad: bool | None
) -> Tensor:
    bits, dims = random_bits(shape, device)
    return from_graph(kind, within(bits, -bound, bound, dtype).reshape(dims), device, requires_grad)


def _float_dtype(dtype: DTypeLike | None) -> DType:
    chosen = the_dtype(dtype, dtypes.default_float)
    if not is_float(chosen):
        raise DtypeError(f"operation of {chosen.name}: it takes a float dtype. Use randint for integers.")
    return chosen


def _fans(shape: Shape) -> tuple[Dim, Dim]:
    if len(shape) < 2:
        raise ShapeError(f"operation of shape {show(shape)}: weights have axes (out, in, *kernel).")
    outputs, inputs, *kernel = shape
    return product((inputs, *kernel)), product((outputs, *kernel))


def _kaiming_std(shape: Shape, a: float, dtype: DType) -> Any:
    slope = float(finite(a))
    return _root_of_share(2 / (1 + slope * slope), _fans(shape)[0], dtype)


def _root_of_share(part: float, count: Dim, dtype: DType) -> Any:
    """Return the root of `part` divided by a number of elements, which may be symbolic."""
    if isinstance(count, int):
        return math.sqrt(part / max(count, 1))
    return (part / count.maximum(1).cast(wide_float(dtype))).sqrt()
