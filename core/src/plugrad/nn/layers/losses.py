"""Losses as objects: their settings first, input and target later.

`Tensor`'s methods of these names say what they compute, and what is wrong with which arguments.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from plugrad.nn.checks import check_tensors
from plugrad.nn.module import Module
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


@dataclass(eq=False, repr=False)
class _Loss(Module):
    """A loss of elements, which are reduced to one."""

    _: KW_ONLY
    reduction: Reduction = "mean"


class _TargetLoss(_Loss):
    """A loss of an input and a target."""

    def __call__(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        check_tensors(self, input=input, target=target)
        return super().__call__(input, target)


class MSELoss(_TargetLoss):
    """Squares of differences: `Tensor.mse_loss`.

    Example:
        >>> MSELoss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
        2.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return input.mse_loss(target, self.reduction)


class L1Loss(_TargetLoss):
    """Magnitudes of differences: `Tensor.l1_loss`.

    Example:
        >>> L1Loss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
        1.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return input.l1_loss(target, self.reduction)


@dataclass(eq=False, repr=False)
class SmoothL1Loss(_TargetLoss):
    """Magnitudes of differences, rounded off below `beta`: `Tensor.smooth_l1_loss`.

    Example:
        >>> SmoothL1Loss()(Tensor([1.0]), Tensor([4.0])).item()
        2.5
    """

    _: KW_ONLY
    beta: float = 1.0

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return input.smooth_l1_loss(target, self.reduction, self.beta)


@dataclass(eq=False, repr=False)
class HuberLoss(_TargetLoss):
    """Squares of small differences, magnitudes of large ones: `Tensor.huber_loss`.

    Example:
        >>> HuberLoss()(Tensor([1.0]), Tensor([4.0])).item()
        2.5
    """

    _: KW_ONLY
    delta: float = 1.0

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return input.huber_loss(target, self.reduction, self.delta)


@dataclass(eq=False, repr=False)
class BCELoss(_TargetLoss):
    """Distance of probabilities from 0s and 1s: `Tensor.binary_cross_entropy`.

    Example:
        >>> round(BCELoss()(Tensor([0.5]), Tensor([1.0])).item(), 3)
        0.693
    """

    weight: Tensor | None = None

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return input.binary_cross_entropy(target, self.weight, self.reduction)


@dataclass(eq=False, repr=False)
class BCEWithLogitsLoss(_TargetLoss):
    """`BCELoss` of logits after a sigmoid: `Tensor.binary_cross_entropy_with_logits`.

    Example:
        >>> round(BCEWithLogitsLoss()(Tensor([0.0]), Tensor([1.0])).item(), 3)
        0.693
    """

    weight: Tensor | None = None
    _: KW_ONLY
    pos_weight: Tensor | None = None

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return input.binary_cross_entropy_with_logits(target, self.weight, self.reduction, self.pos_weight)


@dataclass(eq=False, repr=False)
class CrossEntropyLoss(_TargetLoss):
    """Cross entropy of logits (N, C, ...) and classes (N, ...) or probabilities: `Tensor.cross_entropy`.

    Example:
        >>> round(CrossEntropyLoss()(Tensor([[0.0, 0.0]]), Tensor([1])).item(), 3)
        0.693
    """

    weight: Tensor | None = None
    _: KW_ONLY
    ignore_index: int = -100
    label_smoothing: float = 0.0

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return input.cross_entropy(
            target, self.reduction, self.label_smoothing, self.ignore_index, self.weight
        )


@dataclass(eq=False, repr=False)
class NLLLoss(_TargetLoss):
    """Negative log likelihood of classes (N, ...) by log probabilities (N, C, ...): `Tensor.nll_loss`.

    Example:
        >>> NLLLoss()(Tensor([[-1.0, -2.0]]), Tensor([1])).item()
        2.0
    """

    weight: Tensor | None = None
    _: KW_ONLY
    ignore_index: int = -100

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return input.nll_loss(target, self.weight, self.ignore_index, self.reduction)


@dataclass(eq=False, repr=False)
class KLDivLoss(_TargetLoss):
    """Divergence of log probabilities from probabilities: `Tensor.kl_div`.

    Example:
        >>> KLDivLoss(reduction="sum")(Tensor([[0.0]]), Tensor([[1.0]])).item()
        0.0
    """

    _: KW_ONLY
    log_target: bool = False

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return input.kl_div(target, self.reduction, self.log_target)


@dataclass(eq=False, repr=False)
class TripletMarginLoss(_Loss):
    """Distance to the positive over that to the negative, with a margin: `Tensor.triplet_margin_loss`.

    Example:
        >>> TripletMarginLoss()(Tensor([[0.0]]), Tensor([[0.0]]), Tensor([[9.0]])).item()
        0.0
    """

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        check_tensors(self, anchor=anchor, positive=positive, negative=negative)
        return anchor.triplet_margin_loss(
            positive, negative, self.margin, self.p, self.eps, self.swap, self.reduction
        )


@dataclass(eq=False, repr=False)
class CosineEmbeddingLoss(_Loss):
    """Distance of pairs from the angle of their targets (1 or -1): `Tensor.cosine_embedding_loss`.

    Example:
        >>> CosineEmbeddingLoss()(Tensor([[1.0]]), Tensor([[1.0]]), Tensor([1])).item()
        0.0
    """

    margin: float = 0.0

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        check_tensors(self, input1=input1, input2=input2, target=target)
        return input1.cosine_embedding_loss(input2, target, self.margin, self.reduction)


@dataclass(eq=False, repr=False)
class CTCLoss(_Loss):
    """Negative log likelihood of sequences by log probabilities (T, N, C): `Tensor.ctc_loss`.

    Example:
        >>> CTCLoss()(Tensor([[[-9.0, -2.0]]]), Tensor([[1]]), [1], [1]).item()
        2.0
    """

    blank: int = 0
    reduction: Reduction = "mean"
    zero_infinity: bool = False

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths
    ) -> Tensor:
        check_tensors(self, log_probs=log_probs, targets=targets)
        return log_probs.ctc_loss(
            targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


@dataclass(eq=False, repr=False)
class CosineSimilarity(Module):
    """The cosine of the angle between vectors along an axis: `Tensor.cosine_similarity`.

    Example:
        >>> CosineSimilarity(0)(Tensor([2.0, 0.0]), Tensor([1.0, 0.0])).item()
        1.0
    """

    dim: int = 1
    eps: float = 1e-8

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        check_tensors(self, x1=x1, x2=x2)
        return x1.cosine_similarity(x2, self.dim, self.eps)


@dataclass(eq=False, repr=False)
class PairwiseDistance(Module):
    """The p-norm of differences along the last axis: `Tensor.pairwise_distance`.

    Example:
        >>> PairwiseDistance(eps=0.0)(Tensor([[3.0, 0.0]]), Tensor([[0.0, 4.0]])).item()
        5.0
    """

    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        check_tensors(self, x1=x1, x2=x2)
        return x1.pairwise_distance(x2, self.p, self.eps, self.keepdim)
