"""Core: reading and writing parts of tensors."""

from functools import partial
from typing import Any

import numpy as np

from plugrad import Tensor
from plugrad.dtype import DType, dtypes
from plugrad.uop import Ops, identity_of
from plugrad_conformance.case import Case, Check, needs_dtypes
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import array_of, numpy_dtype, sample, tensor_of

_READS: tuple[Any, ...] = (
    3,
    -1,
    slice(2, 5),
    slice(None, None, -1),
    (slice(None), 2),
    (1, slice(None, None, 2), -2),
    (Ellipsis, 0),
    (None, slice(1, 3), None),
    (slice(4, 1, -1), Ellipsis, slice(1, None, 3)),
    (0, 0, 0),
)
_WRITES: tuple[Any, ...] = (
    3,
    slice(2, 5),
    (slice(None), 2),
    (1, slice(2, 6), -2),
    (Ellipsis, 0),
    slice(0, 0),
)


def _reads(bench: Bench) -> Check:
    x = sample(dtypes.int32, 6 * 7 * 5).reshape(6, 7, 5)
    t = tensor_of(x, dtypes.int32, bench.name)
    return Check([t[index].contiguous() for index in _READS], [x[index] for index in _READS])


def _one_hot(bench: Bench) -> Check:
    x = np.array([3, 0, 2, 2], np.int32)
    return Check([tensor_of(x, dtypes.int32, bench.name).one_hot(5)], [np.eye(5, dtype=np.int32)[x]])


def _masked(bench: Bench) -> Check:
    x = sample(dtypes.int32, 30)
    t = tensor_of(x, dtypes.int32, bench.name)
    return Check([t.masked_fill(t < 0, 99)], [np.where(x < 0, 99, x)])


def writes(bench: Bench) -> None:
    """Writing through an index changes those elements and no others."""
    for index in _WRITES:
        x = sample(dtypes.int32, 6 * 7 * 5).reshape(6, 7, 5).copy()
        t = tensor_of(x, dtypes.int32, bench.name).realize()
        t[index] = t[index] * 2 + 1
        x[index] = x[index] * 2 + 1
        assert (array_of(t.realize()) == x).all(), f"writing to [{index}] went wrong"


def writes_of_every_width(bench: Bench) -> None:
    """Elements of one to eight bytes are written alone, without touching their neighbours."""
    stored = bench.device.capabilities.storage_dtypes
    for dtype in (dtypes.bool, dtypes.uint8, dtypes.int16, dtypes.int32, dtypes.int64):
        if dtype not in stored:
            continue
        x = np.zeros(37, bool if dtype is dtypes.bool else np.int64)
        t = tensor_of(x, dtype, bench.name).realize()
        for i in (0, 1, 17, 36):
            t[i] = True if dtype is dtypes.bool else i + 1
            x[i] = i + 1
        assert array_of(t.realize()).tolist() == x.tolist(), f"writing single {dtype.name} changed others"


def overlapping_assignments(bench: Bench) -> None:
    """A value computed before an assignment keeps its meaning."""
    t = tensor_of(np.arange(20), dtypes.int32, bench.name).realize()
    before = t + 100
    t[5:15] = t[0:10].contiguous()
    t[0] = -1
    assert before.tolist() == [i + 100 for i in range(20)], (
        "a value computed from the old elements sees the new ones"
    )
    assert t.tolist() == [-1, *range(1, 5), *range(10), *range(15, 20)], (
        "overlapping parts were assigned wrongly"
    )


def views_alias(bench: Bench) -> None:
    """A view of realized memory shows what is assigned to it."""
    t = tensor_of(np.arange(12), dtypes.int32, bench.name).realize()
    view = t.reshape(3, 4)[1]
    t.assign(t * 10).realize()
    assert view.tolist() == [40, 50, 60, 70], "a view does not show the memory it is part of"
    assert Tensor([1], device=bench.name).device == bench.name, (
        "a tensor is on another device than it was made for"
    )


def _updated(op: Ops, dtype: DType, bench: Bench) -> Check:
    """Update few elements at many positions, a third of which are one.

    The sums are of small whole numbers, which are exact in any order.
    """
    rng = np.random.default_rng(len(dtype.name))
    positions = rng.integers(-1, 400, 3000).astype(np.int32)
    positions[::3] = 7
    x = rng.integers(0, 100, (3000, 3)).astype(numpy_dtype(dtype))
    here = Tensor.arange(400, dtype=dtypes.int32, device=bench.name).reshape(400, 1, 1)
    meets = here == tensor_of(positions, dtypes.int32, bench.name).reshape(1, 3000, 1)
    neutral = identity_of(op, dtype)
    chosen = meets.where(tensor_of(x, dtype, bench.name).reshape(1, 3000, 3), neutral)
    out = chosen.sum(1, dtype=dtype) if op is Ops.ADD else chosen.max(1)
    updates = [u.arg for call in out.schedule() for u in call.ast.toposort() if u.op is Ops.STORE]
    assert op in updates, f"the kernels store with {updates}: nothing is updated atomically"
    expected = np.full((400, 3), neutral, x.dtype)
    inside = positions >= 0
    {Ops.ADD: np.add, Ops.MAX: np.maximum}[op].at(expected, positions[inside], x[inside])
    return Check([out], [expected])


_ATOMIC = tuple(
    Case(
        f"core/indexing/atomic-{op.name.lower()}-{dtype.name}",
        needs=(*needs_dtypes(dtype.name), f"atomic:{op.name}:{dtype.name}"),
        build=partial(_updated, op, dtype),
    )
    for op in (Ops.ADD, Ops.MAX)
    for dtype in (dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64, dtypes.float32, dtypes.float64)
)

CASES = (
    Case("core/indexing/reads", build=_reads),
    Case("core/indexing/one-hot", build=_one_hot),
    Case("core/indexing/masked", build=_masked),
    Case("core/indexing/writes", run=writes),
    Case("core/indexing/writes-of-every-width", run=writes_of_every_width),
    Case("core/indexing/overlapping-assignments", run=overlapping_assignments),
    Case("core/indexing/views-alias", run=views_alias),
    *_ATOMIC,
)
