"""Choose loaded vectors to hold in registers while several products read them.

An x86 multiplication may read one factor from memory, at no cost beside the load. gcc 12 so reads a vector
anew for each product that it is a factor of, and the loads take longer than the products: a tile of 4 x 2
vectors of 8 floats ran at 49 GFLOP/s of 85 on a core of an EPYC (Zen 3), and at 65 with them in registers.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

from plugrad.uop import Ops, UOp
from plugrad_cpu_clang.prefetching import InnermostLoop


def loads_to_hold(innermost: Iterable[InnermostLoop], registers: int) -> frozenset[UOp]:
    """Return the LOADs of a linear program whose vectors should stay in registers.

    Args:
        innermost: its loops that hold no other.
        registers: vectors that the machine holds in registers.
    """
    out: set[UOp] = set()
    for _, body, _ in innermost:
        products = [u for u in body if u.op is Ops.MULACC and u.dtype.count > 1]
        readers = Counter(s for u in products for s in set(u.src[:2]) if s.op is Ops.LOAD)
        if any(count > 1 for count in readers.values()):
            lives, held = _lives(body)
            most = registers - len({u.src[0] for u in body if u.op is Ops.ACCUMULATE})
            shared = (u for u, count in readers.items() if count > 1 and u in lives)
            out.update(u for u in shared if max(held[slice(*lives[u])]) <= most)
    return frozenset(out)


def _lives(body: Sequence[UOp]) -> tuple[dict[UOp, tuple[int, int]], list[int]]:
    """Return the life of each vector, and the number of live ones after each instruction."""
    lives: dict[UOp, tuple[int, int]] = {}
    for i, u in enumerate(body):
        lives.update((s, (lives[s][0], i)) for s in u.src if s in lives)
        # a product that accumulates takes the register of what it adds to
        if u.dtype.count > 1 and u.op not in (Ops.MULACC, Ops.ACCUMULATE):
            lives[u] = i, i + 1
    changes = Counter(begin for begin, _ in lives.values())
    changes.subtract(end for _, end in lives.values())
    return lives, list(accumulate(changes[i] for i in range(len(body))))
