"""Run the graphs inside of a graph: branches and loops."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from plugrad import Tensor
from plugrad_onnx.graph import Call, Graph
from plugrad_onnx.registry import operator
from plugrad_onnx.sizes import as_number
from plugrad_onnx.values import Narrow, Value, dtype_of, from_array, sizes_of, to_array

# iterations that a loop may have: each builds its graph, and files from strangers ask for 2**62 of them
_MOST_ITERATIONS = 100_000
# iterations of a loop between two computations of its state, so that no graph grows without end
_REALIZED_EVERY = 32


@operator("If")
def if_else(cond: bool, *, then_branch: Graph, else_branch: Graph, call: Call) -> tuple[Value, ...]:
    """Return the outputs of one of two graphs."""
    return tuple(call.run(then_branch if cond else else_branch))


@operator("Loop")
def loop(
    trip_count: int | None = None, cond: bool | None = None, *initial: Value, body: Graph, call: Call
) -> tuple[Value, ...]:
    """Run a graph for a count or while its condition holds; return state and outputs."""
    if (trip_count or 0) > _MOST_ITERATIONS or (trip_count is None and cond is None):
        found = trip_count or "no end"
        raise ValueError(f"a loop has at most {_MOST_ITERATIONS} iterations, and this one {found}")
    state, goes_on, collected = list(initial), cond is not False, _Collected(body, len(initial))
    i = 0
    while goes_on and (trip_count is None or i < trip_count):
        again, *outputs = call.run(body, np.array(i, np.int64), np.array(True), *state)
        goes_on = cond is None or _truth(again)
        state = outputs[: len(state)]
        collected.add(outputs[len(state) :])
        i += 1
        if i > _MOST_ITERATIONS:
            raise ValueError(f"a loop has at most {_MOST_ITERATIONS} iterations, and this one goes on")
        if i % _REALIZED_EVERY == 0:
            Tensor.realize(*tensors) if (tensors := [v for v in state if isinstance(v, Tensor)]) else None
    return *state, *collected.stacked([0] * len(collected.values))


def _truth(value: Value) -> bool:
    if not isinstance(value, Tensor | np.ndarray):
        raise TypeError("a condition is a tensor")
    return bool(to_array(value).reshape(-1)[0])


class _Collected:
    """Collect what each iteration puts out."""

    def __init__(self, body: Graph, states: int, first: int = 1) -> None:
        self.names = body.outputs[first + states :]
        self._declared = body.declared[first + states :]
        self.values: list[list[Value]] = [[] for _ in self.names]

    def add(self, outputs: Sequence[Value]) -> None:
        """Keep the outputs of one iteration."""
        for kept, value in zip(self.values, outputs, strict=True):
            kept.append(value)

    def stacked(self, axes: Sequence[int], backward: Sequence[int] = ()) -> list[Value]:
        """Return each output of all iterations as one tensor."""
        out: list[Value] = []
        for i, (name, kept, axis) in enumerate(zip(self.names, self.values, axes, strict=True)):
            if not kept:
                out.append(self._nothing(i, name, axis))
                continue
            ordered = kept[::-1] if i < len(backward) and backward[i] else kept
            out.append(stack(ordered, axis))
        return out

    def _nothing(self, i: int, name: str, axis: int) -> Tensor:
        """Return an output of no iteration."""
        declared = self._declared[i]
        if declared is None:
            raise ValueError(f"no iteration ran, so the shape of {name!r} is not known")
        kind, sizes = declared
        at = axis % (len(sizes) + 1)
        return Tensor.zeros(*sizes[:at], 0, *sizes[at:], dtype=dtype_of(kind))


def stack(values: Sequence[Value], axis: int) -> Value:
    """Return tensors as one with a new axis."""
    if all(isinstance(value, np.ndarray) for value in values):
        return np.stack([np.asarray(value) for value in values], axis)
    tensors = [tensor_of(value) for value in values]
    return tensors[0].stack(*tensors[1:], axis=axis) if len(tensors) > 1 else tensors[0].unsqueeze(axis)


def tensor_of(value: Value) -> Tensor:
    """Return a value as a Tensor.

    Raises:
        TypeError: it is none.
    """
    value = from_array(value) if isinstance(value, np.ndarray) else value
    if isinstance(value, Narrow) or not isinstance(value, Tensor):
        raise TypeError("a sequence or a narrow type stands where a tensor is needed")
    return value


@operator("Scan", since=9)
def scan(
    *inputs: Value,
    body: Graph,
    num_scan_inputs: int,
    scan_input_axes: tuple[int, ...] = (),
    scan_input_directions: tuple[int, ...] = (),
    scan_output_axes: tuple[int, ...] = (),
    scan_output_directions: tuple[int, ...] = (),
    call: Call,
) -> tuple[Value, ...]:
    """Run a graph along axes of inputs; return its last state and its outputs."""
    states = len(inputs) - num_scan_inputs
    state: list[Value] = list(inputs[:states])
    scanned = [tensor_of(value) for value in inputs[states:]]
    axes = scan_input_axes or (0,) * num_scan_inputs
    backward = scan_input_directions or (0,) * num_scan_inputs
    length = as_number(sizes_of(scanned[0])[axes[0]])
    collected = _Collected(body, states, first=0)
    for i in range(length):
        slices: list[Value] = [
            x.select(axis, length - 1 - i if back else i)
            for x, axis, back in zip(scanned, axes, backward, strict=True)
        ]
        outputs = call.run(body, *state, *slices)
        state = outputs[:states]
        collected.add(outputs[states:])
    places = scan_output_axes or (0,) * len(collected.values)
    return *state, *collected.stacked(places, scan_output_directions)


@operator("Scan", until=8)
def scan_of_batch(
    sequence_lens: Value,
    *inputs: Value,
    body: Graph,
    directions: tuple[int, ...] = (),
    num_scan_inputs: int,
    call: Call,
) -> tuple[Value, ...]:
    """Run a graph along axis 1 of its inputs, for each sample of axis 0."""
    if sequence_lens is not None:
        raise ValueError("sequences of different lengths are not supported")
    whole: list[Any] = [tensor_of(value) for value in inputs]
    results = [
        scan(
            *(x[sample] for x in whole),
            body=body,
            num_scan_inputs=num_scan_inputs,
            scan_input_directions=directions,
            call=call,
        )
        for sample in range(as_number(sizes_of(whole[0])[0]))
    ]
    return tuple(stack(several, 0) for several in zip(*results, strict=True))
