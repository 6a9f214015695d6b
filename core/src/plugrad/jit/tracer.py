"""Trace one call of a function on copies of its inputs.

A trace is a run like any other; its results are handed to the caller. What it notes:

- the steps that ran, those of pending assigns to tensors outside of the function included, realized or not;
- what each buffer was to the function: an input, memory outside, data it made on the host, or memory it made;
- the tensors that it returned, and the gradients that it left on tensors outside.

Two traces of one signature that agree are taken as proof that the function does the same at each call. A
Python number that changes from call to call, or memory that is exchanged instead of assigned to, makes them
differ.
"""

import gc
import sys
import weakref
from collections.abc import Callable, Hashable
from itertools import repeat
from typing import Any

from plugrad._util import collector_paused
from plugrad.engine import storage
from plugrad.engine.capture import Capture, capturing
from plugrad.engine.execute import Step
from plugrad.engine.realize import overwriting
from plugrad.engine.schedule_cache import canonicalize
from plugrad.jit.guards import Guards
from plugrad.jit.inputs import Inputs
from plugrad.jit.leaves import Leaves
from plugrad.jit.trace import GradientFound, GradientLeft, Shared, Trace
from plugrad.jit.watched import Watched
from plugrad.progress import one_wait
from plugrad.runtime.buffer import Buffer, live_buffers
from plugrad.runtime.transfer import copy_buffer
from plugrad.tensor import Tensor
from plugrad.tensor.create.random import stream
from plugrad.tensor.graph_access import alive
from plugrad.tensor.host.display import describe
from plugrad.tensor.realization import computed_memory
from plugrad.tree import HOLE, refill
from plugrad.uop import Ops, UOp


def trace_call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], inputs: Inputs
) -> Trace:
    """Call `function` on copies of its tensor arguments and note what it did.

    What it wrote to the copies is written to the arguments afterwards.
    """
    # a trace makes very many nodes, which hold no cycles: the collector looks through them once, behind it
    with collector_paused():
        return _Tracer(inputs).run(function, args, kwargs)


