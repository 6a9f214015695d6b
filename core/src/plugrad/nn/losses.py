"""Losses as objects: their settings first, input and target later.

`Tensor`'s methods of these names say what they compute, and what is wrong with which arguments.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from plugrad.nn.checks import check_tensors
from plugrad.tensor import Tensor

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "PairwiseDistance",
    "SmoothL1Loss",
    "TripletMarginLoss",
]

Reduction = Literal["mean", "sum", "none"]
Lengths: TypeAlias = "Tensor | Sequence[int] | npt.NDArray[Any] | int"


class _Reduced:
    """What losses share: how the losses of elements become one."""

    def __init__(self, *, reduction: Reduction = "mean") -> None:
        self.reduction: Reduction = reduction


class MSELoss(_Reduced):
    """Squares of differences: `Tensor.mse_loss`.

    Example:
        >>> MSELoss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
        2.0
    """

    def __call__(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, input=input, target=target)
        return input.mse_loss(target, self.reduction)


class L1Loss(_Reduced):
    """Magnitudes of differences: `Tensor.l1_loss`.

    Example:
        >>> L1Loss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
        1.0
    """

    def __call__(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, input=input, target=target)
        return input.l1_loss(target, self.reduction)


class SmoothL1Loss(_Reduced):
    """Magnitudes of differences, rounded off below `beta`: `Tensor.smooth_l1_loss`.

    Example:
        >>> SmoothL1Loss()(Tensor([1.0]), Tensor([4.0])).item()
        2.5
    """

    def __init__(self, *, reduction: Reduction = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.beta = beta

    def __call__(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, input=input, target=target)
        return input.smooth_l1_loss(target, self.reduction, self.beta)


class HuberLoss(_Reduced):
    """Squares of small differences, magnitudes of large ones: `Tensor.huber_loss`.

    Example:
        >>> HuberLoss()(Tensor([1.0]), Tensor([4.0])).item()
        2.5
    """

    def __init__(self, *, reduction: Reduction = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def __call__(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, input=input, target=target)
        return input.huber_loss(target, self.reduction, self.delta)


class BCELoss(_Reduced):
    """How far probabilities are from 0s and 1s: `Tensor.binary_cross_entropy`.

    Example:
        >>> round(BCELoss()(Tensor([0.5]), Tensor([1.0])).item(), 3)
        0.693
    """

    def __init__(self, weight: Tensor | None = None, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.weight = weight

    def __call__(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, input=input, target=target)
        return input.binary_cross_entropy(target, self.weight, self.reduction)


class BCEWithLogitsLoss(_Reduced):
    """`BCELoss` of what a sigmoid makes of logits: `Tensor.binary_cross_entropy_with_logits`.

    Example:
        >>> round(BCEWithLogitsLoss()(Tensor([0.0]), Tensor([1.0])).item(), 3)
        0.693
    """

    def __init__(
        self, weight: Tensor | None = None, *, reduction: Reduction = "mean", pos_weight: Tensor | None = None
    ) -> None:
        super().__init__(reduction=reduction)
        self.weight = weight
        self.pos_weight = pos_weight

    def __call__(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, input=input, target=target)
        return input.binary_cross_entropy_with_logits(target, self.weight, self.reduction, self.pos_weight)


class CrossEntropyLoss(_Reduced):
    """How unlikely logits (N, C, ...) make classes (N, ...), or probabilities: `Tensor.cross_entropy`.

    Example:
        >>> round(CrossEntropyLoss()(Tensor([[0.0, 0.0]]), Tensor([1])).item(), 3)
        0.693
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction=reduction)
        self.weight = weight
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def __call__(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, input=input, target=target)
        return input.cross_entropy(
            target, self.reduction, self.label_smoothing, self.ignore_index, self.weight
        )


class NLLLoss(_Reduced):
    """How unlikely logarithms of probabilities (N, C, ...) make classes (N, ...): `Tensor.nll_loss`.

    Example:
        >>> NLLLoss()(Tensor([[-1.0, -2.0]]), Tensor([1])).item()
        2.0
    """

    def __init__(
        self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.weight = weight
        self.ignore_index = ignore_index

    def __call__(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, input=input, target=target)
        return input.nll_loss(target, self.weight, self.ignore_index, self.reduction)


class KLDivLoss:
    """How far logarithms of probabilities are from probabilities: `Tensor.kl_div`.

    Example:
        >>> KLDivLoss(reduction="sum")(Tensor([[0.0]]), Tensor([[1.0]])).item()
        0.0
    """

    def __init__(
        self, *, reduction: Literal["mean", "sum", "none", "batchmean"] = "mean", log_target: bool = False
    ) -> None:
        self.reduction: Literal["mean", "sum", "none", "batchmean"] = reduction
        self.log_target = log_target

    def __call__(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, input=input, target=target)
        return input.kl_div(target, self.reduction, self.log_target)


class TripletMarginLoss(_Reduced):
    """How much nearer the negative is than the positive, and a margin: `Tensor.triplet_margin_loss`.

    Example:
        >>> TripletMarginLoss()(Tensor([[0.0]]), Tensor([[0.0]]), Tensor([[9.0]])).item()
        0.0
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        *,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def __call__(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, anchor=anchor, positive=positive, negative=negative)
        return anchor.triplet_margin_loss(
            positive, negative, self.margin, self.p, self.eps, self.swap, self.reduction
        )


class CosineEmbeddingLoss(_Reduced):
    """How far pairs are from the angle that their targets (1 or -1) ask for: `Tensor.cosine_embedding_loss`.

    Example:
        >>> CosineEmbeddingLoss()(Tensor([[1.0]]), Tensor([[1.0]]), Tensor([1])).item()
        0.0
    """

    def __init__(self, margin: float = 0.0, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin

    def __call__(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, input1=input1, input2=input2, target=target)
        return input1.cosine_embedding_loss(input2, target, self.margin, self.reduction)


class CTCLoss(_Reduced):
    """How unlikely logarithms of probabilities (T, N, C) make sequences: `Tensor.ctc_loss`.

    Example:
        >>> CTCLoss()(Tensor([[[-9.0, -2.0]]]), Tensor([[1]]), [1], [1]).item()
        2.0
    """

    def __init__(self, blank: int = 0, reduction: Reduction = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def __call__(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths
    ) -> Tensor:
        """Return the loss."""
        check_tensors(self, log_probs=log_probs, targets=targets)
        return log_probs.ctc_loss(
            targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class CosineSimilarity:
    """The cosine of the angle between vectors along an axis: `Tensor.cosine_similarity`.

    Example:
        >>> CosineSimilarity(0)(Tensor([2.0, 0.0]), Tensor([1.0, 0.0])).item()
        1.0
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self.dim = dim
        self.eps = eps

    def __call__(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, x1=x1, x2=x2)
        return x1.cosine_similarity(x2, self.dim, self.eps)


class PairwiseDistance:
    """The p-norm of differences along the last axis: `Tensor.pairwise_distance`.

    Example:
        >>> PairwiseDistance(eps=0.0)(Tensor([[3.0, 0.0]]), Tensor([[0.0, 4.0]])).item()
        5.0
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.p = p
        self.eps = eps
        self.keepdim = keepdim

    def __call__(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, x1=x1, x2=x2)
        return x1.pairwise_distance(x2, self.p, self.eps, self.keepdim)
