"""Memory of values, shared by a tensor and its views.

Two objects, because their lives differ. A `Buffer` lives as long as a graph mentions it, and keeps what
graphs know of its contents (engine/memory.py). A `Storage` lives as long as a tensor shows it; it is one
value or, once that is realized or written to, the memory that it lies in.

`UOp.place` of a BUFFER is its `Buffer`; that of a realized value says in which BUFFER it lies, by device:
that of the value or, for numbers, each that they were realized on. Nothing is updated when a value is
realized; whoever holds a node asks `resolve` for what it is by now.
"""

import math
import threading
import weakref
from collections.abc import Iterable

from plugrad.device import Device
from plugrad.dtype import DType
from plugrad.engine.memory import (
    add_value,
    bind_buffer,
    claim,
    find_buffer,
    name_of,
    owner_of,
    renamed,
    set_place,
    values_of,
)
from plugrad.engine.view_path import WHOLE, ViewPath, path_between, shown, shows_all, written_through
from plugrad.errors import ScheduleError
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.live import LiveSet
from plugrad.runtime.origin import CallSite, Origin, call_site
from plugrad.schedule.versions import VERSIONS, memory_of
from plugrad.uop import MOVEMENT, Ops, UOp, greatest

#: Held from reading what a graph resolves to until its results are recorded: meanwhile no other thread may
#: overwrite memory that the graph reads, or run the same assign again. Reads of the host hold it until the
#: bytes are theirs, replays until all of their steps ran. Who builds graphs or asks for a node takes no lock.
lock = threading.RLock()

# Ops that show the memory of their source.
_VIEWS = MOVEMENT | {Ops.BITCAST}
# Ops whose elements are those of their source.
_SHOWN = _VIEWS | {Ops.DETACH}
_MAY_BE_MEMORY = _SHOWN | VERSIONS
# Ops that show memory by elements of its own.
_PLACES = (WHOLE | {Ops.SHRINK}) - {Ops.BITCAST}


_live: "LiveSet[Storage]" = LiveSet()


class Storage:
    """A value that tensors show whole or in part, and its memory once written.

    Attributes:
        uop: the graph of the value, or the present version of the memory with the writes that wait.
        device: where that is, or numbers get memory when they are written to.
        is_memory: the value is memory, which no other storage writes to.
        is_computed: somebody realized, or read, all of the value: how it was computed is forgotten.
        origin: the graph of the value, where the storage became its memory since and somebody still uses it.
        has_history: a gradient will want to know how the value was computed: it stays what it is.
        is_listed: `pending_values` looks at it. New memory is what nobody waits for.
        is_copy: the value is what another storage's memory shows; it need not be copied until that is
            written.
        memory: of an `UnnamedStorage` the memory, until somebody asks for `uop`.
        like: of one a BUFFER of the same device, shape and dtype.
    """

    __slots__ = (
        "__weakref__",
        "device",
        "has_history",
        "is_computed",
        "is_copy",
        "is_listed",
        "is_memory",
        "like",
        "memory",
        "origin",
        "uop",
    )

    def __init__(self, uop: UOp, device: str, has_history: bool = False) -> None:
        self.uop = uop
        self.device = uop.device or device
        self.is_memory = False
        self.is_computed = False
        self.is_copy = False
        self.origin: weakref.ref[UOp] | None = None
        self.has_history = has_history
        shows = uop.op in _MAY_BE_MEMORY and _version_below(uop).op in VERSIONS
        if shows and not (uop.op in VERSIONS and self.settle()):
            self.uop = uop.contiguous()
            self.is_copy = True
        self.is_listed = True
        _live.add(self)

    def _list(self) -> None:
        """Let `pending_values` see the value, or the writes, of this storage."""
        if not self.is_listed:
            self.is_listed = True
            _live.add(self)

    def present(self) -> UOp:
        """Return `uop` without the writes that are done."""
        uop = self.uop
        if uop.op is Ops.BUFFER and (memory := uop.place) is not None and memory.known_name() is uop:
            return uop
        self.uop = resolve(uop, self.device)
        return self.uop

    def settle(self) -> bool:
        """Take over the memory that the value was realized into; return whether it has some.

        Two storages may have come by one value because they have the same graph: the first of them becomes
        its memory, the other goes on being known by the graph.
        """
        if self.has_history:
            return False
        found = resolve(self.uop, self.device)
        if not self.is_memory:
            value = self.uop.src[0] if self.is_copy else self.uop
            if not self._claim(found):
                return False
            self.origin = weakref.ref(value)
        self.uop = found
        return True

    def note_computed(self, path: ViewPath) -> None:
        """Forget the history of the value, if `path` shows all of it."""
        if not path or shows_all(path):
            self.is_computed = True
            self.settle()

    def replace(self, uop: UOp) -> None:
        """Let the value be that of `uop`, which is new memory."""
        self.origin = weakref.ref(self.uop)
        self.uop = uop
        self._claim(uop)
        self._list()

    def move(self, *, keeps_contents: bool = True) -> None:
        """Become new memory."""
        value = self.uop
        new = new_memory(self.device, value.shape, value.dtype)
        self.replace(written_through(new, (), value) if keeps_contents else new)

    def write(self, path: ViewPath, value: UOp) -> None:
        """Write `value` into what `path` shows, none of whose elements is shown twice."""
        # bits keep their places: they are written as what the memory holds
        path = tuple([step for step in path if step[0] is not Ops.BITCAST])
        value = value if value.dtype is self.uop.dtype else value.bitcast(self.uop.dtype)
        memory = find_buffer(memory_of(self.uop)) if self.settle() else None
        if not self.is_memory or (memory is not None and memory.is_frozen):
            self.move(keeps_contents=not shows_all(path))
        self.uop = written_through(self.uop, path, value)
        self._list()
        if (memory := find_buffer(memory_of(self.uop))) is not None:
            memory.is_written = True

    def _claim(self, uop: UOp) -> bool:
        """Become the storage of the memory that `uop` shows wholly; return whether possible."""
        base = uop
        while base.op in _PLACES:
            base = base.src[0]
        if base.op is Ops.BUFFER:
            memory: Buffer | None = base.place
            is_free = memory is None or (not memory.is_written and claim(memory, self))
        elif base.op in VERSIONS:
            memory = find_buffer(memory_of(base))
            is_free = memory is None or claim(memory, self)
        else:
            return False
        self.is_memory = is_free
        self.is_copy = self.is_copy and not is_free
        return is_free


