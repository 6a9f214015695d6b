"""Functions of tensors made into others: their derivatives, their batches, and gradients of one's own."""

from plugrad.transforms.batching import vmap
from plugrad.transforms.derivatives import grad, hessian, jacobian, jvp, vjp
from plugrad.transforms.functions import checkpoint, custom_gradient

__all__ = ["checkpoint", "custom_gradient", "grad", "hessian", "jacobian", "jvp", "vjp", "vmap"]
