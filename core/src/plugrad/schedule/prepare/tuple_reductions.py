"""Combine the pieces of reductions, also where one depends on another.

The sum of exponentials of differences to the maximum, the position of the maximum, the squares of
differences to the mean: with the first reduction's result, each is a tuple that has a combiner. A piece takes
the first one's result for that piece, so both read its elements from the same cache, once from memory.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

from plugrad._frozen import frozen
from plugrad.uop import Ops, UOp, identity_of


@frozen
class Split:
    """An axis of a reduction cut into pieces.

    Attributes:
        sizes: of the value.
        reduced: axes of the reduction.
        axis: the one that is cut.
        pieces: their number.
        elements: of each piece along the axis; the last one may be shorter.
        is_apart: whether results of a piece lie side by side in memory, so that the pieces are apart.
    """

    sizes: tuple[int, ...]
    reduced: tuple[int, ...]
    axis: int
    pieces: int
    elements: int
    is_apart: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value with the pieces' axis before that of their elements."""
        return (*self.sizes[: self.axis], self.pieces, self.elements, *self.sizes[self.axis + 1 :])

    @property
    def inner(self) -> tuple[int, ...]:
        """The axes that each piece is reduced over."""
        return tuple([a + (a >= self.axis) for a in self.reduced])

    @property
    def place(self) -> int:
        """The axis of the pieces in memory."""
        return 0 if self.is_apart else self.axis

    def stored(self, x: UOp, op: Ops) -> UOp:
        """Return the results of the pieces of `x`, in memory."""
        partial = self._padded(x, op).reshape(self.shape).reduce_axis(op, self.inner)
        return self._as_stored(partial).contiguous()

    def beside(self, result: UOp) -> UOp:
        """Return the result of all pieces for each of them, as they lie in memory."""
        shape = tuple([1 if a in self.inner else size for a, size in enumerate(self.shape)])
        of_one = result.reshape((*shape[: self.axis], 1, *shape[self.axis + 1 :]))
        return self._as_stored(of_one.expand(shape))

    def spread(self, stored: UOp, shape: tuple[Any, ...]) -> UOp:
        """Return the pieces' results for each element of a value of `shape`."""
        if self.is_apart:
            order = self._order()
            stored = stored.permute(tuple([order.index(a) for a in range(len(order))]))
        whole = stored.expand(self.shape).reshape(self._padded_sizes())
        return whole.shrink(tuple([(0, size) for size in self.sizes])).reshape(shape)

    def counts(self, like: UOp) -> UOp:
        """Return each piece's number of elements, beside its result in `like`."""
        others = math.prod(self.sizes[a] for a in self.reduced if a != self.axis)
        all_of_one = like.const_like(self.elements * others)
        rest = self.sizes[self.axis] - self.elements * (self.pieces - 1)
        if rest == self.elements:
            return all_of_one
        along: Any = tuple([size if a == self.place else 1 for a, size in enumerate(like.shape)])
        is_whole = UOp.iota(self.pieces).reshape(along).expand(like.shape) < self.pieces - 1
        return is_whole.where(all_of_one, like.const_like(rest * others))

    def _padded(self, x: UOp, op: Ops) -> UOp:
        sizes = self._padded_sizes()
        if sizes == self.sizes:
            return x
        padded = x.pad(tuple([(0, new - old) for new, old in zip(sizes, self.sizes, strict=True)]))
        identity = identity_of(op, x.dtype)
        if identity == 0:
            return padded
        along = tuple([size if a == self.axis else 1 for a, size in enumerate(sizes)])
        position = UOp.iota(sizes[self.axis]).reshape(along).expand(sizes)
        return (position < self.sizes[self.axis]).where(padded, padded.const_like(identity))

    def _padded_sizes(self) -> tuple[int, ...]:
        return (*self.sizes[: self.axis], self.pieces * self.elements, *self.sizes[self.axis + 1 :])

    def _as_stored(self, partial: UOp) -> UOp:
        return partial.permute(self._order()) if self.is_apart else partial

    def _order(self) -> tuple[int, ...]:
        return (self.axis, *(a for a in range(len(self.shape)) if a != self.axis))


@frozen
class _Combiner:
    """The combination of pieces, beside those of another reduction.

    Attributes:
        of_all: the other's result for each element, which the reduction reads.
        of_piece: what a piece reads in its place, in memory.
        combine: the value to reduce over the pieces, of the result of each.
    """

    of_all: UOp
    of_piece: UOp
    combine: Callable[[UOp], UOp]


def reduce_pieces(x: UOp, op: Ops, split: Split) -> UOp:
    """Return the reduction of `x` by way of its pieces."""
    for match in _COMBINERS:
        if (found := match(x, op, split)) is not None:
            own = x.substitute({found.of_all: split.spread(found.of_piece, found.of_all.shape)})
            return found.combine(split.stored(own, op)).reduce_axis(op, (split.place,))
    return split.stored(x, op).reduce_axis(op, (split.place,))


