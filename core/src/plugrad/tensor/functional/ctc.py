"""Connectionist temporal classification: the loss of a sequence of labels without their times.

Source: Graves et al. 2006, section 4.1, in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from plugrad.dtype import dtype_max, dtypes, is_float, is_int, is_unsigned, sum_acc_dtype
from plugrad.engine.checks import unchecked
from plugrad.errors import DtypeError, ShapeError
from plugrad.tensor.base import Tensor
from plugrad.tensor.functional.losses import Reduction, check_reduction, reduced
from plugrad.tensor.linalg.recurrence import steps_of
from plugrad.tensor.lookup import counted, size_beside
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import Dim, as_int, filled, show, size_today
from plugrad.uop import greatest

if TYPE_CHECKING:
    import numpy.typing as npt

# Stands for the logarithm of 0: what is added to it does not make it infinite, whose gradient were NaN.
_NEVER = -1e30


def ctc_loss(
    self: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int] | npt.NDArray[Any] | int,
    target_lengths: Tensor | Sequence[int] | npt.NDArray[Any] | int,
    blank: int = 0,
    reduction: Reduction = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return the negative log-probability of label sequences, summed over all of their alignments.

    Log-probabilities (T, N, C) with labels (N, S) -> (), or (N,) with reduction "none"; for one sequence
    also (T, C) with (S,) and two numbers. One kernel, run for each of the T steps. Sizes may be symbolic:
    that is as much work as for the greatest that they may be.

    Args:
        targets: class numbers, padded to one length with anything; or all of them one after another, in
            one axis. A sequence with a label that is no class is impossible.
        input_lengths: how many of the T steps count, for each sequence: a tensor, a list, or an array of
            NumPy.
        target_lengths: how many of the S labels count, for each sequence, in the same way.
        blank: the class that stands for no label.
        reduction: what is done with the losses; the mean is over each by the length of its target.
        zero_infinity: give 0, without a gradient, where a target is impossible, as when it is too long
            for its input.

    Raises:
        ShapeError: shapes or lengths do not fit each other, or `blank` is no class.
        DtypeError: this holds no floats, or the labels are no integers.
        ArgumentError: there is no such reduction.

    Example:
        >>> scores = Tensor.zeros(2, 1, 2).log_softmax(-1)
        >>> round(scores.ctc_loss(Tensor([[1]]), [2], [1], reduction="sum").item(), 4)
        0.2877
    """
    check_reduction(reduction)
    _check_dtypes(self, targets)
    if self.ndim == 2 and targets.ndim == 1:
        used, wanted = (_one_length(self, lengths) for lengths in (input_lengths, target_lengths))
        alone: Any = self.unsqueeze(1)
        losses = alone.ctc_loss(targets.unsqueeze(0), used, wanted, blank, reduction, zero_infinity)
        return losses.reshape(())
    steps, batch, classes = _check_shapes(self, targets, blank)
    longest = targets.shape[-1]
    # what lies behind a symbolic size counts for nothing: from here on all sizes are numbers
    x, targets = _filled(self), _filled(targets)
    used = _lengths(x, input_lengths, batch, steps, "input_lengths").minimum(
        size_beside(x, steps, dtypes.int32)
    )
    if targets.ndim == 1:
        targets = _split_labels(x, targets, target_lengths, batch, longest)
    wanted = _lengths(x, target_lengths, batch, longest, "target_lengths")
    labels = _with_blanks(_as_classes(targets, classes), blank)
    places: Any = labels.shape[1]
    # (T, N, 2S+1): how likely each label is at each time
    chosen = labels.unsqueeze(0).expand(*x.shape[:2], places)
    wide = x.cast(sum_acc_dtype(x.dtype))
    with unchecked():  # padding of labels is no class
        found = wide.gather(2, chosen)
    is_class = (chosen >= 0) & (chosen < size_beside(x, classes, dtypes.int32))
    scores: Any = is_class.where(found.maximum(_NEVER), _NEVER)
    # a label may follow the one before the blank between them, unless both are equal
    before = interval(labels.pad(((0, 0), (2, 0)), value=-1), 1, 0, places)
    may_skip = ((labels != blank) & (labels != before)).contiguous()
    first, *rest = steps_of(scores.contiguous())
    place = labels._like(counted(places, dtypes.int32, labels.shape, 1))
    state = (place < 2).where(first, _NEVER).contiguous()
    number = used * 0
    for score in rest:
        number = (number + 1).contiguous()
        state = _next_state(state, score, may_skip, (number < used).unsqueeze(1)).contiguous()
    ends = wanted.unsqueeze(1) * 2
    is_end = (place == ends) | ((place == ends - 1) & (ends > 0))
    total = is_end.where(state, _NEVER).logsumexp(1)
    is_impossible = total <= _NEVER / 2
    losses = is_impossible.where(0.0 if zero_infinity else math.inf, -total)
    if reduction == "mean":
        losses = losses / wanted.clamp(1).cast(losses.dtype)
    return reduced(interval(losses, 0, 0, batch), reduction).cast(self.dtype)


def _check_dtypes(x: Any, targets: Any) -> None:
    if not isinstance(targets, type(x)) or not is_float(x.dtype) or not is_int(targets.dtype):
        kind = targets.dtype.name if isinstance(targets, type(x)) else type(targets).__name__
        raise DtypeError(
            f"ctc_loss of {x.dtype.name} with labels of {kind}: it takes log-probabilities and a tensor of "
            "integers."
        )
    x._check_device(targets)


