"""Let copies go on beside other work, on targets with instructions for that.

A STORE of what a LOAD just read, between two COMMITs, becomes one instruction without a register between.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from plugrad.dtype import dtypes
from plugrad.target import Capabilities
from plugrad.uop import Ops, UOp


def copy_asynchronously(program: Sequence[UOp], capabilities: Capabilities) -> list[UOp]:
    """Exchange the copies of a linear program that a BARRIER waits for.

    before: LOAD(INDEX(buffer, i)), STORE(INDEX(local, j), LOAD), COMMIT
    after:  COPY_ASYNC(INDEX(local, j), INDEX(buffer, i)), COMMIT
    """
    committed = {s for u in program if u.op is Ops.COMMIT for s in u.src if _is_copy(s, capabilities)}
    if not committed:
        return list(program)
    users = Counter(s for u in program for s in u.src)
    changed = dict[UOp, UOp]()
    out: list[UOp] = []
    condition: UOp | None = None
    for u in program:
        if u.op in (Ops.IF, Ops.ENDIF):
            condition = u.src[0] if u.op is Ops.IF else None
        new = _rebuilt(u, changed)
        if u in committed and users[u.src[1]] == 1:
            changed[u] = new = _copy(new, condition)
        elif new is not u:
            changed[u] = new
        out.append(new)
    return out


def _rebuilt(u: UOp, changed: Mapping[UOp, UOp]) -> UOp:
    src = tuple([changed.get(s, s) for s in u.src])
    return u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)


def _copy(store: UOp, condition: UOp | None) -> UOp:
    """Return the copy of a STORE.

    Where the gate of the load is not the condition around it, zeros are written.
    """
    place, load = store.src
    source, *gated = load.src
    gate = () if not gated or gated[1] is condition else (gated[1],)
    return UOp(Ops.COPY_ASYNC, dtypes.void, (place, source, *gate), load.dtype.count)


def _is_copy(u: UOp, capabilities: Capabilities) -> bool:
    if u.op is not Ops.STORE or u.src[1].op is not Ops.LOAD:
        return False
    value, memory = u.src[1], u.src[0].src[0]
    memory = memory.src[0] if memory.op is Ops.AFTER else memory
    nbytes = value.dtype.itemsize * value.dtype.count
    is_between = memory.op is Ops.DEFINE_LOCAL and value.src[0].src[0].op is Ops.PARAM
    is_zero_elsewhere = len(value.src) == 1 or (value.src[1].op is Ops.CONST and value.src[1].arg == 0)
    return is_between and nbytes in capabilities.async_copy_bytes and is_zero_elsewhere
