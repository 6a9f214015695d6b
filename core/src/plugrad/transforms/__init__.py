"""Functions of tensors made into others: their derivatives, their batches, and gradients of one's own."""

from plugrad.transforms.batching import vmap
from plugrad.transforms.derivatives import grad, jvp, linearize, value_and_grad, vjp
from plugrad.transforms.functions import checkpoint, custom_gradient, function
from plugrad.transforms.jacobians import hessian, jacfwd, jacobian, jacrev

__all__ = [
    "checkpoint",
    "custom_gradient",
    "function",
    "grad",
    "hessian",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "value_and_grad",
    "vjp",
    "vmap",
]