def _of_exponentials(x: UOp, op: Ops, split: Split) -> _Combiner | None:
    """Match a sum of products with exp(a - max(a)): an online softmax's sum.

    A piece's sum times exp(its maximum - the maximum). A piece of -inf has the sum 0, not exp(-inf + inf).
    """
    powers = [u for u in _factors(x) if u.op is Ops.EXP and u.src[0].op is Ops.SUB]
    for a, of_all in (u.src[0].src for u in powers if op is Ops.ADD):
        shift = of_all.src[0] if of_all.op is Ops.EXPAND else of_all
        # a logarithm of sums has 0 in place of an infinite maximum
        maximum = shift.src[2] if _is_zero_at_infinity(shift) else shift
        piece = _pieces_of(a, maximum, Ops.MAX, split)
        if piece is not None and _is_read_once(x, of_all):
            own = piece if shift is maximum else shift.substitute({maximum: piece})
            own = piece.ne(piece.const_like(-math.inf)).where(own, own.const_like(0))
            scale = (piece - split.beside(shift)).exp()
            return _Combiner(of_all, own, lambda sums, scale=scale: sums * scale)
    return None


def _is_zero_at_infinity(shift: UOp) -> bool:
    """Say whether this is WHERE(m is infinite, 0, m)."""
    if shift.op is not Ops.WHERE or shift.src[1].op is not Ops.CONST or shift.src[1].arg != 0:
        return False
    m = shift.src[2]
    infinite = [m.eq(m.const_like(sign * math.inf)) for sign in (1, -1)]
    return shift.src[0].op is Ops.OR and {*shift.src[0].src} == {*infinite}


def _at_extremum(x: UOp, op: Ops, split: Split) -> _Combiner | None:
    """Match a reduction of values where `a` is extreme or NaN, else of a constant.

    Only pieces with the same maximum count.
    """
    if x.op is not Ops.WHERE or x.src[2].op is not Ops.CONST or (op is Ops.ADD and x.src[2].arg != 0):
        return None
    condition, _, other = x.src
    parts = condition.src if condition.op is Ops.OR else (condition,)
    for a, of_all in (pair for u in parts if u.op is Ops.CMPEQ for pair in (u.src, u.src[::-1])):
        piece = _extrema_of(a, of_all, split)
        known = {a.eq(of_all), of_all.eq(a), a.ne(a)}
        if piece is not None and _is_read_once(x, of_all) and {*parts} <= known:
            chosen = condition.substitute({a: piece, of_all: split.beside(of_all.src[0])})
            return _Combiner(of_all, piece, lambda own, chosen=chosen: chosen.where(own, other))
    return None


def _extrema_of(a: UOp, of_all: UOp, split: Split) -> UOp | None:
    """Return the pieces' maxima, or minima: negative maxima of negative values."""
    value = of_all.src[0] if of_all.op is Ops.EXPAND else of_all
    if value.op is not Ops.NEG:
        return _pieces_of(a, value, Ops.MAX, split)
    piece = _pieces_of(a.alu(Ops.NEG), value.src[0], Ops.MAX, split)
    return None if piece is None else piece.alu(Ops.NEG)


def _of_squares(x: UOp, op: Ops, split: Split) -> _Combiner | None:
    """Match a sum of squares of differences to the mean.

    A piece has those to its own mean; beside them, n * (its mean - the mean)^2. (T. F. Chan, G. H. Golub,
    R. J. LeVeque, Algorithms for computing the sample variance, The American Statistician 37, 1983.)
    """
    if op is not Ops.ADD or x.op is not Ops.MUL or x.src[0] is not x.src[1] or x.src[0].op is not Ops.SUB:
        return None
    a, of_all = x.src[0].src
    mean = _unreshaped(of_all.src[0]) if of_all.op is Ops.EXPAND else of_all
    if mean.op is not Ops.FDIV or mean.src[1].op is not Ops.CONST:
        return None
    sums = _pieces_of(a, mean.src[0], Ops.ADD, split)
    length = math.prod(split.sizes[a] for a in split.reduced)
    if sums is None or mean.src[1].arg != length or not _is_read_once(x, of_all):
        return None
    count = split.counts(sums)
    own_mean = sums / count
    apart = own_mean - split.beside(of_all.src[0])
    return _Combiner(of_all, own_mean, lambda own: own + apart * apart * count)


_COMBINERS = (_of_exponentials, _at_extremum, _of_squares)


def _pieces_of(a: UOp, of_all: UOp, op: Ops, split: Split) -> UOp | None:
    """Return the stored pieces of the reduction of `a` where `of_all` has its result."""
    if a.shape != split.sizes:
        return None
    stored = split.stored(_unreshaped(a), op)
    result = _unreshaped(of_all.src[0] if of_all.op is Ops.EXPAND else of_all)
    return stored if result is stored.reduce_axis(op, (split.place,)) else None


def _unreshaped(u: UOp) -> UOp:
    return u.src[0] if u.op is Ops.RESHAPE else u


def _factors(x: UOp) -> Iterator[UOp]:
    if x.op is Ops.MUL:
        yield from (u for s in x.src for u in _factors(s))
    else:
        yield x


def _is_read_once(x: UOp, value: UOp) -> bool:
    return sum(u.src.count(value) for u in x.toposort()) == 1
