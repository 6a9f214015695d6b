"""A case of the table of operations as data: call and meaning to NumPy."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# spelled by number of arguments, which types the parameters of lambdas
Meaning = (
    Callable[[], Any]
    | Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
)


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One case: a method of `Tensor`, called in one way on given elements.

    Attributes:
        name: the method.
        variation: what tells this case from others of that method.
        call: takes a tensor for each input and returns a tensor or several.
        reference: the same with arrays, all of whose floats are float64.
        inputs: the elements, in the dtypes that they are stored in.
        dtype: the dtype of the (first) result; None: that of the first input.
        order: how often it can be differentiated by its floats, 0 to 2. Derivatives are checked away from
            kinks only, so inputs with an order have none near.
        fixed: inputs that are not differentiated by, although they are floats.
        accuracy: how many times the usual error is allowed, where there is a reason; 0: results are exact.
        signed: whether zeros have to have the signs of the reference's.
        stored: dtypes that the call keeps in memory, beside those of inputs and result.

    Example:
        >>> case = Operation("neg", "reals", lambda x: -x, lambda x: -x, (np.ones(3),), order=2)
        >>> case.id
        'neg/reals'
    """

    name: str
    variation: str
    call: Meaning
    reference: Meaning
    inputs: tuple[Array, ...]
    dtype: str | None = None
    order: int = 0
    fixed: tuple[int, ...] = ()
    accuracy: float = 1.0
    signed: bool = False
    stored: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Return its name in reports."""
        return f"{self.name}/{self.variation}"

    @property
    def differentiated(self) -> tuple[int, ...]:
        """The inputs by which it is differentiated."""
        if not self.order:
            return ()
        floats = (i for i, x in enumerate(self.inputs) if x.dtype.kind == "f")
        return tuple(i for i in floats if i not in self.fixed)


def reals(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Array:
    """Return float32 numbers in random order, all distinct, none near multiples of 1/2.

    Example:
        >>> reals(2, 3).shape
        (2, 3)
    """
    count = math.prod(shape)
    spread = (np.arange(count) + 0.5) / max(count, 1)
    values = low + (high - low) * np.random.default_rng(seed).permutation(spread)
    # kinks of activations and rounding lie at multiples of 1/2
    near = np.round(values * 2) / 2
    away = np.where(values < near, -0.02, 0.02)
    return np.where(np.abs(values - near) < 0.02, near + away, values).astype(np.float32).reshape(shape)


def positive(*shape: int, seed: int = 0) -> Array:
    """Return float32 numbers from 0.1 to 3."""
    return reals(*shape, seed=seed, low=0.1, high=3.0)


def whole(*shape: int, seed: int = 0, low: int = -9, high: int = 10, dtype: str = "int32") -> Array:
    """Return integers of `low` to `high - 1`."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def bools(*shape: int, seed: int = 0) -> Array:
    """Return truth values."""
    return np.random.default_rng(seed).random(shape) < 0.5


#: Where floats are special.
EDGES = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        3e-3,
        7.75,
        -7.25,
        1e-30,
        1e10,
        np.inf,
        -np.inf,
        np.nan,
    ],
    np.float32,
)
EMPTY = np.zeros((2, 0, 3), np.float32)
