"""A tensor compiler whose devices are plugins.

from plugrad import Tensor

(Tensor([1.0, 2.0]) + 1).tolist()
"""

import plugrad.builtin as _builtin  # registers the devices that need no plugin
from plugrad._util import VERSION as __version__
from plugrad.device import Device
from plugrad.dtype import dtypes
from plugrad.settings import context
from plugrad.tensor import Tensor
from plugrad.uop.uop import UOp

#: `Variable(name, lowest, highest)`: a symbolic size; `.bind(value)` gives it a value.
Variable = UOp.variable

__all__ = ["Device", "Tensor", "Variable", "__version__", "context", "dtypes"]

del _builtin
