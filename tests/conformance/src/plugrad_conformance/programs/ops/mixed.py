"""Operations whose operands have two dtypes: what both are converted to first."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from plugrad_conformance.element_functions import ELEMENT_FUNCTIONS
from plugrad_conformance.programs.ops.op_spec import Params, op, together
from plugrad_conformance.programs.program import Array


def _chosen(x: Array, y: Array) -> Array:
    return np.where(y > 0, x, y)


_NAMED = {
    "add": ELEMENT_FUNCTIONS["add"],
    "subtract": ELEMENT_FUNCTIONS["sub"],
    "multiply": ELEMENT_FUNCTIONS["mul"],
    "maximum": ELEMENT_FUNCTIONS["maximum"],
    "less": ELEMENT_FUNCTIONS["less"],
    "equal": ELEMENT_FUNCTIONS["eq"],
}
# the meaning of each to arrays of one dtype, and to tensors
_FORMS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    **{form: (f.reference, f.on_tensor) for form, f in _NAMED.items()},
    "choose": (_chosen, lambda x, y: (y > 0).where(x, y)),
}


def _common(x: Array, y: Array) -> str | None:
    """Return the dtype in which two meet: floats win; NumPy's answer for others."""
    floats = [d for d in (x.dtype, y.dtype) if d.kind == "f"]
    if floats:
        return max(floats, key=lambda d: d.itemsize).name
    dtype = np.result_type(x.dtype, y.dtype)
    # no integers hold both int64 and uint64
    return None if dtype.kind == "f" else dtype.name


def _propose(rng: random.Random, xs: list[Array]) -> Params | None:
    x, y = xs
    common = _common(x, y)
    if x.dtype == y.dtype or common is None or not together(x, y):
        return None
    return (rng.choice([*_FORMS]), common)


OPS = (
    op(
        "mixed",
        2,
        lambda x, y, form, common: _FORMS[form][0](x.astype(common), y.astype(common)),
        lambda x, y, form, common: _FORMS[form][1](x, y),
        _propose,
    ),
)
