"""Graphs that torch.export makes, as functions of JAX."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch.export.graph_signature import InputKind

from suite.exported import networks, operations

_OPS = networks.OPS | operations.OPS


class _Function(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


def module_of(function: Callable[..., Any]) -> torch.nn.Module:
    """Return a function of tensors as a network without parameters."""
    return _Function(function)


class Exported:
    """A network of PyTorch as a function of its values and inputs.

    Attributes:
        values: its parameters, and with `train=False` its other tensors, by name.

    Args:
        network: the network.
        examples: inputs of the shapes and dtypes that it is exported for.

    Raises:
        NotImplementedError: an operation of the network that is not here.
    """

    def __init__(self, network: torch.nn.Module, examples: Sequence[torch.Tensor]) -> None:
        program = torch.export.export(network, tuple(examples))
        self._nodes = list(program.graph.nodes)
        specs = program.graph_signature.input_specs
        self._sources = {i.arg.name: i.target for i in specs if i.target}
        self._inputs = [i.arg.name for i in specs if i.kind is InputKind.USER_INPUT]
        self._results = program.graph_signature.user_outputs
        self._functions = {n: _function_of(n) for n in self._nodes if n.op == "call_function"}
        state = {**program.state_dict, **program.constants}
        tensors = {name: jnp.asarray(value.detach().numpy()) for name, value in state.items()}
        self.values = {name: tensors[name] for name, _ in network.named_parameters()}
        self._others = {name: value for name, value in tensors.items() if name not in self.values}

    def __call__(self, values: Mapping[str, jax.Array], *inputs: jax.Array) -> Any:
        """Return the network's result, or a list of several."""
        tensors = {**self._others, **values}
        given = dict(zip(self._inputs, inputs, strict=True))
        known: dict[Any, Any] = {}

        def read(argument: Any) -> Any:
            if isinstance(argument, torch.fx.Node):
                return known[argument]
            if isinstance(argument, Sequence) and not isinstance(argument, str):
                return [read(item) for item in argument]
            return argument

        for node in self._nodes:
            if node.op == "placeholder":
                is_given = node.name in given
                known[node] = given[node.name] if is_given else tensors.get(self._sources.get(node.name, ""))
            elif node in self._functions:
                options = {key: read(value) for key, value in node.kwargs.items()}
                known[node] = self._functions[node](*map(read, node.args), **options)
        by_name = {node.name: value for node, value in known.items()}
        results = [by_name[name] for name in self._results]
        return results[0] if len(results) == 1 else results


def _function_of(node: torch.fx.Node) -> Callable[..., Any]:
    name = getattr(node.target, "__name__", "").split(".")[0]
    found = _OPS.get(name) or getattr(jnp, name, None)
    if found is None:
        raise NotImplementedError(f"{name} has no function of JAX: add one to suite/exported/operations.py")
    return found
