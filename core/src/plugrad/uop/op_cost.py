"""Cost of operations in plain ones (an addition is one), and of kernels.

Source: a function counts the float32 nodes that `plugrad.codegen.decompositions` makes of it for a target
with all plain arithmetic (the test of this module counts them again). Division and square root are one
instruction, with a quarter of an addition's throughput.
"""

from collections.abc import Mapping

from plugrad._frozen import frozen
from plugrad.uop.ops import ALU, Ops
from plugrad.uop.shape import size_at
from plugrad.uop.uop import UOp

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


@frozen
class Estimates:
    """The cost of a kernel, before optimisation; symbolic where its sizes are.

    Attributes:
        flops: arithmetic on values (not on addresses and conditions), each time it is needed.
        bytes_accessed: bytes of the buffers it touches, each byte once (the memory traffic of perfect
            caches).
        bytes_loaded: bytes that its loads and stores move, counted each time.
    """

    flops: int | UOp = 0
    bytes_accessed: int | UOp = 0
    bytes_loaded: int | UOp = 0

    def evaluate(self, values: Mapping[str, int]) -> tuple[int, int, int]:
        """Return (flops, bytes_accessed, bytes_loaded) with the variables bound to `values`."""
        flops, accessed, loaded = self.flops, self.bytes_accessed, self.bytes_loaded
        return size_at(flops, values), size_at(accessed, values), size_at(loaded, values)
