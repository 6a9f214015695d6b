"""One operation beside torch, and short ways to write it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation at one size.

    Attributes:
        name: of the operation, with what matters of its size.
        inputs: arrays that both libraries get.
        plugrad: what plugrad is asked for.
        torch: the same of torch.
        backward: measure the gradient for all inputs of floats, with what leads to it.
        eager: do not jit: the shape of the result depends on values.
        compares: whether both give the same, up to rounding: random numbers do not.
        dtype: convert inputs of floats to that, for dtypes that NumPy lacks or that are compared.
    """

    name: str
    inputs: tuple[Array, ...]
    plugrad: Function
    torch: Function
    backward: bool = False
    eager: bool = False
    compares: bool = True
    dtype: str = "float32"


def floats(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def whole(high: int, *shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).integers(0, high, shape)


def method(name: str, *arguments: Any, **options: Any) -> Function:
    return lambda x, *others: getattr(x, name)(*others, *arguments, **options)


def same(name: str, *inputs: Array, title: str = "", dim: int | None = None, **how: Any) -> Operation:
    """Return the case of a method that both libraries have under one name."""
    options = {} if dim is None else {"axis": dim}
    shape = " x ".join(map(str, inputs[0].shape))
    return Operation(
        title or f"{name} ({shape}){'' if dim is None else f' along {dim}'}",
        inputs,
        method(name, **options),
        method(name, **({} if dim is None else {"dim": dim})),
        **how,
    )


def both(name: str, inputs: Sequence[Array], ours: Function, theirs: Function | None = None, **how: Any):
    return Operation(name, tuple(inputs), ours, theirs or ours, **how)
