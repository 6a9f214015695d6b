"""NumPy's elementwise functions on tensors, and operators between arrays and tensors."""

import operator
from typing import Any

from plugrad._util import numpy as np
from plugrad.errors import DtypeError, GradientError
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.host.display import describe

# functions of NumPy that stand for operators: the function of `operator`, the method of a tensor on the right
_OPERATORS = {
    "add": ("add", "__radd__"),
    "subtract": ("sub", "__rsub__"),
    "multiply": ("mul", "__rmul__"),
    "divide": ("truediv", "__rtruediv__"),
    "floor_divide": ("floordiv", "__rfloordiv__"),
    "remainder": ("mod", "__rmod__"),
    "power": ("pow", "__rpow__"),
    "matmul": ("matmul", "__rmatmul__"),
    "bitwise_and": ("and_", "__rand__"),
    "bitwise_or": ("or_", "__ror__"),
    "bitwise_xor": ("xor", "__rxor__"),
    "left_shift": ("lshift", "__rlshift__"),
    "right_shift": ("rshift", "__rrshift__"),
    "equal": ("eq", "__eq__"),
    "not_equal": ("ne", "__ne__"),
    "less": ("lt", "__gt__"),
    "less_equal": ("le", "__ge__"),
    "greater": ("gt", "__lt__"),
    "greater_equal": ("ge", "__le__"),
}


def __array_ufunc__(self: "Tensor", ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """Take NumPy's elementwise functions: `np.hypot(tensor, 4)`, `array + tensor`, `array *= tensor`.

    Operators are those of tensors, and wait to be computed. Other functions compute on arrays, and what they
    return becomes tensors on this tensor's device. What `out` names is written.

    Raises:
        DtypeError: `ufunc.at` would write into a tensor.
        GradientError: a tensor requires a gradient, which NumPy's functions do not give.

    Example:
        >>> np.hypot(Tensor([3.0]), 4.0).tolist()
        [5.0]
    """
    if method == "__call__" and not keywords and (found := _OPERATORS.get(ufunc.__name__)) is not None:
        left, right = inputs
        on_left, on_right = found
        if isinstance(left, TensorBase):
            return getattr(operator, on_left)(left, right)
        return getattr(right, on_right)(left)
    given = (*inputs, *keywords.get("out", ()))
    for x in given:
        if isinstance(x, TensorBase) and x.requires_grad:
            raise GradientError(
                f"np.{ufunc.__name__} of {describe(x)} has no gradient. Use the tensor's methods, or pass "
                ".detach()."
            )
    if method == "at" and isinstance(inputs[0], TensorBase):
        raise DtypeError(
            f"np.{ufunc.__name__}.at writes into arrays, not into {describe(inputs[0])}. Use index_add, "
            "index_put or scatter_reduce."
        )
    arrays = [np.asarray(x) if isinstance(x, TensorBase) else x for x in inputs]
    out = getattr(ufunc, method)(*arrays, **keywords)
    if "out" in keywords or method == "at":
        return out
    return tuple([self._from_host(x) for x in out]) if isinstance(out, tuple) else self._from_host(out)  # pyright: ignore
