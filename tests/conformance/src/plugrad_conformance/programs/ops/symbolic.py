"""Operations with sizes that a variable says: one kernel for all of its values."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad.uop import UOp
from plugrad_conformance.programs.ops.op_spec import Params, exact_sums, op
from plugrad_conformance.programs.ops.reductions import sum_of
from plugrad_conformance.programs.program import Array

# from the first axis's size, a size in it, and a tensor, or an array; results have shapes that are known
_Form = tuple[Callable[[Any, Any], Any], Callable[[Array, int], Any]]
_FORMS: dict[str, _Form] = {
    "sum of the first": (lambda x, n: x[:n].sum(0), lambda x, n: sum_of(x[:n], (0,), False)),
    "sum of the last": (lambda x, n: x[n - 1 :].sum(0), lambda x, n: sum_of(x[n - 1 :], (0,), False)),
    "sum of all but": (lambda x, n: x[n:].sum(0), lambda x, n: sum_of(x[n:], (0,), False)),
    "max of the first": (lambda x, n: x[:n].max(0), lambda x, n: x[:n].max(0)),
    "max of the flipped": (lambda x, n: x[:n].flip(0).max(0), lambda x, n: x[:n].max(0)),
    "argmax": (lambda x, n: x[:n].argmax(0), lambda x, n: x[:n].argmax(0).astype(np.int32)),
    "one": (lambda x, n: x[n - 1].contiguous(), lambda x, n: x[n - 1]),
    "padded": (lambda x, n: _filled_up(x[:n].flip(0), x.shape[0] - n), lambda x, n: _padded(x[:n][::-1], x)),
    "joined": (lambda x, n: x[:n].cat(x[:1]).min(0), lambda x, n: x[:n].min(0)),
    "compared": (lambda x, n: (x[:n] == x[n - 1]).all(0), lambda x, n: (x[:n] == x[n - 1]).all(0)),
}


def _filled_up(x: Tensor, missing: Any) -> Tensor:
    return x.pad(((0, missing), *((0, 0),) * (x.ndim - 1)))


def _padded(part: Array, whole: Array) -> Array:
    out = np.zeros_like(whole)
    out[: len(part)] = part
    return out


def _propose(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if not x.ndim or not x.size or x.shape[0] < 2 or x.dtype.kind not in "iuf":
        return None
    # values of one variable are the same everywhere
    name = f"n{rng.randrange(1 << 30)}"
    return (rng.choice([*_FORMS]), name, rng.randint(1, x.shape[0]))


OPS = (
    op(
        "symbolic",
        1,
        lambda x, form, name, n: _FORMS[form][1](x, n),
        lambda x, form, name, n: _FORMS[form][0](x, UOp.variable(name, 1, x.shape[0]).bind(n)),
        exact_sums(_propose),
    ),
)
