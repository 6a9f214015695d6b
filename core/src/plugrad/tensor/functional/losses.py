"""Losses between outputs and targets, element by element.

All take a target of the same shape and `reduction`: "mean", "sum" or "none".
"""

from __future__ import annotations

from typing import Any, Literal, Unpack

from plugrad.dtype import dtypes, is_float, is_unsigned, least_upper_dtype, sum_acc_dtype
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.argument_checks import real_number, require_tensors
from plugrad.tensor.base import Tensor
from plugrad.tensor.elementwise.operands import dtype_refusal
from plugrad.tensor.keywords import AxisNames, KeepdimNames, renamed
from plugrad.tensor.lookup import size_beside
from plugrad.tensor.shapes import broadcast_shapes, check_choice, show

Reduction = Literal["mean", "sum", "none"]


def mse_loss(
    self: Tensor, target: Tensor, reduction: Reduction = "mean", weight: Tensor | None = None
) -> Tensor:
    """Return squared differences.

    Args:
        target: what it should be.
        reduction: what is done with the losses.
        weight: how much each element counts; the mean divides by the sum of all weights.

    Raises:
        ShapeError: the shapes differ.
        ArgumentError: there is no such reduction.
        DtypeError: neither holds floats.

    Example:
        >>> Tensor([1.0, 3.0]).mse_loss(Tensor([0.0, 0.0])).item()
        5.0
    """
    losses = _difference(self, target, reduction).square()
    return _weighted(losses, weight, reduction)


def l1_loss(
    self: Tensor, target: Tensor, reduction: Reduction = "mean", weight: Tensor | None = None
) -> Tensor:
    """Return absolute differences, weighted as in `mse_loss`.

    Raises:
        ShapeError: the shapes differ.
        ArgumentError: there is no such reduction.
        DtypeError: neither holds floats.

    Example:
        >>> Tensor([1.0, -3.0]).l1_loss(Tensor([0.0, 0.0])).item()
        2.0
    """
    losses = _difference(self, target, reduction).abs()
    return _weighted(losses, weight, reduction)


def smooth_l1_loss(self: Tensor, target: Tensor, reduction: Reduction = "mean", beta: float = 1.0) -> Tensor:
    """Return `d*d/(2*beta)` of differences below `beta`, else `|d| - beta/2`.

    Source: Girshick 2015, equation 3, with beta.

    Raises:
        ShapeError: the shapes differ.
        ArgumentError: there is no such reduction, or `beta` is negative.
        DtypeError: neither holds floats.

    Example:
        >>> Tensor([0.5, 2.0]).smooth_l1_loss(Tensor([0.0, 0.0]), "none").tolist()
        [0.125, 1.5]
    """
    if real_number(beta, "beta") < 0:
        raise ArgumentError(f"beta={beta} is negative. Pass 0 or more.")
    if beta == 0:
        return self.l1_loss(target, reduction)
    size = _difference(self, target, reduction).abs()
    # NaN counts as near, whose slope is NaN then
    is_near = ~(size >= beta)
    # the square of what is far away may be infinite, and have no gradient
    near = is_near.where(size, 0.0)
    return reduced(is_near.where(near.square() * (0.5 / beta), size - beta / 2), reduction)