def _version_below(uop: UOp) -> UOp:
    while uop.op in _SHOWN:
        uop = uop.src[0]
    return uop


def pending_values() -> list[UOp]:
    """Return the graphs of all storages without memory, and of pending writes."""
    out: dict[UOp, None] = {}
    # most lie in memory, and nobody has to be told of them
    for storage in [storage for storage in _live if storage.uop.op is not Ops.BUFFER]:
        if not storage.is_memory or (storage.settle() and not is_view(storage.uop)):
            out[storage.uop] = None
    return list(out)


def storage_at(uop: UOp, device: str) -> tuple[Storage, ViewPath]:
    """Return the storage that `uop` shows and its path, a new one for values."""
    base = viewed(uop)
    if base.op not in VERSIONS:
        return Storage(uop, device), ()
    storage = Storage(base, device)
    found = None if storage.is_memory else storage_showing(uop)
    return (storage, path_between(uop, base)) if found is None else found


def storage_showing(uop: UOp) -> tuple[Storage, ViewPath] | None:
    """Return the storage whose memory `uop` shows, with its path, or None."""
    memory = find_buffer(memory_of(viewed(uop)))
    storage = None if memory is None else owner_of(memory)
    if storage is None or not storage.settle():
        return None
    view = whole = resolve(uop)
    while whole is not storage.uop:
        if whole.op not in _VIEWS:
            return None
        whole = whole.src[0]
    return storage, path_between(view, whole)


def buffer_of(uop: UOp) -> Buffer:
    """Return the memory of a BUFFER.

    Raises:
        ScheduleError: `uop` is no BUFFER, or one that nobody gave memory to.
    """
    found = uop.place if uop.op is Ops.BUFFER else None
    if found is None:
        raise ScheduleError(
            f"{uop.op.name} of {uop.dtype} has no memory. Realize it first; where it stands for an argument "
            "of vmap, nothing inside of the function may read its elements."
        )
    return found


def freeze(memory: UOp) -> None:
    """Let nobody write to the memory of a BUFFER in place."""
    memory.place.is_frozen = True


def sever(memory: UOp) -> None:
    """Let no `backward` end at a BUFFER, whose values lead on to tensors with requires_grad."""
    memory.place.severed = weakref.ref(memory)


def is_severed(memory: UOp) -> bool:
    """Say whether `sever` was told of a BUFFER."""
    found = find_buffer(memory)
    return found is not None and found.severed is not None and found.severed() is memory


