"""Dropout: elements left out by chance."""

from __future__ import annotations

from typing import Any

from plugrad.dtype import dtypes, is_float
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.argument_checks import real_number
from plugrad.tensor.base import Tensor
from plugrad.tensor.elementwise.operands import dtype_refusal
from plugrad.tensor.shapes import as_flag, show
from plugrad.uop import UOp

# what selu gives at -infinity: -scale * alpha
_SELU_LIMIT = -1.7580993408473766


def dropout(self: Tensor, p: float = 0.5, training: bool | None = None) -> Tensor:
    """Set elements to 0 with probability `p` and divide the others by `1-p`.

    Args:
        p: how likely an element is left out.
        training: whether to do it; by default while training (see `Tensor.train`), where PyTorch's
            function does it always. Otherwise this tensor itself is returned.

    Raises:
        ArgumentError: `p` lies outside of 0..1, or `training` is no truth value.
        DtypeError: this tensor holds no floats.

    Example:
        >>> Tensor([1.0, 2.0]).dropout(0.5).tolist()
        [1.0, 2.0]
    """
    return _drop(self, p, self.shape, 0.0, training)


def dropout1d(self: Tensor, p: float = 0.5, training: bool | None = None) -> Tensor:
    """Return `dropout` of whole channels of sequences: (N, C, L) -> (N, C, L).

    Raises:
        ArgumentError: `p` lies outside of 0..1.
        DtypeError: this tensor holds no floats.
        ShapeError: there are not 3 axes.

    Example:
        >>> Tensor([[[1.0, 2.0]]]).dropout1d(0.5).tolist()
        [[[1.0, 2.0]]]
    """
    return _drop(self, p, _channel_shape(self, 1), 0.0, training)


def dropout2d(self: Tensor, p: float = 0.5, training: bool | None = None) -> Tensor:
    """Return `dropout` of whole channels of images: (N, C, H, W) -> (N, C, H, W).

    Source: Tompson et al. 2015, section 3.2.

    Raises:
        ArgumentError: `p` lies outside of 0..1.
        DtypeError: this tensor holds no floats.
        ShapeError: there are not 4 axes.

    Example:
        >>> Tensor.ones(1, 1, 1, 2).dropout2d(0.5).tolist()
        [[[[1.0, 1.0]]]]
    """
    return _drop(self, p, _channel_shape(self, 2), 0.0, training)


def dropout3d(self: Tensor, p: float = 0.5, training: bool | None = None) -> Tensor:
    """Return `dropout` of whole channels of volumes: (N, C, D, H, W) -> (N, C, D, H, W).

    Raises:
        ArgumentError: `p` lies outside of 0..1.
        DtypeError: this tensor holds no floats.
        ShapeError: there are not 5 axes.

    Example:
        >>> Tensor.ones(1, 1, 1, 1, 2).dropout3d(0.5).tolist()
        [[[[[1.0, 1.0]]]]]
    """
    return _drop(self, p, _channel_shape(self, 3), 0.0, training)


def alpha_dropout(self: Tensor, p: float = 0.5, training: bool | None = None) -> Tensor:
    """Set elements to the limit of `selu` at -infinity with probability `p`.

    All are then scaled and shifted so that mean 0 and variance 1 stay what they are. Only while training.

    Source: Klambauer et al. 2017, "Self-normalizing neural networks", section 3.

    Raises:
        ArgumentError: `p` lies outside of 0..1.
        DtypeError: this tensor holds no floats.

    Example:
        >>> Tensor([1.0, 2.0]).alpha_dropout(0.5).tolist()
        [1.0, 2.0]
    """
    return _drop(self, p, self.shape, _SELU_LIMIT, training)


def feature_alpha_dropout(self: Tensor, p: float = 0.5, training: bool | None = None) -> Tensor:
    """Return `alpha_dropout` of whole channels: (N, C, ...) -> (N, C, ...).

    Raises:
        ArgumentError: `p` lies outside of 0..1.
        DtypeError: this tensor holds no floats.
        ShapeError: there are fewer than 2 axes.

    Example:
        >>> Tensor([[[1.0, 2.0]]]).feature_alpha_dropout(0.5).tolist()
        [[[1.0, 2.0]]]
    """
    shape = _channel_shape(self, max(self.ndim - 2, 0))
    return _drop(self, p, shape, _SELU_LIMIT, training)


def _channel_shape(x: Tensor, axes: int) -> tuple[Any, ...]:
    """Return the shape of one draw for each channel, 1 on the last `axes` axes."""
    if x.ndim != axes + 2:
        sizes = {1: "L", 2: "H, W", 3: "D, H, W"}.get(axes, "...")
        raise ShapeError(f"operation of shape {show(x.shape)}: it takes (N, C, {sizes}).")
    return (*x.shape[:2], *(1,) * axes)


def _drop(x: Tensor, p: float, drawn: tuple[Any, ...], left_out: float, training: bool | None) -> Tensor:
    """Replace the drawn elements by `left_out`, keeping mean and variance.

    One draw for each element of shape `drawn`, which broadcasts to this tensor's.

    Moments: with q = 1-p and a value v left out, a = 1/sqrt(q + p*q*v*v) and b = -a*p*v keep mean 0 and
    variance 1; with v = 0 the mean alone is kept, by a = 1/q.
    """
    check_probability(p)
    if not is_float(x.dtype):
        raise dtype_refusal(x, "floats")
    wanted = x.training if training is None else as_flag(training, "training")
    if not wanted or p == 0:
        return x
    if p == 1:
        return x._like(UOp.const(dtypes.bool, True).where(0.0, x._graph))
    keep = x.rand(drawn, dtype=dtypes.float32, device=x.device) >= p
    if not left_out:
        return keep.where(x / (1 - p), 0)
    scale = ((1 - p) * (1 + p * left_out * left_out)) ** -0.5
    return keep.where(x, left_out) * scale - scale * p * left_out


def check_probability(p: float, what: str = "operation") -> None:
    """Raise ArgumentError unless `p` is a probability."""
    if not 0 <= real_number(p, "p") <= 1:
        raise ArgumentError(f"{what}: p={p!r} lies outside of 0..1.")
