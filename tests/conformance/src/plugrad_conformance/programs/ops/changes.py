"""Operations that write into the memory of their first operand."""

import random
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.programs.ops.op_spec import Params, op, reaches, slices
from plugrad_conformance.programs.program import Array


def _target(rng: random.Random, xs: list[Array]) -> Params | None:
    x, value = xs
    if x.dtype != value.dtype or not x.ndim:
        return None
    index = slices(rng, x.shape, (1, 1, 2, -1, -2))
    return (index,) if reaches(value, x[index]) else None


def _rows_to_set(rng: random.Random, xs: list[Array]) -> Params | None:
    x, value = xs
    if x.dtype != value.dtype or not x.ndim or not x.shape[0]:
        return None
    rows = np.array(rng.sample(range(x.shape[0]), rng.randint(1, x.shape[0])), np.int32)
    return (rows,) if reaches(value, x[rows]) else None


def _draw_assignment(rng: random.Random, xs: list[Array]) -> Params | None:
    x, value = xs
    return () if x.dtype == value.dtype and x.shape == value.shape else None


def _added(rng: random.Random, xs: list[Array]) -> Params | None:
    x, value = xs
    return () if x.dtype == value.dtype and x.dtype.kind in "iuf" and reaches(value, x) else None


def _set(x: Any, value: Any, index: Any) -> Any:
    x[index] = value
    return x


def _set_rows(x: Tensor, value: Tensor, rows: Array) -> Tensor:
    return _set(x, value, Tensor(rows, device=x.device))


def _assign(x: Array, value: Array) -> Array:
    x[...] = value
    return x


def _add_to(x: Any, value: Any) -> Any:
    x += value
    return x


def _mask(rng: random.Random, xs: list[Array]) -> Params | None:
    x, mask = xs
    fits = mask.dtype.kind == "b" and mask.shape == x.shape and x.ndim and x.dtype.kind in "iuf"
    return (rng.randint(0, 3),) if fits else None


def _fill(x: Any, mask: Any, value: int) -> Any:
    x[mask] = value
    return x


def _factor(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    return (rng.choice((0, 1, 2, 3)),) if x.dtype.kind in "iuf" else None


def _mul_by(x: Any, factor: int) -> Any:
    x *= factor
    return x


OPS = (
    op("set", 2, _set, _set, _target, changes=True),
    op("set_rows", 2, _set, _set_rows, _rows_to_set, changes=True),
    op("assign", 2, _assign, lambda x, v: x.assign(v), _draw_assignment, changes=True),
    op("add_to", 2, _add_to, _add_to, _added, changes=True),
    op("set_masked", 2, _fill, _fill, _mask, changes=True, reads=True),
    op("mul_by", 1, _mul_by, _mul_by, _factor, changes=True),
)
