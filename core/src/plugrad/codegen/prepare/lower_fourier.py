"""Give a Fourier transform its loops.

There is a step for each factor of its size, in fast memory.

Each step reads numbers that are far apart, transforms these few in registers, turns the results, and writes
them side by side: after the last step, frequencies are in order. Real and imaginary parts lie apart between
steps, so that vectors need no shuffles. Real numbers are transformed as half as many complex ones, neighbours
each; one more step tells the frequencies of the first ones from those of the second ones.

Source: Stockham 1966, "High-speed convolution and correlation"; Van Loan 1992, "Computational frameworks for
the fast Fourier transform", section 1.7; Sorensen et al. 1987, "Real-valued fast Fourier transform
algorithms".
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from plugrad._frozen import frozen
from plugrad.codegen.prepare.butterflies import Pair, times, transformed
from plugrad.codegen.rebuild import all_ranges
from plugrad.dtype import dtypes
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, UOp, simplify
from plugrad.uop.strides import coefficient, constant_size


def lower_fourier(sink: UOp, capabilities: Capabilities) -> UOp:
    """Replace a transform by a loop for each of its steps.

    before: STORE(INDEX(p, i*2 + c), FOURIER(x(i, c), roots(i, c), i, c), i, c)
    after:  STORE(INDEX(p, k*2 + c), step 2 of local[k], k), for both c and each k of a step, after a BARRIER
            on STORE(INDEX(local, k), step 1 of x(k, c), k)
    """
    (store, *others) = sink.src
    if others or store.src[1].op is not Ops.FOURIER:
        return sink
    (target, value, *loops), arg = store.src, store.src[1].arg
    numbers = itertools.count(max(r.arg.ident[0] for r in all_ranges(sink)) + 1)
    width, beside = capabilities.lanes(value.dtype), list[UOp]()
    if (column := _column(store, capabilities)) is not None:
        at, (steps, *beside) = _on_lanes(constant_size(column) or 1, width, numbers)
        target, value = (u.substitute({column: at}) for u in (target, value))
        loops[loops.index(column)] = steps
    x, roots, *apart, place, part = value.src
    around = [r for r in loops if r is not place and r is not part]
    size = math.prod(arg.factors)
    memories = [_Memory(number, size, beside, x) for number in range(2)]
    read: _Memory | None = None
    done, first_root = 1, 0

    def pair_of(u: UOp, at: UOp) -> Pair:
        real, imaginary = (u.substitute({place: at, part: part.const_like(c)}) for c in range(2))
        return real, imaginary

    def stored(found: Iterable[tuple[UOp, Pair]], loops: Sequence[UOp]) -> list[UOp]:
        return [
            pair_of(target, at)[c].store(pair[c], *around, *loops, *beside)
            for at, pair in found
            for c in range(2)
        ]

    for number, radix in enumerate(arg.factors):
        step = _Step(radix, size // (done * radix), done, 1 if beside else width, numbers)
        places = [(step.inner + i * step.rest) * done + step.outer for i in range(radix)]
        found = [pair_of(x, at) if read is None else read.pair_of(at) for at in places]
        results = transformed(found, arg.sign)
        places = [(step.inner * radix + k) * done + step.outer for k in range(radix)]
        if step.rest > 1:
            turns = [pair_of(roots, step.inner + first_root + k * step.rest) for k in range(radix - 1)]
            results = [results[0], *(times(a, b) for a, b in zip(results[1:], turns, strict=True))]
        elif not apart:
            return simplify(sink.replace(src=tuple(stored(zip(places, results, strict=True), step.loops))))
        read = memories[number % 2].written(zip(places, results, strict=True), (*step.loops, *beside))
        first_root += (radix - 1) * step.rest
        done *= radix
    assert read is not None, "a transform has factors"
    # the number behind the last one is the first one
    first, ends = read.pair_of(place.const_like(0)), [place.const_like(at) for at in (0, size)]
    at, loops = _on_lanes(size - 1, 1 if beside else width, numbers)
    middle = _half_of(read.pair_of(at + 1), read.pair_of(size - 1 - at), pair_of(apart[0], at + 1))
    stores = stored([(at, _half_of(first, first, pair_of(apart[0], at))) for at in ends], ())
    return simplify(sink.replace(src=(*stores, *stored([(at + 1, middle)], loops))))


def _half_of(x: Pair, opposite: Pair, root: Pair) -> Pair:
    """Return a frequency of real numbers from two frequencies of their complex neighbours."""
    # the first ones of neighbours are half the sum, the second ones half the difference over i
    (real, imaginary), (back, turned), (cosine, sine) = x, opposite, root
    first, second = imaginary + turned, back - real
    left = second.mulacc(sine, first.mulacc(cosine, real + back))
    right = (-first).mulacc(sine, second.mulacc(cosine, imaginary - turned))
    return left * 0.5, right * 0.5


def _column(store: UOp, capabilities: Capabilities) -> UOp | None:
    """Return the contiguous loop beside the transform, if vectors go along it."""
    target, value, *loops = store.src
    place, part = value.src[-2:]
    width = capabilities.lanes(value.dtype)
    nbytes = 4 * (constant_size(place) or 1) * width * value.dtype.itemsize
    if width == 1 or nbytes > capabilities.local_memory_bytes:
        return None
    steps = {r: coefficient(target.src[1], r) for r in loops}
    near = (r for r in loops if r is not place and r is not part and steps[r] in (1, 2))
    return next((r for r in near if steps[place] not in (1, 2) and (constant_size(r) or 0) >= width), None)


@frozen
class _Memory:
    """Fast memory of the numbers between two steps.

    Real parts come first; numbers of lanes are side by side.
    """

    number: int
    size: int
    beside: Sequence[UOp]
    like: UOp
    barrier: UOp | None = None

    def pair_of(self, at: UOp) -> Pair:
        """Return the number at a place, once it is there."""
        real, imaginary = self._places(at)
        return real.load(), imaginary.load()

    def written(self, numbers: Iterable[tuple[UOp, Pair]], loops: Sequence[UOp]) -> "_Memory":
        """Return the memory with numbers at their places."""
        stores = (
            place.store(value, *loops)
            for at, pair in numbers
            for place, value in zip(self._places(at), pair, strict=True)
        )
        return replace(self, barrier=UOp(Ops.BARRIER, dtypes.void, tuple(stores)))

    def _places(self, at: UOp) -> Pair:
        lanes = math.prod(constant_size(r) or 1 for r in self.beside)
        memory = UOp(Ops.DEFINE_LOCAL, self.like.dtype, (), (self.number, 2 * self.size * lanes))
        if self.barrier is not None:
            memory = memory.after(self.barrier)
        lane = sum(self.beside, start=at.const_like(0))
        return memory.index(at * lanes + lane), memory.index((at + self.size) * lanes + lane)


class _Step:
    """The loops of one step. The last one has lanes where it is long enough.

    Attributes:
        rest: how often the size of what is left to transform has the radix.
        inner: a number below `rest`.
        outer: a number of the steps that are done.
        loops: what both are made of.
    """

    def __init__(self, radix: int, rest: int, done: int, lanes: int, numbers: Iterator[int]) -> None:
        self.rest = rest
        if done == 1:
            self.outer = UOp.const(dtypes.index, 0)
            self.inner, self.loops = _on_lanes(rest, lanes, numbers)
        else:
            self.inner = UOp.range(rest, next(numbers))
            self.outer, loops = _on_lanes(done, lanes, numbers)
            self.loops = (self.inner, *loops)


def _on_lanes(size: int, lanes: int, numbers: Iterator[int]) -> tuple[UOp, tuple[UOp, ...]]:
    """Return a number below `size`, and its loops; the last vector may repeat some steps."""
    lanes = min(lanes, 1 << (size.bit_length() - 1))
    steps = UOp.range(-(-size // lanes), next(numbers))
    if lanes == 1:
        return steps, (steps,)
    lane = UOp.range(lanes, next(numbers), AxisType.LANE)
    first = steps * lanes
    return (first.minimum(size - lanes) if size % lanes else first) + lane, (steps, lane)
