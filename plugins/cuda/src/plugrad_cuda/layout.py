"""Lay values out in memory: wide accesses, shared memory, and its size for the runner.

The runner reads both from the source, in whatever language it is.
"""

from collections.abc import Sequence

from plugrad.uop import Ops, UOp

#: Begins the part of a line that says how much shared memory a launch must ask for.
DYNAMIC_SHARED = "#define DYNAMIC_SHARED_BYTES "
#: Stands in sources that need another binary for buffers that begin at odd places.
UNALIGNED = "#ifdef UNALIGNED"
#: Of each buffer that a block shares, and of the widest access.
ALIGNMENT = 16


def shared_offsets(uops: Sequence[UOp]) -> tuple[dict[UOp, int], int]:
    """Return the offset of each DEFINE_LOCAL in shared memory, and the size of all."""
    offsets: dict[UOp, int] = {}
    total = 0
    for u in uops:
        if u.op is Ops.DEFINE_LOCAL:
            offsets[u] = total
            total += -(-u.arg[1] * u.dtype.itemsize // ALIGNMENT) * ALIGNMENT
    return offsets, total


def is_aligned(place: UOp, count: int) -> bool:
    """Return whether the offset of the INDEX `place` is a multiple of `count` elements."""
    return divisor_of(place.src[1]) % count == 0


def divisor_of(u: UOp, most: int = 64) -> int:
    """Return a power of two, up to `most`, that divides `u` for all variables.

    Example:
        >>> divisor_of(UOp.variable("i", 0, 9) * 4 + 8)
        4
    """
    match u.op:
        case Ops.CONST:
            return min(u.arg & -u.arg, most) or most
        case Ops.ADD | Ops.SUB | Ops.MAX:
            return min(divisor_of(s, most) for s in u.src[:2])
        case Ops.MUL:
            return min(divisor_of(u.src[0], most) * divisor_of(u.src[1], most), most)
        case Ops.SHL if u.src[1].op is Ops.CONST:
            return min(divisor_of(u.src[0], most) << u.src[1].arg, most)
        case Ops.MULACC:
            product = divisor_of(u.src[0], most) * divisor_of(u.src[1], most)
            return min(product, divisor_of(u.src[2], most), most)
        case Ops.WHERE:
            return min(divisor_of(s, most) for s in u.src[1:])
        case Ops.CAST if u.src[0].dtype.kind in ("int", "uint"):
            return divisor_of(u.src[0], most)
        case _:
            return 1
