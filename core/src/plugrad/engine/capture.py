"""Record the steps of a function's call, to run them again without it."""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from plugrad.engine import storage
from plugrad.engine.execute import Step
from plugrad.engine.schedule_cache import Canonical
from plugrad.errors import JitError
from plugrad.runtime.buffer import Buffer
from plugrad.schedule.shape_guards import Condition
from plugrad.uop import Ops, UOp


class Capture:
    """The steps of one call, in order, and what they depend on.

    Attributes:
        steps: what ran.
        values: the values of the variables they ran with.
        conditions: what has to hold of those, in the order in which it is checked.
        found: the values that tensors read as such, each with the id of the tensor; those that lay in memory
            when a graph that they are part of was realized, each with 0.
        made: the values that got memory.
        used: the ids of tensors that were read or written to.
        gradients_read: the ids of tensors whose gradient was asked for before it was set.
        gradients_set: the ids of tensors that were given a gradient, or rid of one.
        held: the values that somebody held when the call began.
        constants: memory whose contents will be the same in most calls.
    """

    def __init__(self, held: frozenset[UOp] = frozenset(), constants: Iterable[Buffer] = ()) -> None:
        self.steps: list[Step] = []
        self.values: dict[str, int] = {}
        self.conditions: list[Condition] = []
        self.found: list[tuple[int, UOp]] = []
        self.made: set[UOp] = set()
        self.used: set[int] = set()
        self.gradients_read: set[int] = set()
        self.gradients_set: set[int] = set()
        self.held = held
        self.constants = set(constants)

    def check_values(self, graph: Canonical) -> None:
        """Refuse a graph whose variables have another value than where the call used them before."""
        bound = [bind.unbind() for bind in graph.bindings.values()]
        others = [(u, v) for u, v in bound if self.values.get(u.arg[0], v) != v]
        for variable, value in [*map(UOp.unbind, graph.renamed()), *others]:
            raise JitError(
                f"a jitted function uses the variable {variable.arg[0]} bound to {value} and to another "
                "value. A replay gives each variable one value: use two variables."
            )

    def written_before(self, values: Iterable[UOp]) -> set[UOp]:
        """Return the members of `values` that were written down before the call began."""
        known = UOp.sink(*self.held).toposort()
        return {value for value in values if value in known}


_current: ContextVar[Capture | None] = ContextVar("capture", default=None)


#: Return the capture that is recording in this context, if one is. Each use of a tensor asks.
current_capture: Callable[[], Capture | None] = _current.get


def note_data(memory: UOp) -> UOp:
    """Record a BUFFER filled from Python, which each replay fills anew; return it."""
    if _current.get() is not None:
        storage.freeze(memory)
    return memory


def note_size(size: UOp, today: int) -> None:
    """Tell the recording capture that it is valid for one value of a symbolic size.

    The steps may not tell: where there is nothing along an axis, or nothing of it is used, none has the size.
    """
    if (capture := _current.get()) is not None:
        capture.conditions.append(Condition(Ops.RESHAPE, (size, today)))
        capture.values.update((u.src[0].arg[0], u.src[1].arg) for u in size.toposort() if u.op is Ops.BIND)


@contextmanager
def capturing(constants: Iterable[Buffer] = ()) -> Generator[Capture]:
    """Record every step that runs inside the block.

    The contents of `constants` will be the same in most calls, unless the block writes to them.
    """
    capture = Capture(held=frozenset(storage.pending_values()), constants=constants)
    token = _current.set(capture)
    try:
        yield capture
    finally:
        _current.reset(token)


_recorded: ContextVar[list[Step] | None] = ContextVar("recorded", default=None)


def record_steps(steps: Iterable[Step], values: Mapping[str, int]) -> None:
    """Add steps that ran, with variables at `values`, to what this context records."""
    if (capture := _current.get()) is not None:
        capture.steps.extend(steps)
        capture.values.update(values)
    elif (recorded := _recorded.get()) is not None:
        recorded += [step.bound(values) for step in steps]


def is_recording() -> bool:
    """Say whether somebody records which steps run in this context."""
    return _recorded.get() is not None


@contextmanager
def recording_steps() -> Generator[list[Step]]:
    """Record which steps run inside the block, and nothing else: recipes run them as well.

    Gives the list to which a capture or a block around this one adds them too.
    """
    capture = _current.get()
    recorded = _recorded.get() if capture is None else capture.steps
    token = _recorded.set(recorded := [] if recorded is None else recorded)
    try:
        yield recorded
    finally:
        _recorded.reset(token)


@contextmanager
def not_capturing() -> Generator[None]:
    """Record nothing of what runs inside the block."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)
