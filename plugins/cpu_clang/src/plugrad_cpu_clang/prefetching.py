"""Choose loads to fetch ahead: those whose next step lies beyond what the processor foresees.

Processors fetch lines ahead within a page of 4 KiB. A loop down the rows of a matrix touches another page at
each step or two, and waits for memory each time: the product `a.T @ b` of 2048 x 1536 and 2048 x 384 floats
ran at 73 GFLOP/s of 112 on a core of an EPYC (Zen 4), and runs at 103 where it asks for lines 17 steps ahead.
"""

from collections.abc import Iterator, Sequence

from plugrad._frozen import frozen
from plugrad.uop.ops import Ops
from plugrad.uop.shape import least
from plugrad.uop.strides import coefficient, constant_size
from plugrad.uop.uop import UOp
from plugrad_cpu_clang.preamble import CACHE_LINE

# A step from which on the processor's own prefetchers lose track: a few of these and they have left the page.
_FAR_BYTES = 1024
# Loads, stores and additions that run while a line comes from memory: 100 ns at 3 GHz, two in a cycle.
_AHEAD = 600
_RUNS = frozenset({Ops.LOAD, Ops.ACCUMULATE, Ops.STORE})
_FEWEST_STEPS = 4
# Steps so short that a processor, which runs hundreds of instructions ahead, loads them early enough itself.
_MOST_STEPS = 32
# Lines ahead that the first cache, of some 512, has room for; more of them wait in the second one. With them
# in the first cache, transposing 1000 x 4096 floats took a tenth longer, in the second one a tenth less.
_NEAR_LINES = 32


@frozen
class Prefetch:
    """A line to ask for before a load.

    Attributes:
        elements: its distance from what is loaded.
        is_near: whether the first cache takes it, and not the second one.
    """

    elements: int
    is_near: bool


def prefetches(uops: Sequence[UOp], cached_bytes: int) -> dict[UOp, Prefetch]:
    """Return the LOADs of a linear program to fetch ahead, one for each line.

    Args:
        uops: the program.
        cached_bytes: buffers up to this size are in the caches anyway.
    """
    out: dict[UOp, Prefetch] = {}
    for r, body in innermost_loops(uops):
        work = sum(u.op in _RUNS for u in body)
        steps = max(_FEWEST_STEPS, _AHEAD // max(1, work))
        # a loop that ends before that gains nothing
        if steps <= _MOST_STEPS and (constant_size(r) or 2 * steps) >= 2 * steps:
            far = _far_lines(body, r, cached_bytes)
            is_near = len(far) * steps <= _NEAR_LINES
            out.update((load, Prefetch(steps * step, is_near)) for load, step in far.items())
    return out


def _far_lines(body: Sequence[UOp], r: UOp, cached_bytes: int) -> dict[UOp, int]:
    """Return the first LOAD of each far line, with the elements that `r` moves.

    Rows that are written out lie side by side: a step of all of them is as many steps of a row.
    """
    lines: dict[tuple[UOp, UOp], set[int]] = {}
    found: dict[UOp, tuple[int, set[int]]] = {}
    for u in body:
        if u.op is not Ops.LOAD or not _is_large(u.src[0].src[0], cached_bytes):
            continue
        memory, index = u.src[0].src
        step = coefficient(index, r)
        if step is None:
            continue
        is_offset = index.op is Ops.ADD and index.src[1].op is Ops.CONST
        base, offset = (index.src[0], index.src[1].arg) if is_offset else (index, 0)
        line, own = offset * memory.dtype.itemsize // CACHE_LINE, lines.setdefault((memory, base), set())
        if line not in own:
            own.add(line)
            found[u] = step, own
    return {u: step for u, (step, own) in found.items() if _step_of_row(u, step, own) >= _FAR_BYTES}


def _step_of_row(load: UOp, step: int, lines: set[int]) -> float:
    """Return the bytes between neighbouring rows of a step.

    Each run of lines that it loads is a row.
    """
    rows = sum(line - 1 not in lines for line in lines)
    return abs(step) * load.src[0].src[0].dtype.itemsize / rows


def _is_large(memory: UOp, cached_bytes: int) -> bool:
    return memory.op is Ops.PARAM and least(memory.arg[1]) * memory.dtype.itemsize > cached_bytes


def innermost_loops(uops: Sequence[UOp]) -> Iterator[tuple[UOp, Sequence[UOp]]]:
    """Yield each loop that holds no other, with its instructions."""
    begin = 0
    for i, u in enumerate(uops):
        if u.op is Ops.RANGE:
            begin = i
        elif u.op is Ops.END and u.src[0] is uops[begin]:
            yield u.src[0], uops[begin + 1 : i]
