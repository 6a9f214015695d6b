"""Turn counts of what came before into totals that are kept while one loop runs.

`out[j] = sum over l of (x[l] if l < j and key[l] == key[j] else 0)` asks each element about each other one.
Where a loop runs in order, one pass does the same: step `j` takes the total of its key, and adds `x[j]`.
Each step waits for the one before: sums of rows, which are one key each, go on side by side.
"""

from plugrad.codegen.rebuild import all_ranges
from plugrad.dtype import dtypes
from plugrad.target import Capabilities
from plugrad.uop import Axis, AxisType, Ops, UOp, simplify
from plugrad.uop.running_sum import running_sum_of
from plugrad.uop.strides import constant_size

# Rows whose totals are kept side by side: a processor starts that many additions while one runs.
_MOST_ROWS = 8


def keep_totals(sink: UOp, capabilities: Capabilities) -> UOp:
    """Replace a running sum, or maximum, by totals in fast memory.

    before: STORE(INDEX(p, j), f(REDUCE(ADD, WHERE(l < j & key(l) == key(j), x(l), 0), l)), j)
    after:  STORE(INDEX(totals, k), 0, k), and after that, j an axis in order,
            STORE(INDEX(p, j), f(LOAD(INDEX(AFTER(totals, j), key(j)))), j),
            STORE(INDEX(totals, key(j)), LOAD(INDEX(AFTER(totals, j), key(j))) + x(j), j)
    """
    if len(sink.src) != 1 or capabilities.grid_dims:
        return sink
    (store,) = sink.src
    reduces = [u for u in store.toposort() if u.op is Ops.REDUCE]
    found = running_sum_of(reduces[0], store.src[2:]) if len(reduces) == 1 and store.arg is None else None
    if found is None:
        return sink
    (total,) = reduces
    around = [r for r in store.src[2:] if r is not found.counter]
    ordered = found.counter.replace(arg=Axis(found.counter.arg.ident, AxisType.ORDERED))
    exchanged = {found.counter: ordered}
    key, beside = found.key.cast(dtypes.index) - int(found.key.vmin), list[UOp]()
    count = _rows_beside(around, capabilities) if found.keys == 1 else 1
    if count > 1:
        *around, rows = around
        outer = UOp.range((constant_size(rows) or 0) // count, (*rows.arg.ident, 0), rows.arg.kind)
        key = UOp.range(count, (*rows.arg.ident, 1), AxisType.UPCAST)
        exchanged[rows] = outer * count + key
        around, beside = [*around, outer], [key]
    number = UOp.range(found.keys * count, max(r.arg.ident[0] for r in all_ranges(sink)) + 1)
    totals = UOp(Ops.DEFINE_LOCAL, total.dtype, (), (0, found.keys * count))
    cleared = totals.index(number).store(total.const_like(found.neutral.arg), *around, number)
    place = totals.index(key)
    # read in each step, even if all have one key
    before = place.replace(src=(totals.after(found.counter), *place.src[1:])).load()
    written = store.src[0].store(store.src[1].substitute({total: before}), *around, found.counter, *beside)
    added = place.store(found.value.alu(total.arg[0], before), *around, found.counter, *beside)
    steps = (simplify(s.substitute(exchanged)) for s in (written, added))
    return sink.replace(src=(cleared, *steps))


def _rows_beside(around: list[UOp], capabilities: Capabilities) -> int:
    """Return the number of rows that go on side by side; threads share the others."""
    size = (constant_size(around[-1]) if around else None) or 1
    most = size // max(2, capabilities.threads)
    return next((n for n in range(min(_MOST_ROWS, most), 1, -1) if size % n == 0), 1)
