"""Hashes of a graph's structure, the same in every process."""

from typing import TYPE_CHECKING

from plugrad._util import hashlib
from plugrad.uop.ops import Ops

if TYPE_CHECKING:
    from plugrad.uop.uop import UOp


def key_of(u: "UOp") -> bytes:
    """Return SHA-256 of `u`'s parts and its sources' keys, which are known."""
    arg = u.arg.key if u.op is Ops.KERNEL else u.arg
    parts = repr((u.op.name, u.dtype, arg, u.tag)).encode()
    below = [s._key for s in u.src]  # pyright: ignore[reportPrivateUsage]
    return hashlib.sha256(b"".join((parts, *below))).digest()
