"""Random graphs of tensor-level nodes, to compare schedules with the oracle.

Arithmetic is chosen so that every order of computing gives the same bits: integers wrap, floats are small
multiples of a power of two. Versions of a buffer form a chain, and old versions stay in use, so hazards of
assigns occur.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrad.dtype import DType, dtypes, to_numpy
from plugrad.engine import storage
from plugrad.uop import MOVEMENT, Ops, UOp

_MOST_ELEMENTS = 400
_DTYPES = (dtypes.int32, dtypes.int32, dtypes.float32, dtypes.bool)


@dataclass
class RandomGraph:
    """Values that refer to each other, and the memory below them.

    Attributes:
        values: every node made, oldest first.
        versions: the newest version of each buffer.
        memory: what each buffer holds at first.
    """

    values: list[UOp] = field(default_factory=list[UOp])
    versions: dict[UOp, UOp] = field(default_factory=dict[UOp, UOp])
    memory: dict[UOp, NDArray[Any]] = field(default_factory=dict[UOp, NDArray[Any]])

    def keeps_value(self, value: UOp) -> bool:
        """Say whether assigns leave `value` as it is. Views of old versions show later contents."""
        version = _view_source(value)
        if version.op not in (Ops.BUFFER, Ops.ASSIGN, Ops.AFTER):
            return True
        buffer = version
        while buffer.op is not Ops.BUFFER:
            buffer = buffer.src[0]
        newest = self.versions[buffer]
        return version is newest or (newest.op is Ops.AFTER and version is newest.src[1])


def _view_source(u: UOp) -> UOp:
    """Return the node that `u` is a view of."""
    while u.op in MOVEMENT or u.op is Ops.DETACH:
        u = u.src[0]
    return u


def random_graph(
    seed: int, steps: int = 14, devices: Sequence[str] = ("PYTHON",), assigns: bool = True
) -> RandomGraph:
    """Return a graph of about `steps` operations over a few buffers."""
    rng = random.Random(seed)
    graph = RandomGraph()
    for _ in range(rng.randint(1, 3)):
        _add_buffer(rng, graph, rng.choice(devices))
    makers = [_elementwise] * 5 + [_movement] * 5 + [_reduce] * 2 + [_contiguous] + [_leaf]
    makers += [_assign] * 3 if assigns else []
    makers += [_copy] if len(devices) > 1 else []
    for _ in range(steps):
        value = rng.choice(makers)(rng, graph, devices)
        if value is not None and math.prod(_shape(value)) <= _MOST_ELEMENTS:
            graph.values.append(value)
    return graph


def _shape(u: UOp) -> tuple[int, ...]:
    shape: Any = u.shape
    return shape


def _add_buffer(rng: random.Random, graph: RandomGraph, device: str) -> UOp:
    shape = tuple(
        rng.choice((0, 1, 2, 3, 4, 5)) if rng.random() < 0.9 else 1 for _ in range(rng.randint(0, 3))
    )
    if rng.random() < 0.8:
        shape = tuple(size or 3 for size in shape)
    dtype = rng.choice(_DTYPES)
    values = [rng.randint(-4, 4) for _ in range(math.prod(shape))]
    array = np.array(values).reshape(shape).astype(to_numpy(dtype))
    u = storage.new_buffer(device, shape, dtype)
    storage.buffer_of(u).ensure_allocated().copyin(memoryview(array.tobytes()))
    graph.memory[u] = array
    graph.versions[u] = u
    graph.values.append(u)
    return u


def _pick(rng: random.Random, graph: RandomGraph) -> UOp:
    # mostly recent values, so that graphs get deep
    position = int(len(graph.values) * rng.random() ** 0.6)
    return graph.values[min(position, len(graph.values) - 1)]


def _cast(u: UOp, dtype: DType) -> UOp:
    if u.dtype is dtype:
        return u
    return u.ne(0) if dtype is dtypes.bool else u.cast(dtype)


def _fitted(rng: random.Random, graph: RandomGraph, like: UOp, dtype: DType, device: str | None) -> UOp:
    """Return some value with the shape of `like` that can be used on `device`."""
    shape = _shape(like)
    for _ in range(6):
        u = _pick(rng, graph)
        if u.device not in (None, device):
            continue
        found = _cast(u, dtype)
        if _shape(u) == shape:
            return found
        if math.prod(_shape(u)) == math.prod(shape):
            return found.reshape(shape)
        padded = (1,) * (len(shape) - len(_shape(u))) + _shape(u)
        if len(padded) == len(shape) and all(a in (1, b) for a, b in zip(padded, shape, strict=True)):
            return found.reshape(padded).expand(shape)
    return UOp.const(dtype, rng.randint(0, 1) if dtype is dtypes.bool else rng.randint(-3, 3))


def _elementwise(rng: random.Random, graph: RandomGraph, devices: Sequence[str]) -> UOp:
    x = _pick(rng, graph)
    device = x.device or devices[0]
    if x.dtype is dtypes.bool:
        y = _fitted(rng, graph, x, dtypes.bool, device)
        kind = rng.randrange(3)
        return (
            x & y,
            x ^ y,
            x.where(_fitted(rng, graph, x, dtypes.int32, device), UOp.const(dtypes.int32, 7)),
        )[kind]
    y = _fitted(rng, graph, x, x.dtype, device)
    third = _fitted(rng, graph, x, dtypes.bool, device)
    if x.dtype is dtypes.float32:
        # rounds to whole numbers, or to multiples of 8
        large = rng.choice((12582912.0, -12582912.0, 1e8))
        rounded = (x + large) - large
        return rng.choice(
            [x + y, x - y, x.maximum(y), x * 0.5, third.where(x, y), x < y, x.cast(dtypes.int32), -x, rounded]
        )
    return rng.choice(
        [x + y, x - y, x * y, x.maximum(y), third.where(x, y), x < y, x // (y.maximum(0) + 1), x % 5, x ^ y]
    )


def _movement(rng: random.Random, graph: RandomGraph, _: Sequence[str]) -> UOp:
    return random_movement(rng, _pick(rng, graph))


def random_movement(rng: random.Random, x: UOp, *, injective: bool = False) -> UOp:
    """Return `x` after one movement op; an `injective` one shows each element at most once."""
    shape = _shape(x)
    kind = rng.randrange(4 if injective else 6)
    if kind == 0:
        return x.permute(tuple(rng.sample(range(len(shape)), len(shape))))
    if kind == 1:
        return x.flip(tuple(a for a in range(len(shape)) if rng.random() < 0.6))
    if kind == 2:
        cuts = [sorted((rng.randint(0, s), rng.randint(0, s))) for s in shape]
        return x.shrink(tuple((b, max(e, min(b + 1, s))) for (b, e), s in zip(cuts, shape, strict=True)))
    if kind == 3:
        return x.reshape(_random_factors(rng, math.prod(shape)))
    if kind == 4:
        return x.pad(tuple((rng.randint(0, 2), rng.randint(0, 2)) for _ in shape))
    shape = (*shape, 1) if rng.random() < 0.5 else (1, *shape)
    return x.reshape(shape).expand(tuple(rng.randint(1, 3) if s == 1 else s for s in shape))


def _random_factors(rng: random.Random, numel: int) -> tuple[int, ...]:
    if numel == 0:
        return (0, rng.randint(1, 3))
    out: list[int] = []
    while numel > 1:
        factor = rng.choice([f for f in range(2, numel + 1) if numel % f == 0])
        out.append(factor)
        numel //= factor
    if rng.random() < 0.5:
        out.insert(rng.randint(0, len(out)), 1)
    return tuple(out)


def _reduce(rng: random.Random, graph: RandomGraph, _: Sequence[str]) -> UOp | None:
    x = _pick(rng, graph)
    if not _shape(x) or x.dtype is dtypes.bool:
        return None
    axes = tuple(a for a in range(len(_shape(x))) if rng.random() < 0.6) or (0,)
    return x.reduce_axis(rng.choice((Ops.ADD, Ops.ADD, Ops.MAX)), axes)


def _contiguous(rng: random.Random, graph: RandomGraph, _: Sequence[str]) -> UOp:
    x = _pick(rng, graph)
    return x.contiguous() if rng.random() < 0.7 else x.detach()


def _leaf(rng: random.Random, graph: RandomGraph, devices: Sequence[str]) -> UOp:
    if rng.random() < 0.5:
        return _add_buffer(rng, graph, rng.choice(devices))
    return UOp.iota(rng.randint(1, 6))


def _copy(rng: random.Random, graph: RandomGraph, devices: Sequence[str]) -> UOp | None:
    x = _pick(rng, graph)
    return None if x.device is None else x.copy_to_device(rng.choice(devices))


def _assign(rng: random.Random, graph: RandomGraph, _: Sequence[str]) -> UOp:
    buffer = rng.choice(list(graph.versions))
    newest = graph.versions[buffer]
    target = newest
    for _turn in range(rng.randint(0, 2)):
        target = random_movement(rng, target, injective=True)
    value = _fitted(rng, graph, target, buffer.dtype, buffer.device)
    if value.op is Ops.CONST and _shape(target):
        value = value.reshape((1,) * len(_shape(target))).expand(_shape(target))
    elif _shape(value) != _shape(target):
        value = target
    if rng.random() < 0.5 and buffer.dtype is not dtypes.bool:
        value = value + _fitted(rng, graph, target, buffer.dtype, buffer.device)
    written = target.assign(value)
    after = written if target is newest else newest.after(written)
    graph.versions[buffer] = after
    if after is not written:
        graph.values.append(written)
    return after
