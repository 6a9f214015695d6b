"""Operations that work element by element, casts among them."""

import random

import numpy as np

from plugrad_conformance.programs.ops.op_spec import DTYPES, INTS, Params, alike, of_kind, op
from plugrad_conformance.programs.program import Array


def _divides(x: Array, y: Array) -> bool:
    """Say whether integer division is defined: not by 0, nor of the lowest value by -1."""
    if not y.all():
        return False
    return x.dtype.kind == "u" or not (np.any(y == -1) and np.any(x == np.iinfo(x.dtype).min))


def _scalar(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if x.dtype.kind not in "iuf":
        return None
    return (rng.choice((0, 1, 2, 3)) if x.dtype.kind == "u" else rng.choice((-2, -1, 0, 1, 2, 3)),)


def _shift(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    return (rng.randrange(x.dtype.itemsize * 8),) if x.dtype.kind in "iu" else None


def _choice(rng: random.Random, xs: list[Array]) -> Params | None:
    return alike("biuf")(rng, xs) if xs[0].dtype.kind == "b" else None


def _cast(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    dtype = rng.choice([d for d in DTYPES if d != x.dtype.name])
    if x.dtype.kind == "f" and dtype in INTS:
        info, whole = np.iinfo(dtype), np.trunc(x.astype(np.float64))
        # what a float outside of the integers becomes is each dtype's own affair, tested elsewhere
        if x.size and not (info.min <= whole.min() and whole.max() <= info.max):
            return None
    return (dtype,)


def _numpy_cast(x: Array, dtype: str) -> Array:
    return x.astype(dtype)


def _bitcast(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if x.dtype.kind == "f" and not x.all():
        # which zero a sum gives depends on the order of its terms
        return None
    same = [d for d in INTS if np.dtype(d).itemsize == x.dtype.itemsize and d != x.dtype.name]
    return (rng.choice(same),) if x.dtype.kind in "iuf" and same else None


OPS = (
    op("add", 2, lambda x, y: x + y, lambda x, y: x + y, alike("iuf")),
    op("sub", 2, lambda x, y: x - y, lambda x, y: x - y, alike("iuf")),
    op("mul", 2, lambda x, y: x * y, lambda x, y: x * y, alike("iuf")),
    op("maximum", 2, np.maximum, lambda x, y: x.maximum(y), alike("biuf")),
    op("minimum", 2, np.minimum, lambda x, y: x.minimum(y), alike("biuf")),
    op("floordiv", 2, lambda x, y: x // y, lambda x, y: x // y, alike("iu", _divides)),
    op("mod", 2, lambda x, y: x % y, lambda x, y: x % y, alike("iu", _divides)),
    op("less", 2, lambda x, y: x < y, lambda x, y: x < y, alike("biuf")),
    op("less_equal", 2, lambda x, y: x <= y, lambda x, y: x <= y, alike("biuf")),
    op("equal", 2, lambda x, y: x == y, lambda x, y: x == y, alike("biuf")),
    op("unequal", 2, lambda x, y: x != y, lambda x, y: x != y, alike("biuf")),
    op("and", 2, lambda x, y: x & y, lambda x, y: x & y, alike("biu")),
    op("or", 2, lambda x, y: x | y, lambda x, y: x | y, alike("biu")),
    op("xor", 2, lambda x, y: x ^ y, lambda x, y: x ^ y, alike("biu")),
    op("neg", 1, lambda x: -x, lambda x: -x, of_kind("iuf")),
    op("abs", 1, np.abs, lambda x: x.abs(), of_kind("iuf")),
    op("sign", 1, np.sign, lambda x: x.sign(), of_kind("iuf")),
    op("invert", 1, lambda x: ~x, lambda x: ~x, of_kind("biu")),
    op("floor", 1, np.floor, lambda x: x.floor(), of_kind("f")),
    op("ceil", 1, np.ceil, lambda x: x.ceil(), of_kind("f")),
    op("trunc", 1, np.trunc, lambda x: x.trunc(), of_kind("f")),
    op("round", 1, np.round, lambda x: x.round(), of_kind("f")),
    op("relu", 1, lambda x: np.maximum(x, x.dtype.type(0)), lambda x: x.relu(), of_kind("f")),
    op("clamp", 1, lambda x: np.clip(x, -4, 4), lambda x: x.clamp(-4, 4), of_kind("if")),
    op("add_scalar", 1, lambda x, c: x + x.dtype.type(c), lambda x, c: x + c, _scalar),
    op("scalar_sub", 1, lambda x, c: x.dtype.type(c) - x, lambda x, c: c - x, _scalar),
    op("mul_scalar", 1, lambda x, c: x * x.dtype.type(c), lambda x, c: x * c, _scalar),
    op("halve", 1, lambda x: x * x.dtype.type(0.5), lambda x: x * 0.5, of_kind("f")),
    op("shift_left", 1, lambda x, c: x << x.dtype.type(c), lambda x, c: x << c, _shift),
    op("shift_right", 1, lambda x, c: x >> x.dtype.type(c), lambda x, c: x >> c, _shift),
    op("where", 3, np.where, lambda c, x, y: c.where(x, y), _choice),
    op("cast", 1, _numpy_cast, lambda x, d: x.cast(d), _cast),
    op(
        "bitcast",
        1,
        lambda x, d: np.ascontiguousarray(x).view(d).reshape(x.shape),
        lambda x, d: x.bitcast(d),
        _bitcast,
        is_view=True,
    ),
)
