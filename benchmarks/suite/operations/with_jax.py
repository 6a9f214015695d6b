"""Operations in JAX, jitted: what PyTorch exports of each, run by `suite.exported`."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from suite.exported import Exported, module_of
from suite.operations.operation import Operation

jax.config.update("jax_enable_x64", True)


def make_call(operation: Operation, inputs: Sequence[torch.Tensor]) -> Callable[[], Any] | None:
    """Return what computes the operation's results and waits for them; None if JAX has no such one."""
    if operation.eager:
        # the shapes of its results depend on values
        return None
    inputs = [tensor.detach() for tensor in inputs]
    try:
        exported = Exported(module_of(operation.torch), inputs)
    except NotImplementedError:
        return None
    arrays = [_array(tensor) for tensor in inputs]
    floats = [i for i, array in enumerate(arrays) if jnp.issubdtype(array.dtype, jnp.floating)]

    def function(*arrays: jax.Array) -> Any:
        return exported({}, *arrays)

    def gradients(flow: jax.Array, *arrays: jax.Array) -> Any:
        def result(*targets: jax.Array) -> Any:
            given = dict(zip(floats, targets, strict=True))
            return exported({}, *(given.get(i, array) for i, array in enumerate(arrays)))

        return jax.vjp(result, *(arrays[i] for i in floats))[1](flow)

    if operation.backward:
        # an input, as for plugrad: XLA computes with a constant while it compiles
        arrays = [jnp.ones_like(function(*arrays)), *arrays]
    run = jax.jit(gradients if operation.backward else function)
    return lambda: jax.block_until_ready(run(*arrays))


def _array(tensor: torch.Tensor) -> jax.Array:
    if tensor.dtype is torch.bfloat16:
        return jnp.asarray(tensor.float().numpy(), jnp.bfloat16)
    return jnp.asarray(np.asarray(tensor))
