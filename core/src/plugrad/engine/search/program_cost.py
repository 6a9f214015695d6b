"""Estimate a linear program's steps, to leave out of a search what cannot be fast."""

from collections.abc import Sequence

from plugrad.uop import ALU, Ops, UOp
from plugrad.uop.op_cost import op_cost
from plugrad.uop.strides import constant_size


def program_cost(program: Sequence[UOp]) -> float:
    """Return the operations and memory accesses that a program runs, a vector's as one.

    Loops of symbolic size count with their greatest size. A step on each axis of a launch counts once, so
    that programs of one kernel can be compared only where their launches have the same size.
    """
    steps, total = [1.0], 0.0
    for u in program:
        if u.op is Ops.RANGE:
            steps.append(steps[-1] * (constant_size(u) or max(1, int(u.src[0].vmax))))
        elif u.op is Ops.END:
            steps.pop()
        elif u.op is Ops.SPECIAL:
            steps[:] = [n * (int(u.vmax) + 1) for n in steps]
        elif u.op in (Ops.LOAD, Ops.STORE, Ops.WMMA):
            total += steps[-1]
        elif u.op in ALU:
            total += steps[-1] * op_cost(u.op)
    return total
