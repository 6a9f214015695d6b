"""Complex numbers: arrays that are pairs of tensors."""

from plugrad.array_api.complexes.array import Array, Complex, as_pair
from plugrad.array_api.complexes.dtypes import ComplexDType, complex64, complex128

__all__ = ["Array", "Complex", "ComplexDType", "as_pair", "complex64", "complex128"]
