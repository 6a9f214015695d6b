"""Multiply, factorize and solve matrices."""

from typing import TYPE_CHECKING

from plugrad._util import LazyModule

if TYPE_CHECKING:
    from plugrad.tensor.linalg import jacobi as jacobi
else:
    # many programs need no eigenvalues
    jacobi = LazyModule("plugrad.tensor.linalg.jacobi")
