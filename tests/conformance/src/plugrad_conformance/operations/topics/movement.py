"""Operations that move, join, cut and pad elements, and that make tensors."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.operations.operation import EMPTY, Array, Meaning, Operation, reals, whole

_X = reals(2, 3, 4)
_M = reals(3, 4)

# (name, variation, on tensors, on NumPy): all of them of a (2, 3, 4)
_MOVES: tuple[tuple[str, str, Meaning, Meaning], ...] = (
    ("reshape", "with -1", lambda x: x.reshape(4, -1), lambda x: x.reshape(4, -1)),
    ("reshape_as", "reals", lambda x: x.reshape_as(Tensor.zeros(6, 4)), lambda x: x.reshape(6, 4)),
    ("view", "reals", lambda x: x.view(6, 4), lambda x: x.reshape(6, 4)),
    ("view_as", "reals", lambda x: x.view_as(Tensor.zeros(8, 3)), lambda x: x.reshape(8, 3)),
    ("flatten", "axes 0 and 1", lambda x: x.flatten(0, 1), lambda x: x.reshape(6, 4)),
    ("unflatten", "axis 2", lambda x: x.unflatten(2, (2, -1)), lambda x: x.reshape(2, 3, 2, 2)),
    ("permute", "reals", lambda x: x.permute(2, 0, 1), lambda x: x.transpose(2, 0, 1)),
    ("transpose", "axes 0 and 2", lambda x: x.transpose(0, 2), lambda x: x.swapaxes(0, 2)),
    ("swapaxes", "reals", lambda x: x.swapaxes(0, -1), lambda x: x.swapaxes(0, -1)),
    ("movedim", "two axes", lambda x: x.movedim((0, 1), (2, 0)), lambda x: np.moveaxis(x, (0, 1), (2, 0))),
    ("moveaxis", "reals", lambda x: x.moveaxis(0, -1), lambda x: np.moveaxis(x, 0, -1)),
    ("T", "matrix", lambda x: x[0].T, lambda x: x[0].T),
    ("mT", "stacked", lambda x: x.mT, lambda x: x.swapaxes(1, 2)),
    ("squeeze", "axis 1", lambda x: x[:, :1].squeeze(1), lambda x: x[:, 0]),
    ("unsqueeze", "in the middle", lambda x: x.unsqueeze(1), lambda x: x[:, None]),
    ("expand", "reals", lambda x: x[:, :1].expand(2, 5, -1), lambda x: np.broadcast_to(x[:, :1], (2, 5, 4))),
    (
        "expand_as",
        "reals",
        lambda x: x[0, :1].expand_as(Tensor.zeros(5, 4)),
        lambda x: np.broadcast_to(x[0, :1], (5, 4)),
    ),
    (
        "broadcast_to",
        "reals",
        lambda x: x[0].broadcast_to(5, 3, 4),
        lambda x: np.broadcast_to(x[0], (5, 3, 4)),
    ),
    ("flip", "two axes", lambda x: x.flip(0, -1), lambda x: np.flip(x, (0, -1))),
    ("rot90", "once", lambda x: x.rot90(), np.rot90),
    ("rot90", "three times", lambda x: x.rot90(3, (1, 2)), lambda x: np.rot90(x, 3, (1, 2))),
    ("roll", "an axis", lambda x: x.roll(-5, 2), lambda x: np.roll(x, -5, 2)),
    ("roll", "all elements", lambda x: x.roll(7), lambda x: np.roll(x, 7)),
    ("roll", "two axes", lambda x: x.roll((1, 2), (0, 1)), lambda x: np.roll(x, (1, 2), (0, 1))),
    ("repeat", "more axes", lambda x: x.repeat(2, 1, 3, 1), lambda x: np.tile(x, (2, 1, 3, 1))),
    ("tile", "fewer numbers", lambda x: x.tile(2, 3), lambda x: np.tile(x, (2, 3))),
    ("repeat_interleave", "an axis", lambda x: x.repeat_interleave(3, 1), lambda x: np.repeat(x, 3, 1)),
    (
        "repeat_interleave",
        "each its own",
        lambda x: x.repeat_interleave([2, 0, 1], 1),
        lambda x: np.repeat(x, [2, 0, 1], 1),
    ),
    (
        "rearrange",
        "einops",
        lambda x: x.rearrange("a b (c d) -> (b d) (a c)", d=2),
        lambda x: x.reshape(2, 3, 2, 2).transpose(1, 3, 0, 2).reshape(6, 4),
    ),
    (
        "unfold",
        "overlapping",
        lambda x: x.unfold(2, 2, 1),
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, 2),
    ),
    ("shrink", "two axes", lambda x: x.shrink((None, (1, 3), (0, 2))), lambda x: x[:, 1:3, :2]),
    ("shrink_to", "two axes", lambda x: x.shrink_to(None, 2, 3), lambda x: x[:, :2, :3]),
    ("pad_to", "two axes", lambda x: x.pad_to(2, 4, 6), lambda x: np.pad(x, ((0, 0), (0, 1), (0, 2)))),
    (
        "pad",
        "a value",
        lambda x: x.pad((None, (1, 0), (0, 2)), value=3.5),
        lambda x: np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=3.5),
    ),
    (
        "pad",
        "flat, last axis first",
        lambda x: x.pad((1, 2, 0, 1)),
        lambda x: np.pad(x, ((0, 0), (0, 1), (1, 2))),
    ),
    (
        "pad",
        "negative",
        lambda x: x.pad((None, (-1, 1), (1, -2))),
        lambda x: np.pad(x[:, 1:, :2], ((0, 0), (0, 1), (1, 0))),
    ),
    (
        "pad",
        "reflect",
        lambda x: x.pad((2, 1), mode="reflect"),
        lambda x: np.pad(x, ((0, 0), (0, 0), (2, 1)), mode="reflect"),
    ),
    (
        "pad",
        "replicate",
        lambda x: x.pad((2, 1), mode="replicate"),
        lambda x: np.pad(x, ((0, 0), (0, 0), (2, 1)), mode="edge"),
    ),
    (
        "pad",
        "circular",
        lambda x: x.pad((2, 1), mode="circular"),
        lambda x: np.pad(x, ((0, 0), (0, 0), (2, 1)), mode="wrap"),
    ),
    ("diagonal", "offset 1", lambda x: x.diagonal(1, 1, 2), lambda x: np.diagonal(x, 1, 1, 2)),
    ("diag", "of a matrix", lambda x: x[0].diag(-1), lambda x: np.diag(x[0], -1)),
    ("diag", "of a vector", lambda x: x[0, 0].diag(1), lambda x: np.diag(x[0, 0], 1)),
    (
        "diag_embed",
        "offset 1",
        lambda x: x[0].diag_embed(1),
        lambda x: np.stack([np.diag(row, 1) for row in x[0]]),
    ),
    (
        "diag_embed",
        "axes 0 and 1",
        lambda x: x[0].diag_embed(0, 0, 1),
        lambda x: np.stack([np.diag(row) for row in x[0]], -1),
    ),
    ("narrow", "from the end", lambda x: x.narrow(2, -3, 2), lambda x: x[:, :, -3:-1]),
    ("ravel", "reals", lambda x: x.ravel(), lambda x: x.reshape(-1)),
    ("select", "axis 1", lambda x: x.select(1, -1), lambda x: x[:, -1]),
    ("triu", "above", lambda x: x.triu(1), lambda x: np.triu(x, 1)),
    ("tril", "below", lambda x: x.tril(-1), lambda x: np.tril(x, -1)),
    ("chunk", "uneven", lambda x: x.chunk(3, 2), lambda x: np.split(x, (2,), 2)),
    ("split", "sizes", lambda x: x.split((1, 2), 1), lambda x: np.split(x, (1,), 1)),
    ("split", "a size", lambda x: x.split(3, 2), lambda x: np.split(x, (3,), 2)),
    ("unbind", "axis 1", lambda x: x.unbind(1), lambda x: [x[:, i] for i in range(3)]),
    ("__getitem__", "a negative step", lambda x: x[::-1, 1:, ::-2], lambda x: x[::-1, 1:, ::-2]),
    ("__getitem__", "an ellipsis and None", lambda x: x[..., None, -1], lambda x: x[..., None, -1]),
    ("__getitem__", "nothing", lambda x: x[:, 2:2], lambda x: x[:, 2:2]),
    ("contiguous", "of a view", lambda x: x.permute(2, 1, 0).contiguous(), lambda x: x.transpose(2, 1, 0)),
    (
        "sequential",
        "two layers",
        lambda x: x.sequential([Tensor.exp, lambda t: t + 1]),
        lambda x: np.exp(x) + 1,
    ),
)
# of what has other shapes: no axes, no elements
_SMALL: tuple[tuple[str, str, Meaning, Meaning, Array], ...] = (
    ("reshape", "shape ()", lambda x: x.reshape(1, 1), lambda x: x.reshape(1, 1), reals()),
    ("reshape", "empty", lambda x: x.reshape(3, 0), lambda x: x.reshape(3, 0), EMPTY),
    ("expand", "shape ()", lambda x: x.expand(2, 3), lambda x: np.broadcast_to(x, (2, 3)), reals()),
    ("permute", "empty", lambda x: x.permute(2, 1, 0), lambda x: x.transpose(2, 1, 0), EMPTY),
    ("flip", "int8", lambda x: x.flip(0), lambda x: x[::-1], whole(5, dtype="int8")),
    (
        "pad",
        "empty",
        lambda x: x.pad((None, (1, 1), None)),
        lambda x: np.pad(x, ((0, 0), (1, 1), (0, 0))),
        EMPTY,
    ),
    ("roll", "empty", lambda x: x.roll(1, 2), lambda x: x, EMPTY),
    ("tril", "int64", lambda x: x.tril(), np.tril, whole(3, 3, dtype="int64")),
    ("flatten", "shape ()", lambda x: x.flatten(), lambda x: x.reshape(1), reals()),
)


def _joins() -> Iterator[Operation]:
    pair = _M, reals(2, 4, seed=1)
    yield Operation(
        "cat", "axis 0", lambda x, y: x.cat(y), lambda x, y: np.concatenate([x, y]), pair, order=2
    )
    yield Operation(
        "cat",
        "axis -1",
        lambda x, y: x.T.cat(y.T, axis=-1),
        lambda x, y: np.concatenate([x, y]).T,
        pair,
        order=2,
    )
    yield Operation(
        "cat",
        "with an empty one",
        lambda x, y: x.cat(y, axis=1),
        lambda x, y: x,
        (_X, EMPTY[:, :, :1] + np.zeros((2, 0, 4), np.float32)),
    )
    yield Operation(
        "cat",
        "int16 and float16",
        lambda x, y: x.cat(y),
        lambda x, y: np.concatenate([x, y]),
        (whole(3, dtype="int16"), reals(2).astype(np.float16)),
        dtype="float16",
    )
    alike = _M, reals(3, 4, seed=1)
    yield Operation(
        "stack", "axis 1", lambda x, y: x.stack(y, axis=1), lambda x, y: np.stack([x, y], 1), alike, order=2
    )
    for how in ("ij", "xy"):
        yield Operation(
            "meshgrid",
            how,
            lambda x, y, how=how: x.meshgrid(y, indexing=how),
            lambda x, y, how=how: np.meshgrid(x, y, indexing=how),
            (reals(3), reals(2, seed=1)),
            order=2,
        )
    yield Operation(
        "pixel_shuffle",
        "by 2",
        lambda x: x.pixel_shuffle(2),
        lambda x: x.reshape(2, 3, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 4, 6),
        (reals(2, 12, 2, 3),),
        order=2,
    )
    yield Operation(
        "pixel_unshuffle",
        "by 2",
        lambda x: x.pixel_unshuffle(2),
        lambda x: x.reshape(2, 1, 2, 2, 3, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 4, 2, 3),
        (reals(2, 1, 4, 6),),
        order=2,
    )


# (name, variation, on tensors, the values, dtype)
_MADE: tuple[tuple[str, str, Meaning, Any, str], ...] = (
    ("arange", "a negative step", lambda: Tensor.arange(10, -3, -4), np.arange(10, -3, -4), "int32"),
    ("arange", "floats", lambda: Tensor.arange(0, 1, 0.25), np.arange(0, 1, 0.25), "float32"),
    ("arange", "nothing", lambda: Tensor.arange(3, 3), np.arange(0), "int32"),
    ("linspace", "floats", lambda: Tensor.linspace(-1, 2, 7), np.linspace(-1, 2, 7), "float32"),
    ("eye", "wide", lambda: Tensor.eye(3, 4), np.eye(3, 4), "float32"),
    ("tri", "shifted", lambda: Tensor.tri(3, 4, 1), np.tri(3, 4, 1), "float32"),
    ("full", "int64", lambda: Tensor.full((2, 3), 7, dtype="int64"), np.full((2, 3), 7), "int64"),
    ("zeros", "int8", lambda: Tensor.zeros(2, 3, dtype="int8"), np.zeros((2, 3), int), "int8"),
    ("ones", "nothing", lambda: Tensor.ones(0, 3), np.ones((0, 3)), "float32"),
    (
        "full_like",
        "float16",
        lambda: Tensor.zeros(2, dtype="float16").full_like(1.5),
        np.full(2, 1.5),
        "float16",
    ),
    ("zeros_like", "bool", lambda: Tensor([True, False]).zeros_like(), np.zeros(2, bool), "bool"),
    (
        "ones_like",
        "uint8",
        lambda: Tensor.zeros(2, 2, dtype="uint8").ones_like(),
        np.ones((2, 2), int),
        "uint8",
    ),
    (
        "arange",
        "beyond 32 bits",
        lambda: Tensor.arange(2**40, 2**40 + 3),
        np.arange(2**40, 2**40 + 3),
        "int64",
    ),
    ("arange", "large floats", lambda: Tensor.arange(0, 1e30, 1e29), np.arange(0, 1e30, 1e29), "float32"),
    ("arange", "tenths", lambda: Tensor.arange(-7.3, 3, 0.1), np.arange(-7.3, 3, 0.1), "float32"),
    (
        "linspace",
        "integers",
        lambda: Tensor.linspace(-7, 2**40, 4, dtype="int64"),
        np.array([-7, 366503875920, 733007751848, 2**40]),
        "int64",
    ),
    ("logspace", "powers of ten", lambda: Tensor.logspace(-2, 3, 6), np.logspace(-2, 3, 6), "float32"),
    (
        "logspace",
        "another base",
        lambda: Tensor.logspace(0, 1, 4, base=3, dtype="float64"),
        np.logspace(0, 1, 4, base=3),
        "float64",
    ),
    (
        "full",
        "numpy",
        lambda: Tensor.full((2,), np.array(1.5, np.float32).sum()),
        np.full(2, 1.5),
        "float32",
    ),
    ("new_full", "int8", lambda: Tensor([1], dtype="int8").new_full((2,), 7), np.full(2, 7), "int8"),
    ("new_zeros", "int8", lambda: Tensor([1], dtype="int8").new_zeros(2, 3), np.zeros((2, 3), int), "int8"),
    ("new_ones", "bool", lambda: Tensor([False]).new_ones((3,)), np.ones(3, bool), "bool"),
    (
        "new_tensor",
        "int64",
        lambda: Tensor([0], dtype="int64").new_tensor([[1, 2]]) + 1,
        np.array([[2, 3]]),
        "int64",
    ),
)


def _creation_cases() -> Iterator[Operation]:
    for name, variation, call, values, dtype in _MADE:
        here: Any = lambda values=values: values
        yield Operation(name, variation, call, here, (), dtype=dtype)


# --- dtypes ---

_SHORT = {
    "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64",
    "half": "float16", "float": "float32", "double": "float64", "bfloat16": "bfloat16",
}  # fmt: skip


def _casts() -> Iterator[Operation]:
    values = np.array([0, 1, 2, 3.75, 100], np.float32)
    for name, dtype in _SHORT.items():
        kind = "float64" if dtype == "bfloat16" else dtype
        cast: Meaning = lambda x, kind=kind: x.astype(kind)
        yield Operation(
            name, "float32", lambda x, name=name: getattr(x, name)(), cast, (values,), dtype=dtype
        )
    for dtype in ("int8", "uint8", "int32", "uint64", "float16", "float64"):
        wrapped: Meaning = lambda x, dtype=dtype: x.astype(dtype)
        yield Operation(
            "cast",
            f"int64 to {dtype}",
            lambda x, dtype=dtype: x.cast(dtype),
            wrapped,
            (whole(9, dtype="int64", low=-300, high=300),),
            dtype=dtype,
        )
    yield Operation(
        "cast",
        "derivatives",
        lambda x: x.cast("float64").exp(),
        np.exp,
        (reals(3),),
        dtype="float64",
        order=2,
    )
    yield Operation(
        "type_as",
        "int16",
        lambda x, y: x.type_as(y),
        lambda x, y: x.astype(y.dtype),
        (values, whole(1, dtype="int16")),
        dtype="int16",
    )
    yield Operation(
        "bitcast",
        "float32",
        lambda x: x.bitcast("int32"),
        lambda x: x.astype(np.float32).view(np.int32),
        (values,),
        dtype="int32",
    )


def _moves() -> Iterator[Operation]:
    for name, variation, call, reference in _MOVES:
        yield Operation(name, variation, call, reference, (_X,), order=2)
    for name, variation, call, reference, x in _SMALL:
        yield Operation(name, variation, call, reference, (x,))


CASES = (*_moves(), *_joins(), *_creation_cases(), *_casts())
