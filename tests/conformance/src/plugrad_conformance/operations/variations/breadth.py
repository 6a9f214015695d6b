"""Cases in dtypes and at values beyond those of the topics.

Each kind of element is moved, NaN and infinities are reduced, and what has no elements is taken as well.
"""

from collections.abc import Iterable

import numpy as np

from plugrad_conformance.operations.operation import (
    EDGES,
    EMPTY,
    Array,
    Meaning,
    Operation,
    bools,
    reals,
    whole,
)

_DTYPES = ("bool", "uint8", "int8", "uint16", "int64", "uint64", "float16")


def _elements_of(dtype: str, *shape: int) -> Array:
    """Return elements of a dtype, the outermost of integers among them."""
    if dtype == "bool":
        return bools(*shape)
    if dtype.startswith("float"):
        return reals(*shape).astype(dtype)
    info = np.iinfo(dtype)
    out = whole(*shape, low=0, dtype=dtype)
    out.flat[0], out.flat[-1] = info.min, info.max
    return out


# NaN, both infinities and both zeros, in rows that have others, too
_SPECIAL = np.array(
    [
        [1.0, np.nan, -2.0, 0.5],
        [np.inf, 1.0, 2.0, -3.0],
        [-np.inf, 0.25, -0.0, 0.0],
        [np.inf, -np.inf, 3.0, 3.0],
        [-0.0, 0.0, -0.0, 1.0],
        [np.nan, np.nan, np.inf, 1.0],
    ],
    np.float32,
)


# --- what only moves elements ---

_MOVES: dict[str, tuple[Meaning, Meaning]] = {
    "reshape": (lambda x: x.reshape(6, 4), lambda x: x.reshape(6, 4)),
    "flatten": (lambda x: x.flatten(), lambda x: x.flatten()),
    "unsqueeze": (lambda x: x.unsqueeze(1), lambda x: x[:, None]),
    "permute": (lambda x: x.permute(2, 0, 1), lambda x: x.transpose(2, 0, 1)),
    "transpose": (lambda x: x.transpose(0, 2), lambda x: x.swapaxes(0, 2)),
    "mT": (lambda x: x.mT, lambda x: x.swapaxes(1, 2)),
    "flip": (lambda x: x.flip((0, 2)), lambda x: np.flip(x, (0, 2))),
    "roll": (lambda x: x.roll(1, 2), lambda x: np.roll(x, 1, 2)),
    "rot90": (lambda x: x.rot90(1, (0, 1)), lambda x: np.rot90(x, 1, (0, 1))),
    "tile": (lambda x: x.tile(2, 1, 1), lambda x: np.tile(x, (2, 1, 1))),
    "repeat_interleave": (lambda x: x.repeat_interleave(2, 1), lambda x: np.repeat(x, 2, 1)),
    "expand": (lambda x: x[:, :1].expand(2, 5, 4), lambda x: np.broadcast_to(x[:, :1], (2, 5, 4))),
    "movedim": (lambda x: x.movedim(0, 2), lambda x: np.moveaxis(x, 0, 2)),
    "diagonal": (lambda x: x.diagonal(0, 1, 2), lambda x: np.diagonal(x, 0, 1, 2)),
    "tril": (lambda x: x.tril(), np.tril),
    "triu": (lambda x: x.triu(1), lambda x: np.triu(x, 1)),
    "unfold": (
        lambda x: x.unfold(2, 3, 1),
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, 2),
    ),
    "split": (lambda x: x.split(2, 2), lambda x: (x[..., :2], x[..., 2:])),
    "unbind": (lambda x: x.unbind(0), lambda x: (x[0], x[1])),
    "contiguous": (lambda x: x.contiguous(), lambda x: x),
    "__getitem__": (lambda x: x[:, :, [2, 0, -1]], lambda x: x[:, :, [2, 0, -1]]),
}


def _movement_cases() -> Iterable[Operation]:
    for dtype in _DTYPES:
        x = _elements_of(dtype, 2, 3, 4)
        for name, (call, reference) in _MOVES.items():
            yield Operation(name, f"elements of {dtype}", call, reference, (x,))
    for name, (call, reference) in _MOVES.items():
        if name in (
            "transpose",
            "flip",
            "roll",
            "movedim",
            "tril",
            "triu",
            "contiguous",
            "repeat_interleave",
        ):
            yield Operation(name, "of no elements", call, reference, (EMPTY,))


# --- reductions and scans ---


def _products(x: Array) -> Array:
    return np.cumprod(x, 1)


