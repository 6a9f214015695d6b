"""Chains of float constants of all magnitudes, each step rounded in its place.

All other values of programs are small multiples of 1/16, with which nothing rounds. Here everything does: a
constant that rounds to whole numbers is added and taken away again, products overflow, small constants vanish
beside large ones. What comes out may differ from NumPy where a rule may leave out a rounding, not elsewhere.
"""

import math
import random
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.programs.ops.op_spec import Params, op
from plugrad_conformance.programs.program import Array

# significant bits, and the exponents of constants, of each dtype
_FORMATS = {"float16": (11, 9), "float32": (24, 90), "float64": (53, 700)}
#: What a chain does with its constant: add, subtract, multiply, divide by a power of two.
_FORMS: dict[str, Any] = {
    "+": lambda x, c: x + c,
    "-": lambda x, c: x - c,
    "*": lambda x, c: x * c,
    "/": lambda x, c: x / c,
}
_UNDOES = {"+": "-", "-": "+", "*": "*", "/": "*"}
Link = tuple[str, float]


def _constant(rng: random.Random, form: str, dtype: str) -> float:
    digits, most = _FORMATS[dtype]
    sign = rng.choice((-1.0, 1.0))
    if form == "/":
        return sign * 2.0 ** rng.randint(-most // 2, most // 2)
    kind = rng.random()
    if kind < 0.3:
        return rng.randint(-64, 64) / 16
    if kind < 0.6:
        # sums round to whole numbers, or to multiples of a power of two
        return sign * rng.choice((1.0, 1.5)) * 2.0 ** (digits - 1 + rng.randint(0, 3))
    return sign * math.ldexp(rng.uniform(1, 2), rng.randint(-most, most))


def _chain(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if x.dtype.kind != "f":
        return None
    chain: list[Link] = []
    for _ in range(rng.choice((2, 2, 3, 4))):
        if chain and rng.random() < 0.4:
            form, constant = chain[-1]
            undone = constant if form != "*" or constant == 0 else 1 / constant
            chain.append((_UNDOES[form], float(x.dtype.type(undone))))
            continue
        form = rng.choice([*_FORMS])
        chain.append((form, float(x.dtype.type(_constant(rng, form, x.dtype.name)))))
    smallest = np.finfo(x.dtype).smallest_normal
    for length in range(1, len(chain) + 1):
        size = np.abs(_on_numpy(x, tuple(chain[:length])))
        # devices may take numbers below the normal ones for zeros
        if np.any((size > 0) & (size < smallest)) or not all(math.isfinite(c) for _, c in chain):
            return None
    return (tuple(chain),)


def _on_numpy(x: Array, chain: tuple[Link, ...]) -> Array:
    with np.errstate(all="ignore"):
        for form, constant in chain:
            x = np.asarray(_FORMS[form](x, x.dtype.type(constant)))
    return x


def _on_tensor(x: Tensor, chain: tuple[Link, ...]) -> Tensor:
    for form, constant in chain:
        x = _FORMS[form](x, constant)
    return x


def _bounds(x: Array, chain: tuple[Link, ...]) -> tuple[Array, Array]:
    """Return the least and greatest value of a chain whose roundings may be left out."""
    # what made `x` may have been a product by a constant, too
    low, high = _widened(x, x) if _is_rounding_product(chain[0]) else (x, x)
    for i, link in enumerate(chain):
        ends = _on_numpy(low, (link,)), _on_numpy(high, (link,))
        low, high = np.minimum(*ends), np.maximum(*ends)
        if i + 1 < len(chain) and _may_be_combined(link, chain[i + 1]):
            # half a unit of the sum, or one more of the constants' product
            low, high = _widened(low, high)
    return low, high


def _widened(low: Array, high: Array) -> tuple[Array, Array]:
    return _two_further(low, -np.inf), _two_further(high, np.inf)


def _two_further(x: Array, end: float) -> Array:
    with np.errstate(all="ignore"):
        return np.nextafter(np.nextafter(x, x.dtype.type(end)), x.dtype.type(end))


def _may_be_combined(first: Link, second: Link) -> bool:
    (is_product, a), (is_second_product, b) = _as_sum_or_product(first), _as_sum_or_product(second)
    if is_product != is_second_product:
        return False
    sizes = abs(a), abs(b)
    return (min(sizes) >= 1 or max(sizes) <= 1) if is_product else a * b >= 0


def _is_rounding_product(link: Link) -> bool:
    is_product, constant = _as_sum_or_product(link)
    return is_product and abs(math.frexp(constant)[0]) != 0.5


def _as_sum_or_product(link: Link) -> tuple[bool, float]:
    """Return a step as a product or a sum, and its constant."""
    form, constant = link
    return form in "*/", -constant if form == "-" else 1 / constant if form == "/" else constant


OPS = (op("constants", 1, _on_numpy, _on_tensor, _chain, bounds=_bounds),)
