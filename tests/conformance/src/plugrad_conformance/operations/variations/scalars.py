"""Cases of tensors without axes, and the methods that refuse them."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.operations.operation import Array, Meaning, Operation, reals
from plugrad_conformance.operations.variations.shapes import NO_AXES

_X: Array = np.array(1.25, np.float32)
_Y: Array = np.array(-0.75, np.float32)
_FIRST: Array = np.array(0, np.int32)
_same: Meaning = lambda x: x
_twice: Meaning = lambda x: (x, x)
_in_a_row: Meaning = lambda x: x.reshape(1)
_no_number: Meaning = lambda x: x * np.nan
_and_place: Meaning = lambda x: (x, 0)
_zero: Meaning = lambda x: x * 0
_pair_of_one: Meaning = lambda x, i: (x, x)

# name, on a tensor, on an array
_ONE: tuple[tuple[str, Meaning, Meaning], ...] = (
    ("T", lambda x: x.T, _same),
    ("__getitem__", lambda x: (x[()], x[...], x[None], x[True]), lambda x: (x, x, x[None], x[None])),
    ("amax", lambda x: x.amax(), _same),
    ("amin", lambda x: x.amin(), _same),
    ("aminmax", lambda x: x.aminmax(), lambda x: (x, x)),
    ("broadcast_to", lambda x: x.broadcast_to(2, 3), lambda x: np.broadcast_to(x, (2, 3))),
    ("contiguous", lambda x: x.contiguous(), _same),
    ("corrcoef", lambda x: x.corrcoef(), _no_number),
    ("cov", lambda x: (x.cov(), x.cov(correction=0)), lambda x: (x * np.nan, 0 * x)),
    ("cummax", lambda x: x.cummax(0), _and_place),
    ("cummin", lambda x: x.cummin(-1), _and_place),
    ("cumprod", lambda x: x.cumprod(0), _same),
    ("cumsum", lambda x: x.cumsum(-1), _same),
    ("diagflat", lambda x: (x.diagflat(), x.diagflat(1)), lambda x: (x[None, None], np.diagflat(x, 1))),
    ("einsum", lambda x: Tensor.einsum(",->", x, x), lambda x: x * x),
    ("expand", lambda x: (x.expand(()), x.expand(3)), lambda x: (x, np.broadcast_to(x, 3))),
    ("expand_as", lambda x: x.expand_as(Tensor.zeros(2)), lambda x: np.broadcast_to(x, 2)),
    ("flatten", lambda x: (x.flatten(), x.flatten(0, -1)), lambda x: (x[None], x[None])),
    ("flip", lambda x: (x.flip(()), x.flip(0)), _twice),
    ("kthvalue", lambda x: x.kthvalue(1), _and_place),
    ("logcumsumexp", lambda x: x.logcumsumexp(0), _same),
    ("logsumexp", lambda x: (x.logsumexp(), x.logsumexp(-1)), _twice),
    ("max", lambda x: (x.max(), x.max(-1)), _twice),
    ("mean", lambda x: (x.mean(), x.mean(-1)), _twice),
    ("median", lambda x: (x.median(), x.median(0)[0]), _twice),
    ("min", lambda x: (x.min(), x.min(-1)), _twice),
    ("moveaxis", lambda x: (x.moveaxis(0, -1), x.moveaxis((-1,), (0,))), _twice),
    ("movedim", lambda x: (x.movedim(-1, 0), x.movedim((0,), (0,))), _twice),
    ("msort", lambda x: x.msort(), _same),
    ("nanmean", lambda x: (x.nanmean(), x.nanmean(-1)), _twice),
    ("nanmedian", lambda x: x.nanmedian(), _same),
    ("nansum", lambda x: (x.nansum(), x.nansum(-1)), _twice),
    ("norm", lambda x: (x.norm(), x.norm(1), x.norm(np.inf)), lambda x: (abs(x), abs(x), abs(x))),
    ("normalize", lambda x: x.normalize(axis=0), np.sign),
    ("pad", lambda x: x.pad(()), _same),
    ("pad_to", lambda x: x.pad_to(()), _same),
    ("permute", lambda x: (x.permute(()), x.permute()), lambda x: (x, x)),
    ("prod", lambda x: (x.prod(), x.prod(-1)), _twice),
    ("ptp", lambda x: x.ptp(), _zero),
    ("quantile", lambda x: (x.quantile(0.25), x.quantile(0.5, keepdim=True)), lambda x: (x, x)),
    ("rearrange", lambda x: (x.rearrange("->"), x.rearrange("-> 1")), lambda x: (x, x[None])),
    ("repeat", lambda x: (x.repeat(()), x.repeat(2)), lambda x: (x, np.tile(x, 2))),
    ("repeat_interleave", lambda x: x.repeat_interleave(2), lambda x: np.repeat(x, 2)),
    ("reshape", lambda x: (x.reshape(()), x.reshape(-1)), lambda x: (x, x[None])),
    ("reshape_as", lambda x: x.reshape_as(Tensor.zeros(1, 1)), lambda x: x[None, None]),
    ("roll", lambda x: x.roll(3), _same),
    ("shrink", lambda x: x.shrink(()), _same),
    ("shrink_to", lambda x: x.shrink_to(()), _same),
    ("sort", lambda x: x.sort(), _and_place),
    ("squeeze", lambda x: (x.squeeze(), x.squeeze(0)), _twice),
    ("std", lambda x: x.std(correction=0), _zero),
    ("std_mean", lambda x: x.std_mean(), lambda x: (x * np.nan, x)),
    ("sum", lambda x: (x.sum(), x.sum(-1)), _twice),
    ("swapaxes", lambda x: x.swapaxes(0, -1), _same),
    ("swapdims", lambda x: x.swapdims(-1, 0), _same),
    ("topk", lambda x: x.topk(1), _and_place),
    ("transpose", lambda x: (x.transpose(0, -1), x.transpose(0)), _twice),
    ("unfold", lambda x: x.unfold(0, 1, 2), _in_a_row),
    ("unique_consecutive", lambda x: x.unique_consecutive(), _in_a_row),
    ("unsqueeze", lambda x: (x.unsqueeze(0), x.unsqueeze(-1)), lambda x: (x[None], x[None])),
    ("var", lambda x: x.var(correction=0), _zero),
    ("var_mean", lambda x: x.var_mean(), lambda x: (x * np.nan, x)),
    ("view", lambda x: (x.view(()), x.view(1, 1)), lambda x: (x, x[None, None])),
    ("view_as", lambda x: x.view_as(Tensor.zeros(1)), _in_a_row),
)
_MADE: tuple[tuple[str, Meaning, float], ...] = (
    ("full", lambda: Tensor.full((), 1.5), 1.5),
    ("full_like", lambda: Tensor(0.5).full_like(1.5), 1.5),
    ("new_full", lambda: Tensor([1.5]).new_full((), 7), 7.0),
    ("new_ones", lambda: Tensor([1.5]).new_ones(()), 1.0),
    ("new_tensor", lambda: Tensor([1.5]).new_tensor(2.5), 2.5),
    ("new_zeros", lambda: Tensor([1.5]).new_zeros(()), 0.0),
    ("ones", lambda: Tensor.ones(()), 1.0),
    ("ones_like", lambda: Tensor(0.5).ones_like(), 1.0),
    ("zeros", lambda: Tensor.zeros(()), 0.0),
    ("zeros_like", lambda: Tensor(0.5).zeros_like(), 0.0),
)
# without derivatives: they are of values that cannot be told apart, or of none
_NOT_SMOOTH = frozenset(("corrcoef", "cov", "std", "std_mean", "unique_consecutive", "var_mean"))
_COUNTS: tuple[tuple[str, Meaning, Meaning], ...] = (
    ("argsort", lambda x: x.argsort(), lambda x: np.int32(0)),
    ("count_nonzero", lambda x: x.count_nonzero(), lambda x: np.int32(1)),
)


def _written() -> Iterator[Operation]:
    for name, call, reference in _ONE:
        order = 0 if name in _NOT_SMOOTH else 1
        yield Operation(name, NO_AXES, call, reference, (_X,), order=order)
    for name, call, reference in _COUNTS:
        yield Operation(name, NO_AXES, call, reference, (_X,), "int32")
    for name, make, value in _MADE:
        number: Any = lambda value=value: value
        yield Operation(name, NO_AXES, make, number, (), "float32")
    pair = _X, _Y

    def set_all(x: Any, y: Any) -> Any:
        x = x.contiguous()
        x[...] = y
        return x

    yield Operation("__setitem__", NO_AXES, set_all, lambda x, y: 0 * x + y, pair, order=1)
    chosen: Meaning = lambda x, m, y: y
    mask = np.array(True)
    yield Operation(
        "masked_scatter", NO_AXES, lambda x, m, y: x.masked_scatter(m, y), chosen, (_X, mask, _Y), order=1
    )
    slope: Meaning = lambda x, w: np.where(x > 0, x, w * x)
    yield Operation("prelu", NO_AXES, lambda x, w: x.prelu(w), slope, (_Y, _X), order=1)
    together: Meaning = lambda x, y: np.stack([x, y])
    yield Operation("stack", NO_AXES, lambda x, y: x.stack(y), together, pair, order=1)
    divergence: Meaning = lambda x, y: np.exp(y) * (y - x)
    yield Operation("kl_div", NO_AXES, lambda x, y: x.kl_div(y, "batchmean", True), divergence, pair, order=1)
    blocks: Meaning = lambda x, y: np.diag([x, y])
    yield Operation("block_diag", NO_AXES, lambda x, y: x.block_diag(y), blocks, pair, order=1)
    angle: Meaning = lambda x, y: np.sign(x * y)
    yield Operation(
        "cosine_similarity", NO_AXES, lambda x, y: x.cosine_similarity(y, axis=0), angle, pair, order=1
    )
    product: Meaning = lambda x, y: x * y
    yield Operation("tensordot", NO_AXES, lambda x, y: x.tensordot(y, 0), product, pair, order=1)
    rows = np.array([-1.0, 1.0, 3.0], np.float32), _X
    found: Meaning = lambda x, y: np.searchsorted(x, y)
    yield Operation("searchsorted", NO_AXES, lambda x, y: x.searchsorted(y), found, rows, "int32")
    # a place without axes
    table, at = reals(3, 2), _FIRST
    first: Meaning = lambda x, i: x[:1]
    yield Operation(
        "index_select", "place " + NO_AXES, lambda x, i: x.index_select(0, i), first, (table, at), order=1
    )
    filled: Meaning = lambda x, i: np.concatenate([np.full((1, 2), 2.5), x[1:]])
    yield Operation(
        "index_fill", "place " + NO_AXES, lambda x, i: x.index_fill(0, i, 2.5), filled, (table, at), order=1
    )
    for name in ("fftn", "ifftn"):
        pair_of_parts: Meaning = lambda x: np.stack([x, 0 * x])
        call: Meaning = lambda x, name=name: getattr(x, name)().view_as_real()
        yield Operation(name, NO_AXES, call, pair_of_parts, (_X,), order=1)
    yield from _along_the_first()


def _along_the_first() -> Iterator[Operation]:
    """Return the cases of positions along axis 0 of a tensor without axes."""
    reads: tuple[tuple[str, Meaning, Meaning], ...] = (
        ("gather", lambda x, i: (x.gather(0, i), x.gather(-1, i.expand(3))), lambda x, i: (x, np.tile(x, 3))),
        ("index_select", lambda x, i: (x.index_select(0, i), x.index_select(-1, i.reshape(1))), _pair_of_one),
    )
    for name, call, reference in reads:
        yield Operation(name, NO_AXES, call, reference, (_X, _FIRST), order=1)
    added: Meaning = lambda x, i, y: x + y
    chosen: Meaning = lambda x, i, y: 0 * x + y
    writes: tuple[tuple[str, Meaning, Meaning], ...] = (
        ("index_add", lambda x, i, y: x.index_add(0, i, y), added),
        ("index_copy", lambda x, i, y: x.index_copy(-1, i, y), chosen),
        ("index_fill", lambda x, i, y: x.index_fill(0, i, 2.5) + y, lambda x, i, y: 0 * x + 2.5 + y),
        ("scatter", lambda x, i, y: x.scatter(0, i, y), chosen),
        ("scatter_add", lambda x, i, y: x.scatter_add(-1, i, y), added),
        ("scatter_reduce", lambda x, i, y: x.scatter_reduce(0, i, y, "prod"), lambda x, i, y: x * y),
    )
    for name, call, reference in writes:
        yield Operation(name, NO_AXES, call, reference, (_X, _FIRST, _Y), order=1)


#: Methods whose plain case names axes, and that have a case here or refuse tensors without any.
_REASONS = {
    "takes matrices, or vectors and matrices": (
        "__imatmul__ __matmul__ __rmatmul__ addbmm addmm addmv addr adjoint baddbmm bmm cholesky cross det "
        "diag diag_embed diagonal diagonal_scatter dot eigh fliplr flipud inv inverse linear logdet lstsq mT "
        "matmul matrix_norm matrix_power mm mv newton_schulz pinv qr rot90 slogdet solve svd trace tril triu"
    ),
    "makes a row or a matrix": "arange eye linspace logspace tri",
    "takes vectors": "bincount cartesian_prod combinations ger outer vander vdot",
    "takes images, with axes of channels": (
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
        "adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d batch_norm batch_statistics batchnorm conv1d "
        "conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d dropout1d dropout2d dropout3d "
        "feature_alpha_dropout grid_sample group_norm groupnorm instance_norm interpolate max_pool1d "
        "max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d pixel_shuffle pixel_unshuffle"
    ),
    "takes classes or sequences that lie along an axis": (
        "cosine_embedding_loss cross_entropy ctc_loss glu layer_norm layernorm multinomial nll_loss rms_norm "
        "scaled_dot_product_attention sparse_categorical_crossentropy"
    ),
    "transforms an axis": "fft fft2 hfft ifft ifft2 ihfft irfft irfft2 irfftn rfft rfft2 rfftn",
    "names an axis, and there is none": (
        "cat chunk concat concatenate diff dsplit hsplit index_put narrow select select_scatter "
        "slice_scatter split take_along_axis take_along_dim tensor_split unbind unflatten vsplit"
    ),
}
CASES = tuple(_written())
#: Methods that refuse tensors without axes, and why.
EXCUSED = {name: reason for reason, names in _REASONS.items() for name in names.split()}
#: Methods whose plain case does not do without axes.
AXES_NEEDED = frozenset(EXCUSED) | {case.name for case in CASES}
