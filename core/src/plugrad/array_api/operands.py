"""Operands of the array API: promotion of arrays and Python numbers."""

from plugrad.dtype import Number, dtypes, is_complex
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.base import promoted

#: what a function of two operands takes for each
Operand = Tensor | Number


def both(x1: Operand, x2: Operand) -> tuple[Tensor, Tensor]:
    """Return two operands, at most one a Python number, as tensors of one dtype."""
    dtype = promoted([x1, x2])
    device = next((x.device for x in (x1, x2) if isinstance(x, Tensor)), None)
    if device is None:
        raise DtypeError(f"two numbers, {x1!r} and {x2!r}: pass a tensor for one of them at least.")
    if is_complex(dtype):
        # operators compute with the parts of real operands alone
        return x1, x2  # pyright: ignore[reportReturnType]
    left, right = (
        x.cast(dtype) if isinstance(x, Tensor) else Tensor(x, dtype=dtype, device=device) for x in (x1, x2)
    )
    return left, right


def logical(x1: Operand, x2: Operand) -> tuple[Tensor, Tensor]:
    """Return two operands as tensors of bools."""
    left, right = both(x1, x2)
    return left.cast(dtypes.bool), right.cast(dtypes.bool)
