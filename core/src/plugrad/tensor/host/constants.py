"""Elements that follow from numbers alone: the host reads them without a kernel.

Each element of `Tensor.arange(50)` would be a kernel that writes another number.
"""

from plugrad.dtype import ConstType
from plugrad.schedule.movement import ALWAYS, ZERO, Indices, source_indices
from plugrad.uop import ELEMENTWISE, MOVEMENT, Ops, UOp, simplify

# Larger graphs are for kernels: an element of them is worked out way by way.
_MOST_NODES = 64


def constant_of(u: UOp) -> ConstType | None:
    """Return the only element of a graph if it follows from numbers alone, else None.

    It is what the kernel of that element would write, as both simplify alike.

    Example:
        >>> constant_of((UOp.iota(50) * 2).shrink(((3, 4),)))
        6
    """
    if u.device is not None or len(u.toposort()) > _MOST_NODES:
        return None
    found = _element(u, (ZERO,) * len(u.shape))
    value = None if found is None else simplify(found)
    return value.arg if value is not None and value.op is Ops.CONST else None


def _element(u: UOp, idxs: Indices) -> UOp | None:
    """Return the element at `idxs` as a number, None for what takes a kernel."""
    if u.op is Ops.CONST:
        return u
    if u.op is Ops.IOTA:
        return idxs[0].cast(u.dtype)
    if u.op in MOVEMENT:
        below, inside = source_indices(u, idxs)
        return _element(u.src[0], below) if inside is ALWAYS else None
    if u.op not in ELEMENTWISE:
        return None
    operands: list[UOp] = []
    for s in u.src:
        if (found := _element(s, idxs if s.shape else ())) is None:
            return None
        operands.append(found)
    return UOp(u.op, u.dtype, tuple(operands), u.arg)
