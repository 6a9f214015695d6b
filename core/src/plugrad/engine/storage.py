"""The memory of nodes: the buffer of each BUFFER, the BUFFER of each realized value.

Numbers, which live on no device, may have become one on each. All maps are weak: memory goes when the last
graph that mentions it goes. Nothing else is updated when a value is realized; whoever holds a node asks
`resolve` for what it is by now.
"""

import math
import threading
import weakref
from collections.abc import Callable, Iterable

from plugrad.device import Device
from plugrad.dtype import DType
from plugrad.errors import ScheduleError
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.origin import CallSite, Origin, call_site
from plugrad.schedule.versions import VERSIONS
from plugrad.uop.ops import MOVEMENT, Ops
from plugrad.uop.uop import UOp

_buffers: "weakref.WeakKeyDictionary[UOp, Buffer]" = weakref.WeakKeyDictionary()
# Ops that show the memory of their source.
_VIEWS = MOVEMENT | {Ops.BITCAST}
# by device: that of the value or, for numbers, each that they were realized on
_results: "weakref.WeakKeyDictionary[UOp, dict[str, UOp]]" = weakref.WeakKeyDictionary()
# from memory to the values that were realized into it; versions of the memory itself are no such values
_values: "weakref.WeakKeyDictionary[Buffer, list[weakref.ref[UOp]]]" = weakref.WeakKeyDictionary()


class _Name:
    """The BUFFER that names some memory today."""

    __slots__ = ("__weakref__", "latest")
    latest: UOp


# from a BUFFER that named memory before it was overwritten; only such BUFFERs hold the name, so none piles up
_outdated: "weakref.WeakKeyDictionary[UOp, _Name]" = weakref.WeakKeyDictionary()
_names: "weakref.WeakValueDictionary[Buffer, _Name]" = weakref.WeakValueDictionary()
# one schedule runs at a time; building graphs needs no lock
lock = threading.RLock()

# who can name the values that a user still holds; the tensor package registers itself
_holders: list[Callable[[], Iterable[UOp]]] = []


def bind_buffer(uop: UOp, buffer: Buffer) -> UOp:
    """Bind the BUFFER `uop` to the memory `buffer`, and return `uop`."""
    _buffers[uop] = buffer
    return uop


def find_buffer(uop: UOp) -> Buffer | None:
    """Return the memory of a BUFFER, or None if nobody gave it any."""
    return _buffers.get(uop)


def buffer_of(uop: UOp) -> Buffer:
    """Return the memory of a BUFFER.

    Raises:
        ScheduleError: `uop` is no BUFFER, or one that nobody gave memory to.
    """
    found = _buffers.get(uop)
    if found is None:
        raise ScheduleError(
            f"{uop.op.name} of {uop.dtype} has no memory. Realize it first; where it stands for an argument "
            "of vmap, nothing inside of the function may read its elements."
        )
    return found


def new_buffer(device: str, shape: tuple[int, ...], dtype: DType, site: CallSite | None = None) -> UOp:
    """Return a new BUFFER whose memory is allocated when it is first used.

    `site` is the line that asks for it; None: the one that is running.
    """
    uop = UOp.new_buffer(device, shape, dtype)
    origin = Origin(shape, site or call_site())
    return bind_buffer(uop, Device[device].new_buffer(math.prod(shape), dtype, origin))


def new_buffer_like(uop: UOp, memory: Buffer) -> tuple[UOp, Buffer]:
    """Return a new BUFFER like `uop`, with memory of its own like `memory`."""
    new = Buffer(memory.device, memory.size, memory.dtype, memory.allocator, label=memory.label)
    return bind_buffer(UOp.new_buffer(memory.device, uop.arg.shape, uop.dtype), new), new


def named_buffers(buffers: Iterable[Buffer]) -> list[tuple[UOp, Buffer]]:
    """Return a BUFFER for each of `buffers`, bound before or new."""
    names = {buffer: uop for uop, buffer in _buffers.items()}
    out: list[tuple[UOp, Buffer]] = []
    for buffer in dict.fromkeys(buffers):
        uop = names.get(buffer)
        if uop is None:
            uop = bind_buffer(UOp.new_buffer(buffer.device, (buffer.size,), buffer.dtype), buffer)
        out.append((uop, buffer))
    return out


def record(value: UOp, place: UOp) -> None:
    """Note that `value` now lies in `place`: a BUFFER, or a view of one."""
    buffer = buffer_of(base_of(place))
    _results.setdefault(value, {})[buffer.device] = place
    if _version_below(value).op not in VERSIONS:
        _values.setdefault(buffer, []).append(weakref.ref(value))


def _version_below(value: UOp) -> UOp:
    while value.op in _VIEWS or value.op is Ops.DETACH:
        value = value.src[0]
    return value


def values_in(memory: UOp) -> list[UOp]:
    """Return the values that were realized into the memory of a BUFFER."""
    buffer = buffer_of(memory)
    refs = [ref for ref in _values.get(buffer, ()) if ref() is not None]
    if not refs:
        _values.pop(buffer, None)
        return []
    _values[buffer] = refs
    alive = [value for ref in refs if (value := ref()) is not None]
    return [value for value in alive if buffer_of(base_of(resolve(value, buffer.device))) is buffer]


