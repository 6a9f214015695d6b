"""Activations as layers, for lists of layers that are written with PyTorch's names.

Only `PReLU` holds a parameter, the others hold settings: `Tensor.relu` in such a list does what `ReLU()`
does. `inplace` is taken and changes nothing: results are new tensors, and which memory they have is the
compiler's choice.
"""

from plugrad.nn.activations.along_axis import GLU, LogSoftmax, Softmax, Softmin
from plugrad.nn.activations.curves import CELU, ELU, GELU, LeakyReLU, Softplus
from plugrad.nn.activations.fixed import (
    SELU,
    Hardsigmoid,
    Hardswish,
    LogSigmoid,
    Mish,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softsign,
    Tanh,
    Tanhshrink,
)
from plugrad.nn.activations.learnt import PReLU
from plugrad.nn.activations.limits import Hardshrink, Hardtanh, Softshrink, Threshold

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]
