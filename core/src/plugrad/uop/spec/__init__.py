"""The specs of each stage: the op, dtype, sources and arg of legal nodes."""

from plugrad.uop.spec.kernels import kernel_spec
from plugrad.uop.spec.linear import linear_spec, verify_linear
from plugrad.uop.spec.lowered import codegen_spec
from plugrad.uop.spec.stage import Spec, verify, verify_node
from plugrad.uop.spec.tensors import real_spec, tensor_spec

__all__ = [
    "Spec",
    "codegen_spec",
    "kernel_spec",
    "linear_spec",
    "real_spec",
    "tensor_spec",
    "verify",
    "verify_linear",
    "verify_node",
]
