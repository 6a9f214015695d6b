"""Errors of what goes to other libraries and comes from them."""

import numpy as np

from plugrad import Tensor
from plugrad.errors import ArgumentError, DtypeError
from refusals.case import Case

CASES: list[Case] = [
    (
        "from_dlpack",
        ArgumentError,
        lambda t: Tensor.from_dlpack(np.ones(2), copy="no"),
        "from_dlpack: copy='no' (str) is neither True nor False",
    ),
    (
        "from_torch",
        DtypeError,
        lambda t: Tensor.from_torch([1.0]),
        "from_torch of [1.0] (list), which is no PyTorch tensor",
    ),
]
