"""Gradient of scattered maxima, shared evenly by equal values."""

from collections.abc import Sequence
from typing import Any, TypeVar

from plugrad.tensor.base import TensorBase
from plugrad.tensor.custom_gradient import with_backward

T = TypeVar("T", bound=TensorBase)


def share_among_equals(out: T, inputs: Sequence[T], axis: int, include_self: bool) -> T:
    """Return `out` with its gradient shared evenly by the equal sources.

    PyTorch does so too, but counts what was there also where it takes no part (`include_self=False`).
    """

    def backward(gradients: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
        (gradient,), (x, source, index), (best,) = gradients, inputs, outputs
        part = source.shrink([(0, size) for size in index.shape])
        # positions outside of the axis count nowhere, and pick no gradient
        # where any is NaN, so is the result, and each of them equals it
        is_one = (part == best.gather(axis, index)) | part.isnan()
        is_kept = (x == best) | x.isnan()
        if not include_self:
            is_kept &= x.zeros_like().scatter_add(axis, index, part.ones_like()) == 0
        count = is_kept.cast(x.dtype).scatter_add(axis, index, is_one.cast(x.dtype))
        share = gradient / count.maximum(1)
        given = is_one.where(share.gather(axis, index), 0.0)
        rest = [(0, have - size) for have, size in zip(source.shape, index.shape, strict=True)]
        return [is_kept.where(share, 0.0), given.pad(rest), None]

    return with_backward([out], inputs, backward)[0]
