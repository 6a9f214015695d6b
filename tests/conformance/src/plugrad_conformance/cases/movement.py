"""Core: elements that only change places, one kind after another, fused into kernels that compute."""

import functools
from collections.abc import Callable
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

from plugrad import Tensor
from plugrad.dtype import DType, dtypes
from plugrad_conformance.case import Case, Check, needs_dtypes
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import ALL, Array, array_of, sample, tensor_of
from plugrad_conformance.tolerance import tolerance_of

Moved = tuple[Callable[[Any], Any], Callable[[Array], Array]]

_CHAINS: dict[str, tuple[tuple[int, ...], Moved]] = {
    "reshape-of-permute": (
        (4, 6, 5),
        (lambda t: t.permute(2, 0, 1).reshape(10, 12), lambda x: x.transpose(2, 0, 1).reshape(10, 12)),
    ),
    "pad-of-shrink": (
        (6, 8),
        (
            lambda t: t.shrink(((1, 5), (2, 7))).pad(((2, 1), (0, 3))),
            lambda x: np.pad(x[1:5, 2:7], ((2, 1), (0, 3))),
        ),
    ),
    "flip-of-pad": (
        (5, 4),
        (lambda t: t.pad(((1, 0), (2, 1))).flip(1), lambda x: np.pad(x, ((1, 0), (2, 1)))[:, ::-1]),
    ),
    "expand-of-reshape": (
        (6,),
        (
            lambda t: t.reshape(2, 1, 3).expand(2, 4, 3),
            lambda x: np.broadcast_to(x.reshape(2, 1, 3), (2, 4, 3)),
        ),
    ),
    "steps": ((9, 11), (lambda t: t[::2, 1::3], lambda x: x[::2, 1::3])),
    "backwards": ((9, 11), (lambda t: t[::-1, -2::-4], lambda x: x[::-1, -2::-4])),
    "transposed-rows": ((7, 13), (lambda t: t.transpose(), lambda x: x.T)),
    "repeat": ((2, 3), (lambda t: t.repeat(2, 3), lambda x: np.tile(x, (2, 3)))),
    "seven-axes": (
        (2, 1, 3, 2, 1, 2, 3),
        (lambda t: t.permute(6, 4, 2, 0, 1, 3, 5), lambda x: x.transpose(6, 4, 2, 0, 1, 3, 5)),
    ),
    "one-element": (
        (1, 1, 1),
        (lambda t: t.expand(3, 1, 2).flip(0), lambda x: np.broadcast_to(x, (3, 1, 2))),
    ),
}


def _chain(name: str, bench: Bench) -> Check:
    """Moved alone, and inside of arithmetic."""
    shape, (on_tensor, on_array) = _CHAINS[name]
    x = sample(dtypes.int32, int(np.prod(shape))).reshape(shape)
    t = tensor_of(x, dtypes.int32, bench.name)
    moved = on_array(x)
    return Check(
        [on_tensor(t).contiguous(), on_tensor(t + 1) * 3, on_tensor(t).sum()],
        [moved, on_array(x + 1) * 3, moved.sum()],
    )


def _copy(dtype: DType, bench: Bench) -> Check:
    x = sample(dtype, 7 * 9).reshape(7, 9)
    return Check(
        [tensor_of(x, dtype, bench.name).permute(1, 0).pad(((1, 0), (0, 2))).contiguous()],
        [np.pad(x.T, ((1, 0), (0, 2)))],
    )


def _check_joins(bench: Bench) -> Check:
    x, y = sample(dtypes.int32, 12, 1).reshape(3, 4), sample(dtypes.int32, 8, 2).reshape(2, 4)
    a, b = (tensor_of(v, dtypes.int32, bench.name) for v in (x, y))
    return Check(
        [a.cat(b), a.stack(a + 1, axis=1), b.cat(b, b, axis=1).sum(1)],
        [np.concatenate([x, y]), np.stack([x, x + 1], 1), np.concatenate([y, y, y], 1).sum(1)],
    )


def _check_splits(bench: Bench) -> Check:
    x = sample(dtypes.int32, 40).reshape(10, 4)
    t = tensor_of(x, dtypes.int32, bench.name)
    outputs = [part.contiguous() for part in (*t.split(4), *t.chunk(3))]
    return Check(outputs, [x[:4], x[4:8], x[8:], x[:4], x[4:8], x[8:]])


