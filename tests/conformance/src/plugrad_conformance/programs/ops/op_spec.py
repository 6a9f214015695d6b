"""The specification of an operation, tame values, and proposals of parameters.

Floats are small multiples of 1/16 throughout, so that every order of computing gives the same bits and
results can be compared exactly; a step whose result would be anything else is not taken. Only an operation
that says within which bounds its result may lie computes with others: nothing goes on with what it rounded.
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.programs.program import Array

INTS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "float32", "float64")
DTYPES = ("bool", *INTS, *FLOATS)
MOST_ELEMENTS = 400
_GRAIN, _MOST = 16, 1 << 12
_EXACT_SUM = float(1 << 16)

Params = tuple[Any, ...]
Propose = Callable[[random.Random, list[Array]], Params | None]
# spelled by number of arguments, which types the parameters of lambdas
Meaning = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
)


@dataclass(frozen=True)
class OpSpec:
    """An operation of random programs.

    Attributes:
        name: what programs call it.
        arity: how many values it takes.
        on_numpy: what it means; an operation that changes its first operand does so in place and returns it.
        on_tensor: the same with tensors.
        propose: gives parameters for chosen operands, or None where the op does not apply to them.
        is_view: whether the result shows memory of the first operand.
        changes: whether it changes its first operand.
        reads: whether it reads values while the program is built, which jitted functions refuse.
        bounds: the least and the greatest result, where roundings may be left out; None if only one is right.
    """

    name: str
    arity: int
    on_numpy: Callable[..., Any]
    on_tensor: Callable[..., Tensor]
    propose: Propose
    is_view: bool = False
    changes: bool = False
    reads: bool = False
    bounds: Callable[..., tuple[Array, Array]] | None = None


def _nothing(rng: random.Random, xs: list[Array]) -> Params | None:
    return ()


def op(
    name: str,
    arity: int,
    on_numpy: Meaning,
    on_tensor: Meaning,
    propose: Propose = _nothing,
    *,
    is_view: bool = False,
    changes: bool = False,
    reads: bool = False,
    bounds: Callable[..., tuple[Array, Array]] | None = None,
) -> OpSpec:
    """Return an operation; without `propose` it takes any operands and no parameters."""
    return OpSpec(name, arity, on_numpy, on_tensor, propose, is_view, changes, reads, bounds)


def is_tame(array: Array) -> bool:
    """Say whether all floats of `array` are small multiples of 1/16; other dtypes always are."""
    if array.dtype.kind != "f":
        return True
    wide = array.astype(np.float64) * _GRAIN
    return bool(np.all(np.abs(wide) <= _GRAIN * _MOST) and np.all(wide == np.trunc(wide)))


def random_array(rng: random.Random) -> Array:
    """Return an array of random shape, dtype and tame values."""
    shape = tuple(rng.choice((1, 1, 2, 3, 3, 4, 5, 7)) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4))))
    if rng.random() < 0.03 and shape:
        shape = (*shape[:-1], 0)
    while math.prod(shape) > MOST_ELEMENTS:
        shape = shape[1:]
    return array_of(rng, shape, rng.choice((*DTYPES, "float32", "float32", "int32")))


def array_of(rng: random.Random, shape: tuple[int, ...], dtype: str) -> Array:
    """Return an array of tame random values."""
    count = math.prod(shape)
    if dtype == "bool":
        values = [rng.random() < 0.5 for _ in range(count)]
    elif dtype in FLOATS:
        values = [rng.randint(-64, 64) / 8 for _ in range(count)]
    else:
        info = np.iinfo(dtype)
        low, high = (info.min, info.max) if rng.random() < 0.2 else (max(-9, info.min), 9)
        values = [rng.randint(int(low), int(high)) for _ in range(count)]
    return np.array(values, dtype).reshape(shape)


def of_kind(kinds: str) -> Propose:
    """Propose nothing for a first operand of the given kinds, as NumPy names them."""
    return lambda rng, xs: () if xs[0].dtype.kind in kinds else None


def alike(kinds: str, both: Callable[[Array, Array], bool] = lambda x, y: True) -> Propose:
    """Propose nothing for two last operands of one dtype, of the given kinds, that broadcast."""

    def propose(rng: random.Random, xs: list[Array]) -> Params | None:
        x, y = xs[-2:]
        if x.dtype != y.dtype or x.dtype.kind not in kinds or not together(*xs):
            return None
        return () if both(x, y) else None

    return propose


def together(*xs: Array) -> bool:
    """Say whether operands broadcast to a shape that is not too large."""
    try:
        return math.prod(np.broadcast_shapes(*(x.shape for x in xs))) <= MOST_ELEMENTS
    except ValueError:
        return False


def reaches(value: Array, target: Array) -> bool:
    """Say whether `value` broadcasts to the shape of `target`."""
    try:
        return np.broadcast_shapes(value.shape, target.shape) == target.shape
    except ValueError:
        return False


def some_axis(rng: random.Random, xs: list[Array]) -> Params | None:
    """Propose an axis of an operand that has elements."""
    return (rng.randrange(xs[0].ndim),) if xs[0].ndim and xs[0].size else None


def exact_sums(propose: Propose) -> Propose:
    """Restrict `propose` to operands whose partial sums are exact in any order.

    Sums of products of multiples of 1/16 are exact in 24 bits while they stay below `_EXACT_SUM`.
    """

    def proposed(rng: random.Random, xs: list[Array]) -> Params | None:
        if xs[0].dtype.kind == "f":
            most = _EXACT_SUM / 64 if xs[0].dtype == np.float16 else _EXACT_SUM
            if math.prod(float(np.abs(x.astype(np.float64)).sum()) for x in xs) >= most:
                return None
        return propose(rng, xs)

    return proposed


def slices(rng: random.Random, shape: tuple[int, ...], steps: tuple[int, ...]) -> tuple[slice | int, ...]:
    """Return a basic index of `shape`: slices of `steps`, now and then an integer."""
    out: list[slice | int] = []
    for size in shape:
        if size and rng.random() < 0.15:
            out.append(rng.randrange(-size, size))
            continue
        step = rng.choice(steps)
        a, b = (None if rng.random() < 0.4 else rng.randint(-size - 1, size + 1) for _ in range(2))
        out.append(slice(a, b, step))
    return tuple(out)
