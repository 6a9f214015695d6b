"""Count the operations and bytes of a kernel on its graph before optimisation."""

from plugrad.codegen.rebuild import ranges_of_reduce
from plugrad.dtype import dtypes, is_bool
from plugrad.uop import ALU, COMPARE, Ops, UOp, simplify
from plugrad.uop.op_cost import Estimates
from plugrad.uop.strides import constant_size

Count = int | UOp


def estimate(sink: UOp) -> Estimates:
    """Return the cost of a kernel whose axes are all still loops."""
    flops: Count = 0
    moved: dict[UOp, Count] = {}
    for u in sink.toposort():
        if u.op in ALU and u.op not in COMPARE and not _is_address(u):
            flops = flops + _steps(u.ranges) * (2 if u.op is Ops.MULACC else 1)
        elif u.op is Ops.REDUCE:
            flops = flops + _steps(u.ranges.union(ranges_of_reduce(u)))
        elif u.op is Ops.LOAD or u.op is Ops.STORE:
            place = u.src[0]
            ranges = place.ranges if u.op is Ops.LOAD else u.ranges.union(u.src[2:])
            memory = place.src[0].src[0] if place.src[0].op is Ops.AFTER else place.src[0]
            nbytes = _steps(ranges) * place.dtype.itemsize
            moved[memory] = moved[memory] + nbytes if memory in moved else nbytes
    accessed = sum(
        _touched(param, _as_count(nbytes)) for param, nbytes in moved.items() if param.op is Ops.PARAM
    )
    return Estimates(_as_count(flops), accessed, _as_count(sum(moved.values())))


def _touched(param: UOp, moved: Count) -> Count:
    """Return the bytes of a buffer that a kernel touches.

    They are all of it, unless the kernel moves fewer, as from a slice.
    """
    nbytes = param.arg[1] * param.dtype.itemsize
    return min(nbytes, moved) if isinstance(nbytes, int) and isinstance(moved, int) else nbytes


def _is_address(u: UOp) -> bool:
    return u.dtype.scalar() is dtypes.index or is_bool(u.dtype)


def _steps(ranges: frozenset[UOp]) -> Count:
    out: Count = 1
    for r in sorted(ranges, key=lambda r: r.arg.ident):
        size = constant_size(r)
        if size is None and r.src[0].ranges:
            # as many as in the mean where the loops around it decide
            size = (int(r.src[0].vmin) + int(r.src[0].vmax) + 1) // 2
        out = out * (r.src[0] if size is None else size)
    return out


def _as_count(count: Count) -> Count:
    if isinstance(count, int):
        return count
    count = simplify(count)
    return count.arg if count.op is Ops.CONST else count
