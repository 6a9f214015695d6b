"""Operations that work element by element, casts among them."""

import random

import numpy as np

from plugrad_conformance.element_functions import ELEMENT_FUNCTIONS
from plugrad_conformance.programs.ops.op_spec import DTYPES, INTS, OpSpec, Params, Propose, alike, of_kind, op
from plugrad_conformance.programs.program import Array


def _divides(x: Array, y: Array) -> bool:
    """Say whether integer division is defined: neither by 0, nor -1 of the lowest."""
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


def _function(name: str, propose: Propose, method: str = "") -> OpSpec:
    """Return a function of the catalogue, which programs may call by another name."""
    meant = ELEMENT_FUNCTIONS[method or name]
    return op(name, meant.arity, meant.reference, meant.on_tensor, propose)


OPS = (
    _function("add", alike("iuf")),
    _function("sub", alike("iuf")),
    _function("mul", alike("iuf")),
    _function("maximum", alike("biuf")),
    _function("minimum", alike("biuf")),
    _function("floordiv", alike("iu", _divides)),
    _function("mod", alike("iu", _divides)),
    _function("less", alike("biuf")),
    _function("less_equal", alike("biuf")),
    _function("equal", alike("biuf"), "eq"),
    _function("unequal", alike("biuf"), "ne"),
    _function("and", alike("biu"), "bitwise_and"),
    _function("or", alike("biu"), "bitwise_or"),
    _function("xor", alike("biu"), "bitwise_xor"),
    _function("neg", of_kind("iuf")),
    _function("abs", of_kind("iuf")),
    _function("sign", of_kind("iuf")),
    _function("invert", of_kind("biu"), "bitwise_not"),
    _function("floor", of_kind("f")),
    _function("ceil", of_kind("f")),
    _function("trunc", of_kind("f")),
    _function("round", of_kind("f")),
    _function("relu", of_kind("f")),
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
