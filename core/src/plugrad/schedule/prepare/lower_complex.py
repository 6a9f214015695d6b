"""Turn complex numbers into pairs of real ones.

Runs first: the other passes, codegen and devices see floats only. Memory of complex numbers is memory of
floats with a last axis of 2, the real part first, as NumPy and PyTorch lay them out; where a value is written
to memory, its parts are put together along that axis.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import COMPLEX, dtypes, is_bool, is_complex
from plugrad.errors import DtypeError, ShapeError
from plugrad.schedule.versions import VERSIONS
from plugrad.uop import MOVEMENT, Ops, UOp
from plugrad.uop.ops import BufferArg
from plugrad.uop.shape import output_of

Shape = tuple[Any, ...]


@frozen
class Pair:
    """The real and the imaginary part of a value; `whole` is memory that holds both."""

    real: UOp
    imag: UOp
    whole: UOp | None = None

    def map(self, change: Callable[[UOp], UOp]) -> "Pair":
        """Return the pair of both parts, changed."""
        return Pair(change(self.real), change(self.imag))


def real_memory(buffer: UOp) -> UOp:
    """Return a complex BUFFER as one of floats, with a last axis of 2.

    before: BUFFER(3, 4) of complex64
    after:  BUFFER(3, 4, 2) of float32
    """
    ident, device, shape = buffer.arg
    return UOp(Ops.BUFFER, COMPLEX[buffer.dtype], (), BufferArg(ident, device, (*shape, 2)))


def complex_view(view: UOp, sizes: Sequence[UOp], place: UOp) -> UOp:
    """Return the movement op on complex memory for `view`, one on its floats.

    before: BUFFER(3, 4, 2).permute((1, 0, 2)), and the BUFFER(3, 4) of complex numbers
    after:  that BUFFER.permute((1, 0))

    Args:
        view: a movement op on the memory of floats.
        sizes: of its axes, with the last one.
        place: the complex memory.
    """
    if view.op is Ops.PERMUTE:
        return place.permute(view.arg[:-1])
    last = {Ops.PAD: 2, Ops.SHRINK: 2, Ops.FLIP: 0}.get(view.op, 1)
    return UOp(view.op, place.dtype, (place, *sizes[: len(sizes) - last]), view.arg)


def split_parts(whole: UOp) -> tuple[UOp, UOp]:
    """Return the real and the imaginary parts, which lie along a last axis of 2.

    before: BUFFER(3, 2)
    after:  its two shrinks, reshaped to (3,)
    """
    shape = whole.shape[:-1]
    every = [(0, size) for size in shape]
    real, imag = (whole.shrink((*every, (at, at + 1))).reshape(shape) for at in range(2))
    return real, imag


def join_parts(real: UOp, imag: UOp) -> UOp:
    """Return both parts side by side along a last axis of 2.

    before: two nodes of shape (3,)
    after:  where(range(2) == 0, the first, the second), of shape (3, 2); x for `split_parts(x)`
    """
    whole = _whole_of(real, imag)
    if whole is not None:
        return whole
    shape = real.shape
    both = (*shape, 2)
    is_real = UOp.iota(2).eq(0).reshape((*(1,) * len(shape), 2)).expand(both)
    first, second = (part.reshape((*shape, 1)).expand(both) for part in (real, imag))
    return is_real.where(first, second)


def lower_complex(sink: UOp) -> UOp:
    """Return the graph without complex numbers; sources of the SINK keep their places.

    before: SINK(BUFFER(3) of complex64 + BUFFER(3) of complex64)
    after:  SINK(the sum of both BUFFER(3, 2) of float32)
    """
    nodes = sink.toposort()
    return _Lowering().run(sink, nodes) if any(is_complex(u.dtype) for u in nodes) else sink


class _Lowering:
    """The real form of each node."""

    def __init__(self) -> None:
        self._done: dict[UOp, UOp] = {}
        self._pairs: dict[UOp, Pair] = {}

    def run(self, sink: UOp, nodes: Mapping[UOp, None]) -> UOp:
        for u in nodes:
            if is_complex(u.dtype):
                self._pairs[u] = self._pair_of(u)
            elif u.op is Ops.OUTPUT:
                self._done[u] = self._done[output_of(u)]
            elif u.op is not Ops.SINK:
                self._done[u] = self._real_of(u)
        return sink.replace(src=tuple([self._requested_value(u) for u in sink.src]))

    def _requested_value(self, u: UOp) -> UOp:
        """Return the requested values. What is taken from complex memory gets memory of its own."""
        found = self._stored(u)
        is_part = found.base.op in VERSIONS and u.base.op not in VERSIONS
        return found.contiguous() if is_part else found

    def _stored(self, u: UOp) -> UOp:
        """Return the real form of any node; of complex numbers with both parts in memory."""
        if not is_complex(u.dtype):
            return self._done[u]
        pair = self._pairs[u]
        return _interleaved(pair, u.shape)

    # --- real nodes ---

    def _real_of(self, u: UOp) -> UOp:
        if u.op is Ops.REAL or u.op is Ops.IMAG:
            pair = self._pairs[u.src[0]]
            return (pair.real if u.op is Ops.REAL else pair.imag).spread(u.shape)
        if u.src and is_complex(u.src[0].dtype):
            if u.op is Ops.CMPEQ or u.op is Ops.CMPNE:
                x, y = (self._pairs[s] for s in u.src)
                real, imag = x.real.alu(u.op, y.real), x.imag.alu(u.op, y.imag)
                return real & imag if u.op is Ops.CMPEQ else real | imag
            if u.op is Ops.CAST:
                z = self._pairs[u.src[0]]
                return z.real.ne(0.0) | z.imag.ne(0.0) if is_bool(u.dtype) else z.real.cast(u.dtype)
        if u.op is Ops.FUNCTION:
            return u
        if u.op is Ops.WHERE and (joined := _joined_parts(u)) is not None:
            return self._stored(joined)
        src = tuple([self._stored(s) for s in u.src])
        return u if src == u.src else u.replace(src=src)

    # --- complex nodes ---

    def _pair_of(self, u: UOp) -> Pair:
        if u.op is Ops.BUFFER:
            return _parts_of(real_memory(u))
        if u.op is Ops.OUTPUT:
            return self._pairs[output_of(u)]
        if u.op is Ops.COMPLEX:
            real, imag = (self._done[s] for s in u.src)
            return Pair(real, imag, _whole_of(real, imag))
        if u.op in MOVEMENT:
            return self._lower_movement(u)
        if u.op in _IN_MEMORY:
            return _parts_of(self._in_memory(u))
        rule = _RULES.get(u.op)
        if rule is None:
            raise DtypeError(f"{u.op.name} of {u.dtype.name}: complex numbers have no such operation.")
        return rule(self, u)

    def _lower_movement(self, u: UOp) -> Pair:
        pair = self._pairs[u.src[0]]
        if pair.whole is not None:
            return _parts_of(_lifted(u, pair.whole))
        spread = pair.map(lambda part: part.spread(u.src[0].shape))
        return spread.map(lambda part: UOp(u.op, part.dtype, (part, *u.src[1:]), u.arg))

    def _in_memory(self, u: UOp) -> UOp:
        first, *others = map(self._stored, u.src)
        if u.op is Ops.ASSIGN:
            others = [_expanded(others[0], first.shape)]
        return UOp(u.op, first.dtype, (first, *others), u.arg, u.tag)

    def by_parts(self, u: UOp) -> Pair:
        """Return a function that applies the operation of `u` to both parts."""
        pairs = [self._pairs[s] for s in u.src]
        real, imag = [p.real for p in pairs], [p.imag for p in pairs]
        return Pair(*(UOp(u.op, src[0].dtype, tuple(src), u.arg) for src in (real, imag)))

    def product(self, u: UOp) -> Pair:
        """Return (a + ib) * (c + id)."""
        x, y = (self._pairs[s] for s in u.src)
        return _product(x, y)

    def choice(self, u: UOp) -> Pair:
        """Return the parts of what is chosen."""
        condition, (x, y) = self._done[u.src[0]], (self._pairs[s] for s in u.src[1:])
        return Pair(condition.where(x.real, y.real), condition.where(x.imag, y.imag))

    def cast(self, u: UOp) -> Pair:
        """Return real numbers with an imaginary part of 0, and complex ones part by part."""
        part, source = COMPLEX[u.dtype], u.src[0]
        if not is_complex(source.dtype):
            return Pair(self._done[source].cast(part), UOp.const(part, 0.0))
        return self._pairs[source].map(lambda x: x.cast(part))

    def reduced(self, u: UOp) -> Pair:
        """Return sums or products over axes."""
        op, axes = u.arg
        pair = self._pairs[u.src[0]].map(lambda part: part.spread(u.src[0].shape))
        if op is Ops.MUL:
            return _product_over(pair, axes)
        return pair.map(lambda part: part.reduce_axis(op, axes))

    def later(self, u: UOp) -> Pair:
        """Return both parts as other nodes."""
        before = [self._stored(s) for s in u.src[1:]]
        return self._pairs[u.src[0]].map(lambda part: part.later(*before))


# what is memory afterwards
_IN_MEMORY = frozenset({Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN, Ops.AFTER})

_RULES: Mapping[Ops, Callable[[_Lowering, UOp], Pair]] = {
    **dict.fromkeys((Ops.ADD, Ops.SUB, Ops.NEG, Ops.DETACH), _Lowering.by_parts),
    Ops.MUL: _Lowering.product,
    Ops.WHERE: _Lowering.choice,
    Ops.CAST: _Lowering.cast,
    Ops.REDUCE_AXIS: _Lowering.reduced,
    Ops.LATER: _Lowering.later,
}


# products up to this many factors are one kernel
_FACTORS = 8


def _product(x: Pair, y: Pair) -> Pair:
    return Pair(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


def _product_over(pair: Pair, axes: tuple[int, ...]) -> Pair:
    """Return products over axes, which stay with size 1: of halves, until one is left.

    No reduction of a kernel is one, as each part of a product needs both parts of the factors.

    Raises:
        ShapeError: a size is symbolic.
    """
    shape: Any = pair.real.shape
    kept = tuple([axis for axis in range(len(shape)) if axis not in axes])
    if not all(isinstance(shape[axis], int) for axis in axes):
        raise ShapeError(
            "a product of complex numbers along an axis of symbolic size. Slice it to a fixed size."
        )
    rows, size = [shape[axis] for axis in kept], math.prod(shape[axis] for axis in axes)
    out = pair.map(lambda part: part.permute((*kept, *axes)).reshape((*rows, size)))
    while size != 1:
        if size > _FACTORS:
            out = out.map(UOp.contiguous)
        half = (size + 1) // 2 or 1
        out = _product(_slice_pair(out, 0, half), _slice_pair(out, half, 2 * half))
        size = half
    return out.map(lambda part: part.reshape(tuple([1 if a in axes else s for a, s in enumerate(shape)])))


def _slice_pair(pair: Pair, begin: int, end: int) -> Pair:
    """Return the elements `begin..end` of the last axis, with ones behind its end."""
    *rows, size = pair.real.shape
    assert isinstance(size, int), "the last axis has a known size"
    count, every = end - begin, [(0, row) for row in rows]
    is_inside = UOp.iota(count).reshape((*(1,) * len(rows), count)).expand((*rows, count)) < size - begin

    def cut(part: UOp, beyond: float) -> UOp:
        padded = part.pad([*((0, 0) for _ in rows), (0, max(0, end - size))]).shrink([*every, (begin, end)])
        return padded if end <= size else is_inside.where(padded, beyond)

    return Pair(cut(pair.real, 1.0), cut(pair.imag, 0.0))


def _expanded(whole: UOp, shape: Shape) -> UOp:
    """Return a number in the shape of the memory that it is written to."""
    if whole.shape == shape or len(whole.shape) == len(shape):
        return whole
    return whole.reshape((*(1,) * (len(shape) - 1), 2)).expand(shape)


def _lifted(u: UOp, whole: UOp) -> UOp:
    """Return the movement op `u` with the axis of parts behind the others."""
    last = len(u.src[0].shape)
    if u.op is Ops.PERMUTE:
        return whole.permute((*u.arg, last))
    if u.op is Ops.FLIP:
        return whole.flip(u.arg)
    two, nothing = UOp.const(dtypes.index, 2), UOp.const(dtypes.index, 0)
    ends = {Ops.PAD: (nothing, nothing), Ops.SHRINK: (nothing, two)}.get(u.op, (two,))
    return UOp(u.op, whole.dtype, (whole, *u.src[1:], *ends), u.arg)


def _parts_of(whole: UOp) -> Pair:
    """Return the parts of what lies in memory."""
    return Pair(*split_parts(whole), whole)


def _whole_of(real: UOp, imag: UOp) -> UOp | None:
    """Return the node that `split_parts` made both parts of."""
    if real.op is not Ops.RESHAPE or (cut := real.src[0]).op is not Ops.SHRINK:
        return None
    whole = cut.src[0]
    if whole.shape[-1:] != (2,) or whole.shape[:-1] != real.shape:
        return None
    return whole if (real, imag) == split_parts(whole) else None


def _joined_parts(u: UOp) -> UOp | None:
    """Return the complex node whose parts `join_parts` put side by side."""
    part = u.src[1]
    while part.op is Ops.EXPAND or part.op is Ops.RESHAPE:
        part = part.src[0]
    if part.op is not Ops.REAL:
        return None
    z = part.src[0]
    return z if u is join_parts(part, z.imag()) else None


def _interleaved(pair: Pair, shape: Shape) -> UOp:
    """Return both parts side by side along a last axis."""
    if pair.whole is not None:
        return pair.whole
    return join_parts(pair.real.spread(shape), pair.imag.spread(shape))
