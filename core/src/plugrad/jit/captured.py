"""A call that was captured: what has to hold for a replay, and the replay."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from plugrad.engine import storage
from plugrad.engine.memory import renamed
from plugrad.engine.realize import overwriting
from plugrad.errors import GradientError, JitError
from plugrad.jit.constants import Constants
from plugrad.jit.guards import Call, Guards
from plugrad.jit.inputs import Inputs
from plugrad.jit.replay import Replay
from plugrad.jit.results import results, tensor_of_new
from plugrad.jit.trace import Trace
from plugrad.jit.watched import WatchedTensors
from plugrad.runtime.buffer import Buffer
from plugrad.settings import settings
from plugrad.tensor import Tensor
from plugrad.tensor.create.random import stream
from plugrad.tensor.host.display import describe
from plugrad.tree import HOLE, refill
from plugrad.uop import UOp

__all__ = ["Captured", "check_aliases"]

# The level of JIT at which devices may run several kernels by one call.
_WITH_GRAPHS = 1


class Captured:
    """A signature whose calls are replayed.

    Attributes:
        guards: values of names that were seen to lead to this.
        agreement: what two calls agreed on.
        depends_on_tensors_outside: a replay may be out of date.
    """

    def __init__(self, trace: Trace, guards: Sequence[Guards]) -> None:
        self.guards = guards
        self.agreement = trace.agreement
        # the constants took over what they need of the steps, and the others' memory is held by the replay
        self._trace = replace(trace, steps=())
        self._returned = [same for same in trace.same if same is not None]
        opened = [*map(storage.buffer_of, trace.stand_ins), *map(storage.buffer_of, trace.made)]
        self._constants = Constants(trace)
        self._replay = Replay(
            self._constants.others, opened, trace.values, use_graphs=settings.JIT == _WITH_GRAPHS
        )
        for stand_in in trace.stand_ins:
            # a replay reads the inputs themselves
            storage.buffer_of(stand_in).deallocate()
        self._writes = bool(trace.written or trace.written_inputs)
        self._has_beginning = bool(
            self._writes or trace.values or trace.conditions or trace.draws or self._constants.has_results
        )
        self._made = opened[len(trace.stand_ins) :]
        # not the BUFFERs of the trace, which keep memory
        self._likes = [UOp.new_buffer(uop.arg.device, uop.arg.shape, uop.dtype) for uop in trace.made]
        self._is_new = self._makes_all_results()
        self._returns_one = self._is_new and trace.template is HOLE
        self._row = _row_of_results(trace.template) if self._is_new else None
        self._watched = WatchedTensors(trace.watched)
        self.depends_on_tensors_outside = bool(
            trace.watched or trace.relied_on or trace.values_used or trace.gradients_found or self._returned
        )

    def _makes_all_results(self) -> bool:
        """Say whether all results are new memory of their own, and no gradient is left.

        Most functions return nothing else.
        """
        trace = self._trace
        is_alone = all([by is None or (by.storage is None and by.is_made) for by in trace.shared])
        return is_alone and trace.made == trace.outputs and not (trace.severed or trace.gradients)

    def earlier_guards_hold(self, call: Call) -> bool:
        """Say whether the names have values that led here before those of the last guards."""
        return any(guards.hold(call) for guards in self.guards[-2::-1])

    def is_current(self, inputs: Inputs) -> bool:
        """Say whether the tensors outside are still in the memory that the steps use."""
        if not self._watched.are_unchanged():
            return False
        for memory in self._trace.relied_on:
            if storage.is_outdated(memory):
                return False
        for value, place in self._trace.values_used:
            tensor = value()
            if tensor is None or storage.resolve(tensor.uop, tensor.device) is not place:
                return False
        for returned in self._returned:
            if returned() is None:
                return False
        return all([found.is_unchanged(inputs.tensors) for found in self._trace.gradients_found])

    def replay(self, inputs: Inputs) -> Any:
        """Do what the function would do, and return what it would return."""
        values = self._begin(inputs) if self._has_beginning else inputs.values
        # no comprehensions: each makes a function, and slows the names that it uses
        buffers = inputs.memories.copy()
        for memory in self._made:
            buffers.append(memory.another())
        if self._writes:
            with overwriting(self._written_memory(inputs)):
                self._replay.run(buffers, values)
        else:
            self._replay.run(buffers, values)
        if self._returns_one:
            return tensor_of_new(buffers[-1], self._likes[0])
        return self._results(inputs, buffers[len(inputs.memories) :])

    def _written_memory(self, inputs: Inputs) -> list[UOp]:
        """Return the BUFFERs that a replay writes to, other than those that it makes."""
        return [*self._trace.written, *[inputs.buffers[number] for number in self._trace.written_inputs]]

    def _results(self, inputs: Inputs, made: Sequence[Buffer]) -> Any:
        trace = self._trace
        if self._row is not None:
            return self._row(map(tensor_of_new, made, self._likes))
        if self._is_new:
            return refill(trace.template, Tensor, map(tensor_of_new, made, self._likes))
        places = {uop: renamed(memory, uop) for uop, memory in zip(trace.made, made, strict=True)}
        places.update(zip(trace.stand_ins, inputs.buffers, strict=True))
        places.update(zip(trace.variables, inputs.variables, strict=True))
        return results(trace, inputs, places)

    def _begin(self, inputs: Inputs) -> Mapping[str, int]:
        """Do what comes before the steps; return the values of the variables."""
        trace = self._trace
        if self._writes:
            check_aliases(inputs, trace)
        values = {**trace.values, **inputs.values}
        for condition in trace.conditions:
            condition.check(values)
        for draw in trace.draws:
            stream.refresh(draw, values)
        self._constants.refresh()
        return values


def _row_of_results(template: Any) -> type | None:
    """Return the class of a list or tuple with nothing but results in it."""
    kind: type = type(cast("object", template))
    return kind if kind in (list, tuple) and all([item is HOLE for item in template]) else None


def check_aliases(inputs: Inputs, trace: Trace) -> None:
    """Refuse inputs also used from outside if either is written, as copies would differ."""
    if not (trace.written or trace.written_inputs):
        return
    written = [inputs.buffers[number] for number in trace.written_inputs]
    for tensor, view in zip(inputs.tensors, inputs.views, strict=True):
        is_owner = tensor._storage.is_memory
        if not is_owner and storage.viewed(view) in written:
            raise GradientError(
                f"a jitted function writes into its argument {describe(tensor)}, whose gradient is tracked. "
                "Pass .detach().contiguous()."
            )
        if storage.buffer_of(storage.viewed(view)) in trace.outside:
            raise JitError(
                f"{describe(tensor)} is an argument of a jitted function that assigns, and also uses it from "
                "outside. Pass it or use it from outside, not both; or pass a copy: .clone()."
            )
