"""The steps of a schedule, and the table that they print as."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugrad._frozen import frozen
from plugrad._util import LazyModule
from plugrad.dtype import dtypes
from plugrad.observe.style import terminal_width
from plugrad.runtime.buffer import Buffer
from plugrad.uop import ELEMENTWISE, AxisType, Ops, UOp

if TYPE_CHECKING:
    from plugrad.codegen import estimates
else:
    # only who prints a schedule needs it
    estimates = LazyModule("plugrad.codegen.estimates")

_HEADER = ("kernel", "device", "shape", "bytes", "operations")
# columns that operations have at least
_LEAST_OPERATIONS = 24
_REDUCED = {Ops.ADD: "sum", Ops.MUL: "prod", Ops.MAX: "max"}


@frozen
class ScheduleItem:
    """One step of a schedule: the kernel or COPY, and its buffers, output first.

    Printed, it is its line of the table; `ast` prints as the graph.

    Example:
        >>> x = Tensor([1.0, 2.0], device="PYTHON").realize()
        >>> print((x * 2).sum().schedule()[0])
        reduce_2 on PYTHON, shape (), 12 bytes: mul, sum
    """

    ast: UOp
    bufs: tuple[Buffer, ...]
    device: str

    def __repr__(self) -> str:
        name, device, shape, nbytes, fused = _cells(self)
        head = f"{name} {device}" if self.ast.op is Ops.COPY else f"{name} on {device}"
        return f"{head}, shape {shape}, {nbytes} bytes{f': {fused}' if fused else ''}"


class ScheduleList(list[ScheduleItem]):
    """The steps that would run, in order. Printed, it is a table.

    Example:
        >>> x = Tensor([1.0, 2.0], device="PYTHON").realize()
        >>> print((x * 2).sum().schedule())
          kernel    device  shape  bytes  operations
        0 reduce_2  PYTHON  ()     12     mul, sum
    """

    def __repr__(self) -> str:
        if not self:
            return "nothing to compute"
        rows = [_HEADER, *map(_cells, self)]
        numbers = ["", *map(str, range(len(self)))]
        left = max(map(len, numbers))
        cells = [(f"{number:>{left}} {row[0]}", *row[1:]) for number, row in zip(numbers, rows, strict=True)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(_HEADER) - 1)]
        return "\n".join(_line(row, widths, terminal_width()) for row in cells)


def _line(row: tuple[str, ...], widths: Sequence[int], width: int | None) -> str:
    """Return a row of the table, in lines of at most `width` columns.

    A name for which there is no room has a line of its own, and operations go on below each other.
    """
    name, *middle, fused = row
    inner = "".join(f"  {cell:{size}}" for cell, size in zip(middle, widths[1:], strict=True))
    if width is None:
        return f"{name:{widths[0]}}{inner}  {fused}".rstrip()
    size = max(min(widths[0], width - len(inner) - 2 - _LEAST_OPERATIONS), 0)
    above, name = (f"{name}\n", "") if len(name) > size else ("", name)
    head = f"{name:{size}}{inner}  "
    indent = " " * len(head)
    # a count stays with its operation
    fused = fused.replace(" x", "\xa0x")
    folded = textwrap.wrap(
        fused,
        max(width, len(head) + 1),
        initial_indent=head,
        subsequent_indent=indent,
        break_long_words=False,
    )
    return above + ("\n".join(folded).replace("\xa0", " ") or head.rstrip())


def _cells(item: ScheduleItem) -> tuple[str, ...]:
    if item.ast.op is Ops.COPY:
        target, source = item.bufs
        return "copy", f"{source.device} -> {target.device}", f"({target.size},)", str(target.nbytes), ""
    count = estimates.estimate(item.ast).bytes_accessed
    shown = count.render() if isinstance(count, UOp) else str(count)
    return item.ast.arg.name, item.device, _shape(item.ast), shown, operations(item.ast)


def _shape(sink: UOp) -> str:
    """Return the sizes of the loops around the last store."""
    sizes = [r.src[0].render() for r in sink.src[-1].src[2:]]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def operations(sink: UOp) -> str:
    """Return the operations that a kernel fuses, in order, with their counts.

    Example:
        >>> x = Tensor([1.0, 2.0], device="PYTHON").realize()
        >>> operations((x * x * 2).sum().schedule()[0].ast)
        'mul x2, sum'
    """
    found: Counter[str] = Counter()
    for u in sink.toposort():
        if u.op is Ops.REDUCE:
            found[_REDUCED[u.arg[0]]] += 1
        elif u.op is Ops.FACTOR:
            found[u.arg.kind] += 1
        elif (u.op in ELEMENTWISE and u.dtype not in (dtypes.index, dtypes.bool)) or u.op is Ops.FOURIER:
            found[u.op.name.lower()] += 1
    ordered = any(r.arg.kind is AxisType.ORDERED for store in sink.src for r in store.src[2:])
    names = [name if count == 1 else f"{name} x{count}" for name, count in found.items()]
    return ", ".join([*names, *(["scatter"] if ordered else [])])
