"""The work of the cases in JAX, jitted, on the CPU."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from suite.data import floats, labels

Thunk = Callable[[], Any]


def _tensor(*shape: int, seed: int = 0) -> jax.Array:
    return jnp.asarray(floats(*shape, seed=seed))


def _jitted(function: Callable[..., jax.Array], *inputs: jax.Array) -> Thunk:
    jitted = jax.jit(function)
    # calls return before their results are there
    return lambda: jitted(*inputs).block_until_ready()


def op_call(n: int) -> Thunk:
    a, b = _tensor(n), _tensor(n, seed=1)
    return lambda: (a + b).block_until_ready()


def jit_call(n: int) -> Thunk:
    return _jitted(lambda a, b: a + b, _tensor(n), _tensor(n, seed=1))


def chain(n: int) -> Thunk:
    return _jitted(lambda x: jax.nn.relu((x + 1) * 2 - 0.5) + 3, _tensor(n))


def total(n: int) -> Thunk:
    return _jitted(jnp.sum, _tensor(n))


def softmax(n: int) -> Thunk:
    return _jitted(lambda x: jax.nn.softmax(x, 1), _tensor(n, n))


def layernorm(n: int) -> Thunk:
    def run(x: jax.Array) -> jax.Array:
        centered = x - x.mean(1, keepdims=True)
        return centered * lax.rsqrt(jnp.square(centered).mean(1, keepdims=True) + 1e-5)

    return _jitted(run, _tensor(n, n))


def matmul(n: int) -> Thunk:
    return _jitted(jnp.matmul, _tensor(n, n), _tensor(n, n, seed=1))


def matmul_transposed(n: int) -> Thunk:
    return _jitted(lambda a, b: a @ b.T, _tensor(n, n), _tensor(n, n, seed=1))


def gemv(n: int) -> Thunk:
    return _jitted(jnp.matmul, _tensor(n, n), _tensor(n, seed=1))


def attention(heads: int, tokens: int, size: int) -> Thunk:
    q, k, v = (_tensor(heads, tokens, size, seed=seed) for seed in range(3))
    return _jitted(lambda q, k, v: jax.nn.softmax(q @ k.mT * size**-0.5, -1) @ v, q, k, v)


def conv2d(batch: int, channels: int, size: int, filters: int) -> Thunk:
    x, w = _tensor(batch, channels, size, size), _tensor(filters, channels, 3, 3, seed=1)
    return _jitted(lambda x, w: _convolution(x, w), x, w)


def _convolution(x: jax.Array, w: jax.Array) -> jax.Array:
    return lax.conv_general_dilated(x, w, (1, 1), ((1, 1), (1, 1)))


def train_step(batch: int) -> Thunk:
    def network(weights: Any, x: jax.Array) -> jax.Array:
        for w, scale, shift in (weights[:3], weights[3:6]):
            x = _convolution(x, w)
            centered = x - x.mean((0, 2, 3), keepdims=True)
            x = centered * lax.rsqrt(jnp.square(centered).mean((0, 2, 3), keepdims=True) + 1e-5)
            x = jax.nn.relu(x * scale[:, None, None] + shift[:, None, None])
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        return x.reshape(batch, -1) @ weights[6] + weights[7]

    weights = [
        *(_tensor(16, 1, 3, 3) / 3, jnp.ones(16), jnp.zeros(16)),
        *(_tensor(32, 16, 3, 3, seed=1) / 12, jnp.ones(32), jnp.zeros(32)),
        *(_tensor(512, 10, seed=2) / 23, jnp.zeros(10)),
    ]
    return _training(network, weights, _tensor(batch, 1, 8, 8), _adam)


def mlp_step(batch: int) -> Thunk:
    def network(weights: Any, x: jax.Array) -> jax.Array:
        return jax.nn.relu(x @ weights[0] + weights[1]) @ weights[2] + weights[3]

    weights = [_tensor(784, 512) / 28, jnp.zeros(512), _tensor(512, 10, seed=1) / 23, jnp.zeros(10)]
    return _training(network, weights, _tensor(batch, 784), _sgd)


def _training(network: Any, weights: list[jax.Array], x: jax.Array, update: Any) -> Thunk:
    """Return what takes a step of training and returns its loss."""
    y = jnp.asarray(labels(x.shape[0]))

    def loss(weights: Any) -> jax.Array:
        scores = jax.nn.log_softmax(network(weights, x))
        return -jnp.take_along_axis(scores, y[:, None], 1).mean()

    @jax.jit
    def step(weights: Any, state: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights)
        return value, *update(weights, gradients, state)

    kept: list[Any] = [weights, None if update is _sgd else _moments(weights)]

    def run() -> jax.Array:
        value, *kept[:] = step(*kept)
        return value.block_until_ready()

    return run


def _sgd(weights: Any, gradients: Any, state: None) -> tuple[Any, None]:
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients), state


def _moments(weights: Any) -> Any:
    zeros = jax.tree.map(jnp.zeros_like, weights)
    return zeros, zeros, jnp.zeros(())


def _adam(weights: Any, gradients: Any, state: Any) -> tuple[Any, Any]:
    """Return weights and state after a step of Kingma and Ba 2015, Algorithm 1."""
    means, squares, count = state
    count = count + 1
    means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradients)
    squares = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, squares, gradients)

    def moved(w: jax.Array, m: jax.Array, s: jax.Array) -> jax.Array:
        return w - 3e-3 * (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.999**count)) + 1e-8)

    return jax.tree.map(moved, weights, means, squares), (means, squares, count)
