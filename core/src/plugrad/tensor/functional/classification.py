"""Losses of classifiers and of probabilities, and one-hot encoding."""

from __future__ import annotations

import math
from typing import Any, Unpack

from plugrad.autodiff import inputs_of, with_rule
from plugrad.dtype import dtype_max, dtype_min, dtypes, is_float, is_int, sum_acc_dtype
from plugrad.engine.checks import marked
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.settings import settings
from plugrad.tensor.argument_checks import real_number, require_optional_tensors, require_tensors
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.elementwise.operands import dtype_refusal
from plugrad.tensor.functional.losses import Reduction, check_reduction, check_target, reduced, weighted_by
from plugrad.tensor.keywords import REQUIRED, TargetNames, renamed
from plugrad.tensor.lookup import size_beside
from plugrad.tensor.shapes import Dim, as_int, expanded, show, size_today
from plugrad.uop import Ops, UOp, greatest

# what the gradient of a cross entropy is divided by at least, as in PyTorch
_LEAST_SPREAD = 1e-12


def one_hot(self: Tensor, num_classes: int) -> Tensor:
    """Return 1 at each element's place on a new last axis of `num_classes`, 0 elsewhere.

    Values outside of 0..num_classes-1 give zeros only. (...) -> (..., num_classes), default int.

    Raises:
        DtypeError: this tensor holds no integers.
        ShapeError: there are no classes.

    Example:
        >>> Tensor([1, 0]).one_hot(3).tolist()
        [[0, 1, 0], [1, 0, 0]]
    """
    return self._like(_is_class(self, num_classes).cast(dtypes.default_int))


def _is_class(x: Tensor, num_classes: Dim) -> UOp:
    if not is_int(x.dtype):
        raise dtype_refusal(x, "integers")
    if not isinstance(num_classes, UOp):
        num_classes = as_int(num_classes, "num_classes")
    if size_today(num_classes) < 1:
        raise ShapeError(f"operation with {size_today(num_classes)} classes. Pass at least 1.")
    shape: Any = (*x.shape, num_classes)
    is_narrow = greatest(num_classes) < 128
    numbers = UOp.iota(num_classes).cast(x.dtype) if is_narrow else UOp.iota(num_classes)
    labels = x._graph if is_narrow else x._graph.cast(dtypes.int64)
    labels = labels.reshape((*x.shape, 1)).expand(shape)
    return labels.eq(expanded(numbers.cast(labels.dtype), shape))


def sparse_categorical_crossentropy(
    self: Tensor,
    y: Tensor = REQUIRED,
    ignore_index: int = -1,
    label_smoothing: float = 0.0,
    reduction: Reduction = "mean",
    **names: Unpack[TargetNames],
) -> Tensor:
    """Return the cross entropy between logits and the numbers of the right classes.

    (..., C) with `y` of shape (...) -> () or, with reduction "none", (...). The mean is over labels that
    are not ignored.

    Args:
        y: class numbers; the loss of those that are none is NaN.
        ignore_index: labels with this number do not count.
        label_smoothing: how much of each label is spread evenly over all classes, 0 to 1.
        reduction: what is done with the losses.

    Raises:
        ShapeError: shapes do not fit.
        ArgumentError: label_smoothing lies outside of 0..1, or there is no such reduction.
        DtypeError: logits are no floats, or labels no integers.

    Example:
        >>> round(Tensor([[0.0, 0.0]]).sparse_categorical_crossentropy(Tensor([1])).item(), 4)
        0.6931
    """
    if names or y is REQUIRED:
        (y,) = renamed(self.sparse_categorical_crossentropy, names, y=y)
    _check_logits(self, label_smoothing, reduction)
    return _label_loss(self.log_softmax(-1), y, None, ignore_index, label_smoothing, reduction)


