"""Give a Fourier transform its loops: a step for each factor of its size, in fast memory.

Each step reads numbers that are far apart, transforms these few in registers, turns the results, and writes
them side by side: after the last step, frequencies are in order. Real and imaginary parts lie apart between
steps, so that vectors need no shuffles.

Source: Stockham 1966, "High-speed convolution and correlation"; Van Loan 1992, "Computational frameworks for
the fast Fourier transform", section 1.7.
"""

import itertools
from collections.abc import Iterator

from plugrad.codegen.prepare.butterflies import Pair, transformed
from plugrad.codegen.rebuild import all_ranges
from plugrad.dtype import dtypes
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, UOp, simplify
from plugrad.uop.ops import FourierArg
from plugrad.uop.strides import constant_size


def lower_fourier(sink: UOp, capabilities: Capabilities) -> UOp:
    """Replace a transform by a loop for each of its steps.

    before: STORE(INDEX(p, i*2 + c), FOURIER(x(i, c), roots(i, c), i, c), i, c)
    after:  STORE(INDEX(p, k*2 + c), step 2 of local[k], k), for both c and each k of a step, after a BARRIER
            on STORE(INDEX(local, k), step 1 of x(k, c), k)
    """
    (store, *others) = sink.src
    if others or store.src[1].op is not Ops.FOURIER:
        return sink
    x, roots, place, part = store.src[1].src
    around = tuple([r for r in store.src[2:] if r is not place and r is not part])
    numbers = itertools.count(max(r.arg.ident[0] for r in all_ranges(sink)) + 1)
    arg: FourierArg = store.src[1].arg
    size = constant_size(place) or 1

    def pair_of(u: UOp, at: UOp) -> Pair:
        real, imaginary = (u.substitute({place: at, part: part.const_like(c)}) for c in range(2))
        return real, imaginary

    memories = [UOp(Ops.DEFINE_LOCAL, x.dtype, (), (number, 2 * size)) for number in range(2)]
    read: UOp | None = None
    done, first_root = 1, 0
    for number, radix in enumerate(arg.factors):
        step = _Step(radix, size // (done * radix), done, capabilities.lanes(x.dtype), numbers)
        places = [(step.inner + i * step.rest) * done + step.outer for i in range(radix)]
        found = [pair_of(x, at) if read is None else _apart(read, at, size) for at in places]
        results = transformed(found, arg.sign)
        places = [(step.inner * radix + k) * done + step.outer for k in range(radix)]
        if step.rest == 1:
            ends = (*around, *step.loops)
            stores = [
                store.src[0].substitute({place: at, part: part.const_like(c)}).store(value, *ends)
                for at, pair in zip(places, results, strict=True)
                for c, value in enumerate(pair)
            ]
            return simplify(sink.replace(src=tuple(stores)))
        turns = [pair_of(roots, step.inner + first_root + k * step.rest) for k in range(radix - 1)]
        results = [results[0], *(_times(a, b) for a, b in zip(results[1:], turns, strict=True))]
        memory = memories[number % 2]
        stores = [
            memory.index(at + c * size).store(value, *step.loops)
            for at, pair in zip(places, results, strict=True)
            for c, value in enumerate(pair)
        ]
        read = memory.after(UOp(Ops.BARRIER, dtypes.void, tuple(stores)))
        first_root += (radix - 1) * step.rest
        done *= radix
    raise AssertionError(f"the factors {arg.factors} do not make {size}")


class _Step:
    """The loops of one step, the last of them on lanes where it is long enough.

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


def _apart(memory: UOp, at: UOp, size: int) -> Pair:
    return memory.index(at).load(), memory.index(at + size).load()


def _times(x: Pair, y: Pair) -> Pair:
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]
