"""Turn scores of models into probabilities and labels."""

from collections.abc import Sequence

import numpy as np

from plugrad import Tensor, dtypes
from plugrad_onnx.values import shape_of


def transformed(scores: Tensor, transform: str) -> Tensor:
    """Return scores after one of the transforms of ai.onnx.ml."""
    if transform == "SOFTMAX":
        return scores.softmax(-1)
    if transform == "LOGISTIC":
        return scores.sigmoid()
    if transform == "SOFTMAX_ZERO":
        powers = (scores != 0).where((scores - scores.max(-1, keepdim=True)).exp(), 0)
        return powers / powers.sum(-1, keepdim=True)
    if transform == "PROBIT":
        return 2**0.5 * (2 * scores - 1).erfinv()
    return scores


def labelled(
    scores: Tensor,
    labels: Sequence[int],
    transform: str,
    threshold: float,
    candidates: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the label with the highest score of each sample, and all scores.

    One column of scores is about the second of two labels; what is above the threshold is that label.
    Otherwise the label is one of the candidates, where they are given.
    """
    names = Tensor(np.array(labels, np.int64))
    if shape_of(scores)[1] == 1 and len(labels) == 2:
        second = (scores[:, 0] > threshold).cast(dtypes.int64)
        first = 1 - scores if transform == "NONE" and threshold == 0.5 else -scores
        both = Tensor.cat(first, scores, axis=1)
        return names.index_select(0, second), transformed(both, transform)
    ranked = scores if candidates is None else candidates.where(scores, float("-inf"))
    return names.index_select(0, ranked.argmax(1).cast(dtypes.int64)), transformed(scores, transform)