def huber_loss(
    self: Tensor,
    target: Tensor,
    reduction: Reduction = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Return `d*d/2` of differences up to `delta`, else `delta * (|d| - delta/2)`.

    With `weight` all are multiplied by it; the mean divides by their number all the same, as in PyTorch,
    unlike that of `mse_loss`.

    Source: Huber 1964, "Robust estimation of a location parameter".

    Raises:
        ShapeError: the shapes differ.
        ArgumentError: there is no such reduction, or `delta` is not positive.
        DtypeError: neither holds floats.

    Example:
        >>> Tensor([0.5, 3.0]).huber_loss(Tensor([0.0, 0.0]), "none", delta=2.0).tolist()
        [0.125, 4.0]
    """
    if real_number(delta, "delta") <= 0:
        raise ArgumentError(f"delta={delta} is not positive.")
    size = _difference(self, target, reduction).abs()
    # NaN counts as near, whose slope is NaN then
    is_near = ~(size > delta)
    # the square of what is far away may be infinite, and have no gradient
    near = is_near.where(size, 0.0)
    losses = is_near.where(near.square() * 0.5, (size - delta / 2) * delta)
    return reduced(weighted_by(losses, weight), reduction)


def cosine_similarity(
    self: Tensor, other: Tensor, axis: int = 1, eps: float = 1e-8, **names: Unpack[AxisNames]
) -> Tensor:
    """Return the cosine of the angle between vectors along `axis`; shapes broadcast.

    Args:
        other: the other vectors.
        axis: the axis of the vectors.
        eps: the least length that is divided by.

    Raises:
        ShapeError: shapes do not broadcast.
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([[1.0, 0.0]]).cosine_similarity(Tensor([[1.0, 0.0], [0.0, 2.0]])).tolist()
        [1.0, 0.0]
    """
    if names:
        (axis,) = renamed(self.cosine_similarity, names, axis=axis)
    require_tensors(other=other)
    real_number(eps, "eps")
    # float16 has no number as small as the square of eps
    *pair, dtype = _as_wide_floats(self, other)
    lengths = [(x * x).sum(axis, keepdim=True).clamp(eps * eps).sqrt() for x in pair]
    return (pair[0] / lengths[0] * (pair[1] / lengths[1])).sum(axis).cast(dtype)


def pairwise_distance(
    self: Tensor,
    other: Tensor,
    p: float = 2.0,
    eps: float = 1e-6,
    keepdim: bool = False,
    **names: Unpack[KeepdimNames],
) -> Tensor:
    """Return the `p`-norm of `self - other + eps` along the last axis.

    Raises:
        ShapeError: shapes do not broadcast.
        ArgumentError: `p` is not positive.

    Example:
        >>> round(Tensor([[3.0, 4.0]]).pairwise_distance(Tensor([[0.0, 0.0]])).item(), 4)
        5.0
    """
    if names:
        (keepdim,) = renamed(self.pairwise_distance, names, keepdim=keepdim)
    require_tensors(other=other)
    real_number(eps, "eps")
    if real_number(p, "p") <= 0:
        raise ArgumentError(f"p={p} is not positive.")
    first, second = _as_floats(self, other)
    size = (first - second + eps).abs()
    if p == float("inf"):
        return size.max(-1, keepdim=keepdim)
    if p == 1:
        return size.sum(-1, keepdim=keepdim)
    if p == 2:
        return size.square().sum(-1, keepdim=keepdim).sqrt()
    return size.pow(p).sum(-1, keepdim=keepdim).pow(1 / p)


def triplet_margin_loss(
    self: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return `max(d(self, positive) - d(self, negative) + margin, 0)`: anchors (N, D) -> (N,).

    Args:
        positive: what should be near.
        negative: what should be far.
        margin: by how much farther.
        p: of the norm that measures distances.
        eps: added to differences.
        swap: measure to `negative` from `positive` where that is nearer.
        reduction: what is done with the losses.

    Source: Balntas et al. 2016, section 2.

    Raises:
        ShapeError: shapes do not broadcast.
        ArgumentError: there is no such reduction, or `p` is not positive.

    Example:
        >>> far, near = Tensor([[9.0, 0.0]]), Tensor([[1.0, 0.0]])
        >>> near.triplet_margin_loss(near, far).item()
        0.0
    """
    check_reduction(reduction)
    require_tensors(positive=positive, negative=negative)
    real_number(margin, "margin")
    near = self.pairwise_distance(positive, p, eps)
    far = self.pairwise_distance(negative, p, eps)
    if swap:
        far = far.minimum(positive.pairwise_distance(negative, p, eps))
    return reduced((near - far + margin).clamp(0), reduction)


def cosine_embedding_loss(
    self: Tensor, other: Tensor, target: Tensor, margin: float = 0.0, reduction: Reduction = "mean"
) -> Tensor:
    """Return `1 - cos` where `target` is 1, `max(cos - margin, 0)` where it is -1: (N, D) -> (N,).

    Squares of lengths are larger by 1e-12 there, as in PyTorch.

    Raises:
        ShapeError: shapes do not broadcast.
        ArgumentError: there is no such reduction.

    Example:
        >>> x = Tensor([[1.0, 0.0], [1.0, 0.0]])
        >>> x.cosine_embedding_loss(x, Tensor([1, -1]), reduction="none").tolist()
        [0.0, 1.0]
    """
    check_reduction(reduction)
    require_tensors(other=other, target=target)
    real_number(margin, "margin")
    if not self.ndim or not other.ndim:
        raise ShapeError(
            f"cosine_embedding_loss of shapes {show(self.shape)} and {show(other.shape)}: vectors lie "
            "along the last axis. Unsqueeze them."
        )
    first, second, dtype = _as_wide_floats(self, other)
    sizes = [(x * x).sum(-1) + 1e-12 for x in (first, second)]
    cosine = ((first * second).sum(-1) / (sizes[0] * sizes[1]).sqrt()).cast(dtype)
    if target.shape != cosine.shape:
        raise ShapeError(
            f"cosine_embedding_loss of {show(cosine.shape)} pairs with a target of shape "
            f"{show(target.shape)}: they must be equal."
        )
    is_unlike = target < 0 if is_unsigned(target.dtype) else target == -1
    unlike = is_unlike.where((cosine - margin).clamp(0), 0.0)
    return reduced((target == 1).where(1 - cosine, unlike), reduction)


def _difference(x: Tensor, target: Tensor, reduction: str) -> Tensor:
    check_reduction(reduction)
    _check_same(x, target)
    if not is_float(x.dtype) and not is_float(target.dtype):
        raise dtype_refusal(x, "floats", target)
    return x - target


def check_target(x: Tensor, target: Tensor, reduction: str) -> None:
    """Refuse a target that a loss of floats cannot be taken to."""
    check_reduction(reduction)
    _check_same(x, target)
    if not is_float(x.dtype):
        raise dtype_refusal(x, "floats")


def _check_same(x: Tensor, target: Any) -> None:
    # targets that broadcast are nearly always a mistake
    require_tensors(target=target)
    if x.shape != target.shape:
        raise ShapeError(
            f"operation of shape {show(x.shape)} with a target of shape {show(target.shape)}: they must "
            "be equal. Reshape or expand one."
        )


def kl_div(
    self: Tensor,
    target: Tensor,
    reduction: Literal["mean", "sum", "none", "batchmean"] = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return `target * (log(target) - self)`: the Kullback-Leibler divergence from log-probabilities.

    Args:
        target: probabilities, or with `log_target` their logarithms.
        reduction: what is done with the losses; "batchmean" divides their sum by the first size, which is
            what the divergence of distributions is.
        log_target: see `target`.

    Raises:
        ShapeError: the shapes differ.
        ArgumentError: there is no such reduction.
        DtypeError: this holds no floats.

    Example:
        >>> Tensor([[0.0, -1.0]]).kl_div(Tensor([[1.0, 0.0]]), "batchmean").item()
        0.0
    """
    if isinstance(reduction, str) and reduction == "batchmean":  # pyright: ignore[reportUnnecessaryIsInstance]
        batch: Any = self.shape[0] if self.ndim else 1
        total = self.kl_div(target, "sum", log_target)
        return total / size_beside(self, batch, total.dtype)
    check_target(self, target, reduction)
    if log_target:
        return reduced(target.exp() * (target - self), reduction)
    is_none = target <= 0
    own = is_none.where(0.0, target * is_none.where(1.0, target).log())
    return reduced(own - target * self, reduction)


def _as_floats(x: Any, y: Any) -> tuple[Any, Any]:
    """Return two tensors with integers as floats, whose products and differences do not wrap."""
    joined = least_upper_dtype(x.dtype, y.dtype)
    wide = joined if is_float(joined) else dtypes.default_float
    return x if is_float(x.dtype) else x.cast(wide), y if is_float(y.dtype) else y.cast(wide)


def _as_wide_floats(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return two tensors in float32 or wider, and the dtype of the loss."""
    first, second = _as_floats(x, y)
    dtype = least_upper_dtype(first.dtype, second.dtype)
    wide = sum_acc_dtype(dtype)
    return first.cast(wide), second.cast(wide), dtype


def _weighted(losses: Any, weight: Any, reduction: Reduction) -> Any:
    """Return losses reduced; their mean is over the sum of `weight`."""
    if weight is None or reduction != "mean":
        return reduced(weighted_by(losses, weight), reduction)
    # what is divided may be too great for narrow floats
    wide = sum_acc_dtype(losses.dtype)
    total = weighted_by(losses, weight).cast(wide).sum()
    return (total / weight.cast(wide).expand(losses.shape).sum()).cast(losses.dtype)


def check_reduction(reduction: str) -> None:
    """Raise ArgumentError unless `reduction` is "mean", "sum" or "none"."""
    check_choice(reduction, ("mean", "sum", "none"), "reduction")


def reduced(losses: Any, reduction: str) -> Any:
    """Return losses as `reduction` says, which was checked."""
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.mean()


def weighted_by(losses: Any, weight: Any) -> Any:
    """Return losses times `weight`, which broadcasts to them; without a weight, the losses.

    Example:
        >>> weighted_by(Tensor([1.0, 3.0]), Tensor([2.0, 1.0])).tolist()
        [2.0, 3.0]
    """
    if weight is None:
        return losses
    require_tensors(weight=weight)
    if broadcast_shapes(losses.shape, weight.shape) != losses.shape:
        raise ShapeError(
            f"operation of shape {show(losses.shape)} with a weight of shape {show(weight.shape)}: it must "
            "broadcast to the losses."
        )
    return losses * weight
