"""Cut output axes where gates open and close, so that vectors need not ask.

A copy with zeros around it, or one of several tensors side by side, reads under gates that depend on where an
element stands. Between two borders nothing changes: each piece gets a loop of its own, and its gates fold.
"""

from collections.abc import Iterator
from itertools import pairwise

from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.rebuild import stores_of
from plugrad.codegen.strides import coefficient, constant_size
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp

# Each piece repeats the code of the kernel.
_MOST_PIECES = 4
# Pieces are worth loops of their own where the longest of them is long.
_LONG = 8


def cuts(kernel: KernelOpt) -> Iterator[Opt]:
    """Yield what cuts the axis along which memory is written, where gates break its loads."""
    stores = stores_of(kernel.ast)
    order = kernel.ast.toposort()
    if len(stores) != 1 or not kernel.can_repeat() or any(u.op is Ops.REDUCE for u in order):
        return
    place, _, *loops = stores[0].src
    along = [r for r in loops if r.op is Ops.RANGE and r.arg.kind is AxisType.LOOP and constant_size(r)]
    # without another axis, threads would have nothing to share
    if len(along) < 2 or coefficient(place.src[1], along[-1]) != 1:
        return
    r = along[-1]
    gates = {g for u in order if u.op is Ops.INDEX for g in u.src[2:] if r in g.ranges}
    borders = sorted({b for g in gates for b in _borders(g, r)})
    edges = [0, *borders, constant_size(r) or 0]
    pieces = [b - a for a, b in pairwise(edges)]
    if not borders or len(pieces) > _MOST_PIECES or max(pieces) < _LONG:
        return
    ident = r.arg.ident
    for border in reversed(borders):
        yield Opt(OptOps.CUT, ident, border)
        ident = (*ident, 0)


def _borders(gate: UOp, r: UOp) -> Iterator[int]:
    """Yield the steps of `r` at which a comparison within `gate` changes."""
    size = constant_size(r) or 0
    for u in gate.toposort():
        if u.op is not Ops.CMPLT:
            continue
        left, right = u.src
        for moving, fixed, beyond in ((left, right, 0), (right, left, 1)):
            if fixed.op is not Ops.CONST or coefficient(moving, r) != 1:
                continue
            lowest, highest = moving.substitute({r: r.const_like(0)}).bounds
            border = fixed.arg - lowest + beyond
            if lowest == highest and 0 < border < size:
                yield border
