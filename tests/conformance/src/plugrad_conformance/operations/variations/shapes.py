"""The plain case of each method in other shapes: empty, of ones, without axes, repeated.

Sizes of a plain case differ where axes differ, so a size names axes: it is cut in all inputs at once. That of
three rows has none left, or one. Repeated elements lie once in memory, with their axes in the other order, so
that each method meets inputs that are expanded and in no order, and its gradient sums over what is repeated.

References are those of the plain case. Where its arguments or its reference ask for certain sizes, these are
kept; what is left out by that is written out in `empties` and `scalars`.
"""

# calls and references take whatever inputs there are
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from plugrad_conformance.operations.operation import Array, Operation
from plugrad_conformance.operations.variations.sweep import plain_cases

NO_ELEMENTS = "no elements"
AXES_OF_ONE = "axes of one"
NO_AXES = "without axes"
REPEATED = "repeated elements"


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _sizes(table: Mapping[str, str]) -> dict[str, frozenset[int]]:
    """Return the sizes that a table of sizes and names gives each name."""
    found: dict[str, frozenset[int]] = {}
    for sizes, names in table.items():
        found |= dict.fromkeys(names.split(), frozenset(map(int, sizes.split())))
    return found


#: Sizes that are not cut to nothing. An axis of 1 broadcasts, and is kept where it is not named below.
NEVER_EMPTY = _sizes(
    {
        "2": "T diag diagflat fft group_norm groupnorm hfft ifft instance_norm irfft irfft2 irfftn "
        "log_softmax max_unpool1d max_unpool2d max_unpool3d ptp softmax softmin",
        "2 3": "diag_embed multinomial",
        "2 3 4": "argmax argmin block_diag broadcast_to conv3d conv_transpose1d conv_transpose2d "
        "conv_transpose3d ctc_loss expand expand_as fft2 fftn flatten ifft2 ifftn pad_to rearrange "
        "reshape_as unflatten view view_as",
        "2 3 5": "nll_loss",
        "2 3 12": "pixel_shuffle",
        "2 4": "amin slice_scatter",
        "2 4 5": "grid_sample scatter",
        "2 4 6": "pixel_unshuffle",
        "3": "__rmatmul__ amax cross kthvalue layer_norm logsumexp max min mode rms_norm select "
        "select_scatter split squeeze unbind unique_consecutive",
        "3 4": "adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d diagonal_scatter max_pool3d shrink "
        "shrink_to",
        "3 5 6": "conv2d",
        "3 7": "conv1d",
        "4": "aminmax chunk combinations cosine_embedding_loss cosine_similarity index_add index_copy "
        "index_fill median narrow take_along_dim unfold",
        "4 5": "gather index_put scaled_dot_product_attention scatter_add scatter_reduce take",
        "5": "cross_entropy ihfft index_select sparse_categorical_crossentropy take_along_axis",
        "5 6": "adaptive_avg_pool2d adaptive_max_pool2d avg_pool2d interpolate max_pool2d",
        "6": "nanmedian",
        "7": "adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d max_pool1d quantile topk",
        "12": "masked_scatter",
    }
)
#: Methods whose axis of 1 is one of images, or of what is joined, and is cut like others.
ONE_IMAGE = _names(
    "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
    "adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d concat concatenate conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d dropout1d dropout2d dropout3d grid_sample hfft interpolate "
    "irfft max_pool1d max_pool2d max_pool3d"
)
#: Sizes that are not cut to one.
NEVER_ONE = _sizes(
    {
        "2": "fft fft2 fftn grid_sample hfft ifft ifft2 ifftn irfft irfft2 irfftn max_unpool1d max_unpool2d "
        "max_unpool3d vsplit",
        "2 3": "multinomial",
        "2 3 4": "block_diag conv_transpose2d ctc_loss flatten pad_to rearrange reshape_as unflatten view "
        "view_as",
        "2 3 12": "pixel_shuffle",
        "2 4": "conv_transpose1d conv_transpose3d slice_scatter",
        "2 4 5": "scatter",
        "2 4 6": "pixel_unshuffle",
        "3": "__rmatmul__ cross hsplit kthvalue layer_norm rms_norm select_scatter split unbind "
        "unique_consecutive",
        "3 4": "avg_pool3d conv3d diagonal_scatter max_pool3d shrink shrink_to",
        "4": "chunk combinations expand gather glu group_norm groupnorm index_add index_copy index_fill "
        "instance_norm median narrow pairwise_distance reshape take_along_dim unfold",
        "4 5": "index_put scatter_add scatter_reduce",
        "5": "cross_entropy index_select nll_loss sparse_categorical_crossentropy take_along_axis",
        "5 6": "avg_pool2d conv2d max_pool2d",
        "6": "nanmedian",
        "7": "avg_pool1d conv1d max_pool1d topk",
        "12": "masked_scatter",
    }
)
#: Methods whose reference is one of certain sizes, or of numbers that differ.
NEVER_REPEATED = _names("ctc_loss multinomial unique_consecutive")


