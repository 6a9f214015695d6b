"""`@jit`: run a function a few times, then replay its kernels without running it."""

import functools
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable
from types import MethodType
from typing import Any, Generic, ParamSpec, TypeVar

from plugrad.engine import storage
from plugrad.engine.capture import current_capture
from plugrad.errors import JitError
from plugrad.jit.captured import Captured, check_aliases
from plugrad.jit.guards import Call, Guards
from plugrad.jit.inputs import Inputs, check_devices, read_inputs
from plugrad.jit.results import results
from plugrad.jit.trace import Trace
from plugrad.jit.tracer import trace_call
from plugrad.observe import install
from plugrad.settings import settings

__all__ = ["JitWarning", "TinyJit", "jit"]

P = ParamSpec("P")
R = TypeVar("R")

# A first call may set things up, a second one may still differ; what has not settled by then never will.
_MOST_TRACES = 5
# Bounds the memory of a function that is called with ever new shapes or values.
_MOST_SIGNATURES = 256
# Calls that find a new value of a name, less those that are replayed: then replaying does not pay.
_MOST_CHANGES = 32
# Traces and sets of values that are kept for a signature. Each trace holds memory.
_MOST_CAPTURES = 8
_MOST_GUARDS = 64


class TinyJit(Generic[P, R]):
    """A function of tensors whose kernels are recorded, and replayed without running the function.

    Calls are told apart by their signature: shapes, dtypes and devices of the tensors among the arguments
    (also inside lists, tuples and dicts), which of them share memory, the names of bound variables, all
    other arguments by value, and `Tensor.training`. For each signature the function runs until two calls in
    a row did the same; from the next call on their kernels are replayed. Usually that is the third call.

    A replay

    - reads its inputs where they are, and returns tensors with memory of their own;
    - repeats assigns to tensors outside of the function, whether or not the function realized them;
    - leaves the same gradients in `.grad`;
    - draws new random numbers;
    - computes once what depends on nothing but tensors outside that it does not write to, such as weights in
      another layout, and again after somebody wrote to these; the results take memory of their own;
    - notices when a tensor outside was given other memory, and when names have other values by now. Names are
      the variables in its code and in that of the functions that it calls, and the attributes and items that
      lead on from these. Under values that it never had, the function runs again, and what it does is
      remembered for these values. Where that happens at most calls, it runs without the JIT from then on,
      after a `JitWarning`.

    Never noticed is a change in what no name leads to: files, the clock, the environment, what C extensions
    and libraries keep, names that are looked up in `globals()`. What the function itself changes in Python,
    and what it prints, happens while recording and not again. So make what changes an argument, or a tensor
    outside of the function.

    No gradient flows through what it returned, unlike what PyTorch compiled: jit the whole step, with
    `backward()` in it, not the model alone.

    With `JIT=0` or `CHECK=1`, and inside of another jitted function, the function just runs. Kernels in a row
    are given to the device as one graph where it has graphs; a function that is recorded with `JIT=2` is
    replayed kernel by kernel.

    Raises:
        JitError: this is no function; at a call, when the function reads a tensor's values (`item`, `numpy`,
            ...), computes something else at each call, keeps tensors outside that it does not return, or gets
            arguments that are neither tensors nor hashable.
        ShapeError: at a call, when a variable has a value with which a slice leaves its axis.

    Example:
        >>> @jit
        ... def double(x: Tensor) -> Tensor:
        ...     return x * 2
        >>> [double(Tensor([n])).tolist() for n in range(4)]
        [[0], [2], [4], [6]]
    """

    def __init__(self, function: Callable[P, R]) -> None:
        given: object = function
        if not callable(given):
            raise JitError(f"jit: {given!r:.80} ({type(given).__name__}) is no function. Pass what computes.")
        functools.update_wrapper(self, function)
        self._function = function
        self._states: OrderedDict[Hashable, _State] = OrderedDict()
        self._is_left_alone = False

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function, or replay what it did."""
        if not settings.JIT or settings.CHECK or self._is_left_alone or current_capture() is not None:
            return self._function(*args, **kwargs)
        if settings.DEBUG or settings.VIZ:
            install()
        inputs = read_inputs(args, kwargs)
        call = self._function, args, kwargs
        state = self._states.get(inputs.signature)
        if state is None:
            state = _State()
        else:
            with storage.lock:
                captured = state.find(call, inputs)
                if captured is not None:
                    return captured.replay(inputs)
        check_devices(inputs)
        changed, last = state.explain(call)
        trace = trace_call(self._function, args, kwargs, inputs)
        check_aliases(inputs, trace)
        state.add(trace, changed, last)
        self._remember(inputs.signature, state, trace)
        return results(trace, inputs, {s: b for s, b in zip(trace.stand_ins, inputs.buffers, strict=True)})

    def __repr__(self) -> str:
        name = getattr(self._function, "__qualname__", repr(self._function))
        how = "run without the JIT" if self._is_left_alone else f"{self.captures} captures"
        return f"<{type(self).__name__} of {name}: {how}>"

    @property
    def captures(self) -> int:
        """The number of signatures that are replayed.

        Example:
            >>> double = jit(lambda x: x * 2)
            >>> for _ in range(3):
            ...     _ = double(Tensor([1.0]).realize())
            >>> double.captures
            1
        """
        return sum(bool(state.captured) for state in self._states.values())

    def reset(self) -> None:
        """Forget all captures, and free their memory.

        Example:
            >>> double = jit(lambda x: x * 2)
            >>> for _ in range(3):
            ...     _ = double(Tensor([1.0]).realize())
            >>> double.reset()
            >>> double.captures
            0
        """
        self._states.clear()

    def _remember(self, signature: Hashable, state: "_State", trace: Trace) -> None:
        name = getattr(self._function, "__qualname__", "a function")
        problem = trace.guards.problem
        if problem or state.changes > _MOST_CHANGES:
            self._is_left_alone = True
            self._states.clear()
            what = f"{problem} cannot be read again" if problem else f"{state.changed} has ever new values"
            warnings.warn(
                f"{name} runs without the JIT from now on, since its code names what changes: {what}. Pass "
                "it as an argument, keep it in a tensor and assign to that, or do not name it.",
                JitWarning,
                stacklevel=3,
            )
            return
        if state.traces >= _MOST_TRACES:
            self._states.pop(signature, None)
            raise JitError(f"{name} cannot be jitted: {trace.problem or state.difference}")
        self._states[signature] = state
        self._states.move_to_end(signature)
        if len(self._states) > _MOST_SIGNATURES:
            self._states.popitem(last=False)


jit = TinyJit


class JitWarning(UserWarning):
    """A jitted function runs without the JIT from now on, as names change too often.

    Example:
        >>> steps = iter(range(9))
        >>> function = jit(lambda x: x * next(steps))
        >>> with warnings.catch_warnings(category=JitWarning, action="ignore"):
        ...     [function(Tensor([1])).item() for _ in range(4)]
        [0, 1, 2, 3]
    """


class _State:
    """The calls and captures of one signature.

    Attributes:
        captured: what may be replayed, each under the values of some names.
        traces: how many traces in a row had no equal, although no name had changed.
        changes: how many calls found a name changed, less those that were replayed.
        changed: the name that changed last.
        difference: what differed between the last two traces.
    """

    def __init__(self) -> None:
        self.captured: list[Captured] = []
        self.traces = self.changes = 0
        self.changed = self.difference = ""
        self._traced: list[tuple[Guards, Any]] = []

    def find(self, call: Call, inputs: Inputs) -> "Captured | None":
        """Return the captures that a call may replay."""
        for captured in self.captured:
            # usually the names have the values of the call before: a generator here takes half a microsecond
            if captured.guards[-1].hold(call) or captured.earlier_guards_hold(call):
                if captured.depends_on_tensors_outside and not captured.is_current(inputs):
                    self.captured.remove(captured)
                    return None
                if captured is not self.captured[0]:
                    self.captured.remove(captured)
                    self.captured.insert(0, captured)
                if self.changes:
                    self.changes -= 1
                return captured
        return None

    def explain(self, call: Call) -> "tuple[str, Any]":
        """Return the name with a new value, and the last action under known values."""
        for guards, agreement in reversed(self._traced):
            if guards.hold(call):
                return "", agreement
        known = (
            self.captured[0].guards[-1] if self.captured else self._traced[-1][0] if self._traced else None
        )
        return ("", None) if known is None else (known.difference(call), None)

    def add(self, trace: Trace, changed: str, last: Any) -> None:
        """Take note of one more call, and capture it if another one did the same."""
        if changed:
            self.changed = changed
            self.changes += 1
            last = self._traced[-1][1] if self._traced else None
        guards = [trace.guards]
        same = next((c for c in self.captured if changed and c.agreement == trace.agreement), None)
        if same is not None:
            self.captured.remove(same)
            guards = [*same.guards, *guards]
        if not trace.problem and (same is not None or (last is not None and last == trace.agreement)):
            guards = [*[g for g, agreement in self._traced if agreement == trace.agreement], *guards]
            self._traced = [each for each in self._traced if each[1] != trace.agreement]
            self.captured.insert(0, Captured(trace, guards[-_MOST_GUARDS:]))
            del self.captured[_MOST_CAPTURES:]
            self.traces = 0
            return
        if not changed or trace.problem:
            self.traces += 1
            if last is not None:
                self.difference = _describe_difference(last, trace.agreement)
        self._traced = [*self._traced, (trace.guards, trace.agreement)][-_MOST_GUARDS:]


def _describe_difference(agreement: Any, other: Any) -> str:
    before, after = agreement[0], other[0]
    advice = (
        "A Python value that changes from call to call is part of its kernels: pass it as an argument, or "
        "keep it in a tensor and assign to that. If gradients add up across calls, call zero_grad() in the "
        "function."
    )
    if len(before) != len(after):
        return f"one call ran {len(before)} kernels and copies, the next one {len(after)}. {advice}"
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            names = [step[0].program.name if step[0] is not None else "a copy" for step in (old, new)]
            what = names[0] if names[0] == names[1] else f"{names[0]} and then {names[1]}"
            return f"step {number} ({what}) differs from one call to the next. {advice}"
    return f"what it returns differs from one call to the next. {advice}"