def renew(buffer: UOp) -> UOp:
    """Give the overwritten memory of the BUFFER `buffer` a new BUFFER; return it.

    Values computed from what the memory held before are known by their graphs, and these mention the old
    BUFFER. A graph that is written down from now on must not be taken for one of them.
    """
    memory = buffer_of(buffer)
    new = bind_buffer(UOp.new_buffer(buffer.arg.device, buffer.arg.shape, buffer.dtype), memory)
    name = _names.get(memory)
    if name is None:
        name = _names[memory] = _Name()
    name.latest = new
    _outdated[buffer] = name
    return new


def resolve(uop: UOp, device: str | None = None) -> UOp:
    """Return the present memory of `uop`; `uop` itself while it is not realized.

    A view of a value that was realized is that view of its memory.

    Args:
        uop: any graph.
        device: where numbers, which have no device of their own, are needed; None: they stay numbers.
    """
    views: list[UOp] = []
    found = uop
    while found.src:
        if (place := _place_of(found, device)) is not None:
            return _apply_views(views, resolve(place))
        if found.op not in _VIEWS:
            return uop
        views.append(found)
        found = found.src[0]
    name = _outdated.get(found) if found.op is Ops.BUFFER else None
    return uop if name is None else _apply_views(views, name.latest)


def _place_of(value: UOp, device: str | None = None) -> UOp | None:
    places = _results.get(value)
    if places is None or (name := value.device or device) is None:
        return None
    return places.get(name)


def _apply_views(views: list[UOp], base: UOp) -> UOp:
    """Return views, the outermost first, on another base."""
    for view in reversed(views):
        base = UOp(view.op, view.dtype, (base, *view.src[1:]), view.arg, view.tag)
    return base


def places_of(value: UOp) -> list[UOp]:
    """Return the present memory of `value`, on its device. Numbers may be realized on any device."""
    places = _results.get(value) if value.src else None
    return [] if places is None else [resolve(place) for place in places.values()]


def is_outdated(memory: UOp) -> bool:
    """Say whether what a BUFFER names has been overwritten."""
    return memory in _outdated


def resolve_graph(root: UOp) -> dict[UOp, UOp]:
    """Return graphs for `root` and nodes below it, with realized values as memory.

    Nodes below a realized value are not visited. DETACH and FUNCTION, which only gradients see, are left
    out. Numbers stay as they are: they cost a kernel nothing, on whatever device it runs.
    """
    done: dict[UOp, UOp] = {}
    known, buffer = _results, Ops.BUFFER
    stack: list[tuple[UOp, bool]] = [(root, False)]
    while stack:
        u, ready = stack.pop()
        if u in done:
            continue
        if ready:
            src = tuple([done[s] for s in u.src])
            if u.op is Ops.DETACH:
                done[u] = src[0]
                continue
            if u.op is Ops.OUTPUT:
                done[u] = src[0].src[u.arg]
                continue
            done[u] = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
            continue
        if not u.src:
            done[u] = resolve(u) if u.op is buffer else u
            continue
        if u in known and (place := _place_of(u)) is not None:
            done[u] = resolve(place)
            continue
        stack.append((u, True))
        stack.extend((s, False) for s in u.src if s not in done)
    return done


def overwritten_below(root: UOp) -> UOp | None:
    """Return the overwritten memory that `root` reads, or its version at that time.

    None where everything is as it was. Graphs that a tensor holds are computed before what they read is
    overwritten; this is for graphs that are written down on an old one later, as gradients are.
    """
    seen: set[UOp] = set()
    stack = [root]
    while stack:
        u = stack.pop()
        if u in seen:
            continue
        seen.add(u)
        place = _place_of(u) if u.src else None
        memory = u if place is None else base_of(place)
        if memory.op is Ops.BUFFER and memory in _outdated:
            return u
        if place is None:
            # what is assigned to is not read
            stack.extend(u.src[1:] if u.op is Ops.ASSIGN else u.src)
    return None


def register_holder(holder: Callable[[], Iterable[UOp]]) -> None:
    """Register `holder`, which yields the live values."""
    _holders.append(holder)


def unregister_holder(holder: Callable[[], Iterable[UOp]]) -> None:
    """Ask `holder` no more."""
    _holders.remove(holder)


def held_values() -> Iterable[UOp]:
    """Return the values that users still hold, realized or not."""
    return [uop for holder in _holders for uop in holder()]


def is_view(uop: UOp) -> bool:
    """Say whether `uop` shows memory that exists: a BUFFER below movement ops and bitcasts."""
    return base_of(uop).op is Ops.BUFFER


def base_of(uop: UOp) -> UOp:
    """Return the node below the movement ops and bitcasts of `uop`."""
    while uop.op in _VIEWS:
        uop = uop.src[0]
    return uop
