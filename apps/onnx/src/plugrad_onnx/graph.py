"""Prepare graphs of nodes as lists of steps, and run them."""

import contextlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from plugrad.errors import DeviceError, JitError, PlugradError
from plugrad_onnx.errors import NodeError
from plugrad_onnx.host import fold
from plugrad_onnx.registry import Operator
from plugrad_onnx.values import Array, Value

# what an operator raises when its inputs do not fit it
_MISFITS = (PlugradError, ValueError, TypeError, LookupError, ArithmeticError)


@dataclass
class Scope:
    """Hold the values of one run of a graph and of the graph around it.

    Attributes:
        values: by name.
        outer: the scope of the graph around, whose values can be read too.
    """

    values: dict[str, Value] = field(default_factory=dict[str, Value])
    outer: "Scope | None" = None

    def __getitem__(self, name: str) -> Value:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        raise KeyError(f"no value is called {name!r}")


@dataclass(frozen=True)
class Call:
    """Tell an operator about the node that it computes.

    Attributes:
        opset: version of the operator's domain.
        outputs: names of the outputs, empty for those that nobody asks for.
        scope: values that subgraphs may read.
    """

    opset: int
    outputs: tuple[str, ...]
    scope: Scope

    def wants(self, position: int) -> bool:
        """Say whether somebody reads the output at this position."""
        return position < len(self.outputs) and bool(self.outputs[position])

    def run(self, graph: "Graph", *inputs: Value) -> list[Value]:
        """Run a subgraph on inputs by position."""
        return graph.run(dict(zip(graph.inputs, inputs, strict=False)), self.scope)


@dataclass(frozen=True)
class Step:
    """Compute the outputs of one node.

    Attributes:
        label: node, operator and opset, for messages.
        operator: the function.
        opset: version of the operator's domain.
        inputs: names of the inputs, empty for those left out.
        outputs: names of the outputs, empty for those that nobody asks for.
        attributes: by name, as Python's values.
        last_used: names whose last reader this is.
    """

    label: str
    operator: Operator
    opset: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    last_used: tuple[str, ...] = ()

    def run(self, scope: Scope) -> None:
        """Compute the outputs and put them into the scope."""
        with self.names_errors():
            inputs = [scope[name] if name else None for name in self.inputs]
            result = self.compute(inputs, scope)
            several = cast(tuple[Value, ...], result if isinstance(result, tuple) else (result,))
            if len(several) < sum(map(bool, self.outputs)):
                raise ValueError(
                    f"{len(self.outputs)} outputs are asked for, of which there are {len(several)}"
                )
        scope.values.update((name, value) for name, value in zip(self.outputs, several, strict=False) if name)

    def compute(self, inputs: list[Value], scope: Scope) -> Any:
        """Return the outputs, on the host where all inputs are there and small."""
        folded = fold(self.operator, inputs, self.attributes)
        if folded is not None:
            return folded
        return self.operator(inputs, self.attributes, call=Call(self.opset, self.outputs, scope))

    @contextlib.contextmanager
    def names_errors(self) -> Generator[None]:
        """Name the node in errors that come out of the block."""
        try:
            yield
        except (DeviceError, JitError) as error:
            error.add_note(f"while computing {self.label}")
            raise
        except NodeError:
            raise  # of a node inside a subgraph, which is nearer to the cause
        except _MISFITS as error:
            raise NodeError(f"{self.label}: {error}", node=self.label, operator=self.operator.name) from error


@dataclass(frozen=True)
class Graph:
    """Hold a prepared graph.

    Attributes:
        name: of the graph.
        inputs: names, in order.
        outputs: names, in order.
        constants: initializers on the host.
        steps: in the order in which they run.
        declared: element type and sizes of each output, where they are declared; 0 for unknown sizes.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, Value]
    steps: tuple[Step, ...]
    declared: tuple[tuple[int, tuple[int, ...]] | None, ...] = ()

    def run(self, inputs: Mapping[str, Value], outer: Scope | None = None) -> list[Value]:
        """Compute the outputs from inputs by name."""
        scope = Scope({**self.constants, **inputs}, outer)
        for step in self.steps:
            step.run(scope)
            for name in step.last_used:
                scope.values.pop(name, None)
        return [scope[name] for name in self.outputs]


def find_last_uses(steps: Sequence[Step], kept: Sequence[str]) -> dict[int, list[str]]:
    """Return, for each step by position, the names that no later step reads."""
    last: dict[str, int] = {}
    for position, step in enumerate(steps):
        for name in (*step.outputs, *names_read(step)):
            last[name] = position
    uses: dict[int, list[str]] = {}
    for name, position in last.items():
        if name and name not in kept:
            uses.setdefault(position, []).append(name)
    return uses


def names_read(step: Step) -> set[str]:
    """Return the names that a step reads, those inside its subgraphs included."""
    names = set(step.inputs)
    for value in step.attributes.values():
        if isinstance(value, Graph):
            names |= set(value.outputs).union(*map(names_read, value.steps))
    return names


def is_small(array: Array) -> bool:
    """Say whether a constant is of the kind that shape arithmetic reads."""
    return array.size <= 4096 if array.dtype.kind in "biu" else array.size == 1
