"""Errors of extremes, of what leaves NaN out, of elements by rank and of statistics."""

from plugrad import Tensor
from plugrad.errors import ArgumentError, AxisError, DtypeError, JitError, ShapeError
from refusals.case import Case, jitted

_NOTHING = "over axis None of shape (0,): there are no elements"

CASES: list[Case] = [
    ("amax", AxisError, lambda t: t.floats.amax(2), "amax: axis 2 is out of range"),
    ("amax", ShapeError, lambda t: Tensor.zeros(0).amax(()), f"amax {_NOTHING}"),
    ("amin", AxisError, lambda t: t.floats.amin(2), "amin: axis 2 is out of range"),
    ("amin", ShapeError, lambda t: Tensor.zeros(0).amin(), f"amin {_NOTHING}"),
    ("aminmax", AxisError, lambda t: t.floats.aminmax(axis=2), "aminmax: axis 2 is out of range"),
    ("aminmax", ShapeError, lambda t: Tensor.zeros(0).aminmax(), f"aminmax {_NOTHING}"),
    ("ptp", AxisError, lambda t: t.floats.ptp(2), "ptp: axis 2 is out of range"),
    ("ptp", DtypeError, lambda t: t.bools.ptp(), "ptp: subtraction of bool and bool"),
    ("ptp", ShapeError, lambda t: Tensor.zeros(0).ptp(), f"ptp {_NOTHING}"),
    ("nansum", AxisError, lambda t: t.floats.nansum(2), "nansum: axis 2 is out of range"),
    ("nanmean", AxisError, lambda t: t.floats.nanmean((0, 2)), "nanmean: axis 2 is out of range"),
    ("nanmedian", AxisError, lambda t: t.floats.nanmedian(2), "nanmedian: axis 2 is out of range"),
    (
        "nanmedian",
        ShapeError,
        lambda t: Tensor.zeros(0).nanmedian(),
        "nanmedian over axis None of shape (0,)",
    ),
    ("kthvalue", ArgumentError, lambda t: t.floats.kthvalue(0), "kthvalue: k=0 of 3 elements on axis -1"),
    ("kthvalue", AxisError, lambda t: t.floats.kthvalue(1, 2), "kthvalue: axis 2 is out of range"),
    ("mode", AxisError, lambda t: t.floats.mode(2), "mode: axis 2 is out of range"),
    ("mode", ShapeError, lambda t: Tensor.zeros(0).mode(), "mode over axis 0 of shape (0,)"),
    (
        "unique_consecutive",
        AxisError,
        lambda t: t.floats.unique_consecutive(axis=2),
        "unique_consecutive: axis 2 is out of range",
    ),
    (
        "unique_consecutive",
        JitError,
        lambda t: jitted(lambda x: x.unique_consecutive()),
        "a jitted function reads the elements of",
    ),
    ("diff", ArgumentError, lambda t: t.floats.diff(-1), "diff: n=-1 is negative"),
    ("diff", AxisError, lambda t: t.floats.diff(axis=2), "diff: axis 2 is out of range"),
    ("diff", DtypeError, lambda t: t.vector.diff(prepend=0), "diff of 0 (int). Pass tensors"),
    (
        "diff",
        ShapeError,
        lambda t: t.floats.diff(append=t.square),
        "diff: (3, 3) beside (2, 3) differs in more than axis 1",
    ),
    ("cov", DtypeError, lambda t: t.floats.cov(fweights=t.vector), "cov: fweights of float32"),
    ("cov", ShapeError, lambda t: t.floats.cov(aweights=t.row), "cov: aweights of shape (2,) for (3,)"),
    (
        "corrcoef",
        ShapeError,
        lambda t: t.grid.corrcoef(),
        "corrcoef of shape (1, 2, 2, 2): rows are variables",
    ),
    ("dist", ArgumentError, lambda t: t.floats.dist(t.floats, "a"), "dist: p='a' (str) is no number"),
    ("dist", DtypeError, lambda t: t.floats.dist(1), "dist of 1 (int). Pass tensors"),
    ("dist", ShapeError, lambda t: t.floats.dist(t.row), "dist: shapes (2, 3) and (2,) do not broadcast"),
    ("vander", ArgumentError, lambda t: t.vector.vander(-1), "vander: N=-1 is negative"),
    ("vander", ShapeError, lambda t: t.floats.vander(), "vander of shape (2, 3): it takes one axis"),
    ("cartesian_prod", DtypeError, lambda t: t.vector.cartesian_prod(1), "cartesian_prod of 1 (int)"),
    (
        "cartesian_prod",
        ShapeError,
        lambda t: t.vector.cartesian_prod(t.floats),
        "cartesian_prod of shape (2, 3): it takes vectors",
    ),
    ("combinations", ArgumentError, lambda t: t.vector.combinations(-1), "combinations: r=-1 is negative"),
    (
        "combinations",
        ArgumentError,
        lambda t: t.vector.combinations(1 << 40, with_replacement=True),
        "of 1099511627776 elements each are beyond all memory",
    ),
    ("combinations", ShapeError, lambda t: t.floats.combinations(), "combinations of shape (2, 3)"),
]
