"""Losses as objects: their settings first, input and target later.

`Tensor`'s methods of these names say what they compute, and what is wrong with which arguments.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from plugrad.nn.checks import check_tensors
from plugrad.nn.module import FunctionModule
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


class _Loss(FunctionModule):
    """A loss of elements, which are reduced to one."""

    _: KW_ONLY
    reduction: Reduction = "mean"


class _TargetLoss(_Loss):
    """A loss of an input and a target."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        check_tensors(self, input=input, target=target)
        return super().forward(input, target)


class MSELoss(_TargetLoss, function=Tensor.mse_loss):
    """Squares of differences: `Tensor.mse_loss`.

    Example:
        >>> MSELoss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
        2.0
    """


class L1Loss(_TargetLoss, function=Tensor.l1_loss):
    """Magnitudes of differences: `Tensor.l1_loss`.

    Example:
        >>> L1Loss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
        1.0
    """


class SmoothL1Loss(_TargetLoss, function=Tensor.smooth_l1_loss):
    """Magnitudes of differences, rounded off below `beta`: `Tensor.smooth_l1_loss`.

    Example:
        >>> SmoothL1Loss()(Tensor([1.0]), Tensor([4.0])).item()
        2.5
    """

    _: KW_ONLY
    beta: float = 1.0


class HuberLoss(_TargetLoss, function=Tensor.huber_loss):
    """Squares of small differences, magnitudes of large ones: `Tensor.huber_loss`.

    Example:
        >>> HuberLoss()(Tensor([1.0]), Tensor([4.0])).item()
        2.5
    """

    _: KW_ONLY
    delta: float = 1.0


class BCELoss(_TargetLoss, function=Tensor.binary_cross_entropy):
    """Distance of probabilities from 0s and 1s: `Tensor.binary_cross_entropy`.

    Example:
        >>> round(BCELoss()(Tensor([0.5]), Tensor([1.0])).item(), 3)
        0.693
    """

    weight: Tensor | None = None


class BCEWithLogitsLoss(_TargetLoss, function=Tensor.binary_cross_entropy_with_logits):
    """`BCELoss` of logits after a sigmoid: `Tensor.binary_cross_entropy_with_logits`.

    Example:
        >>> round(BCEWithLogitsLoss()(Tensor([0.0]), Tensor([1.0])).item(), 3)
        0.693
    """

    weight: Tensor | None = None
    _: KW_ONLY
    pos_weight: Tensor | None = None


class CrossEntropyLoss(_TargetLoss, function=Tensor.cross_entropy):
    """Cross entropy of logits (N, C, ...) and classes (N, ...) or probabilities: `Tensor.cross_entropy`.

    Example:
        >>> round(CrossEntropyLoss()(Tensor([[0.0, 0.0]]), Tensor([1])).item(), 3)
        0.693
    """

    weight: Tensor | None = None
    _: KW_ONLY
    ignore_index: int = -100
    label_smoothing: float = 0.0


class NLLLoss(_TargetLoss, function=Tensor.nll_loss):
    """Negative log likelihood of classes (N, ...) by log probabilities (N, C, ...): `Tensor.nll_loss`.

    Example:
        >>> NLLLoss()(Tensor([[-1.0, -2.0]]), Tensor([1])).item()
        2.0
    """

    weight: Tensor | None = None
    _: KW_ONLY
    ignore_index: int = -100


class KLDivLoss(_TargetLoss, function=Tensor.kl_div):
    """Divergence of log probabilities from probabilities: `Tensor.kl_div`.

    Example:
        >>> KLDivLoss(reduction="sum")(Tensor([[0.0]]), Tensor([[1.0]])).item()
        0.0
    """

    _: KW_ONLY
    log_target: bool = False


class TripletMarginLoss(_Loss, function=Tensor.triplet_margin_loss):
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
        return super().forward(anchor, positive, negative)


class CosineEmbeddingLoss(_Loss, function=Tensor.cosine_embedding_loss):
    """Distance of pairs from the angle of their targets (1 or -1): `Tensor.cosine_embedding_loss`.

    Example:
        >>> CosineEmbeddingLoss()(Tensor([[1.0]]), Tensor([[1.0]]), Tensor([1])).item()
        0.0
    """

    margin: float = 0.0

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        check_tensors(self, input1=input1, input2=input2, target=target)
        return super().forward(input1, input2, target)


class CTCLoss(FunctionModule, function=Tensor.ctc_loss):
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
        return super().forward(log_probs, targets, input_lengths, target_lengths)


class _Pairs(FunctionModule):
    """A function of two tensors of vectors."""

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        check_tensors(self, x1=x1, x2=x2)
        return super().forward(x1, x2)


class CosineSimilarity(_Pairs, function=Tensor.cosine_similarity):
    """The cosine of the angle between vectors along an axis: `Tensor.cosine_similarity`.

    Example:
        >>> CosineSimilarity(0)(Tensor([2.0, 0.0]), Tensor([1.0, 0.0])).item()
        1.0
    """

    dim: int = 1
    eps: float = 1e-8


class PairwiseDistance(_Pairs, function=Tensor.pairwise_distance):
    """The p-norm of differences along the last axis: `Tensor.pairwise_distance`.

    Example:
        >>> PairwiseDistance(eps=0.0)(Tensor([[3.0, 0.0]]), Tensor([[0.0, 4.0]])).item()
        5.0
    """

    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False
