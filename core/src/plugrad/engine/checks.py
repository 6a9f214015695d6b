"""CHECK=1: report positions outside of their axis, and where NaN and infinity first appear.

Values are read on the host, so every device is checked by the same code and no kernel changes. Positions are
computed and read before the kernels that use them; results of kernels are read after each launch.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from plugrad._frozen import frozen
from plugrad._util import numpy as np
from plugrad.builtin.arithmetic import decoded
from plugrad.dtype import DType, is_inexact, is_unsigned, part_dtype
from plugrad.engine.execute import Launch
from plugrad.engine.resolve_graph import resolve_graph
from plugrad.engine.schedule_cache import Canonical
from plugrad.engine.schedule_table import operations
from plugrad.errors import NotFiniteError, PositionError
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.origin import CallSite, call_site
from plugrad.settings import context, settings
from plugrad.uop import ELEMENTWISE, Ops, UOp, greatest
from plugrad.uop.shape import size_at

if TYPE_CHECKING:
    from plugrad.schedule.calls.kernelize import KernelCall

# the line of the user's program that wrote a value down
_lines: WeakKeyDictionary[UOp, CallSite] = WeakKeyDictionary()


@frozen
class Position:
    """The tag of a node of positions: what they have to be, and who asks.

    Attributes:
        size: of the axis.
        is_unsigned: the index was unsigned, so that -1 stands for any number beyond the axis.
        site: the line of the user's program.
        is_class: negative ones are not counted from the end.
    """

    size: int | UOp
    is_unsigned: bool
    site: CallSite | None
    is_class: bool = False


def unchecked() -> AbstractContextManager[None]:
    """Leave positions that are taken inside the block unchecked: some are outside on purpose."""
    return context(CHECK=0) if settings.CHECK else nullcontext()


def note_line(value: UOp) -> None:
    """Remember the running line of the user's program as the one that wrote `value` down."""
    if value.src and value not in _lines and (site := call_site()) is not None:
        _lines[value] = site


def marked(position: UOp, dtype: DType, size: int | UOp, *, is_class: bool = False) -> UOp:
    """Return positions, counted from the front, as a node checked before its use.

    Args:
        position: what indexes an axis.
        dtype: of the user's index.
        size: of the axis.
        is_class: they are numbers of classes, of which negative ones are not counted from the end.

    Raises:
        PositionError: the position is one number, and outside.
    """
    mark = Position(size, is_unsigned(dtype), call_site(), is_class)
    if position.op is Ops.CONST:
        if isinstance(size, int):
            _check(mark, [position.arg], (), size)
        return position
    return position.rtag(mark)


def positions_in(values: Iterable[UOp]) -> Iterator[tuple[Position, UOp]]:
    """Return the positions that computing `values` takes, those that others are computed from first."""
    for u in resolve_graph(UOp.sink(*values)):
        if isinstance(u.tag, Position) and 0 not in u.shape:
            yield u.tag, u.rtag(None).contiguous()


def check_position(mark: Position, position: UOp, buffer: Buffer) -> None:
    """Raise PositionError if a position in memory names no element."""
    today = {b.src[0].arg[0]: b.src[1].arg for b in UOp.sink(position).toposort() if b.op is Ops.BIND}
    if isinstance(mark.size, UOp):
        today.update((b.src[0].arg[0], b.src[1].arg) for b in mark.size.toposort() if b.op is Ops.BIND)
    shape = tuple(size_at(size, today) for size in position.shape)
    memory: Any = buffer.as_memoryview()
    numbers = memory.cast(position.dtype.fmt)[: math.prod(shape)]
    _check(mark, numbers, shape, size_at(mark.size, today))


def _check(mark: Position, numbers: Any, shape: tuple[int, ...], size: int) -> None:
    if not len(numbers) or (min(numbers) >= 0 and max(numbers) < size):
        return
    flat, number = next((i, n) for i, n in enumerate(numbers) if not 0 <= n < size)
    place = _unflattened(flat, shape)
    is_from_end = number < 0 and not mark.is_class
    index = None if mark.is_unsigned and number < 0 else number - size if is_from_end else number
    raise PositionError(index, place, size, mark.site, 0 if mark.is_class else -size)


def lines_of(resolved: Mapping[UOp, UOp], graph: Canonical) -> dict[UOp, CallSite]:
    """Return the lines that wrote nodes of a canonical graph down."""
    return {
        graph.nodes[after]: site
        for before, after in resolved.items()
        if after in graph.nodes and (site := _lines.get(before)) is not None
    }


