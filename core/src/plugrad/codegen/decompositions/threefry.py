"""THREEFRY: 64 random bits of a counter and a key, the same on every device.

Threefry-2x32 with 20 rounds on the halves of the two uint64, the low half first. Source: J. Salmon, M.
Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, and the rotation and
parity constants of its reference implementation, Random123.
"""

from plugrad.dtype import dtypes
from plugrad.uop import Ops, PatternMatcher, UOp, UPat, pvars

ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
PARITY = 0x1BD11BDA
x, key = pvars("x key")


def _halves(x: UOp) -> tuple[UOp, UOp]:
    return (x & 0xFFFFFFFF).cast(dtypes.uint32), (x >> 32).cast(dtypes.uint32)


def threefry(x: UOp, key: UOp) -> UOp:
    """Return the random bits of counter `x` under `key`."""
    x0, x1 = _halves(x)
    k0, k1 = _halves(key)
    keys = (k0, k1, k0 ^ k1 ^ PARITY)
    x0, x1 = x0 + k0, x1 + k1
    for group in range(5):
        for i in range(4):
            rotation = ROTATIONS[(4 * group + i) % 8]
            x0 = x0 + x1
            x1 = x0 ^ ((x1 << rotation) | (x1 >> (32 - rotation)))
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + (keys[(group + 2) % 3] + (group + 1))
    return x1.cast(dtypes.uint64) << 32 | x0.cast(dtypes.uint64)


TABLES = {Ops.THREEFRY: PatternMatcher((UPat(Ops.THREEFRY, src=(x, key)), threefry))}