def _padded_reductions(bench: Bench) -> Check:
    """Padding is zero for sums and for products, wherever it meets the reduction."""
    x = sample(dtypes.int32, 5 * 6, 3).reshape(5, 6) + 200
    t = tensor_of(x, dtypes.int32, bench.name)
    padded = np.pad(x, ((1, 2), (3, 0)))
    on = t.pad(((1, 2), (3, 0)))
    return Check(
        [on.sum(1), on.max(0), on.min(0), on.prod(0)],
        [padded.sum(1), padded.max(0), padded.min(0), padded.prod(0)],
    )


def _padded_with_value(bench: Bench) -> Check:
    x = sample(dtypes.float32, 12, 4).reshape(3, 4)
    t = tensor_of(x, dtypes.float32, bench.name)
    exact = np.pad(x, ((1, 1), (0, 2)), constant_values=-np.inf)
    return Check(
        [t.pad(((1, 1), (0, 2)), value=float("-inf")), (t.pad(((1, 1), (0, 2))) + 1)],
        [exact, np.pad(x, ((1, 1), (0, 2))) + 1],
        tolerance_of("add", dtypes.float32),
    )


_STEPS = st.lists(
    st.sampled_from(("reshape", "permute", "pad", "shrink", "flip", "expand", "add")), min_size=1, max_size=5
)


def _random_step(kind: str, t: Tensor, x: Array, draw: "np.random.Generator") -> tuple[Tensor, Array]:
    match kind:
        case "permute":
            axes = tuple(map(int, draw.permutation(x.ndim)))
            return t.permute(axes), x.transpose(axes)
        case "pad":
            widths = [(int(draw.integers(0, 3)), int(draw.integers(0, 3))) for _ in range(x.ndim)]
            return t.pad(widths), np.pad(x, widths)
        case "shrink":
            cuts = [(b := int(draw.integers(0, n)), int(draw.integers(b + 1, n + 1))) for n in x.shape]
            return t.shrink(cuts), x[tuple(slice(*cut) for cut in cuts)]
        case "flip":
            axis = int(draw.integers(0, x.ndim))
            return t.flip(axis), np.flip(x, axis)
        case "expand":
            shape = (int(draw.integers(1, 4)), *x.shape)
            return t.reshape(1, *x.shape).expand(*shape), np.broadcast_to(x, shape)
        case "reshape":
            axis = int(draw.integers(0, x.ndim))
            flat = (*x.shape[:axis], -1) if x.ndim > axis else x.shape
            return t.reshape(*flat), x.reshape(flat)
        case _:
            return t + 1, x + 1


def random_chains(bench: Bench) -> str:
    """Movements at random, derandomized: the same examples for a version of the kit."""
    done = 0

    @hypothesis.settings(max_examples=20, derandomize=True, deadline=None, database=None)
    @hypothesis.given(
        steps=_STEPS,
        shape=st.lists(st.integers(1, 7), min_size=1, max_size=3),
        seed=st.integers(0, 2**16),
    )
    def examples(steps: list[str], shape: list[int], seed: int) -> None:
        nonlocal done
        done += 1
        draw = np.random.default_rng(seed)
        x = draw.integers(-9, 9, shape).astype(np.int32)
        t = tensor_of(x, dtypes.int32, bench.name)
        for step in steps:
            if x.size > 2000:
                break
            t, x = _random_step(step, t, x, draw)
        assert (array_of((t * 2).realize()) == x * 2).all(), (
            f"{steps} on shape {shape} (seed {seed}) moved elements wrongly"
        )

    examples()
    return f"{done} examples"


CASES = (
    *(Case(f"core/movement/{name}", build=functools.partial(_chain, name)) for name in _CHAINS),
    *(
        Case(f"core/movement/copy-{d.name}", build=functools.partial(_copy, d), needs=needs_dtypes(d.name))
        for d in ALL
    ),
    Case("core/movement/joined", build=_check_joins),
    Case("core/movement/parts", build=_check_splits),
    Case("core/movement/padded-reductions", build=_padded_reductions),
    Case("core/movement/padded-with-value", build=_padded_with_value),
    Case("core/movement/random-chains", run=random_chains),
)
