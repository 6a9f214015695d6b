"""Errors of extremes, of what leaves NaN out, of elements by rank and of statistics."""

from plugrad import Tensor
from plugrad.errors import ArgumentError, AxisError, DtypeError, ShapeError
from refusals.case import Case

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
    ("nanmedian", ShapeError, lambda t: Tensor.zeros(0).nanmedian(), "nanmedian over axis 0 of shape (0,)"),
    ("kthvalue", ArgumentError, lambda t: t.floats.kthvalue(0), "kthvalue: k=0 of 3 elements on axis -1"),
    ("kthvalue", AxisError, lambda t: t.floats.kthvalue(1, 2), "kthvalue: axis 2 is out of range"),
    ("mode", AxisError, lambda t: t.floats.mode(2), "mode: axis 2 is out of range"),
    ("mode", ShapeError, lambda t: Tensor.zeros(0).mode(), "mode over axis 0 of shape (0,)"),
]
