"""Memory for values inside of one schedule: one arena a device, shared over time."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from plugrad._frozen import frozen
from plugrad.device import Device
from plugrad.dtype import DType, dtypes
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.origin import ARENA
from plugrad.schedule.memory_planner import Lifetime, plan_memory
from plugrad.schedule.versions import VERSIONS, memory_of, owner_of
from plugrad.uop import Ops, UOp, greatest

if TYPE_CHECKING:
    from plugrad.schedule.create import Schedule


@frozen
class Temporary:
    """One value in an arena: its owner, size in elements, and first byte."""

    node: UOp
    size: int
    dtype: DType
    offset: int


@frozen
class Arena:
    """The temporaries of one device, in memory that they share over time."""

    device: str
    nbytes: int
    values: tuple[Temporary, ...]


@frozen
class Prepared:
    """A schedule with everything about it that is the same in each run.

    Attributes:
        schedule: the schedule.
        arenas: where its temporaries lie.
        parts: from each part of memory that its calls read to the owner.
        has_memory: nodes that are somewhere when it has run.
    """

    schedule: "Schedule"
    arenas: tuple[Arena, ...]
    parts: Mapping[UOp, UOp]
    has_memory: frozenset[UOp]


def prepare(schedule: "Schedule") -> Prepared:
    """Plan the memory of `schedule`."""
    calls = schedule.calls
    kept = {u for u in schedule.effects.values() if u.op is Ops.COPY}
    kept.update(memory_of(u) if u.base.op in VERSIONS else u for u in schedule.results)
    has_memory = {u for u in schedule.effects.values() if u.op in VERSIONS or u in kept}
    reached = {m for call in calls for m in call.memory}
    parts = {m: owner for m in reached if (owner := owner_of(m)) is not m}
    spans: dict[UOp, list[int]] = {}
    devices: dict[UOp, str] = {}
    for step, call in enumerate(calls):
        devices.setdefault(call.memory[0], call.device)
        for node in call.memory:
            owner = parts.get(node, node)
            if owner.op is not Ops.BUFFER and owner not in kept:
                devices.setdefault(owner, call.device)
                spans.setdefault(owner, []).append(step)
    arenas = [
        _arena(device, {n: steps for n, steps in spans.items() if devices[n] == device})
        for device in dict.fromkeys(devices[n] for n in spans)
    ]
    return Prepared(schedule, tuple(arenas), parts, frozenset(has_memory))


def temporaries(prepared: Prepared, share_memory: bool) -> Iterable[tuple[UOp, Buffer]]:
    """Return new memory for the temporaries of one run."""
    for arena in prepared.arenas:
        device = Device[arena.device]
        if not share_memory or not device.capabilities.supports_views:
            yield from ((t.node, device.new_buffer(t.size, t.dtype)) for t in arena.values)
            continue
        whole = device.new_buffer(arena.nbytes, dtypes.uint8, ARENA)
        yield from ((t.node, whole.view(t.size, t.dtype, t.offset)) for t in arena.values)


def _arena(device: str, spans: dict[UOp, list[int]]) -> Arena:
    sizes = [math.prod(map(greatest, node.shape)) for node in spans]
    plan = plan_memory(
        [
            Lifetime(steps[0], steps[-1], size * node.dtype.itemsize)
            for (node, steps), size in zip(spans.items(), sizes, strict=True)
        ]
    )
    values = [
        Temporary(node, size, node.dtype, offset)
        for node, size, offset in zip(spans, sizes, plan.offsets, strict=True)
    ]
    return Arena(device, plan.nbytes, tuple(values))
