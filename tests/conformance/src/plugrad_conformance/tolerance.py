"""The table of tolerances, in units in the last place, each with a reason.

An error is `|got - exact| / ulp`, where `exact` is computed in float64 (float64 results: in NumPy's
longdouble) from the very values that were stored, and `ulp` is the distance between neighbouring numbers of
the result's dtype at `exact`. Rounding correctly is off by 0.5 at most.

float16 and bfloat16 are computed in float32 and rounded once, at the end of each operation: half a unit and
the little that the float32 result was off.

Source of the bits that sums of products of 8-bit floats keep: DeepSeek-V3 Technical Report, section 3.3.2.
"""

from dataclasses import dataclass

import numpy as np

from plugrad.dtype import DType, dtypes, is_float


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A bound in ULP, and why it is not smaller."""

    ulp: float
    reason: str


EXACT = Tolerance(0.0, "integers, bools and moved values are exact")
ROUNDED = Tolerance(0.5, "IEEE 754 rounds it correctly")

_WIDE = {
    "neg": EXACT,
    "abs": EXACT,
    "relu": EXACT,
    "sign": EXACT,
    "trunc": EXACT,
    "floor": EXACT,
    "ceil": EXACT,
    "round": EXACT,
    "maximum": EXACT,
    "minimum": EXACT,
    "where": EXACT,
    "add": ROUNDED,
    "sub": ROUNDED,
    "mul": ROUNDED,
    "square": ROUNDED,
    "div": Tolerance(2.5, "OpenCL and CUDA's approximate division allow 2.5; IEEE devices give 0.5"),
    "reciprocal": Tolerance(2.5, "as division"),
    "sqrt": Tolerance(3.0, "OpenCL allows 3 without correctly rounded sqrt; IEEE devices give 0.5"),
    "rsqrt": Tolerance(4.0, "sqrt and a division"),
    "exp2": Tolerance(3.0, "OpenCL's bound; our polynomial is off by 1.2 at most"),
    "log2": Tolerance(3.0, "OpenCL's bound; our polynomial is off by 1.5 at most"),
    "sin": Tolerance(4.0, "OpenCL's bound"),
    "cos": Tolerance(4.0, "OpenCL's bound; ours is off by 1.6 at most, however large the angle"),
    "exp": Tolerance(3.0, "OpenCL's bound; ours is off by 1 at most"),
    "log": Tolerance(4.0, "log2 and a product"),
    "pow": Tolerance(16.0, "OpenCL's bound"),
    "tanh": Tolerance(5.0, "OpenCL's bound"),
    "sigmoid": Tolerance(6.0, "exp, a sum and a division"),
    "gelu": Tolerance(16.0, "cancels left of 0; measured by the size of the input"),
    "silu": Tolerance(7.0, "sigmoid and a product"),
    "softplus": Tolerance(8.0, "exp and log, measured by the larger of result and one"),
    "mod": Tolerance(0.5, "the remainder is exact; moving it to the divisor's side rounds"),
    "floordiv": EXACT,
    "sum": Tolerance(16.0, "roundings of a few hundred elements; measured by the sum of magnitudes"),
    "prod": Tolerance(32.0, "one rounding a factor"),
    "mean": Tolerance(17.0, "a sum and a division"),
    "var": Tolerance(32.0, "a sum of squares of rounded differences"),
    "softmax": Tolerance(24.0, "exp, a sum and a division"),
    "matmul": Tolerance(32.0, "a sum of products, measured by the sum of their magnitudes"),
    "matmul-of-bytes": Tolerance(4096.0, "GPUs keep as few as 14 bits of sums of products of 8-bit floats"),
    "conv": Tolerance(64.0, "a sum of products, measured by the sum of their magnitudes"),
    "gradient": Tolerance(64.0, "a handful of operations in a row"),
    "operation": Tolerance(64.0, "a few operations in a row, measured by the larger of result and one"),
}  # fmt: skip
#: Operations whose error in float64 is larger, since no hardware helps and we approximate in one precision.
_FLOAT64 = {
    "pow": Tolerance(64.0, "exp2(y*log2(x)) with a split logarithm; OpenCL's bound is 16"),
    "tanh": Tolerance(8.0, "the sum of its parts' errors"),
}
_NARROW = Tolerance(1.0, "computed in float32 and rounded once; neighbours of a tie may differ")
#: Operations that are composed of others, each of which rounds to its two bytes.
_NARROW_OF = {"operation": Tolerance(4.0, "a few operations in a row that each round to two bytes")}


def tolerance_of(op: str, dtype: DType) -> Tolerance:
    """Return the allowed error of `op` for results of `dtype`.

    Example:
        >>> tolerance_of("add", dtypes.float32).ulp
        0.5
    """
    wide = _WIDE[op]
    if not is_float(dtype) or wide is EXACT:
        return EXACT
    if dtype.itemsize == 2:
        return _NARROW_OF.get(op, _NARROW)
    return _FLOAT64.get(op, wide) if dtype is dtypes.float64 else wide


def entries() -> list[tuple[str, str, Tolerance]]:
    """Return the whole table as (op, dtype, tolerance), for the documentation."""
    floats = (dtypes.float32, dtypes.float64, dtypes.float16)
    names = {dtypes.float16: "float16, bfloat16"}
    return [(op, names.get(dtype, dtype.name), tolerance_of(op, dtype)) for op in _WIDE for dtype in floats]


# digits of the significand, and the exponent of the smallest normal number
_FORMATS = {
    dtypes.float16: (11, -14),
    dtypes.bfloat16: (8, -126),
    dtypes.float32: (24, -126),
    dtypes.float64: (53, -1022),
}


def ulp_of(values: "np.ndarray", dtype: DType) -> "np.ndarray":  # pyright: ignore[reportMissingTypeArgument, reportUnknownParameterType]
    """Return the distance between neighbouring numbers of `dtype` at `values`."""
    digits, lowest = _FORMATS[dtype]
    _, exponent = np.frexp(np.where(np.isfinite(values), values, 1.0))
    exponent = np.where(values == 0, lowest, exponent - 1)
    return np.ldexp(np.ones_like(values), np.maximum(exponent, lowest) - (digits - 1))
