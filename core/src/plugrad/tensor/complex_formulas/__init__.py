"""Functions of complex numbers, as formulas of their real and imaginary parts."""

from typing import TYPE_CHECKING

from plugrad._util import LazyModule

if TYPE_CHECKING:
    from plugrad.tensor.complex_formulas import exponentials as exponentials
    from plugrad.tensor.complex_formulas import inverses as inverses
else:
    # many programs have no complex numbers
    exponentials = LazyModule("plugrad.tensor.complex_formulas.exponentials")
    inverses = LazyModule("plugrad.tensor.complex_formulas.inverses")
