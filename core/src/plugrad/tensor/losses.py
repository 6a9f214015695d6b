"""Losses of classifiers, one-hot encoding, dropout."""

from typing import Any, Literal, Self

from plugrad.dtype import dtype_max, dtype_min, dtypes, is_float, is_int
from plugrad.errors import ShapeError
from plugrad.tensor.convolution import ConvolutionMixin
from plugrad.tensor.creation import CreationMixin
from plugrad.tensor.shapes import expanded, show
from plugrad.uop.uop import UOp

Reduction = Literal["mean", "sum", "none"]


class LossMixin(ConvolutionMixin, CreationMixin):
    """What training needs besides layers."""

    __slots__ = ()

    def one_hot(self, num_classes: int) -> Self:
        """Return 1 at each element's place on a new last axis of `num_classes`, 0 elsewhere.

        Values outside of 0..num_classes-1 give zeros only. (...) -> (..., num_classes), default int.

        Raises:
            DtypeError: this tensor holds no integers.
            ShapeError: there are no classes.

        Example:
            >>> Tensor([1, 0]).one_hot(3).tolist()
            [[0, 1, 0], [1, 0, 0]]
        """
        return self._like(self._is_class(num_classes, "one_hot").cast(dtypes.default_int))

    def _is_class(self, num_classes: int, what: str) -> UOp:
        if not is_int(self.dtype):
            raise self._refuse(what, "integers")
        if num_classes < 1:
            raise ShapeError(f"{what} with {num_classes} classes. Pass at least 1.")
        shape = (*self.shape, num_classes)
        numbers = UOp.iota(num_classes).cast(self.dtype) if num_classes < 128 else UOp.iota(num_classes)
        labels = self._graph if num_classes < 128 else self._graph.cast(dtypes.int64)
        labels = labels.reshape((*self.shape, 1)).expand(shape)
        return labels.eq(expanded(numbers.cast(labels.dtype), shape))

    def sparse_categorical_crossentropy(
        self, y: Self, ignore_index: int = -1, label_smoothing: float = 0.0, reduction: Reduction = "mean"
    ) -> Self:
        """Return the cross entropy between logits and the numbers of the right classes.

        (..., C) with `y` of shape (...) -> () or, with reduction "none", (...). The mean is over labels that
        are not ignored.

        Args:
            y: class numbers.
            ignore_index: labels with this number do not count.
            label_smoothing: how much of each label is spread evenly over all classes, 0 to 1.
            reduction: what is done with the losses.

        Raises:
            ShapeError: shapes do not fit, or label_smoothing lies outside of 0..1.
            DtypeError: logits are no floats, or labels no integers.

        Example:
            >>> round(Tensor([[0.0, 0.0]]).sparse_categorical_crossentropy(Tensor([1])).item(), 4)
            0.6931
        """
        what = "sparse_categorical_crossentropy"
        self._check_logits(what, label_smoothing, reduction)
        if self.shape[:-1] != y.shape:
            raise ShapeError(
                f"{what}: logits {show(self.shape)} take labels of shape {show(self.shape[:-1])}, not "
                f"{show(y.shape)}."
            )
        classes: Any = self.shape[-1]
        self._check_device(y)
        chosen = y._like(y._is_class(classes, what))
        # a number that the labels' dtype does not hold ignores none of them
        can_match = dtype_min(y.dtype) <= ignore_index <= dtype_max(y.dtype)
        counts = y != ignore_index if can_match else y == y
        log_probabilities = self.log_softmax(-1)
        losses = -chosen.where(log_probabilities, 0).sum(-1)
        if label_smoothing:
            losses = losses * (1 - label_smoothing) - log_probabilities.mean(-1) * label_smoothing
        losses = counts.where(losses, 0)
        if reduction == "mean":
            return losses.sum() / counts.sum().cast(losses.dtype)
        return losses.sum() if reduction == "sum" else losses

    def cross_entropy(
        self, y: Self, reduction: Reduction = "mean", label_smoothing: float = 0.0, ignore_index: int = -100
    ) -> Self:
        """Return the cross entropy between logits and labels, classes on axis 1 (as in PyTorch).

        (N, C, ...) with class numbers (N, ...) or probabilities (N, C, ...) -> (); also (C,) with () or (C,).

        Args:
            y: class numbers, or floats: the probability of each class.
            reduction: what is done with the losses; the mean over probabilities divides by their number.
            label_smoothing: how much of each label is spread evenly over all classes, 0 to 1.
            ignore_index: class numbers that do not count.

        Raises:
            ShapeError: shapes do not fit, or label_smoothing lies outside of 0..1.
            DtypeError: logits are no floats.

        Example:
            >>> round(Tensor([[0.0, 0.0]]).cross_entropy(Tensor([1])).item(), 4)
            0.6931
        """
        self._check_logits("cross_entropy", label_smoothing, reduction)
        axis = min(1, self.ndim - 1)
        last = (*[a for a in range(self.ndim) if a != axis], axis)
        if is_int(y.dtype):
            logits = self.permute(last)
            return logits.sparse_categorical_crossentropy(y, ignore_index, label_smoothing, reduction)
        if self.shape != y.shape:
            raise ShapeError(
                f"cross_entropy: logits {show(self.shape)} take integers without axis {axis}, "
                f"or probabilities of the same shape, not {y.dtype.name} of shape {show(y.shape)}."
            )
        classes: Any = self.shape[axis]
        target = y
        if label_smoothing:
            target = y * (1 - label_smoothing) + label_smoothing / float(classes)
        losses = -(self.log_softmax(axis) * target).sum(axis)
        if reduction == "none":
            return losses
        return losses.sum() if reduction == "sum" else losses.mean()

    def _check_logits(self, what: str, label_smoothing: float, reduction: str) -> None:
        if not is_float(self.dtype):
            raise self._refuse(what, "floats as logits")
        if not self.ndim:
            raise ShapeError(f"{what} of a scalar: the classes need an axis. Pass logits (N, C) or (C,).")
        if not 0 <= label_smoothing <= 1:
            raise ShapeError(f"{what}: label_smoothing={label_smoothing} lies outside of 0..1.")
        if reduction not in ("mean", "sum", "none"):
            raise ShapeError(f"{what}: reduction={reduction!r} is none of 'mean', 'sum', 'none'.")

    def dropout(self, p: float = 0.5) -> Self:
        """Return this with elements set to 0 with probability `p` and the others divided by `1-p`.

        Only while training (see `Tensor.train`); otherwise this tensor itself.

        Raises:
            ShapeError: `p` lies outside of 0..1.
            DtypeError: this tensor holds no floats.

        Example:
            >>> Tensor([1.0, 2.0]).dropout(0.5).tolist()
            [1.0, 2.0]
        """
        if not 0 <= p <= 1:
            raise ShapeError(f"dropout: p={p} lies outside of 0..1.")
        if not is_float(self.dtype):
            raise self._refuse("dropout", "floats")
        if not self.training or p == 0:
            return self
        if p == 1:
            return self._like(UOp.const(dtypes.bool, True).where(0.0, self._graph))
        shape = self.static_shape("dropout")
        keep = self.rand(shape, dtype=dtypes.float32, device=self.device) >= p
        return keep.where(self / (1 - p), 0)
