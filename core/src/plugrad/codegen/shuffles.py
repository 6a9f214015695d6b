"""Put lanes of several vectors side by side by shuffles of two."""

from collections.abc import Sequence

from plugrad._frozen import frozen
from plugrad.codegen.rebuild import rebuild
from plugrad.target import Capabilities
from plugrad.uop import Ops, UOp


@frozen
class Turns:
    """Vectors whose lanes take turns: `count` of each, from `first` on."""

    vectors: tuple[UOp, ...]
    first: int
    count: int

    def shuffled(self) -> UOp:
        """Return the vector in shuffles of two, which its neighbours share."""
        if len(self.vectors) == 1:
            return self.vectors[0]
        wide = 2 * self.count
        begin = self.first // wide * wide
        even, odd = (Turns(self.vectors[i::2], begin, wide).shuffled() for i in range(2))
        lanes = [(self.first - begin) * len(self.vectors) // 2 + i for i in range(even.dtype.count // 2)]
        return UOp(Ops.VECTORIZE, even.dtype, tuple(part.gep(i) for i in lanes for part in (even, odd)))


def turns_of(lanes: Sequence[UOp]) -> Turns | None:
    """Return the vectors whose lanes take turns, or None where they do not."""
    if any(u.op is not Ops.GEP or u.dtype.count > 1 for u in lanes):
        return None
    vectors = tuple(dict.fromkeys(u.src[0] for u in lanes))
    number, size = len(vectors), len(lanes)
    if number & (number - 1) or size % number or any(v.dtype.count != size for v in vectors):
        return None
    first, count = lanes[0].arg[0], size // number
    in_turn = (v.gep(first + i) for i in range(count) for v in vectors)
    is_regular = first % count == 0 and all(a is b for a, b in zip(lanes, in_turn, strict=True))
    return Turns(vectors, first, count) if is_regular else None


def shuffle_pairs(sink: UOp, capabilities: Capabilities) -> UOp:
    """Make vectors out of lanes of four or more vectors in shuffles of two.

    before: VECTORIZE(GEP(a, 0), GEP(b, 0), GEP(c, 0), GEP(d, 0))
    after:  VECTORIZE(GEP(x, 0), GEP(y, 0), GEP(x, 1), GEP(y, 1)), with x of lanes of a and c, y of b and d
    """

    def change(u: UOp) -> UOp | None:
        turns = turns_of(u.src)
        return turns.shuffled() if turns is not None and len(turns.vectors) > 2 else None

    op = Ops.VECTORIZE
    is_kept = not capabilities.vector_bits or all([change(u) is None for u in sink.toposort() if u.op is op])
    return sink if is_kept else rebuild(sink, change, ops=(op,))