def shaped(cases: Iterable[Operation], axes_needed: Set[str]) -> Iterator[Operation]:
    """Yield the cases of other shapes for written cases.

    Args:
        cases: what to choose plain ones from.
        axes_needed: the methods whose plain case does not do without axes.
    """
    for name, case in plain_cases(cases, ()).items():
        sizes = {size for x in case.inputs for size in x.shape}
        kept = NEVER_EMPTY.get(name, frozenset()) | (frozenset() if name in ONE_IMAGE else {1})
        cut = sorted(sizes - kept)
        if cut:
            yield _in_parts(case, NO_ELEMENTS, [_cut(case.inputs, {size}, 0) for size in cut])
        ones = sizes - NEVER_ONE.get(name, frozenset()) - {1}
        if ones:
            yield _in_parts(case, AXES_OF_ONE, [_cut(case.inputs, ones, 1)])
        if name not in axes_needed:
            yield _in_parts(case, NO_AXES, [tuple(x.reshape(-1)[0].reshape(()) for x in case.inputs)])
        if any(sizes - {1}) and name not in NEVER_REPEATED:
            yield repeated(case)


def _cut(inputs: Sequence[Array], sizes: Set[int], to: int) -> tuple[Array, ...]:
    """Return inputs whose axes of certain sizes have `to` elements."""
    return tuple(x[tuple(slice(to if size in sizes else None) for size in x.shape)] for x in inputs)


def _in_parts(case: Operation, variation: str, parts: Sequence[tuple[Array, ...]]) -> Operation:
    """Return a case that does another with several sets of inputs, one after another."""
    count = len(case.inputs)
    return replace(
        case,
        variation=variation,
        call=_one_after_another(case.call, count),
        reference=_in_silence(_one_after_another(case.reference, count)),
        inputs=tuple(x for part in parts for x in part),
        order=min(case.order, 1),
        fixed=tuple(i + count * number for number in range(len(parts)) for i in case.fixed),
    )


def _one_after_another(function: Any, count: int) -> Callable[..., tuple[Any, ...]]:
    def called(*operands: Any) -> tuple[Any, ...]:
        found: list[Any] = []
        for i in range(0, len(operands), count):
            value = function(*operands[i : i + count])
            found += value if isinstance(value, (tuple, list)) else (value,)
        return tuple(found)

    return called


def _in_silence(reference: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reference without NumPy's warnings of empty means and variances of one."""

    def called(*arrays: Any) -> Any:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            return reference(*arrays)

    return called


def repeated(case: Operation) -> Operation:
    """Return a case of inputs with one repeated row, and with reversed axes.

    Example:
        >>> case = Operation("neg", "reals", lambda x: -x, lambda x: -x, (np.ones((3, 2)),))
        >>> repeated(case).inputs[0].shape
        (2, 1)
    """
    shapes = [x.shape for x in case.inputs]

    def call(*tensors: Any) -> Any:
        function: Any = case.call
        return function(*[_turned(x).expand(shape) for x, shape in zip(tensors, shapes, strict=True)])

    def reference(*arrays: Any) -> Any:
        function: Any = case.reference
        rows = zip(arrays, shapes, strict=True)
        return function(*[np.broadcast_to(x.T, shape).copy() for x, shape in rows])

    return replace(
        case,
        variation=REPEATED,
        call=call,
        reference=_in_silence(reference),
        inputs=tuple(np.ascontiguousarray(x[:1].T) if x.ndim else x for x in case.inputs),
        order=min(case.order, 1),
    )


def _turned(x: Any) -> Any:
    return x.permute(tuple(range(x.ndim))[::-1])
