"""The record of one call: the steps of a replay and its guards."""

import weakref
from collections.abc import Hashable, Sequence
from typing import Any

from plugrad._frozen import frozen
from plugrad.engine.execute import Step
from plugrad.engine.storage import Storage
from plugrad.engine.view_path import ViewPath
from plugrad.jit.guards import Guards
from plugrad.jit.watched import Watched
from plugrad.runtime.buffer import Buffer
from plugrad.schedule.shape_guards import Condition
from plugrad.tensor import Tensor
from plugrad.uop import UOp


@frozen
class Shared:
    """A result that shows memory or a value which others may show and write to.

    Attributes:
        storage: what tensors outside show; None: memory that was passed in or made.
        path: how the result shows it.
        device: where that is.
        is_made: the call made the memory, so that no tensor outside, which may be a parameter, shows it.
    """

    storage: "weakref.ref[Storage] | None" = None
    path: ViewPath = ()
    device: str = ""
    is_made: bool = False


@frozen
class GradientLeft:
    """The function left a gradient on a tensor, or took it away.

    Attributes:
        owner: the tensor, where it lies outside of the function.
        argument: its number among the tensor arguments, where it is one.
        output: the number of the gradient among the outputs; None: there is no gradient any more.
    """

    owner: "weakref.ref[Tensor] | None"
    argument: int
    output: int | None


@frozen
class GradientFound:
    """The function asked for the gradient that a tensor had before the call.

    Attributes:
        owner: the tensor, where it lies outside of the function.
        argument: its number among the tensor arguments, where it is one.
        was_none: it had none.
        used: the gradient, if the function read it, or wrote to it.
    """

    owner: "weakref.ref[Tensor] | None"
    argument: int
    was_none: bool
    used: "weakref.ref[Tensor] | None"

    def is_unchanged(self, arguments: Sequence[Tensor]) -> bool:
        """Say whether the tensor has that gradient now, or none as before."""
        owner = arguments[self.argument] if self.owner is None else self.owner()
        if owner is None:
            return True
        grad = owner._grad
        if self.used is not None:
            return grad is not None and grad is self.used()
        return (grad is None) is self.was_none


@frozen(eq=False)
class Trace:
    """One call, as a replay needs it.

    Attributes:
        agreement: equal for traces that did the same.
        problem: why no replay could stand for such a call; empty if one can.
        steps: what ran.
        variables: the bound variables that were passed in.
        values: the values of all variables that it ran with.
        conditions: what has to hold of those, in the order in which it is checked.
        stand_ins: the BUFFERs that stood in for those of the inputs.
        outputs: where each returned tensor lies, then each gradient that was left: memory, or a view of it.
        shared: for each of these, how it shares memory; None for values.
        same: for each returned tensor, the tensor outside that it is, if it is one.
        template: what was returned, with a HOLE for each tensor.
        made: the BUFFERs below `outputs` that the call made.
        severed: those of them that hold what was computed from tensors that require a gradient.
        gradients: the gradients that it left.
        gradients_found: those that it asked for before.
        draws: host buffers of random draws, in the order of drawing.
        watched: tensors outside whose memory the steps use.
        outside: the buffers outside that the steps use.
        written: the BUFFERs of those that they write.
        relied_on: BUFFERs outside that hold, or were read for, values that were computed before the call.
        values_used: tensors outside that were no memory when they were used, each with where it lay, or its
            graph.
        guards: the values that its code names.
        written_inputs: the numbers of the inputs' BUFFERs that they write.
    """

    agreement: Hashable
    problem: str
    steps: Sequence[Step]
    variables: list[UOp]
    values: dict[str, int]
    conditions: tuple[Condition, ...]
    stand_ins: list[UOp]
    outputs: list[UOp]
    shared: list[Shared | None]
    same: "list[weakref.ref[Tensor] | None]"
    template: Any
    made: list[UOp]
    severed: list[UOp]
    gradients: list[GradientLeft]
    gradients_found: list[GradientFound]
    draws: list[Buffer]
    watched: list[Watched]
    outside: frozenset[Buffer]
    written: frozenset[UOp]
    relied_on: tuple[UOp, ...]
    values_used: "tuple[tuple[weakref.ref[Tensor], UOp], ...]"
    guards: Guards
    written_inputs: tuple[int, ...]
