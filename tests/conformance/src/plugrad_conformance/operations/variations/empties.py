"""Cases of no elements, and the methods that refuse tensors without elements."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Iterator

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.operations.operation import Array, Meaning, Operation, reals
from plugrad_conformance.operations.variations.shapes import NO_ELEMENTS


def _none(*shape: int, dtype: str = "float32") -> Array:
    return np.zeros(shape, dtype)


def _zeros(*shape: int) -> Callable[..., Array]:
    """Return a reference that gives zeros of a shape for any input."""
    return lambda *_: np.zeros(shape)


def _no_places(*shape: int) -> Callable[..., Array]:
    return lambda *_: np.zeros(shape, int)


_WRITTEN_OUT = f"{NO_ELEMENTS}, written out"
_same: Meaning = lambda x: x
# name, on a tensor, on an array, the shape of the tensor
_MOVES: tuple[tuple[str, Meaning, Meaning, tuple[int, ...]], ...] = (
    ("atleast_1d", lambda x: x.atleast_1d(), _same, (0,)),
    ("atleast_2d", lambda x: x.atleast_2d(), np.atleast_2d, (0,)),
    ("atleast_3d", lambda x: x.atleast_3d(), np.atleast_3d, (2, 0)),
    ("broadcast_to", lambda x: x.broadcast_to(2, 3, 0), _zeros(2, 3, 0), (3, 0)),
    ("combinations", lambda x: x.combinations(), _zeros(0, 2), (0,)),
    ("diag", lambda x: (x.diag(), x.diag(1)), lambda x: (np.diag(x), np.diag(x, 1)), (0,)),
    ("diag_embed", lambda x: x.diag_embed(1), _zeros(2, 1, 1), (2, 0)),
    ("diagflat", lambda x: x.diagflat(-1), lambda x: np.diagflat(x, -1), (2, 0)),
    ("expand", lambda x: (x.expand(2, 0), x.expand(0, 0)), lambda x: (np.zeros((2, 0)), x[:0]), (1, 0)),
    ("expand_as", lambda x: x.expand_as(Tensor.zeros(0, 3)), _zeros(0, 3), (0, 1)),
    ("flatten", lambda x: (x.flatten(), x.flatten(1)), lambda x: (x.reshape(0), x.reshape(2, 0)), (2, 0, 3)),
    ("pad_to", lambda x: x.pad_to(2, 3), _zeros(2, 3), (2, 0)),
    ("pixel_shuffle", lambda x: x.pixel_shuffle(2), _zeros(0, 3, 4, 6), (0, 12, 2, 3)),
    ("pixel_unshuffle", lambda x: x.pixel_unshuffle(2), _zeros(2, 4, 0, 3), (2, 1, 0, 6)),
    ("rearrange", lambda x: x.rearrange("a (b c) -> (a c) b", c=2), _zeros(0, 2), (0, 4)),
    ("repeat", lambda x: x.repeat(0, 2), _zeros(0, 4), (3, 2)),
    ("repeat_interleave", lambda x: x.repeat_interleave(0, 1), _zeros(3, 0), (3, 2)),
    ("reshape", lambda x: (x.reshape(0), x.reshape(4, 0)), lambda x: (x.reshape(0), x.reshape(4, 0)), (0, 4)),
    ("reshape_as", lambda x: x.reshape_as(Tensor.zeros(3, 0)), _zeros(3, 0), (0, 4)),
    ("split", lambda x: x.split((0, 0), 1), lambda x: (x, x), (2, 0)),
    ("squeeze", lambda x: (x.squeeze(), x.squeeze(2)), lambda x: (x[0, :, 0], x[..., 0]), (1, 0, 1)),
    ("tensor_split", lambda x: x.tensor_split(2, 1), lambda x: (x, x), (2, 0)),
    ("tile", lambda x: x.tile(0, 2), _zeros(0, 4), (3, 2)),
    ("unbind", lambda x: x.unbind(1), lambda x: (x[:, 0], x[:, 1]), (0, 2)),
    ("unflatten", lambda x: x.unflatten(1, (2, -1)), _zeros(0, 2, 3), (0, 6)),
    ("unfold", lambda x: x.unfold(1, 2, 1), _zeros(0, 3, 2), (0, 4)),
    ("view", lambda x: x.view(4, 0), _zeros(4, 0), (0, 4)),
    ("view_as", lambda x: x.view_as(Tensor.zeros(0)), _zeros(0), (0, 4)),
)
_ALONG: tuple[tuple[str, Meaning, Meaning, tuple[int, ...]], ...] = (
    ("amax", lambda x: x.amax(1), _zeros(0), (0, 3)),
    ("cosine_similarity", lambda x: x.cosine_similarity(x), _zeros(3), (3, 0)),
    ("fft", lambda x: x.view_as_complex().fft().view_as_real(), _same, (0, 3, 2)),
    ("fft2", lambda x: x.view_as_complex().fft2().view_as_real(), _same, (0, 3, 4, 2)),
    ("fftn", lambda x: x.view_as_complex().fftn(axes=(1,)).view_as_real(), _same, (0, 1, 2)),
    ("ifft", lambda x: x.view_as_complex().ifft(axis=0).view_as_real(), _same, (3, 0, 2)),
    ("ifft2", lambda x: x.view_as_complex().ifft2().view_as_real(), _same, (0, 3, 4, 2)),
    ("ifftn", lambda x: x.view_as_complex().ifftn(axes=(1,)).view_as_real(), _same, (0, 3, 2)),
    ("irfft", lambda x: x.view_as_complex().irfft(), _zeros(0, 4), (0, 3, 2)),
    ("irfft2", lambda x: x.view_as_complex().irfft2(), _zeros(0, 3, 4), (0, 3, 3, 2)),
    ("kthvalue", lambda x: x.kthvalue(1, 1), lambda x: (x[:, 0], x[:, 0].astype(int)), (0, 3)),
    ("log_softmax", lambda x: (x.log_softmax(0), x.log_softmax(1)), lambda x: (x, x), (0, 3)),
    ("logsumexp", lambda x: x.logsumexp(1), lambda x: np.full(2, -np.inf), (2, 0)),
    ("median", lambda x: x.median(1), lambda x: (x[:, 0], x[:, 0].astype(int)), (0, 3)),
    ("norm", lambda x: (x.norm(), x.norm(1, 1)), lambda x: (0.0, np.zeros(2)), (2, 0)),
    ("normalize", lambda x: x.normalize(), _same, (2, 0)),
    ("quantile", lambda x: x.quantile(0.5, 1), _zeros(0), (0, 3)),
    ("softmax", lambda x: (x.softmax(0), x.softmax(1)), lambda x: (x, x), (0, 3)),
    ("softmin", lambda x: (x.softmin(0), x.softmin(1)), lambda x: (x, x), (0, 3)),
    ("std", lambda x: x.std(correction=0), lambda x: np.nan, (0,)),
    ("topk", lambda x: x.topk(0, 1), lambda x: (x, x.astype(int)), (2, 0)),
    ("var_mean", lambda x: x.var_mean(), lambda x: (np.nan, np.nan), (0,)),
)
_MADE: tuple[tuple[str, Meaning, tuple[int, ...]], ...] = (
    ("arange", lambda: Tensor.arange(3.0, 3.0), (0,)),
    ("eye", lambda: Tensor.eye(0, 3), (0, 3)),
    ("full", lambda: Tensor.full((2, 0), 1.5), (2, 0)),
    ("full_like", lambda: Tensor.zeros(0, 2).full_like(1.5), (0, 2)),
    ("linspace", lambda: Tensor.linspace(0, 1, 0), (0,)),
    ("logspace", lambda: Tensor.logspace(0, 1, 0), (0,)),
    ("new_full", lambda: Tensor([1.5]).new_full((0, 2), 7), (0, 2)),
    ("new_ones", lambda: Tensor([1.5]).new_ones(0, 2), (0, 2)),
    ("new_tensor", lambda: Tensor([1.5]).new_tensor([[], []]), (2, 0)),
    ("new_zeros", lambda: Tensor([1.5]).new_zeros(0, 2), (0, 2)),
    ("ones", lambda: Tensor.ones(2, 0), (2, 0)),
    ("ones_like", lambda: Tensor.zeros(2, 0).ones_like(), (2, 0)),
    ("tri", lambda: Tensor.tri(0, 3), (0, 3)),
    ("zeros", lambda: Tensor.zeros(0), (0,)),
    ("zeros_like", lambda: Tensor.ones(2, 0).zeros_like(), (2, 0)),
)
# of numbers that nothing can be moved by
_NOT_SMOOTH = frozenset(("norm", "std", "var_mean"))


def _of_one_tensor() -> Iterator[Operation]:
    for name, call, reference, shape in (*_MOVES, *_ALONG):
        order = 0 if name in _NOT_SMOOTH else 1
        yield Operation(name, _WRITTEN_OUT, call, reference, (_none(*shape),), order=order)
    for name in ("argmax", "argmin"):
        along: Meaning = lambda x, name=name: getattr(x, name)(1)
        yield Operation(name, _WRITTEN_OUT, along, _zeros(0), (_none(0, 3),), "int32")
    drawn: Meaning = lambda x: x.multinomial(2, True)
    yield Operation("multinomial", _WRITTEN_OUT, drawn, _no_places(0, 2), (_none(0, 3),), "int32")
    runs: Meaning = lambda x: x.unique_consecutive(True, True)
    nothing: Meaning = lambda x: (x.reshape(0), x, np.zeros(0, int))
    yield Operation("unique_consecutive", _WRITTEN_OUT, runs, nothing, (_none(2, 0, dtype="int32"),))
    for name, call, shape in _MADE:
        yield Operation(name, NO_ELEMENTS, call, _zeros(*shape), (), "float32")


# --- two operands and more ---


def _of_several() -> Iterator[Operation]:
    beside: Meaning = lambda x, y: np.pad(y, ((0, 0), (3, 0)))
    pair = _none(0, 3), reals(2, 2)
    yield Operation("block_diag", _WRITTEN_OUT, lambda x, y: x.block_diag(y), beside, pair, order=1)
    table, nowhere, nothing = reals(4, 5), _none(0, 3, dtype="int64"), _none(0, 3)
    kept: Meaning = lambda x, i, y: x
    yield Operation(
        "scatter",
        _WRITTEN_OUT,
        lambda x, i, y: x.scatter(1, i, y),
        kept,
        (table, nowhere, nothing),
        order=1,
    )
    alone: Meaning = lambda x, m, y: x
    masked = table, np.zeros((4, 5), bool), _none(0)
    yield Operation(
        "masked_scatter", _WRITTEN_OUT, lambda x, m, y: x.masked_scatter(m, y), alone, masked, order=1
    )
    attended: Meaning = lambda q, k, v: q.scaled_dot_product_attention(k, v)
    queries = reals(2, 3, 4), _none(2, 0, 4), _none(2, 0, 5)
    name = "scaled_dot_product_attention"
    yield Operation(name, "no keys", attended, _zeros(2, 3, 5), queries, order=1)
    mean: Meaning = lambda q, k, v: v.mean(1, keepdims=True).repeat(3, 1)
    alike = _none(2, 3, 0), _none(2, 5, 0), reals(2, 5, 4)
    yield Operation(name, "keys of no elements", attended, mean, alike, order=1)
    apart = reals(3, 4), _none(4, 0)
    yield Operation("matmul", _WRITTEN_OUT, lambda x, y: x @ y, _zeros(3, 0), apart, order=1)


def _of_images() -> Iterator[Operation]:
    weight, scale = reals(4, 2, 3, 2, 2), reals(4)
    spread: Meaning = lambda x, w: x.conv_transpose3d(w)
    images = _none(0, 4, 2, 1, 2), weight
    yield Operation("conv_transpose3d", _WRITTEN_OUT, spread, _zeros(0, 2, 4, 2, 3), images, order=1)
    only: Meaning = lambda x, w, b: np.broadcast_to(b[:, None], (2, 4, 5))
    channels = _none(2, 0, 7), _none(4, 0, 3), scale
    yield Operation("conv1d", "no channels", lambda x, w, b: x.conv1d(w, b), only, channels, order=1)
    for name in ("group_norm", "groupnorm"):
        grouped: Meaning = lambda x, w, name=name: getattr(x, name)(2, w)
        yield Operation(name, _WRITTEN_OUT, grouped, _zeros(0, 4, 3), (_none(0, 4, 3), scale), order=1)
    normed: Meaning = lambda x, w: x.instance_norm(weight=w)
    yield Operation("instance_norm", _WRITTEN_OUT, normed, _zeros(0, 4, 3), (_none(0, 4, 3), scale), order=1)
    for n in (1, 2, 3):
        shape = (0, 2, *[2] * n)
        spread_out: Meaning = lambda x, i, n=n: getattr(x, f"max_unpool{n}d")(i)
        larger = _zeros(0, 2, *[4] * n)
        inputs = _none(*shape), _none(*shape, dtype="int32")
        yield Operation(f"max_unpool{n}d", _WRITTEN_OUT, spread_out, larger, inputs, order=1)


def _losses() -> Iterator[Operation]:
    pair = _none(0, 4), _none(0, 4)
    reductions = ("mean", "sum", "none")
    for name in (
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "huber_loss",
        "kl_div",
        "l1_loss",
        "mse_loss",
        "smooth_l1_loss",
    ):
        each: Meaning = lambda x, y, name=name: [getattr(x, name)(y, reduction=how) for how in reductions]
        yield Operation(name, _WRITTEN_OUT, each, lambda x, y: (np.nan, 0.0, x), pair)
    logs = _none(0, 5), _none(0, dtype="int64")
    for name in ("cross_entropy", "nll_loss"):
        of_classes: Meaning = lambda x, y, name=name: [
            getattr(x, name)(y, reduction=how) for how in reductions
        ]
        yield Operation(name, _WRITTEN_OUT, of_classes, lambda x, y: (np.nan, 0.0, x[:, 0]), logs)


CASES = (*_of_one_tensor(), *_of_several(), *_of_images(), *_losses())
#: Methods that refuse tensors without elements, and why.
EXCUSED = {"ctc_loss": "of no sequences nothing is the mean, and PyTorch refuses them, too"}