def cross_entropy(
    self: Tensor,
    y: Tensor = REQUIRED,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
    ignore_index: int = -100,
    weight: Tensor | None = None,
    **names: Unpack[TargetNames],
) -> Tensor:
    """Return the cross entropy between logits and labels, classes on axis 1 (as in PyTorch).

    (N, C, ...) with class numbers (N, ...) or probabilities (N, C, ...) -> (); also (C,) with () or (C,).

    Args:
        y: class numbers (the loss of those that are none is NaN), or floats: the probability of each
            class.
        reduction: what is done with the losses. The mean divides by the sum of the labels' weights, over
            probabilities by their number.
        label_smoothing: how much of each label is spread evenly over all classes, 0 to 1.
        ignore_index: class numbers that do not count.
        weight: how much each class counts, (C,).

    Raises:
        ShapeError: shapes do not fit.
        ArgumentError: label_smoothing lies outside of 0..1, or there is no such reduction.
        DtypeError: logits are no floats.

    Example:
        >>> round(Tensor([[0.0, 0.0]]).cross_entropy(Tensor([1])).item(), 4)
        0.6931
    """
    if names or y is REQUIRED:
        (y,) = renamed(self.cross_entropy, names, y=y)
    # the third argument of PyTorch's function is the weights
    if isinstance(reduction, TensorBase):
        raise ArgumentError(
            f"reduction is a tensor of shape {show(reduction.shape)}: "
            "the classes' weights are given by name, weight=..."
        )
    _check_logits(self, label_smoothing, reduction)
    require_tensors(y=y)
    axis = min(1, self.ndim - 1)
    last = (*[a for a in range(self.ndim) if a != axis], axis)
    if is_int(y.dtype):
        scores = self.log_softmax(axis).permute(last)
        return _label_loss(scores, y, weight, ignore_index, label_smoothing, reduction)
    if self.shape != y.shape:
        raise ShapeError(
            f"logits {show(self.shape)} take integers without axis {axis}, "
            f"or probabilities of the same shape, not {y.dtype.name} of shape {show(y.shape)}."
        )
    classes: Any = self.shape[axis]
    target = y
    if label_smoothing:
        target = y * (1 - label_smoothing) + label_smoothing / size_beside(y, classes, y.dtype)
    scores = self.log_softmax(axis).permute(last)
    if weight is not None:
        scores = scores * _class_weights(self, weight, classes)
    return reduced(-(scores * target.permute(last)).sum(-1), reduction)


def nll_loss(
    self: Tensor,
    y: Tensor = REQUIRED,
    weight: Tensor | None = None,
    ignore_index: int | None = -100,
    reduction: Reduction = "mean",
    **names: Unpack[TargetNames],
) -> Tensor:
    """Return the negative of each right class's value, which is its log-probability.

    (N, C, ...) with class numbers (N, ...) -> (); also (C,) with ().

    Args:
        y: class numbers; the loss of those that are none is NaN.
        weight: how much each class counts, (C,).
        ignore_index: class numbers that do not count.
        reduction: what is done with the losses; the mean divides by the sum of the labels' weights.

    Raises:
        ShapeError: shapes do not fit.
        ArgumentError: there is no such reduction.
        DtypeError: this holds no floats, or labels are no integers.

    Example:
        >>> Tensor([[-0.5, -1.0]]).nll_loss(Tensor([1])).item()
        1.0
    """
    if names or y is REQUIRED:
        (y,) = renamed(self.nll_loss, names, y=y)
    _check_logits(self, 0.0, reduction)
    axis = min(1, self.ndim - 1)
    scores = self.permute((*[a for a in range(self.ndim) if a != axis], axis))
    return _label_loss(scores, y, weight, ignore_index, 0.0, reduction)


def _label_loss(
    x: Tensor,
    y: Tensor,
    weight: Tensor | None,
    ignore_index: int | None,
    label_smoothing: float,
    reduction: Reduction,
) -> Tensor:
    """Return the loss of log-probabilities, classes on the last axis."""
    require_tensors(y=y)
    if x.shape[:-1] != y.shape:
        raise ShapeError(
            f"logits {show(x.shape)} take labels of shape {show(x.shape[:-1])}, not {show(y.shape)}."
        )
    classes: Any = x.shape[-1]
    if ignore_index is not None:
        ignore_index = as_int(ignore_index, "ignore_index")
    x._check_device(y)
    chosen = y._like(_is_class(y, classes))
    factors = None if weight is None else _class_weights(x, weight, classes)
    weighted = x if factors is None else x * factors
    losses = -chosen.where(weighted, 0).sum(-1)
    if label_smoothing:
        losses = losses * (1 - label_smoothing) - weighted.mean(-1) * label_smoothing
    can_match = ignore_index is not None and dtype_min(y.dtype) <= ignore_index <= dtype_max(y.dtype)
    counts = y != ignore_index if can_match else y == y
    number = y.cast(dtypes.int64)
    if settings.CHECK:
        number = y._like(marked(counts.where(number, 0)._graph, y.dtype, classes, is_class=True))
    is_below = number < size_beside(number, classes, number.dtype)
    losses = counts.where(((number >= 0) & is_below).where(losses, float("nan")), 0)
    if reduction != "mean":
        return reduced(losses, reduction)
    # what is divided may be too great for narrow floats
    wide = sum_acc_dtype(losses.dtype)
    total = counts if factors is None else counts.where(chosen.where(factors, 0).sum(-1), 0)
    return (losses.cast(wide).sum() / total.cast(wide).sum()).cast(losses.dtype)


def _class_weights(x: Tensor, weight: Tensor, classes: Dim) -> Tensor:
    require_tensors(weight=weight)
    if weight.shape != (classes,) or not is_float(weight.dtype):
        raise (ShapeError if is_float(weight.dtype) else DtypeError)(
            f"weight of shape {show(weight.shape)} and {weight.dtype.name} for "
            f"{show((classes,))[1:-2]} classes. Pass one float for each class."
        )
    x._check_device(weight)
    return weight.cast(x.dtype)


