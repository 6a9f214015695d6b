"""Evaluate graphs of tensor-level nodes in NumPy, one node at a time.

Arithmetic is that of the PYTHON device (`plugrad.builtin.arithmetic`), so results are comparable bit for bit
where kernels compute in the same order. Memory is functional here: a BUFFER is what it held at first, an
ASSIGN
is a new value, and `Result.memory` has what each buffer holds in the end.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrad.builtin import arithmetic
from plugrad.dtype import DType, dtypes, is_bool
from plugrad.engine import storage
from plugrad.uop import MOVEMENT, Ops, UOp
from plugrad.uop.shape import output_of

Array = NDArray[Any]


@dataclass
class Result:
    """The value of each node, and what each BUFFER holds after all assigns."""

    values: dict[UOp, Array] = field(default_factory=dict[UOp, Array])
    memory: dict[UOp, Array] = field(default_factory=dict[UOp, Array])


def evaluate(
    roots: Iterable[UOp],
    memory: Mapping[UOp, Array] | None = None,
    variables: Mapping[str, int] | None = None,
) -> Result:
    """Return the values of `roots` and of everything below them.

    Args:
        roots: tensor-level nodes.
        memory: what BUFFERs hold; those not listed are read from their runtime buffers.
        variables: values of variables that are not bound.
    """
    out = Result(memory=dict(memory or {}))
    for u in UOp.sink(*roots).toposort():
        if u.op not in (Ops.SINK,):
            out.values[u] = _node(u, out, variables or {})
    return out


def value_of(
    root: UOp, memory: Mapping[UOp, Array] | None = None, variables: Mapping[str, int] | None = None
) -> Array:
    """Return the value of one node."""
    return evaluate([root], memory, variables).values[root]


def _node(u: UOp, out: Result, variables: Mapping[str, int]) -> Array:
    src = [out.values[s] for s in u.src]
    if u.op is Ops.CONST:
        return np.array(u.arg, np.int64 if u.dtype.kind == "index" else arithmetic.lane_dtype(u.dtype))
    if u.op is Ops.DEFINE_VAR:
        return np.array(variables.get(u.arg[0], 0), np.int64)
    if u.op is Ops.BIND:
        return src[1]
    if u.op is Ops.BUFFER:
        return _read(u, out)
    if u.op is Ops.IOTA:
        return np.arange(int(src[0]), dtype=arithmetic.lane_dtype(u.dtype))
    if u.op in MOVEMENT:
        return _move(u, src[0], [int(s) for s in src[1:]])
    if u.op is Ops.REDUCE_AXIS:
        return _reduce(u, src[0])
    if u.op is Ops.ASSIGN:
        return _assign(u, src[1], out)
    if u.op is Ops.AFTER:
        return out.memory[_buffer_below(u)].copy()
    if u.op is Ops.FUNCTION:
        return np.zeros(())
    if u.op is Ops.OUTPUT:
        return out.values[output_of(u)]
    if u.op in (Ops.CONTIGUOUS, Ops.DETACH, Ops.COPY, Ops.LATER, Ops.DISPATCH):
        return src[0]
    return _alu(u, src)


def _read(u: UOp, out: Result) -> Array:
    if u not in out.memory:
        raw = np.frombuffer(storage.buffer_of(u).as_memoryview(), arithmetic.storage_dtype(u.dtype))
        out.memory[u] = arithmetic.from_storage(raw, u.dtype).reshape(u.arg.shape)
    return out.memory[u]


def _move(u: UOp, x: Array, numbers: list[int]) -> Array:
    pairs = list(zip(numbers[::2], numbers[1::2], strict=False))
    match u.op:
        case Ops.RESHAPE:
            return x.reshape(numbers)
        case Ops.EXPAND:
            return np.broadcast_to(x, numbers)
        case Ops.PERMUTE:
            return x.transpose(u.arg)
        case Ops.PAD:
            return np.pad(x, pairs) if x.ndim else x
        case Ops.SHRINK:
            return x[tuple(slice(begin, end) for begin, end in pairs)]
        case _:
            return np.flip(x, u.arg)


def _reduce(u: UOp, x: Array) -> Array:
    op, axes = u.arg
    dtype = arithmetic.lane_dtype(u.dtype)
    with np.errstate(all="ignore"):
        if op is Ops.MAX:
            lowest: Any = (
                -np.inf if x.dtype.kind == "f" else False if x.dtype.kind == "b" else np.iinfo(x.dtype).min
            )
            return np.max(x, axis=axes, keepdims=True, initial=lowest)
        if is_bool(u.dtype):
            return (np.any if op is Ops.ADD else np.all)(x, axis=axes, keepdims=True)
        return (np.sum if op is Ops.ADD else np.prod)(x, axis=axes, keepdims=True, dtype=dtype)


def _buffer_below(u: UOp) -> UOp:
    while u.op is not Ops.BUFFER:
        u = u.src[0]
    return u


def _assign(u: UOp, value: Array, out: Result) -> Array:
    """Write through the target's movement ops, and return the target's new value."""
    views: list[UOp] = []
    base = u.src[0]
    while base.op is not Ops.BUFFER:
        if base.op in MOVEMENT:
            views.append(base)
        base = base.src[0]
    current = _read(base, out)
    # the same movement of element numbers says which elements the target names
    places = np.arange(current.size).reshape(current.shape)
    for view in reversed(views):
        places = _move(view, places, [int(out.values[s]) for s in view.src[1:]])
    changed = current.copy().reshape(-1)
    changed[places.reshape(-1)] = np.broadcast_to(value, places.shape).reshape(-1)
    out.memory[base] = changed.reshape(current.shape)
    return out.memory[base].reshape(-1)[places]


def _alu(u: UOp, src: list[Array]) -> Array:
    shape = np.broadcast_shapes(*[s.shape for s in src])
    columns = [np.broadcast_to(s, shape).reshape(-1) for s in src]
    with np.errstate(all="ignore"):
        return np.asarray(_function(u)(*columns)).reshape(shape)


def _function(u: UOp) -> Any:
    dtypes_of_sources = tuple(_lane(s.dtype) for s in u.src)
    exact = _TRANSCENDENTAL.get(u.op)
    if exact is None:
        return arithmetic.function(u.op, _lane(u.dtype), dtypes_of_sources)
    if u.dtype is dtypes.bfloat16:
        return _rounded(exact)
    return exact


def _rounded(exact: Any) -> Any:
    def compute(*x: Array) -> Array:
        return arithmetic.round_to_bfloat16(exact(*x))

    return compute


def _lane(dtype: DType) -> DType:
    return dtypes.int64 if dtype is dtypes.index else dtype


def _in_double(function: Any) -> Any:
    """Compute in float64 and round once: closer than any device has to be."""

    def compute(*x: Array) -> Array:
        return function(*[a.astype(np.float64) for a in x]).astype(x[0].dtype)

    return compute


def threefry(counter: Array, key: Array) -> Array:
    """Return Threefry-2x32 with 20 rounds of 64-bit counters under 64-bit keys, low words first.

    Source: Salmon et al. 2011, section 3.4; Random123, threefry.h.
    """
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    x0, x1 = (counter & low).astype(np.uint32), (counter >> shift).astype(np.uint32)
    k0, k1 = (key & low).astype(np.uint32), (key >> shift).astype(np.uint32)
    schedule = (k0, k1, k0 ^ k1 ^ np.uint32(0x1BD11BDA))
    rotations = (13, 15, 26, 6, 17, 29, 16, 24)
    x0, x1 = x0 + schedule[0], x1 + schedule[1]
    for turn in range(20):
        by = np.uint32(rotations[turn % 8])
        x0 = x0 + x1
        x1 = ((x1 << by) | (x1 >> (np.uint32(32) - by))) ^ x0
        if turn % 4 == 3:
            number = turn // 4 + 1
            x0 = x0 + schedule[number % 3]
            x1 = x1 + schedule[(number + 1) % 3] + np.uint32(number)
    return x0.astype(np.uint64) | (x1.astype(np.uint64) << shift)


_TRANSCENDENTAL: dict[Ops, Any] = {
    Ops.EXP: _in_double(np.exp),
    Ops.EXP2: _in_double(np.exp2),
    Ops.LOG2: _in_double(np.log2),
    Ops.SIN: _in_double(np.sin),
    Ops.COS: _in_double(np.cos),
    Ops.POW: _in_double(np.power),
    Ops.THREEFRY: threefry,
}
