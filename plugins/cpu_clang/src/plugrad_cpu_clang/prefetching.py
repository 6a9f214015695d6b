"""Choose loads to fetch ahead: those that the processor does not foresee.

Processors fetch lines ahead within a page of 4 KiB. A loop down the rows of a matrix touches another page at
each step or two, and waits for memory each time: the product `a.T @ b` of 2048 x 1536 and 2048 x 384 floats
ran at 73 GFLOP/s of 112 on a core of an EPYC (Zen 4), and runs at 103 where it asks for lines 17 steps ahead.

Loops that go over a row one after the other wait for memory in the first, and compute in the next. So the
second asks for the next row: a softmax of 4096 x 4096 floats took 10.9 ms on that core, and takes 7.8.

Sums of products compute long on what they load, and ask for what the next tile reads meanwhile. A layer of
384 inputs and outputs takes 76 us in place of 115 for 16 rows, with weights that come from memory.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from plugrad._frozen import frozen
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.shape import least
from plugrad.uop.strides import coefficient, constant_size
from plugrad.uop.symbolic import simplify
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
# Bytes of the shortest rows that are fetched ahead, and how many of the longest the second cache holds.
# Shorter ones arrive in time, longer ones are gone before they are read: a softmax of rows of 4 or of 128 KB
# gains nothing, of 8 KB a tenth, of 16 to 64 KB a third.
_LONG_ROW, _ROWS = 8192, 16
# Times the instructions for a line of the loop that reads a row first. Loops that compute less gain nothing.
_BUSY = 4


@frozen
class Prefetch:
    """A line to ask for before a load.

    Attributes:
        elements: its distance from what is loaded.
        is_near: whether the first cache takes it, and not the second one.
    """

    elements: int
    is_near: bool


def prefetches(innermost: "Sequence[InnermostLoop]", cached_bytes: int) -> dict[UOp, Prefetch]:
    """Return the LOADs of a linear program to fetch ahead, one for each line.

    Args:
        innermost: its loops that hold no other.
        cached_bytes: buffers up to this size are in the caches anyway.
    """
    out: dict[UOp, Prefetch] = {}
    for r, body, _ in innermost:
        work = sum(u.op in _RUNS for u in body)
        steps = max(_FEWEST_STEPS, _AHEAD // max(1, work))
        # a loop that ends before that gains nothing
        if steps <= _MOST_STEPS and (constant_size(r) or 2 * steps) >= 2 * steps:
            far = _far_lines(body, r, cached_bytes)
            is_near = len(far) * steps <= _NEAR_LINES
            out.update((load, Prefetch(steps * step, is_near)) for load, step in far.items())
    rows = _next_tiles(innermost, cached_bytes) | _rows_read_again(innermost, cached_bytes)
    return {load: Prefetch(step, is_near=False) for load, step in rows.items()} | out


def _far_lines(body: Sequence[UOp], r: UOp, cached_bytes: int) -> dict[UOp, int]:
    """Return the first LOAD of each far line, with the elements that `r` moves.

    Rows that are written out lie side by side: a step of all of them is as many steps of a row.
    """
    found: dict[UOp, int] = {}
    for (_, base), lines in _lines(body, cached_bytes).items():
        step = coefficient(base, r)
        if step is not None:
            found.update((u, step) for u in lines.values() if _step_of_row(u, step, lines) >= _FAR_BYTES)
    return found


def _rows_read_again(innermost: "Sequence[InnermostLoop]", cached_bytes: int) -> dict[UOp, int]:
    """Return LOADs of later loops over a row, with the elements to the next.

    One for each line. A loop that computes little gains nothing: layernorm took a fifth longer.
    """
    loops_in: dict[UOp, list[InnermostLoop]] = {}
    for loop in innermost:
        if loop.around:
            loops_in.setdefault(loop.around[-1], []).append(loop)
    out: dict[UOp, int] = {}
    for around, loops in loops_in.items():
        read: dict[tuple[UOp, UOp, int], float] = {}
        for loop in loops if len(loops) > 1 else ():
            for (memory, base), lines in _lines(loop.body, cached_bytes).items():
                step = coefficient(base, around) or 0
                if _LONG_ROW <= abs(step) * memory.dtype.itemsize <= cached_bytes // _ROWS:
                    begin = simplify(base.substitute({loop.range: UOp.const(base.dtype, 0)}))
                    work = len(loop.body) / len(lines)
                    if work >= _BUSY * read.setdefault((memory, begin, min(lines)), work):
                        out.update(dict.fromkeys(lines.values(), step))
    return out


def _next_tiles(innermost: "Sequence[InnermostLoop]", cached_bytes: int) -> dict[UOp, int]:
    """Return LOADs of sums of products, with the elements to what the next tile reads.

    One for each line that this tile does not read itself. Even a buffer that the caches would hold is often
    in memory: weights of a network, which all others have pushed out since the last call.
    """
    out: dict[UOp, int] = {}
    for loop in innermost:
        tiles = [r for r in reversed(loop.around) if r.arg.kind is AxisType.LOOP]
        sums = sum(u.op is Ops.ACCUMULATE for u in loop.body)
        for (memory, base), lines in _lines(loop.body, cached_bytes // _ROWS).items() if sums else ():
            step = next(filter(None, (coefficient(base, r) for r in tiles)), 0)
            nbytes = abs(step) * memory.dtype.itemsize
            if CACHE_LINE <= nbytes <= cached_bytes // _ROWS and sums >= _BUSY * len(lines):
                moved = step * memory.dtype.itemsize // CACHE_LINE
                out.update((u, step) for line, u in lines.items() if line + moved not in lines)
    return out


def _lines(body: Sequence[UOp], cached_bytes: int) -> dict[tuple[UOp, UOp], dict[int, UOp]]:
    """Return the lines of large buffers that are loaded, and the first LOAD of each.

    They are those of a buffer at an address, numbered by the constants that are added to it.
    """
    out: dict[tuple[UOp, UOp], dict[int, UOp]] = {}
    for u in body:
        if u.op is Ops.LOAD and _is_large(u.src[0].src[0], cached_bytes):
            memory, index = u.src[0].src
            is_offset = index.op is Ops.ADD and index.src[1].op is Ops.CONST
            base, offset = (index.src[0], index.src[1].arg) if is_offset else (index, 0)
            out.setdefault((memory, base), {}).setdefault(offset * memory.dtype.itemsize // CACHE_LINE, u)
    return out


def _step_of_row(load: UOp, step: int, lines: Collection[int]) -> float:
    """Return the bytes between neighbouring rows of a step.

    Each run of lines that it loads is a row.
    """
    rows = sum(line - 1 not in lines for line in lines)
    return abs(step) * load.src[0].src[0].dtype.itemsize / rows


def _is_large(memory: UOp, cached_bytes: int) -> bool:
    return memory.op is Ops.PARAM and least(memory.arg[1]) * memory.dtype.itemsize > cached_bytes


class InnermostLoop(NamedTuple):
    """A loop that holds no other.

    Attributes:
        range: its RANGE.
        body: its instructions.
        around: the RANGEs that it is in, the outermost first.
    """

    range: UOp
    body: Sequence[UOp]
    around: tuple[UOp, ...]


def innermost_loops(uops: Sequence[UOp]) -> list[InnermostLoop]:
    """Return each loop that holds no other."""
    begin, begins, ends = 0, Ops.RANGE, Ops.END
    out: list[InnermostLoop] = []
    around: list[UOp] = []
    for i, u in enumerate(uops):
        if u.op is begins:
            begin = i
            around.append(u)
        elif u.op is ends:
            around.pop()
            if u.src[0] is uops[begin]:
                out.append(InnermostLoop(u.src[0], uops[begin + 1 : i], tuple(around)))
    return out
