"""Models in JAX, jitted: `python -m suite.models.with_jax INDEX` prints the peak memory of one.

PyTorch exports each network as a graph of some thirty operations, and these run in JAX.
"""

import os

# one thread, as the others have
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch.export.graph_signature import InputKind

from suite.models import with_torch
from suite.models.cases import RATE, Case
from suite.models.exported_ops import OPS
from suite.models.peak import Call, print_peak


class Exported:
    """A network of PyTorch as a function of its values and an input.

    Attributes:
        values: its parameters, and with `train=False` its other tensors, by name.
    """

    def __init__(self, network: torch.nn.Module, example: torch.Tensor) -> None:
        program = torch.export.export(network, (example,))
        self._nodes = list(program.graph.nodes)
        self._sources = {i.arg.name: i.target for i in program.graph_signature.input_specs if i.target}
        (self._input,) = (
            i.arg.name for i in program.graph_signature.input_specs if i.kind is InputKind.USER_INPUT
        )
        self._result = program.graph_signature.user_outputs[0]
        state = {**program.state_dict, **program.constants}
        tensors = {name: jnp.asarray(value.detach().numpy()) for name, value in state.items()}
        self.values = {name: tensors[name] for name, _ in network.named_parameters()}
        self._others = {name: value for name, value in tensors.items() if name not in self.values}

    def __call__(self, values: Mapping[str, jax.Array], x: jax.Array) -> jax.Array:
        """Return the network's result."""
        known: dict[Any, Any] = {}

        def read(argument: Any) -> Any:
            if isinstance(argument, torch.fx.Node):
                return known[argument]
            if isinstance(argument, Sequence) and not isinstance(argument, str):
                return [read(item) for item in argument]
            return argument

        for node in self._nodes:
            if node.op == "placeholder":
                source = self._sources.get(node.name, "")
                known[node] = x if node.name == self._input else {**self._others, **values}.get(source)
            elif node.op == "call_function":
                name = node.target.__name__.split(".")[0]
                options = {key: read(value) for key, value in node.kwargs.items()}
                known[node] = OPS[name](*map(read, node.args), **options)
        return next(value for node, value in known.items() if node.name == self._result)


def make_call(case: Case, network: torch.nn.Module) -> Call:
    """Return what computes the network's result, or takes a step and returns its loss."""
    network.train(case.labels is not None)
    exported = Exported(network, torch.from_numpy(case.example))
    x = jnp.asarray(case.example)
    if case.labels is None:
        # XLA lays out weights once that are constants, and at each call those that are passed
        run = jax.jit(lambda x: exported(exported.values, x))
        return lambda: jax.device_get(run(x))
    y = jnp.asarray(case.labels.reshape(-1))

    def loss(values: Any) -> jax.Array:
        scores = jax.nn.log_softmax(exported(values, x))
        return -jnp.take_along_axis(scores, y[:, None], 1).mean()

    def step(values: Any, means: Any, squares: Any, count: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(values)
        moved = jax.tree.map(
            lambda w, m, s, g: _adamw(w, m, s, g, count, case.decay), values, means, squares, gradients
        )
        kept = [jax.tree.map(lambda w, new, n=n: new[n], values, moved) for n in range(3)]
        return value, *kept, count + 1

    run = jax.jit(step, donate_argnums=(0, 1, 2))
    zeros = jax.tree.map(jnp.zeros_like, exported.values)
    kept: list[Any] = [jax.tree.map(jnp.copy, exported.values), zeros, jax.tree.map(jnp.copy, zeros), 1.0]

    def call() -> float:
        value, *kept[:] = run(*kept)
        return float(value)

    return call


def _adamw(
    w: jax.Array, mean: jax.Array, square: jax.Array, grad: jax.Array, count: Any, decay: float
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the parameter and both moments after a step of Loshchilov and Hutter 2019, Algorithm 2."""
    mean, square = 0.9 * mean + 0.1 * grad, 0.999 * square + 0.001 * grad * grad
    root = jnp.sqrt(square / (1 - 0.999**count)) + 1e-8
    return w * (1 - RATE * decay) - RATE * mean / (1 - 0.9**count) / root, mean, square


if __name__ == "__main__":
    print_peak(lambda case: make_call(case, with_torch.make_network(case)))