def _exps(x: Array) -> Array:
    return np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)


def _logsumexp(x: Array) -> Array:
    most = x.max(1, keepdims=True)
    finite = np.where(np.isfinite(most), most, 0)
    return np.log(np.exp(x - finite).sum(1, keepdims=True)) + finite


_REDUCED: dict[str, tuple[Meaning, Meaning]] = {
    "all": (lambda x: x.all(1), lambda x: np.all(x != 0, 1)),
    "any": (lambda x: x.any(1), lambda x: np.any(x != 0, 1)),
    "cumsum": (lambda x: x.cumsum(1), lambda x: np.cumsum(x, 1)),
    "cumprod": (lambda x: x.cumprod(1), _products),
    "logsumexp": (lambda x: x.logsumexp(1), lambda x: _logsumexp(x)[:, 0]),
    "softmax": (lambda x: x.softmax(1), lambda x: np.exp(x - x.max(1, keepdims=True)) / _exps(x)),
    "log_softmax": (lambda x: x.log_softmax(1), lambda x: x - x.max(1, keepdims=True) - np.log(_exps(x))),
    "mean": (lambda x: x.mean(1), lambda x: np.mean(x, 1)),
    "var": (lambda x: x.var(1), lambda x: np.var(x, 1, ddof=1)),
    "std": (lambda x: x.std(1), lambda x: np.std(x, 1, ddof=1)),
    "norm": (lambda x: x.norm(2, 1), lambda x: np.sqrt((x * x).sum(1))),
}


def _reduced() -> Iterable[Operation]:
    for name, (call, reference) in _REDUCED.items():
        dtype = "bool" if name in ("all", "any") else None
        yield Operation(name, "NaN and infinities", call, reference, (_SPECIAL,), dtype)
    for dtype, wide in (("int8", "int64"), ("uint8", "uint64"), ("int64", "int64"), ("bool", "int64")):
        x = bools(3, 4) if dtype == "bool" else whole(3, 4, low=0, high=5, dtype=dtype)
        yield Operation("cumsum", dtype, lambda x: x.cumsum(1), lambda x: np.cumsum(x, 1), (x,), wide)
        yield Operation("cumprod", dtype, lambda x: x.cumprod(1), _products, (x,), wide)
        yield Operation("mean", dtype, lambda x: x.float().mean(1), lambda x: np.mean(x, 1), (x,), "float32")
    empty = np.zeros((0, 3), np.float32)
    yield Operation("mean", "of no elements", lambda x: x.mean(0), lambda x: np.full(3, np.nan), (empty,))
    yield Operation("cumsum", "of no elements", lambda x: x.cumsum(0), lambda x: x, (empty,))
    yield Operation("softmax", "of no elements", lambda x: x.softmax(0), lambda x: x, (empty,))


# --- products ---


def _multiplied() -> Iterable[Operation]:
    for dtype in ("int8", "uint8", "int32", "int64", "uint64"):
        x, y = whole(3, 4, low=0, high=5, dtype=dtype), whole(4, 2, low=0, high=5, dtype=dtype, seed=1)
        yield Operation("matmul", f"elements of {dtype}", lambda x, y: x.matmul(y), np.matmul, (x, y))
    infinite = _SPECIAL[1:5]
    yield Operation("matmul", "infinities", lambda x, y: x.matmul(y), np.matmul, (infinite, reals(4, 3)))
    nothing = (np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32))
    yield Operation("matmul", "sums of nothing", lambda x, y: x.matmul(y), np.matmul, nothing)
    yield Operation(
        "outer", "of no elements", lambda x, y: x.outer(y), np.outer, (np.zeros(0, np.float32), reals(3))
    )


# --- where, comparisons, choices ---


def _chosen() -> Iterable[Operation]:
    for dtype in _DTYPES:
        x, y = _elements_of(dtype, 3, 4), _elements_of(dtype, 4)
        # two meanings of where: of a method, and of NumPy's function
        yield Operation(
            "where",
            dtype,
            lambda m, x, y: m.where(x, y),
            np.where,
            (bools(3, 4, seed=2), x, y),
            dtype,
        )
    pair = (EDGES, EDGES[::-1].copy())
    yield Operation(
        "where", "edges", lambda m, x, y: m.where(x, y), np.where, (bools(len(EDGES)), *pair), "float32"
    )


CASES: tuple[Operation, ...] = (*_movement_cases(), *_reduced(), *_multiplied(), *_chosen())