def _check_shapes(x: Any, targets: Any, blank: int) -> tuple[Dim, Dim, Dim]:
    shape: Any = x.shape
    wanted = targets.shape
    fits = len(shape) == 3 and (len(wanted) == 1 or (len(wanted) == 2 and wanted[0] == shape[1]))
    if not fits or 0 in map(size_today, shape):
        raise ShapeError(
            f"ctc_loss of shape {show(shape)} with labels of shape {show(wanted)}: it takes (T, N, C) and "
            "(N, S) or, one after another, (labels,)."
        )
    if not 0 <= as_int(blank, "blank") < size_today(shape[2]):
        raise ShapeError(f"blank={blank} is none of {size_today(shape[2])} classes.")
    return shape


def _one_length(x: Any, lengths: Any) -> Any:
    """Return the length of one sequence as those of a batch of one."""
    if isinstance(lengths, int):
        return [lengths]
    return lengths.reshape(-1) if isinstance(lengths, type(x)) else lengths


def _filled(x: Any) -> Any:
    return x._like(filled(x._graph))


def _split_labels(x: Any, targets: Any, lengths: Any, batch: Dim, given: Dim) -> Any:
    """Return labels that follow one another, `given` of them, as rows: (labels,) -> (N, S)."""
    total: int = targets.shape[0]
    is_known = not isinstance(lengths, type(x))
    if is_known:
        lengths = _length_list(lengths, "target_lengths")
    if is_known and sum(lengths) != size_today(given):
        raise ShapeError(
            f"{size_today(given)} labels one after another with target_lengths={lengths}, which "
            f"add up to {sum(lengths)}."
        )
    longest = max(lengths, default=0) if is_known else total
    counts = _as_int32_lengths(_length_tensor(x, lengths, batch) if is_known else lengths, given)
    begins = (counts.cumsum(0, counts.dtype) - counts).unsqueeze(1)
    shape = (counts.shape[0], longest)
    places = begins + counts._like(counted(longest, dtypes.int32, shape, 1))
    if not total:
        return targets.reshape(shape[0], 0)
    with unchecked():  # rows are of different lengths
        return targets.gather(0, places.reshape(-1)).reshape(*shape)


def _length_tensor(x: Any, lengths: list[int], batch: Dim) -> Any:
    """Return lengths of the host as a tensor with room for any number of sequences."""
    if isinstance(batch, int) or len(lengths) != size_today(batch):
        return type(x)(lengths, device=x.device)
    missing = greatest(batch) - len(lengths)
    return interval(type(x)([*lengths, *[0] * missing], device=x.device), 0, 0, batch)


def _lengths(x: Any, lengths: Any, batch: Dim, longest: Dim, what: str) -> Any:
    is_known = not isinstance(lengths, type(x))
    if is_known:
        lengths = _length_list(lengths, what)
    found = _length_tensor(x, lengths, batch) if is_known else lengths
    if found.shape != (batch,) or not is_int(found.dtype):
        raise ShapeError(
            f"{what} of shape {show(found.shape)} and {found.dtype.name} for "
            f"{show((batch,))[1:-2]} sequences. "
            "Pass one integer for each."
        )
    if is_known and not 0 <= min(lengths) <= max(lengths) <= size_today(longest):
        raise ShapeError(f"{what}={lengths}: each must lie in 0..{size_today(longest)}.")
    return _as_int32_lengths(found, longest)


def _length_list(lengths: Any, what: str) -> list[int]:
    """Return lengths of the host, a sequence, array or number, as a list."""
    listed: Any = lengths.tolist() if hasattr(lengths, "__array__") else lengths
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        listed = [listed]
    return [as_int(length, what) for length in cast("Sequence[Any]", listed)]


def _as_int32_lengths(lengths: Any, longest: Dim) -> Any:
    """Return lengths in int32, clamping those that do not fit."""
    beyond = greatest(longest) + 1
    if is_unsigned(lengths.dtype):
        lengths = lengths.minimum(min(beyond, dtype_max(lengths.dtype)))
    elif lengths.dtype.itemsize == 8:
        lengths = lengths.clamp(-1, beyond)
    lengths = lengths.cast("int32")
    if not isinstance(longest, int):
        lengths = (lengths <= size_beside(lengths, longest, dtypes.int32)).where(lengths, beyond)
    return _filled(lengths)


def _as_classes(labels: Any, classes: Dim) -> Any:
    """Return labels in int32, -1 for those that do not fit."""
    if dtype_max(labels.dtype) > dtype_max(dtypes.int32):
        labels = labels.cast("int64")
        labels = ((labels >= 0) & (labels < greatest(classes))).where(labels, -1)
    return labels.cast("int32")


def _with_blanks(labels: Any, blank: int) -> Any:
    """Return labels with blanks around each: (N, S) -> (N, 2S+1)."""
    n, longest = labels.shape
    if not longest:
        labels, longest = labels.pad(((0, 0), (0, 1)), value=blank), 1
    pairs = labels.unsqueeze(2).pad(((0, 0), (0, 0), (1, 0)), value=blank)
    return pairs.reshape(n, 2 * longest).pad(((0, 0), (0, 1)), value=blank)


def _next_state(state: Any, score: Any, may_skip: Any, goes_on: Any) -> Any:
    places = state.shape[1]
    one = interval(state.pad(((0, 0), (1, 0)), value=_NEVER), 1, 0, places)
    two = may_skip.where(interval(state.pad(((0, 0), (2, 0)), value=_NEVER), 1, 0, places), _NEVER)
    highest = state.maximum(one).maximum(two).detach()
    total = (state - highest).exp() + (one - highest).exp() + (two - highest).exp()
    # a state that nothing reaches stays as it is: it must not drift; NaN does reach
    reached = ~(highest <= _NEVER / 2)
    following = reached.where(highest + reached.where(total, 1.0).log() + score, _NEVER)
    return goes_on.where(following, state)
