"""Memory without contents, in a graph for a value that comes later."""

from plugrad.dtype import DType
from plugrad.uop import UOp


def placeholder(shape: tuple[int | UOp, ...], dtype: DType, device: str | None) -> UOp:
    """Return a new node of that shape, to be replaced before anything is computed.

    Example:
        >>> placeholder((2, 3), dtypes.float32, "PYTHON").shape
        (2, 3)
    """
    largest = tuple(s if isinstance(s, int) else int(s.vmax) for s in shape)
    return UOp.new_buffer(device or "", largest, dtype).shrink(tuple((0, s) for s in shape))