class FiniteCheck:
    """A launch that is watched for the first NaN and infinity.

    What a launch reads and overwrites is looked at before it.
    """

    def __init__(self, call: "KernelCall", launch: Launch) -> None:
        self._call = call
        self._launch = launch
        program = launch.kernel.program
        updated = [launch.buffers[slot] for slot in program.outs if slot in program.ins]
        self._read = [launch.buffers[slot] for slot in program.ins if slot not in program.outs]
        self._before = _kinds_in(updated)

    def finish(
        self, values: Mapping[str, int], calls: "Iterable[KernelCall]", lines: Mapping[UOp, CallSite]
    ) -> None:
        """Raise NotFiniteError if the launch brought about NaN or infinity."""
        ast, program = self._call.ast, self._launch.kernel.program
        for slot in program.outs:
            buffer = self._launch.buffers[slot]
            shape = _shape_of(ast, slot, values, buffer)
            found = _first_of_each_kind(buffer, math.prod(shape))
            if not found:
                continue
            given = self._before | _kinds_in(self._read) | _kinds_written_in(ast, bool(self._read))
            for kind, flat in found.items():
                if kind not in given and not (kind == "infinity" and "NaN" in given):
                    where = _unflattened(flat, shape)
                    made = _lines_of_kernel(self._call, calls, lines)
                    name, device = program.name, self._launch.kernel.device.name
                    raise NotFiniteError(kind, name, device, operations(ast), where, made)


def _kinds_in(buffers: Iterable[Buffer]) -> set[str]:
    return {kind for buffer in buffers for kind in _first_of_each_kind(buffer)}


def _kinds_written_in(ast: UOp, reads: bool) -> set[str]:
    """Return the kinds that a kernel has as constants on purpose.

    Among values that are read, NaN stands for one that there is not: the loss of a label that is no class.
    """
    numbers = [u.arg for u in ast.toposort() if u.op is Ops.CONST and isinstance(u.arg, float)]
    kinds = {"NaN" for n in numbers if math.isnan(n) and not reads}
    return kinds | {"infinity" for n in numbers if math.isinf(n)}


def _first_of_each_kind(buffer: Buffer, count: int | None = None) -> dict[str, int]:
    if not is_inexact(buffer.dtype) or not buffer.size:
        return {}
    dtype = part_dtype(buffer.dtype)
    parts = decoded(buffer.as_memoryview(), dtype).reshape(buffer.size, -1)[:count]
    found = {"infinity": np.isinf(parts).any(axis=1), "NaN": np.isnan(parts).any(axis=1)}
    return {kind: int(places.argmax()) for kind, places in found.items() if places.any()}


def _shape_of(ast: UOp, slot: int, values: Mapping[str, int], buffer: Buffer) -> tuple[int, ...]:
    """Return the trip counts around the last store to a slot that cover its `buffer`.

    Memory for a symbolic shape has more elements than there are today.
    """
    loops = [store for store in ast.src if store.src[0].src[0].arg[0] == slot][-1].src[2:]
    sizes = tuple(size_at(r.src[0], values) for r in loops)
    whole = math.prod(greatest(r.src[0]) for r in loops)
    return sizes if whole == buffer.size else (buffer.size,)


def _lines_of_kernel(
    call: "KernelCall", calls: "Iterable[KernelCall]", lines: Mapping[UOp, CallSite]
) -> list[tuple[str, str]]:
    """Return the operations of a kernel and their source lines, operands first."""
    others = {root for c in calls for root in c.roots}.difference(call.roots)
    found: dict[tuple[str, str], None] = {}
    seen: set[UOp] = set()

    def walk(u: UOp) -> None:
        if u in seen or u in others or u.op is Ops.BUFFER:
            return
        seen.add(u)
        for s in u.src:
            walk(s)
        if u.op in ELEMENTWISE or u.op is Ops.REDUCE_AXIS:
            site = lines.get(u)
            if site is not None:
                name = u.arg[0] if u.op is Ops.REDUCE_AXIS else u.op
                found[name.name.lower(), str(site)] = None

    for root in call.roots:
        walk(root)
    if not found:
        around = (site for u, site in lines.items() if not u.toposort().keys().isdisjoint(call.roots))
        found.update({("", str(site)): None for site in around})
    return list(found)


def _unflattened(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    place: list[int] = []
    for size in reversed(shape):
        flat, step = divmod(flat, size)
        place.append(step)
    return tuple(reversed(place))
