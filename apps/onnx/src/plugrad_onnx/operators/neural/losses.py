"""Compare predictions with labels."""

from typing import Literal

from plugrad import Tensor, dtypes
from plugrad_onnx.registry import operator
from plugrad_onnx.values import shape_of

Reduction = Literal["none", "sum", "mean"]


@operator("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return the negative of the logarithms at the labels, weighted by class."""
    labels = target.cast(dtypes.int64)
    counted = (
        Tensor.ones(*shape_of(labels), dtype=dtypes.bool) if ignore_index is None else labels != ignore_index
    )
    safe = counted.where(labels, 0)
    picked = x.gather(1, safe.unsqueeze(1)).squeeze(1)
    of_class = Tensor.ones(shape_of(x)[1], dtype=x.dtype) if weight is None else weight
    weights = of_class.index_select(0, safe.reshape(-1)).reshape(*shape_of(safe))
    weights = counted.where(weights, 0).cast(x.dtype)
    losses = counted.where(-picked * weights, 0).cast(x.dtype)
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.sum() / weights.sum()


@operator("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy_loss(
    scores: Tensor,
    labels: Tensor,
    weights: Tensor | None = None,
    *,
    ignore_index: int | None = None,
    reduction: Reduction = "mean",
) -> tuple[Tensor, Tensor]:
    """Return the loss of the softmax at the labels, and the logarithms of the softmax."""
    logs = scores.log_softmax(1)
    loss = negative_log_likelihood_loss(logs, labels, weights, ignore_index=ignore_index, reduction=reduction)
    return loss, logs
