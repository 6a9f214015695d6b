"""An order of nodes, and their hashes, that every process agrees on.

Loop variables come first, in the order of their axes, then other leaves, then everything computed. It is
made of numbers only, whose hashes Python does not randomise. Equal numbers for different nodes are
harmless: a sum then has two forms.
"""

import zlib
from typing import TYPE_CHECKING, Any, cast

from plugrad._util import hashlib
from plugrad.uop.ops import Axis, Ops

if TYPE_CHECKING:
    from plugrad.uop.uop import UOp

Order = tuple[int, tuple[int, ...], int]

_RANK = {Ops.RANGE: 0, Ops.SPECIAL: 1, Ops.DEFINE_VAR: 2, Ops.BIND: 2}


def order_of(u: "UOp") -> Order:
    """Return the place of `u` among nodes, whose sources' places are known."""
    below = [s._order for s in u.src]  # pyright: ignore[reportPrivateUsage]
    number = hash((u.op.value, u.dtype.priority, u.dtype.count, _number(u.arg), *[o[2] for o in below]))
    arg: Any = u.arg
    if isinstance(arg, Axis):
        return 0, arg.ident, number
    rank = _RANK.get(u.op)
    if rank is not None:
        return rank, (), number
    return (3, below[0][1], number) if below else (2, (), number)


def _number(arg: Any) -> int:
    """Return a number for an `arg`, the same in every process."""
    if isinstance(arg, int):
        return hash(arg)
    if isinstance(arg, float):
        # the hash of NaN is its address
        arg = arg.hex()
    if arg is None:
        return 0
    if isinstance(arg, tuple):
        return hash(tuple([_number(part) for part in cast("tuple[Any, ...]", arg)]))
    if isinstance(arg, Axis):
        return hash((arg.ident, arg.kind.value))
    if isinstance(arg, Ops):
        return arg.value
    return zlib.crc32((arg if isinstance(arg, str) else repr(arg)).encode())


def key_of(u: "UOp") -> bytes:
    """Return SHA-256 of `u`'s parts and its sources' keys, which are known."""
    arg = u.arg.key if u.op is Ops.KERNEL else u.arg
    parts = repr((u.op.name, u.dtype, arg, u.tag)).encode()
    below = [s._key for s in u.src]  # pyright: ignore[reportPrivateUsage]
    return hashlib.sha256(b"".join((parts, *below))).digest()
