"""Models in JAX, jitted: `python -m suite.models.with_jax INDEX` prints the peak memory of one.

PyTorch exports each network as a graph of some thirty operations, which run in JAX.
"""

import os

# one thread, as the others have
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

from typing import Any

import jax
import jax.numpy as jnp
import torch

from suite.exported import Exported
from suite.models import with_torch
from suite.models.cases import RATE, Case
from suite.models.peak import Call, print_peak


def make_call(case: Case, network: torch.nn.Module) -> Call:
    """Return what computes the network's result, or takes a step and returns its loss."""
    network.train(case.labels is not None)
    exported = Exported(network, [torch.from_numpy(case.example)])
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
