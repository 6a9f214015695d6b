"""The words of random programs: what each means to NumPy and to plugrad, and when it applies.

Floats are small multiples of 1/16 throughout, so that every order of computing gives the same bits and
results can be compared exactly; a step whose result would be anything else is not taken.
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad.testing.programs.program import Array

_INTS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_FLOATS = ("float16", "float32", "float64")
DTYPES = ("bool", *_INTS, *_FLOATS)
# plugrad widens sums of small integers to 32 bits, as its docs say
_SUMS = {**dict.fromkeys(("bool", "int8", "int16"), "int32"), **dict.fromkeys(("uint8", "uint16"), "uint32")}
MOST_ELEMENTS = 400
_GRAIN, _MOST = 16, 1 << 12

Params = tuple[Any, ...]
Propose = Callable[[random.Random, list[Array]], Params | None]


@dataclass(frozen=True)
class Word:
    """An operation of random programs.

    Attributes:
        name: what programs call it.
        arity: how many values it takes.
        propose: gives parameters for chosen operands, or None where the word does not apply to them.
        on_numpy: what it means; a word that changes its first operand does so in place and returns it.
        on_tensor: the same with tensors.
        is_view: whether the result may share memory with the first operand.
        changes: whether it changes its first operand.
    """

    name: str
    arity: int
    propose: Propose
    on_numpy: Callable[..., Array]
    on_tensor: Callable[..., Tensor]
    is_view: bool = False
    changes: bool = False


WORDS: dict[str, Word] = {}


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
    elif dtype in _FLOATS:
        values = [rng.randint(-64, 64) / 8 for _ in range(count)]
    else:
        info = np.iinfo(dtype)
        low, high = (info.min, info.max) if rng.random() < 0.2 else (max(-9, info.min), 9)
        values = [rng.randint(int(low), int(high)) for _ in range(count)]
    return np.array(values, dtype).reshape(shape)


# spelled by number of arguments, which types the parameters of lambdas
_Meaning = Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]


def _nothing(rng: random.Random, xs: list[Array]) -> Params | None:
    return ()


def _word(
    name: str,
    arity: int,
    on_numpy: _Meaning,
    on_tensor: _Meaning,
    propose: Propose = _nothing,
    *,
    is_view: bool = False,
    changes: bool = False,
) -> None:
    WORDS[name] = Word(name, arity, propose, on_numpy, on_tensor, is_view, changes)


# --- elementwise ---


def _alike(kinds: str, both: Callable[[Array, Array], bool] = lambda x, y: True) -> Propose:
    """Propose nothing for two operands of one dtype, of the given kinds, that broadcast."""

    def propose(rng: random.Random, xs: list[Array]) -> Params | None:
        x, y = xs[-2:]
        if x.dtype != y.dtype or x.dtype.kind not in kinds or not _broadcast(*xs):
            return None
        return () if both(x, y) else None

    return propose


def _broadcast(*xs: Array) -> bool:
    try:
        return math.prod(np.broadcast_shapes(*(x.shape for x in xs))) <= MOST_ELEMENTS
    except ValueError:
        return False


def _of_kind(kinds: str) -> Propose:
    return lambda rng, xs: () if xs[0].dtype.kind in kinds else None


def _divides(x: Array, y: Array) -> bool:
    """Say whether integer division is defined: not by 0, nor of the lowest value by -1."""
    if not y.all():
        return False
    return x.dtype.kind == "u" or not (np.any(y == -1) and np.any(x == np.iinfo(x.dtype).min))


_word("add", 2, lambda x, y: x + y, lambda x, y: x + y, _alike("iuf"))
_word("sub", 2, lambda x, y: x - y, lambda x, y: x - y, _alike("iuf"))
_word("mul", 2, lambda x, y: x * y, lambda x, y: x * y, _alike("iuf"))
_word("maximum", 2, np.maximum, lambda x, y: x.maximum(y), _alike("biuf"))
_word("minimum", 2, np.minimum, lambda x, y: x.minimum(y), _alike("biuf"))
_word("floordiv", 2, lambda x, y: x // y, lambda x, y: x // y, _alike("iu", _divides))
_word("mod", 2, lambda x, y: x % y, lambda x, y: x % y, _alike("iu", _divides))
_word("less", 2, lambda x, y: x < y, lambda x, y: x < y, _alike("biuf"))
_word("less_equal", 2, lambda x, y: x <= y, lambda x, y: x <= y, _alike("biuf"))
_word("equal", 2, lambda x, y: x == y, lambda x, y: x == y, _alike("biuf"))
_word("unequal", 2, lambda x, y: x != y, lambda x, y: x != y, _alike("biuf"))
_word("and", 2, lambda x, y: x & y, lambda x, y: x & y, _alike("biu"))
_word("or", 2, lambda x, y: x | y, lambda x, y: x | y, _alike("biu"))
_word("xor", 2, lambda x, y: x ^ y, lambda x, y: x ^ y, _alike("biu"))
_word("neg", 1, lambda x: -x, lambda x: -x, _of_kind("iuf"))
_word("abs", 1, np.abs, lambda x: x.abs(), _of_kind("iuf"))
_word("sign", 1, np.sign, lambda x: x.sign(), _of_kind("iuf"))
_word("invert", 1, lambda x: ~x, lambda x: ~x, _of_kind("biu"))
_word("floor", 1, np.floor, lambda x: x.floor(), _of_kind("f"))
_word("ceil", 1, np.ceil, lambda x: x.ceil(), _of_kind("f"))
_word("trunc", 1, np.trunc, lambda x: x.trunc(), _of_kind("f"))
_word("round", 1, np.round, lambda x: x.round(), _of_kind("f"))
_word("relu", 1, lambda x: np.maximum(x, x.dtype.type(0)), lambda x: x.relu(), _of_kind("f"))
_word("clamp", 1, lambda x: np.clip(x, -4, 4), lambda x: x.clamp(-4, 4), _of_kind("if"))


def _scalar(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if x.dtype.kind not in "iuf":
        return None
    return (rng.choice((0, 1, 2, 3)) if x.dtype.kind == "u" else rng.choice((-2, -1, 0, 1, 2, 3)),)


_word("add_scalar", 1, lambda x, c: x + x.dtype.type(c), lambda x, c: x + c, _scalar)
_word("scalar_sub", 1, lambda x, c: x.dtype.type(c) - x, lambda x, c: c - x, _scalar)
_word("mul_scalar", 1, lambda x, c: x * x.dtype.type(c), lambda x, c: x * c, _scalar)
_word("halve", 1, lambda x: x * x.dtype.type(0.5), lambda x: x * 0.5, _of_kind("f"))


def _shift(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    return (rng.randrange(x.dtype.itemsize * 8),) if x.dtype.kind in "iu" else None


_word("shift_left", 1, lambda x, c: x << x.dtype.type(c), lambda x, c: x << c, _shift)
_word("shift_right", 1, lambda x, c: x >> x.dtype.type(c), lambda x, c: x >> c, _shift)


def _choice(rng: random.Random, xs: list[Array]) -> Params | None:
    return _alike("biuf")(rng, xs) if xs[0].dtype.kind == "b" else None


_word("where", 3, np.where, lambda c, x, y: c.where(x, y), _choice)


def _cast(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    dtype = rng.choice([d for d in DTYPES if d != x.dtype.name])
    if x.dtype.kind == "f" and dtype in _INTS:
        info, whole = np.iinfo(dtype), np.trunc(x.astype(np.float64))
        # what a float outside of the integers becomes is each dtype's own affair, tested elsewhere
        if x.size and not (info.min <= whole.min() and whole.max() <= info.max):
            return None
    return (dtype,)


def _numpy_cast(x: Array, dtype: str) -> Array:
    return x.astype(dtype)


_word("cast", 1, _numpy_cast, lambda x, d: x.cast(d), _cast)


def _bitcast(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    same = [d for d in _INTS if np.dtype(d).itemsize == x.dtype.itemsize and d != x.dtype.name]
    return (rng.choice(same),) if x.dtype.kind in "iuf" and same else None


_word(
    "bitcast",
    1,
    lambda x, d: np.ascontiguousarray(x).view(d).reshape(x.shape),
    lambda x, d: x.bitcast(d),
    _bitcast,
)


# --- reductions and scans ---


def _axes(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if rng.random() < 0.2:
        return (tuple(range(x.ndim)), rng.random() < 0.3)
    axes = tuple(i for i in range(x.ndim) if rng.random() < 0.5)
    return (axes, rng.random() < 0.3) if axes else None


def _axes_of_some(rng: random.Random, xs: list[Array]) -> Params | None:
    return _axes(rng, xs) if xs[0].size else None


def _sum(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    dtype = _SUMS.get(x.dtype.name, x.dtype.name)
    return np.sum(x, axes, dtype=_accumulator(dtype), keepdims=keep).astype(dtype)


def _accumulator(dtype: str) -> str:
    return "float64" if dtype in _FLOATS else dtype


def _prod(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    dtype = _SUMS.get(x.dtype.name, x.dtype.name)
    return np.prod(x, axes, dtype=_accumulator(dtype), keepdims=keep).astype(dtype)


def _integers(rng: random.Random, xs: list[Array]) -> Params | None:
    return _axes(rng, xs) if xs[0].dtype.kind in "biu" else None


_word("sum", 1, _sum, lambda x, a, k: x.sum(a, keepdim=k), _axes)
_word("prod", 1, _prod, lambda x, a, k: x.prod(a, keepdim=k), _integers)
_word("max", 1, lambda x, a, k: x.max(a, keepdims=k), lambda x, a, k: x.max(a, keepdim=k), _axes_of_some)
_word("min", 1, lambda x, a, k: x.min(a, keepdims=k), lambda x, a, k: x.min(a, keepdim=k), _axes_of_some)
_word("any", 1, lambda x, a, k: x.any(a, keepdims=k), lambda x, a, k: x.any(a, keepdim=k), _axes)
_word("all", 1, lambda x, a, k: x.all(a, keepdims=k), lambda x, a, k: x.all(a, keepdim=k), _axes)


def _axis(rng: random.Random, xs: list[Array]) -> Params | None:
    return (rng.randrange(xs[0].ndim),) if xs[0].ndim and xs[0].size else None


def _cumsum(x: Array, axis: int) -> Array:
    dtype = _SUMS.get(x.dtype.name, x.dtype.name)
    return np.cumsum(x, axis, dtype=_accumulator(dtype)).astype(dtype)


_word("cumsum", 1, _cumsum, lambda x, a: x.cumsum(a), _axis)
_word("argmax", 1, lambda x, a: x.argmax(a).astype(np.int32), lambda x, a: x.argmax(a), _axis)
_word("argmin", 1, lambda x, a: x.argmin(a).astype(np.int32), lambda x, a: x.argmin(a), _axis)
_word("sort", 1, lambda x, a: np.sort(x, a), lambda x, a: x.sort(a)[0], _axis)


def _products(rng: random.Random, xs: list[Array]) -> Params | None:
    x, y = xs
    if x.dtype != y.dtype or x.dtype.kind not in "if" or x.ndim != 2 or y.ndim != 2:
        return None
    return () if x.shape[1] == y.shape[0] and x.shape[0] * y.shape[1] <= MOST_ELEMENTS else None


def _matmul(x: Array, y: Array) -> Array:
    wide = _accumulator(x.dtype.name)
    return (x.astype(wide) @ y.astype(wide)).astype(x.dtype)


_word("matmul", 2, _matmul, lambda x, y: x @ y, _products)


# --- movement ---


def _reshape(rng: random.Random, xs: list[Array]) -> Params | None:
    left, shape = xs[0].size, list[int]()
    while left > 1 and len(shape) < 4:
        divisor = rng.choice([d for d in range(1, left + 1) if left % d == 0])
        shape.append(divisor)
        left //= divisor
    if xs[0].size == 0:
        return ((0, 3),)
    return ((*shape, left),)


def _permute(rng: random.Random, xs: list[Array]) -> Params | None:
    return (tuple(rng.sample(range(xs[0].ndim), xs[0].ndim)),) if xs[0].ndim > 1 else None


def _expand(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    shape = [rng.choice((1, 2, 3)) if s == 1 else s for s in x.shape]
    shape = [rng.choice((1, 2)), *shape] if rng.random() < 0.3 and len(shape) < 4 else shape
    return (tuple(shape),) if math.prod(shape) <= MOST_ELEMENTS else None


def _pad(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    pads = tuple((rng.choice((0, 0, 1, 2)), rng.choice((0, 0, 1, 3))) for _ in x.shape)
    size = math.prod(s + a + b for s, (a, b) in zip(x.shape, pads, strict=True))
    return (pads,) if x.ndim and size <= MOST_ELEMENTS else None


def _flip(rng: random.Random, xs: list[Array]) -> Params | None:
    axes = tuple(i for i in range(xs[0].ndim) if rng.random() < 0.5)
    return (axes,) if axes else None


def _slices(rng: random.Random, shape: tuple[int, ...], steps: tuple[int, ...]) -> tuple[slice | int, ...]:
    out: list[slice | int] = []
    for size in shape:
        if size and rng.random() < 0.15:
            out.append(rng.randrange(-size, size))
            continue
        step = rng.choice(steps)
        a, b = (None if rng.random() < 0.4 else rng.randint(-size - 1, size + 1) for _ in range(2))
        out.append(slice(a, b, step))
    return tuple(out)


def _index(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    index = _slices(rng, x.shape, (1, 1, 1, 2, -1, -2, 3))
    return (index,) if x.ndim and (x[index].size or rng.random() < 0.1) else None


def _roll(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    return (rng.randint(-5, 5), rng.randrange(x.ndim)) if x.ndim else None


_word("reshape", 1, lambda x, s: x.reshape(s), lambda x, s: x.reshape(s), _reshape, is_view=True)
_word("permute", 1, lambda x, p: x.transpose(p), lambda x, p: x.permute(p), _permute, is_view=True)
_word("expand", 1, np.broadcast_to, lambda x, s: x.expand(s), _expand, is_view=True)
_word("flip", 1, np.flip, lambda x, a: x.flip(a), _flip, is_view=True)
_word("index", 1, lambda x, i: x[i], lambda x, i: x[i], _index, is_view=True)
_word("pad", 1, np.pad, lambda x, p: x.pad(p), _pad)
_word("roll", 1, np.roll, lambda x, n, a: x.roll(n, a), _roll)


def _joined(rng: random.Random, xs: list[Array]) -> Params | None:
    x, y = xs
    if x.dtype != y.dtype or x.ndim != y.ndim or not x.ndim or x.size + y.size > MOST_ELEMENTS:
        return None
    axes = [i for i in range(x.ndim) if x.shape[:i] == y.shape[:i] and x.shape[i + 1 :] == y.shape[i + 1 :]]
    return (rng.choice(axes),) if axes else None


def _stacked(rng: random.Random, xs: list[Array]) -> Params | None:
    x, y = xs
    fits = x.dtype == y.dtype and x.shape == y.shape and x.ndim < 4 and x.size * 2 <= MOST_ELEMENTS
    return (rng.randint(0, x.ndim),) if fits else None


_word("cat", 2, lambda x, y, a: np.concatenate([x, y], a), lambda x, y, a: x.cat(y, axis=a), _joined)
_word("stack", 2, lambda x, y, a: np.stack([x, y], a), lambda x, y, a: x.stack(y, axis=a), _stacked)


# --- indexing with values ---


def _rows(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if not x.ndim or not x.size:
        return None
    axis = rng.randrange(x.ndim)
    rows = [rng.randrange(x.shape[axis]) for _ in range(rng.randint(1, 6))]
    if x.size // x.shape[axis] * len(rows) > MOST_ELEMENTS:
        return None
    return (axis, np.array(rows, np.int32))


def _take(x: Any, axis: int, rows: Any) -> Any:
    return x[(*(slice(None),) * axis, rows)]


_word("take", 1, _take, lambda x, a, r: _take(x, a, Tensor(r, device=x.device)), _rows)


def _picked(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if not x.ndim or not x.size:
        return None
    axis, count = rng.randrange(x.ndim), rng.randint(1, 4)
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    if math.prod(shape) > MOST_ELEMENTS:
        return None
    places = [rng.randrange(x.shape[axis]) for _ in range(math.prod(shape))]
    return (np.array(places, np.int32).reshape(shape), axis)


_word(
    "take_along_axis",
    1,
    np.take_along_axis,
    lambda x, i, a: x.take_along_axis(Tensor(i, device=x.device), a),
    _picked,
)


# --- changes in place ---


def _target(rng: random.Random, xs: list[Array]) -> Params | None:
    x, value = xs
    if x.dtype != value.dtype or not x.ndim:
        return None
    index = _slices(rng, x.shape, (1, 1, 2))
    return (index,) if _reaches(value, x[index]) else None


def _reaches(value: Array, target: Array) -> bool:
    try:
        return np.broadcast_shapes(value.shape, target.shape) == target.shape
    except ValueError:
        return False


def _rows_to_set(rng: random.Random, xs: list[Array]) -> Params | None:
    x, value = xs
    if x.dtype != value.dtype or not x.ndim or not x.shape[0]:
        return None
    rows = np.array(rng.sample(range(x.shape[0]), rng.randint(1, x.shape[0])), np.int32)
    return (rows,) if _reaches(value, x[rows]) else None


def _whole(rng: random.Random, xs: list[Array]) -> Params | None:
    x, value = xs
    return () if x.dtype == value.dtype and x.shape == value.shape else None


def _added(rng: random.Random, xs: list[Array]) -> Params | None:
    x, value = xs
    return () if x.dtype == value.dtype and x.dtype.kind in "iuf" and _reaches(value, x) else None


def _set(x: Any, value: Any, index: Any) -> Any:
    x[index] = value
    return x


def _assign(x: Array, value: Array) -> Array:
    x[...] = value
    return x


def _add_to(x: Any, value: Any) -> Any:
    x += value
    return x


_word("set", 2, _set, _set, _target, changes=True)
_word("set_rows", 2, _set, lambda x, v, r: _set(x, v, Tensor(r, device=x.device)), _rows_to_set, changes=True)
_word("assign", 2, _assign, lambda x, v: x.assign(v), _whole, changes=True)
_word("add_to", 2, _add_to, _add_to, _added, changes=True)


# --- when things happen ---

_word("realize", 1, lambda x: x, lambda x: x.realize(), is_view=True)
_word("contiguous", 1, lambda x: x, lambda x: x.contiguous(), is_view=True)
_word("detach", 1, lambda x: x, lambda x: x.detach(), is_view=True)

CHANGES = frozenset(word.name for word in WORDS.values() if word.changes)
