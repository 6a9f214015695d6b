"""Random functions that are built again while their first values are kept.

Some of these were realized or read. Values may then come from memory; gradients still have to know how
each value is computed. NumPy says what is right: functions are evaluated at complex numbers, where a tiny
imaginary step along an input gives the derivative to the last digit.
Source: W. Squire and G. Trapp, "Using complex variables to estimate derivatives of real functions", 1998.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrad.errors import PlugradError
from plugrad.jit import jit
from plugrad.tensor import Tensor

Array = NDArray[Any]
Values = list[Any]

_SHAPE = (2, 3)
_STEP = 1e-40
_MOST = 50.0
_CALLS = 4
_TOLERANCE = {"float32": 3e-3, "float64": 1e-7}


@dataclass(frozen=True)
class Op:
    """One operation, on arrays of complex numbers and on tensors.

    Attributes:
        on_numpy: what it means.
        on_tensor: the same.
        arity: how many values it takes.
        is_smooth: whether there is a derivative at given real values.
    """

    on_numpy: Callable[..., Any]
    on_tensor: Callable[..., Any]
    arity: int = 1
    is_smooth: Callable[..., Any] = lambda *xs: True


def _greatest(x: Array, axis: int) -> Array:
    return np.take_along_axis(x, np.argmax(np.real(x), axis, keepdims=True), axis)


def _is_greatest_alone(x: Array) -> bool:
    ordered = np.sort(x, 1)
    return x.shape[1] == 1 or bool(np.all(ordered[:, -1] - ordered[:, -2] > 0.01))


def _is_apart(x: Array, y: Array) -> Any:
    return np.abs(x - y) > 0.01


OPS: dict[str, Op] = {
    "reciprocal": Op(lambda x: 1 / x, lambda x: x.reciprocal(), is_smooth=lambda x: np.abs(x) > 0.2),
    "exp": Op(np.exp, lambda x: x.exp(), is_smooth=lambda x: x < 3),
    "log": Op(np.log, lambda x: x.log(), is_smooth=lambda x: x > 0.1),
    "sqrt": Op(np.sqrt, lambda x: x.sqrt(), is_smooth=lambda x: x > 0.1),
    "sin": Op(np.sin, lambda x: x.sin()),
    "tanh": Op(np.tanh, lambda x: x.tanh()),
    "square": Op(lambda x: x * x, lambda x: x * x),
    "double": Op(lambda x: x * 2, lambda x: x * 2),
    "shift": Op(lambda x: x - 2.5, lambda x: x - 2.5),
    "raise": Op(lambda x: x + 4, lambda x: x + 4),
    "negate": Op(lambda x: -x, lambda x: -x),
    "abs": Op(lambda x: x * np.sign(x.real), lambda x: x.abs(), is_smooth=lambda x: np.abs(x) > 0.01),
    "relu": Op(lambda x: x * (x.real > 0), lambda x: x.relu(), is_smooth=lambda x: np.abs(x) > 0.01),
    "sum": Op(lambda x: x.sum(1, keepdims=True), lambda x: x.sum(1, keepdim=True)),
    "sum_all": Op(lambda x: x.sum((0, 1), keepdims=True), lambda x: x.sum((0, 1), keepdim=True)),
    "mean": Op(lambda x: x.mean(0, keepdims=True), lambda x: x.mean(0, keepdim=True)),
    "greatest": Op(lambda x: _greatest(x, 1), lambda x: x.max(1, keepdim=True), is_smooth=_is_greatest_alone),
    "softmax": Op(lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True), lambda x: x.softmax(1)),
    "flip": Op(lambda x: x[:, ::-1], lambda x: x.flip(1)),
    "turn": Op(lambda x: x.reshape(-1, 1)[: x.shape[0]], lambda x: x.reshape(-1, 1)[: x.shape[0]]),
    "first": Op(lambda x: x[:1], lambda x: x[:1]),
    "shifted": Op(lambda x: np.pad(x, [(0, 0), (1, 0)])[:, :-1], lambda x: x.pad([(0, 0), (1, 0)])[:, :-1]),
    "copy": Op(lambda x: x, lambda x: x.contiguous()),
    "detach": Op(lambda x: x.real + 0j, lambda x: x.detach()),
    "add": Op(lambda x, y: x + y, lambda x, y: x + y, 2),
    "sub": Op(lambda x, y: x - y, lambda x, y: x - y, 2),
    "mul": Op(lambda x, y: x * y, lambda x, y: x * y, 2),
    "div": Op(lambda x, y: x / y, lambda x, y: x / y, 2, lambda x, y: np.abs(y) > 0.2),
    "product": Op(
        lambda x, y: (x + 0 * y) @ (y + 0 * x).T @ (x + 0 * y),
        lambda x, y: (x + 0 * y) @ (y + 0 * x).T @ (x + 0 * y),
        2,
    ),
    "maximum": Op(lambda x, y: np.where(x.real > y.real, x, y), lambda x, y: x.maximum(y), 2, _is_apart),
    "choose": Op(
        lambda x, y: np.where(x.real > 0, x, y),
        lambda x, y: (x > 0).where(x, y),
        2,
        lambda x, y: np.abs(x) > 0.01,
    ),
}


@dataclass(frozen=True)
class Function:
    """A function of arrays, as steps of ops and places of operands.

    Attributes:
        inputs: the arrays it is evaluated at; their places come first.
        steps: the operations, in order.
        roots: the places of the values whose sums, added up, are the result.
    """

    inputs: tuple[Array, ...]
    steps: tuple[tuple[str, tuple[int, ...]], ...]
    roots: tuple[int, ...]

    def __str__(self) -> str:
        """Return the function as lines of code."""
        count = len(self.inputs)
        lines = [f"v{i} = {array.tolist()}" for i, array in enumerate(self.inputs)]
        for place, (name, sources) in enumerate(self.steps, count):
            lines.append(f"v{place} = {name}({', '.join(f'v{i}' for i in sources)})")
        return "\n".join([*lines, f"result {' + '.join(f'v{i}.sum()' for i in self.roots)}"])

    def on_tensors(self, inputs: Sequence[Tensor]) -> Values:
        """Return the values of all places."""
        values: Values = list(inputs)
        for name, sources in self.steps:
            values.append(OPS[name].on_tensor(*[values[i] for i in sources]))
        return values

    def result(self, values: Values) -> Any:
        """Return the sum of the roots."""
        first, *rest = [values[i].sum() for i in self.roots]
        return sum(rest, start=first)

    def on_numpy(self, inputs: Sequence[Array]) -> Values:
        """Return the values of all places, of complex numbers."""
        values: Values = list(inputs)
        for name, sources in self.steps:
            values.append(OPS[name].on_numpy(*[values[i] for i in sources]))
        return values

    def gradients(self) -> list[Array]:
        """Return the gradient of the result for each input."""
        out = [np.zeros(array.shape) for array in self.inputs]
        for number, array in enumerate(self.inputs):
            for place in np.ndindex(array.shape):
                moved = [x.astype(np.complex128) for x in self.inputs]
                moved[number][place] += _STEP * 1j
                out[number][place] = self.result(self.on_numpy(moved)).imag / _STEP
        return out


def random_function(rng: random.Random, length: int) -> Function:
    """Return a function of about `length` steps, smooth at its inputs."""
    draw = np.random.default_rng(rng.getrandbits(32))
    inputs = tuple([np.round(draw.uniform(-3, 3, _SHAPE), 2) for _ in range(rng.randint(1, 2))])
    values: Values = [x.astype(np.complex128) for x in inputs]
    steps: list[tuple[str, tuple[int, ...]]] = []
    for _ in range(4 * length):
        name = rng.choice(list(OPS))
        op = OPS[name]
        sources = tuple([rng.randrange(len(values)) for _ in range(op.arity)])
        operands = [values[i] for i in sources]
        with np.errstate(all="ignore"):
            if not np.all(op.is_smooth(*[x.real for x in operands])):
                continue
            result = op.on_numpy(*operands)
        if not np.all(np.abs(result) < _MOST):
            continue
        steps.append((name, sources))
        values.append(result)
        if len(steps) == length:
            break
    places = range(len(values))
    roots = (len(values) - 1, *rng.choices(places, k=rng.randint(0, 2)))
    return Function(inputs, tuple(steps), roots)


def difference(seed: int, device: str, *, requires_grad: bool, length: int = 10) -> str | None:
    """Return the error of the function of `seed`, built again with its first values.

    Args:
        seed: says what the function is, and what is realized, read and kept.
        device: where.
        requires_grad: whether inputs do.
        length: the number of its steps, about.
    """
    rng = random.Random(seed)
    function = random_function(rng, rng.randint(2, length))
    dtype = rng.choice(list(_TOLERANCE))
    inputs = [Tensor(x, dtype=dtype, device=device, requires_grad=requires_grad) for x in function.inputs]
    for t in inputs:
        if rng.random() < 0.7:
            t.realize()
    kept: Values = []
    try:
        _keep(rng, function, inputs, kept)
        problem = _built_again(rng, function, inputs)
    except PlugradError as error:
        problem = f"{type(error).__name__}: {error}"
    return None if problem is None else f"seed {seed} on {device}: {problem}\n{function}"


def _keep(rng: random.Random, function: Function, inputs: list[Tensor], kept: Values) -> None:
    """Fill `kept` with values and gradients. Some of them are realized or read."""
    for _ in range(rng.randint(1, 2)):
        values = function.on_tensors(inputs)
        if rng.random() < 0.5:
            kept += function.result(values).gradient(*_needed(function, inputs))
        kept += values[len(inputs) :]
        some = rng.sample(kept, rng.randint(0, len(kept)))
        if rng.random() < 0.3 and some:
            Tensor.realize(*some)
        for t in some:
            _ = t.realize() if rng.random() < 0.7 else t.numpy()
    kept[:] = [t for t in kept if rng.random() < 0.9]


def _needed(function: Function, inputs: list[Tensor]) -> list[Tensor]:
    """Return the inputs that get a gradient from the result."""
    reached = set(function.roots)
    for place, (name, sources) in reversed(list(enumerate(function.steps, len(inputs)))):
        if place in reached and name != "detach":
            reached.update(sources)
    return [t for i, t in enumerate(inputs) if i in reached]


def _built_again(rng: random.Random, function: Function, inputs: list[Tensor]) -> str | None:
    """Describe wrong values and gradients after a rebuild, in a jitted function too."""
    needed = _needed(function, inputs)
    is_needed = [any(t is n for n in needed) for t in inputs]
    values = function.on_numpy([x.astype(np.complex128) for x in function.inputs])
    gradients = [g for g, is_one in zip(function.gradients(), is_needed, strict=True) if is_one]
    wanted = [*map(np.real, [*values[len(inputs) :], function.result(values)]), *gradients]

    def build(*given: Tensor) -> list[Tensor]:
        values = function.on_tensors(given)
        result = function.result(values)
        targets = [t for t, is_one in zip(given, is_needed, strict=True) if is_one]
        return [*values[len(given) :], result, *(result.gradient(*targets) if targets else [])]

    inside = jit(lambda: build(*inputs))
    jitted = jit(build) if rng.random() < 0.5 else lambda *given: inside()
    for name, way in [("again", build), *[("jitted", jitted)] * _CALLS]:
        found = way(*inputs)
        for t in rng.sample(found, rng.randint(0, len(found))):
            t.realize()
        for place, (got, right) in enumerate(zip([t.numpy() for t in found], wanted, strict=True)):
            if not _is_close(got, right):
                return f"{name}: result {place} of {len(wanted)} is\n{got}\nand should be\n{right}"
    return None


def _is_close(got: Array, right: Array) -> bool:
    most = float(np.max(np.abs(right), initial=1.0))
    bound = _TOLERANCE[got.dtype.name] * most
    return got.shape == right.shape and bool(np.allclose(got, right, rtol=0, atol=bound))
