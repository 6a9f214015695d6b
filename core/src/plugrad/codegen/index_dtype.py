"""Give the abstract index type a width: 32 bits where every value fits, otherwise 64."""

from typing import Any

from plugrad.dtype import DType, dtype_max, dtype_min, dtypes
from plugrad.uop import COMPARE, Ops, UOp

_LEAST, _MOST = dtype_min(dtypes.int32), dtype_max(dtypes.int32)
# what does not compute in the width of its result
_OTHERWISE = frozenset({Ops.CAST, Ops.WHERE, Ops.REDUCE, Ops.RANGE, Ops.SPECIAL})


def lower_index_dtype(sink: UOp, _: Any = None) -> UOp:
    """Replace `index` by int32 or int64, value by value.

    before: ADD.index(MUL.index(RANGE.index, 65536), RANGE.index), ranges of 65536
    after:  the same in int64, with the ranges in int32 and casts between
    """
    done: dict[UOp, UOp] = {}
    for u in sink.toposort():
        src = tuple([done[s] for s in u.src])
        if u.dtype.kind == "index":
            done[u] = _narrow(u, src)
        elif src == u.src:
            done[u] = u
        else:
            if u.op in COMPARE and u.src[0].dtype.kind == "index":
                src = _to_common(src)
            done[u] = UOp(u.op, u.dtype, src, u.arg, u.tag)
    return done[sink]


def _narrow(u: UOp, src: tuple[UOp, ...]) -> UOp:
    dtype = _width(u)
    if u.op not in _OTHERWISE:
        for s in src:
            if s.dtype is not dtype:
                is_wide = any([s.dtype.scalar() is dtypes.int64 for s in src])
                dtype = dtypes.int64 if is_wide else dtype
                src = tuple([s.cast(dtype) for s in src])
                break
        return UOp(u.op, dtype.vec(u.dtype.count), src, u.arg, u.tag)
    if u.op is Ops.CAST:
        # what enters index arithmetic has the width that its bounds ask for
        return src[0].cast(dtype)
    if u.op is Ops.WHERE:
        values = tuple(s.cast(dtype) for s in src[1:])
        return UOp(u.op, dtype.vec(u.dtype.count), (src[0], *values), u.arg, u.tag)
    if u.op is Ops.REDUCE:
        values = tuple(s.cast(dtype) for s in src[: u.arg[1]])
        return UOp(u.op, dtype.vec(u.dtype.count), (*values, *src[u.arg[1] :]), u.arg, u.tag)
    # a loop counts up to its size, one more than its last value
    dtype = _width(u.src[0])
    return UOp(u.op, dtype, (src[0].cast(dtype),), u.arg, u.tag)


def _width(u: UOp) -> DType:
    lowest, highest = u.bounds
    return dtypes.int32 if _LEAST <= lowest and highest <= _MOST else dtypes.int64


def _to_common(src: tuple[UOp, ...]) -> tuple[UOp, ...]:
    ints = [s.dtype.scalar() for s in src if s.dtype.scalar() in (dtypes.int32, dtypes.int64)]
    dtype = dtypes.int64 if dtypes.int64 in ints else dtypes.int32
    return tuple(s.cast(dtype) if s.dtype.scalar() in (dtypes.int32, dtypes.int64) else s for s in src)
