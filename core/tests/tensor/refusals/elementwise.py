"""Errors of elementwise operations."""

from plugrad import Tensor
from plugrad.errors import ArgumentError, AxisError, DtypeError, ShapeError
from refusals.case import Case

CASES: list[Case] = [
    (
        "gelu",
        ArgumentError,
        lambda t: t.floats.gelu("erf"),
        "gelu: approximate='erf' is neither 'tanh' nor 'none'",
    ),
    (
        "sub",
        DtypeError,
        lambda t: t.bools.sub(t.bools),
        "subtraction of bool and bool: it takes numbers (use ^ for bools)",
    ),
    ("add", DtypeError, lambda t: t.floats.add(1, alpha=None), "add: None (NoneType) is no number"),
    ("subtract", DtypeError, lambda t: t.bools.subtract(True), "subtract: subtraction of bool and True"),
    ("subtract", DtypeError, lambda t: t.floats.subtract(1, alpha="a"), "subtract: 'a' (str) is no number"),
    (
        "divide",
        ArgumentError,
        lambda t: t.floats.divide(2, rounding_mode="up"),
        "divide: there is no rounding",
    ),
    ("negative", DtypeError, lambda t: t.bools.negative(), "bools have no negative"),
    ("equal", DtypeError, lambda t: t.floats.equal(1.0), "equal: other=1.0 (float) is no tensor"),
    (
        "bitwise_left_shift",
        DtypeError,
        lambda t: t.floats.bitwise_left_shift(1),
        "bitwise_left_shift: << of float32 and 1 (int): it takes integers",
    ),
    (
        "bitwise_right_shift",
        DtypeError,
        lambda t: t.floats.bitwise_right_shift(1),
        "bitwise_right_shift: >> of float32 and 1 (int): it takes integers",
    ),
    ("pow", DtypeError, lambda t: t.ints.pow(-1), "int32 to the power of -1 is no integer"),
    (
        "where",
        DtypeError,
        lambda t: t.floats.where(t.floats, t.floats),
        "where of float32: it takes a bool condition",
    ),
    ("clamp", DtypeError, lambda t: t.floats.clamp(), "clamp without a limit changes nothing"),
    ("div", ArgumentError, lambda t: t.floats.div(2, rounding_mode="up"), "there is no rounding_mode 'up'"),
    ("bitwise_not", DtypeError, lambda t: t.floats.bitwise_not(), "~ of float32: it takes integers or bools"),
    ("lshift", DtypeError, lambda t: t.floats.lshift(1), "<< of float32 and 1 (int): it takes integers"),
    ("rshift", DtypeError, lambda t: t.floats.rshift(1), ">> of float32 and 1 (int): it takes integers"),
    ("neg", DtypeError, lambda t: t.bools.neg(), "bools have no negative"),
    ("glu", AxisError, lambda t: t.floats.glu(2), "glu: axis 2 is out of range"),
    ("glu", ShapeError, lambda t: t.floats.glu(1), "glu: axis 1 of shape (2, 3) has no two equal halves"),
    (
        "prelu",
        ShapeError,
        lambda t: t.floats.prelu(Tensor.ones(4)),
        "prelu of shape (2, 3): weight has shape (4,)",
    ),
    ("hardshrink", ArgumentError, lambda t: t.floats.hardshrink(-1.0), "hardshrink: lambd=-1.0 is negative"),
    ("softshrink", ArgumentError, lambda t: t.floats.softshrink(-1.0), "softshrink: lambd=-1.0 is negative"),
    ("leaky_relu", DtypeError, lambda t: t.floats.leaky_relu("a"), "leaky_relu: 'a' (str) is no number"),
    ("elu", DtypeError, lambda t: t.floats.elu(None), "elu: None (NoneType) is no number"),
    ("selu", DtypeError, lambda t: t.floats.selu(1.0, [1]), "selu: [1] (list) is no number"),
    ("celu", DtypeError, lambda t: t.floats.celu("a"), "celu: 'a' (str) is no number"),
    ("celu", ArgumentError, lambda t: t.floats.celu(0), "celu: alpha=0 divides by zero"),
    ("softplus", DtypeError, lambda t: t.floats.softplus("a"), "softplus: 'a' (str) is no number"),
    ("hardtanh", DtypeError, lambda t: t.floats.hardtanh(0, "a"), "hardtanh: 'a' (str) is no number"),
    ("hardshrink", DtypeError, lambda t: t.floats.hardshrink("a"), "hardshrink: 'a' (str) is no number"),
    ("softshrink", DtypeError, lambda t: t.floats.softshrink("a"), "softshrink: 'a' (str) is no number"),
    ("prelu", DtypeError, lambda t: t.floats.prelu("a"), "prelu: cannot compute with 'a' (str)"),
    ("nan_to_num", DtypeError, lambda t: t.floats.nan_to_num("a"), "nan_to_num: 'a' (str) is no number"),
    ("isclose", DtypeError, lambda t: t.floats.isclose(1, "a"), "isclose: 'a' (str) is no number"),
    ("allclose", DtypeError, lambda t: t.floats.allclose(1, 0.1, None), "allclose: None (NoneType) is no"),
]