def _check_logits(x: Tensor, label_smoothing: float, reduction: str) -> None:
    if not is_float(x.dtype):
        raise dtype_refusal(x, "floats as logits")
    if not x.ndim:
        raise ShapeError("operation of a scalar: the classes need an axis. Pass logits (N, C) or (C,).")
    if not 0 <= real_number(label_smoothing, "label_smoothing") <= 1:
        raise ArgumentError(f"label_smoothing={label_smoothing} lies outside of 0..1.")
    check_reduction(reduction)


def binary_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: Reduction = "mean"
) -> Tensor:
    """Return `-(y*log(p) + (1-y)*log(1-p))`, logarithms no less than -100, times `weight`.

    The gradient is `(p-y) / (p*(1-p))`, divided by no less than 1e-12, as in PyTorch: at 0 and 1 it is
    great where `p` is wrong.

    Raises:
        ShapeError: the shapes differ.
        ArgumentError: there is no such reduction.
        DtypeError: this holds no floats.

    Example:
        >>> round(Tensor([0.5]).binary_cross_entropy(Tensor([1.0])).item(), 4)
        0.6931
    """
    check_target(self, target, reduction)
    log, rest = (p.log().clamp(-100.0) for p in (self, 1 - self))
    losses = -(target * log + (1 - target) * rest)
    (out,) = with_rule([losses._graph], [self._graph, target._graph], _binary_entropy_rule)
    losses = self._make(out, losses.device, losses.requires_grad)
    return reduced(weighted_by(losses, weight), reduction)


def binary_crossentropy(
    self: Tensor, y: Tensor = REQUIRED, reduction: Reduction = "mean", **names: Unpack[TargetNames]
) -> Tensor:
    """Return `binary_cross_entropy`.

    Example:
        >>> round(Tensor([0.5]).binary_crossentropy(Tensor([1.0])).item(), 4)
        0.6931
    """
    if names or y is REQUIRED:
        (y,) = renamed(self.binary_crossentropy, names, y=y)
    return self.binary_cross_entropy(y, reduction=reduction)


def binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the binary cross entropy of `sigmoid(self)`, without its overflow.

    Args:
        target: probabilities.
        weight: how much each element counts.
        reduction: what is done with the losses.
        pos_weight: how much more positive targets count.

    Raises:
        ShapeError: the shapes differ.
        ArgumentError: there is no such reduction.
        DtypeError: this holds no floats.

    Example:
        >>> round(Tensor([0.0]).binary_cross_entropy_with_logits(Tensor([1.0])).item(), 4)
        0.6931
    """
    check_target(self, target, reduction)
    # -log(sigmoid(x)) == softplus(-x), and the same less x for the negative side
    surprise = (-self).softplus()
    require_optional_tensors(weight=weight, pos_weight=pos_weight)
    if pos_weight is not None:
        extra = weighted_by(target, pos_weight - 1)
        surprise = surprise * (extra + 1)
    losses = (1 - target) * self + surprise
    return reduced(weighted_by(losses, weight), reduction)


def binary_crossentropy_logits(
    self: Tensor,
    y: Tensor = REQUIRED,
    reduction: Reduction = "mean",
    pos_weight: Tensor | None = None,
    **names: Unpack[TargetNames],
) -> Tensor:
    """Return `binary_cross_entropy_with_logits`.

    Example:
        >>> round(Tensor([0.0]).binary_crossentropy_logits(Tensor([1.0])).item(), 4)
        0.6931
    """
    if names or y is REQUIRED:
        (y,) = renamed(self.binary_crossentropy_logits, names, y=y)
    return self.binary_cross_entropy_with_logits(y, None, reduction, pos_weight)


def _binary_entropy_rule(gradients: tuple[UOp], function: UOp) -> list[UOp | None]:
    """Return the gradients of the binary cross entropy.

    That of the chance `p` is `(p-y) / (p*(1-p))`, bounded; that of the target `y` is `log(1-p) - log(p)`.
    """
    (gradient,), (p, y) = gradients, inputs_of(function)
    wide = sum_acc_dtype(p.dtype)
    g, chance = gradient.cast(wide), p.cast(wide)
    rest = chance.const_like(1.0) - chance
    spread = (chance * rest).alu(Ops.MAX, chance.const_like(_LEAST_SPREAD))
    by_p = (g * ((chance - y.cast(wide)) / spread)).cast(p.dtype)
    if not is_float(y.dtype):
        return [by_p, None]
    logs = [(x.log2() * math.log(2)).alu(Ops.MAX, x.const_like(-100.0)) for x in (rest, chance)]
    return [by_p, (g * (logs[0] - logs[1])).cast(y.dtype)]