def new_buffer(device: str, shape: tuple[int, ...], dtype: DType, site: CallSite | None = None) -> UOp:
    """Return a new BUFFER whose memory is allocated when it is first used.

    `site` is the line that asks for it; None: the one that is running.
    """
    origin = Origin(shape, site or call_site())
    memory = Buffer(device, math.prod(shape), dtype, Device[device].allocator, None, 0, origin)
    uop = UOp.new_buffer(device, shape, dtype, memory)
    memory.known_name = weakref.ref(uop)
    return uop


def new_memory(device: str, shape: tuple[int | UOp, ...], dtype: DType) -> UOp:
    """Return new memory of a shape, a symbolic one as a part of its maximum."""
    memory = new_buffer(device, tuple(map(greatest, shape)), dtype)
    return memory if memory.shape == shape else memory.shrink([(0, size) for size in shape])


def new_buffer_like(uop: UOp) -> UOp:
    """Return a new BUFFER like `uop`, with allocated memory of its own."""
    return renamed(uop.place.another(), uop)


def named_buffers(buffers: Iterable[Buffer]) -> list[tuple[UOp, Buffer]]:
    """Return a BUFFER for each of `buffers`, bound before or new."""
    out: list[tuple[UOp, Buffer]] = []
    for buffer in dict.fromkeys(buffers):
        uop = buffer.known_name()
        if uop is None:
            uop = bind_buffer(UOp.new_buffer(buffer.device, (buffer.size,), buffer.dtype), buffer)
        out.append((uop, buffer))
    return out


def record(value: UOp, place: UOp) -> None:
    """Note that `value` now lies in `place`: a BUFFER, or a view of one."""
    if not value.src:
        return
    memory: Buffer = viewed(place).place
    places: dict[str, UOp] | None = value.place
    if places is None:
        set_place(value, {memory.device: place})
    else:
        places[memory.device] = place
    # versions of the memory itself are no values that lie there
    if _version_below(value).op not in VERSIONS:
        add_value(memory, value)


def values_in(buffer: UOp) -> list[UOp]:
    """Return the values that were realized into the memory of a BUFFER, and lie there."""
    memory: Buffer = buffer.place
    return [value for value in values_of(memory) if viewed(resolve(value, memory.device)).place is memory]


def renew(buffer: UOp) -> UOp:
    """Give the overwritten memory of the BUFFER `buffer` a new BUFFER; return it."""
    memory: Buffer = buffer.place
    memory.is_written = False
    return renamed(memory, buffer)


def resolve(uop: UOp, device: str | None = None) -> UOp:
    """Return the present memory of `uop`; `uop` itself while it is not realized.

    A view of a value that was realized is that view of its memory.

    Args:
        uop: any graph.
        device: where numbers, which have no device of their own, are needed; None: they stay numbers.
    """
    if uop.op is Ops.BUFFER:
        memory: Buffer | None = uop.place
        return uop if memory is None else name_of(memory, uop)
    found = uop
    while found.src:
        if found.place is not None and (place := place_of(found, device)) is not None:
            return resolve(place) if found is uop else shown(resolve(place), path_between(uop, found))
        if found.op not in _VIEWS:
            return uop
        found = found.src[0]
    memory = find_buffer(found)
    if memory is None or (name := name_of(memory, found)) is found:
        return uop
    return shown(name, path_between(uop, found))


def place_of(value: UOp, device: str | None = None) -> UOp | None:
    """Return the memory where `value` was realized on a device, or None."""
    places = value.place
    if places is None or (name := value.device or device) is None:
        return None
    return places.get(name)


def places_of(value: UOp) -> list[UOp]:
    """Return the present memory of `value` on its device, of numbers on any."""
    places: dict[str, UOp] | None = value.place if value.src else None
    return [] if places is None else [resolve(place) for place in places.values()]


def is_outdated(memory: UOp) -> bool:
    """Say whether what a BUFFER names has been overwritten."""
    found = find_buffer(memory)
    return found is not None and name_of(found, memory) is not memory


def is_view(uop: UOp) -> bool:
    """Say whether `uop` shows memory that exists: a BUFFER below movement ops and bitcasts."""
    return viewed(uop).op is Ops.BUFFER


def is_present(uop: UOp) -> bool:
    """Say whether `uop` shows the present contents of memory."""
    memory = viewed(uop)
    return memory.op is Ops.BUFFER and memory.place is not None and not is_outdated(memory)


def viewed(uop: UOp) -> UOp:
    """Return the node below the movement ops and bitcasts of `uop`."""
    while uop.op in _VIEWS:
        uop = uop.src[0]
    return uop