class _Tracer:
    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        # held until the end, so that no new buffer is taken for an old one
        self._old_buffers = set(live_buffers())
        self._stand_ins = {buffer: _copy_of(buffer) for buffer in inputs.buffers}
        self._arguments = [
            _argument(tensor, view.substitute(self._stand_ins))
            for tensor, view in zip(inputs.tensors, inputs.views, strict=True)
        ]
        ours = set(map(id, self._arguments))
        self._outside = [tensor for tensor in alive() if id(tensor) not in ours]
        _finish_assigns(self._outside)
        self._graphs = [tensor.uop for tensor in self._outside]
        self._places = [storage.resolve(tensor.uop, tensor.device) for tensor in self._outside]
        self._owners = [*self._outside, *self._arguments]
        self._gradients = [owner._grad for owner in self._owners]
        self._random = stream.seed, stream.counter
        self._written: set[Buffer] = set()
        self._roles: dict[Buffer, Hashable] = {
            storage.buffer_of(stand_in): ("input", number)
            for number, stand_in in enumerate(self._stand_ins.values())
        }

    def run(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trace:
        call = function, args, kwargs
        args, kwargs = refill((args, kwargs), Tensor, self._arguments)
        # who trains writes to the weights soon
        constants = set[Buffer]() if Tensor.training else self._old_buffers
        with capturing(constants) as capture, one_wait():
            try:
                returned = function(*args, **kwargs)
            except BaseException:
                self._keep_writes(capture)
                raise
            leaves = Leaves()
            rest = leaves.collect(returned)
            template = refill(returned, Tensor, repeat(HOLE))
            del returned, args, kwargs
            # realizing uses more
            asked = {asker for asker, _ in capture.found}
            directly = capture.used.union(map(id, leaves.tensors))
            left = self._gradients_left(capture)
            shown = [*leaves.tensors, *(grad for _, grad in left if grad is not None)]
            self._realize(shown)
            outputs = [self._in_memory(tensor) for tensor in shown]
        steps = tuple([self._step_key(step) for step in capture.steps])
        shared = [self._shared(tensor) for tensor in shown]
        not_passed = tuple(sorted((n, v) for n, v in capture.values.items() if n not in self._inputs.values))
        agreement = (steps, rest, self._shown_key(outputs), not_passed, self._left_key(left))
        known = set(map(id, self._outside))
        used = frozenset(b for b, role in self._roles.items() if role == ("outside", b))
        relied_on = self._relied_on(capture)
        bases = list(dict.fromkeys(map(storage.viewed, outputs)))
        self._copy_back()
        return Trace(
            agreement=agreement,
            problem=self._problem(shown),
            steps=capture.steps,
            variables=[*self._inputs.variables],
            values=capture.values,
            conditions=tuple(dict.fromkeys(capture.conditions)),
            stand_ins=list(self._stand_ins.values()),
            outputs=outputs,
            shared=shared,
            same=[weakref.ref(t) if id(t) in known else None for t in leaves.tensors],
            template=template,
            made=[u for u in bases if self._is_made(u)],
            severed=[
                storage.viewed(view)
                for tensor, view, by in zip(shown, outputs, shared, strict=True)
                if tensor.requires_grad and (by is None or by.is_made)
            ],
            gradients=self._left(left, len(leaves.tensors)),
            gradients_found=self._gradients_found(capture, directly),
            draws=self._draws(),
            watched=self._watch(used.union(map(storage.buffer_of, (*relied_on, *bases))), directly),
            outside=used,
            written=frozenset(uop for uop, _ in storage.named_buffers(used & self._written)),
            written_inputs=self._written_inputs(),
            relied_on=relied_on,
            values_used=self._values_used(asked),
            guards=Guards(call, self._named(directly)),
        )

    def _named(self, used: "set[int]") -> list[Tensor]:
        """Return the tensors outside with ids in `used` that were not passed in."""
        passed = set(map(id, self._inputs.tensors))
        return [tensor for tensor in self._outside if id(tensor) in used and id(tensor) not in passed]

    # --- what the function left behind ---

    def _gradients_left(self, capture: Capture) -> list[tuple[int, Tensor | None]]:
        """Return the new gradient, or None, of each tensor whose gradient changed."""
        pairs = enumerate(zip(self._owners, self._gradients, strict=True))
        return [
            (number, owner._grad)
            for number, (owner, before) in pairs
            if id(owner) in capture.gradients_set and (owner._grad is None or owner._grad is not before)
        ]

    def _gradients_found(self, capture: Capture, directly: set[int]) -> list[GradientFound]:
        out: list[GradientFound] = []
        for number, (owner, before) in enumerate(zip(self._owners, self._gradients, strict=True)):
            if id(owner) in capture.gradients_read:
                used = None if before is None or id(before) not in directly else weakref.ref(before)
                out.append(GradientFound(*self._place_of(number), before is None, used))
        return out

    def _place_of(self, number: int) -> "tuple[weakref.ref[Tensor] | None, int]":
        """Return the number of an outside tensor, and its number among the arguments."""
        outside = number < len(self._outside)
        return weakref.ref(self._owners[number]) if outside else None, number - len(self._outside)

    def _realize(self, shown: list[Tensor]) -> None:
        pairs = zip(self._outside, self._graphs, strict=True)
        pending = [tensor for tensor, graph in pairs if tensor.uop is not graph]
        wanted = [*shown, *self._arguments, *pending]
        if wanted:
            Tensor.realize(*wanted)

    def _left(self, left: list[tuple[int, Tensor | None]], output: int) -> list[GradientLeft]:
        out: list[GradientLeft] = []
        for number, grad in left:
            place = None if grad is None else output
            out.append(GradientLeft(*self._place_of(number), place))
            output += grad is not None
        return out

    def _left_key(self, left: list[tuple[int, Tensor | None]]) -> Hashable:
        first = len(self._outside)
        return tuple(
            [
                (
                    number - first if number >= first else id(self._owners[number]),
                    number >= first,
                    grad is None,
                )
                for number, grad in left
            ]
        )

    def _in_memory(self, tensor: Tensor) -> UOp:
        """Return the memory of a realized tensor, giving constants some."""
        shared = self._shared(tensor)
        if shared is None:
            # results that show one value share its memory; values in memory outside may lie elsewhere by the
            # next call
            computed_memory(tensor)
        view = tensor.uop
        is_outside = storage.is_view(view) and storage.buffer_of(storage.viewed(view)) in self._old_buffers
        if not storage.is_view(view) or (tensor._storage.has_history and is_outside):
            view = tensor.contiguous().realize().uop
        # memory that was overwritten goes by another name, and the replay knows a stand-in by its first one
        names = {storage.buffer_of(stand_in): stand_in for stand_in in self._stand_ins.values()}
        base = storage.viewed(view)
        return view.substitute({base: names.get(storage.buffer_of(base), base)})

    def _values_used(self, asked: set[int]) -> "tuple[tuple[weakref.ref[Tensor], UOp], ...]":
        pairs = zip(self._outside, self._places, strict=True)
        return tuple([(weakref.ref(tensor), place) for tensor, place in pairs if id(tensor) in asked])

    def _relied_on(self, capture: Capture) -> tuple[UOp, ...]:
        """Return the memory that must not change for values found computed.

        A value that a tensor outside holds is what it is. Who writes the same value down anew means that of
        what it is computed from, as it is then.
        """
        outside = set(map(id, self._outside))
        out: dict[UOp, None] = {}
        for asker, value in capture.found:
            if value not in capture.made and (places := storage.places_of(value)):
                out.update(dict.fromkeys(map(storage.viewed, places)))
                if asker not in outside:
                    out.update(dict.fromkeys(u for u in value.toposort() if u.op is Ops.BUFFER))
        return tuple([u for u in out if u.op is Ops.BUFFER and storage.find_buffer(u) in self._old_buffers])

    def _written_inputs(self) -> tuple[int, ...]:
        numbered = enumerate(self._stand_ins.values())
        return tuple([number for number, s in numbered if storage.buffer_of(s) in self._written])

    def _copy_back(self) -> None:
        pairs = list(self._stand_ins.items())
        changed = [pairs[number] for number in self._written_inputs()]
        with overwriting([buffer for buffer, _ in changed]):
            for buffer, stand_in in changed:
                copy_buffer(storage.buffer_of(buffer), storage.buffer_of(stand_in))

    def _keep_writes(self, capture: Capture) -> None:
        """Write back to the inputs what a failed function wrote to their copies."""
        if self._arguments:
            Tensor.realize(*self._arguments)
        for step in capture.steps:
            self._step_key(step)
        self._copy_back()

    def _problem(self, shown: list[Tensor]) -> str:
        """Return the reason that a replay could not repeat the call, if any."""
        for tensor, graph in zip(self._outside, self._graphs, strict=True):
            if storage.resolve(graph, tensor.device) is not storage.resolve(tensor.uop, tensor.device):
                return (
                    f"it gives {describe(tensor)}, which lives outside, new memory. Call .assign() on it "
                    "instead."
                )
        drawn = sum(stream.count_of(draw) for draw in self._draws())
        if (stream.seed, stream.counter) != (self._random[0], self._random[1] + drawn):
            return (
                "it seeds the random numbers, or draws some that it does not use. Seed outside, and draw "
                "only what is used."
            )
        if self._escaped(shown):
            # what only reference cycles hold is garbage that has not been noticed yet
            gc.collect()
        for tensor in self._escaped(shown):
            return (
                f"it keeps {describe(tensor)}, which it computes. Return it, or assign it to a tensor "
                "outside."
            )
        return ""

    def _escaped(self, shown: list[Tensor]) -> list[Tensor]:
        """Return tensors that the call computed, and that somebody outside still holds."""
        known = {id(tensor) for tensor in (*self._owners, *shown, *self._gradients) if tensor is not None}
        return [t for t in alive() if id(t) not in known and self._is_computed(t.uop)]

    def _is_computed(self, uop: UOp) -> bool:
        """Say whether a value comes from memory that the call made or was given."""
        memories = [storage.buffer_of(u) for u in uop.toposort() if u.op is Ops.BUFFER]
        return any(b not in self._old_buffers and b in self._roles for b in memories)

    def _shared(self, tensor: Tensor) -> Shared | None:
        shown = tensor._storage
        if any([other._storage is shown for other in self._outside]):
            return Shared(weakref.ref(shown), tensor._path, tensor.device)
        is_argument = any([argument._storage is shown for argument in self._arguments])
        return Shared(is_made=not is_argument) if shown.is_memory else None

    # --- what the steps used ---

    def _step_key(self, step: Step) -> Hashable:
        written = {buffer.whole for buffer in step.written}
        bases = [buffer.whole for buffer in step.buffers]
        for base in bases:
            if base not in self._roles:
                self._roles[base] = self._role(base, base in written)
        self._written |= written
        places = [(self._roles[base], b.offset, b.size) for base, b in zip(bases, step.buffers, strict=True)]
        return (step.kernel, *places)

    def _role(self, buffer: Buffer, is_written: bool) -> Hashable:
        """Return the role of a buffer at its first use by the function."""
        if buffer in self._old_buffers:
            return "outside", buffer
        if is_written:
            return "made", len(self._roles)
        if stream.is_draw(buffer):
            return "draw", len(self._roles)
        return "data", bytes(buffer.as_memoryview())

    def _shown_key(self, outputs: list[UOp]) -> Hashable:
        buffers = [storage.buffer_of(storage.viewed(view)) for view in outputs]
        # nobody writes memory of no elements
        roles = [self._roles.get(b, b) if b.size else "empty" for b in buffers]
        return canonicalize(outputs).sink, tuple(roles)

    def _is_made(self, uop: UOp) -> bool:
        buffer = storage.buffer_of(uop)
        is_new = buffer not in self._old_buffers and uop not in self._stand_ins.values()
        return is_new and buffer in self._written

    def _draws(self) -> list[Buffer]:
        draws = [b for b in self._roles if b not in self._old_buffers and stream.is_draw(b)]
        return sorted(draws, key=_counter_of)

    def _watch(self, used: frozenset[Buffer], directly: set[int]) -> list[Watched]:
        out: list[Watched] = []
        for tensor in self._outside:
            if storage.is_view(tensor.uop):
                buffer = storage.buffer_of(storage.viewed(tensor.uop))
                if buffer.whole in used:
                    out.append(Watched(weakref.ref(tensor), tensor.uop, buffer, id(tensor) in directly))
        return out


def _counter_of(draw: Buffer) -> int:
    """Return the position in the stream where a draw begins, its second number."""
    return int.from_bytes(bytes(draw.as_memoryview())[8:], sys.byteorder)


def _finish_assigns(tensors: list[Tensor]) -> None:
    """Run pending assigns from before the call, among them initial values of parameters."""
    waiting = [t for t in tensors if storage.viewed(t.uop).op in (Ops.ASSIGN, Ops.AFTER)]
    if waiting:
        Tensor.realize(*waiting)


def _copy_of(buffer: UOp) -> UOp:
    stand_in = storage.new_buffer(buffer.arg.device, buffer.arg.shape, buffer.dtype)
    copy_buffer(storage.buffer_of(stand_in), storage.buffer_of(buffer))
    return stand_in


def _argument(tensor: Tensor, view: UOp) -> Tensor:
    # `Tensor(view)` would look for the default device, which nobody asked for
    argument = Tensor._part(*storage.storage_at(view, ""), "")
    argument._is_leaf = tensor.requires_grad or tensor._is_leaf
    argument._grad = tensor._grad
    return argument
