"""Complex numbers of the host: Python's and NumPy's, as pairs of tensors and back."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from plugrad._util import numpy as np
from plugrad.tensor import Tensor
from plugrad.tensor.complex_formulas.pairs import Pair

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["array_of", "holds_complex", "nested", "pair_of_array"]


def holds_complex(x: Any) -> bool:
    """Say whether a number, nested lists, memory, or an array of NumPy are complex.

    Example:
        >>> holds_complex([[1.0], [2j]]), holds_complex(1.0)
        (True, False)
    """
    if isinstance(x, complex):
        return True
    if isinstance(x, (list, tuple)):
        return any(map(holds_complex, cast("Sequence[Any]", x)))
    if isinstance(x, memoryview):
        return "Z" in x.format or x.format in ("F", "D", "G")
    dtype = getattr(x, "dtype", None)
    # as NumPy says it, and PyTorch
    return getattr(dtype, "kind", None) == "c" or getattr(dtype, "is_complex", False) is True


def pair_of_array(array: "npt.NDArray[Any]", device: str | None) -> Pair:
    """Return the parts of an array of NumPy: of float64 if its own are, else of float32.

    Example:
        >>> [part.tolist() for part in pair_of_array(np.array([1 + 2j]), None)]
        [[1.0], [2.0]]
    """
    wide: Any = array.astype(np.complex64 if array.dtype.itemsize <= 8 else np.complex128)
    real, imag = (Tensor(part.copy(), device=device) for part in (wide.real, wide.imag))
    return real, imag


def array_of(real: Tensor, imag: Tensor) -> "npt.NDArray[Any]":
    """Return parts as an array of NumPy's.

    Example:
        >>> array_of(Tensor([1.0]), Tensor([2.0])).tolist()
        [(1+2j)]
    """
    Tensor.realize(real, imag)
    first = real.numpy()
    out: Any = np.empty(first.shape, np.complex128 if first.dtype == np.float64 else np.complex64)
    out.real, out.imag = first, imag.numpy()
    return out


def nested(real: Any, imag: Any) -> Any:
    """Return nested lists of parts as nested lists of Python's complex numbers.

    Example:
        >>> nested([1.0, 2.0], [3.0, 4.0])
        [(1+3j), (2+4j)]
    """
    if isinstance(real, list):
        return [nested(one, other) for one, other in zip(cast("list[Any]", real), imag, strict=True)]
    return complex(real, imag)
