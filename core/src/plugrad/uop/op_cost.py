"""The cost of each elementwise op in plain operations; an addition costs one.

Source: a function counts the float32 nodes that `plugrad.codegen.decompositions` makes of it for a target
with all plain arithmetic (the test of this module counts them again). Division and square root are one
instruction, with a quarter of an addition's throughput.
"""

from plugrad.uop.ops import ALU, Ops

_COST = {
    Ops.EXP: 32,
    Ops.EXP2: 28,
    Ops.LOG2: 45,
    Ops.SIN: 105,
    Ops.COS: 105,
    Ops.POW: 174,
    Ops.FMOD: 125,
    Ops.THREEFRY: 131,
    Ops.FDIV: 4,
    Ops.RECIP: 4,
    Ops.SQRT: 4,
}


def op_cost(op: Ops) -> int:
    """Return the cost of one element of `op` in plain operations, or 0.

    Example:
        >>> from plugrad.uop.ops import Ops
        >>> op_cost(Ops.ADD), op_cost(Ops.SIN), op_cost(Ops.CAST)
        (1, 105, 0)
    """
    return _COST.get(op, int(op in ALU))
