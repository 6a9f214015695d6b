"""Methods for the state of a tensor: memory, device, gradient."""

from plugrad.tensor import assign as writing
from plugrad.tensor import custom_kernel as kernels
from plugrad.tensor import devices, realization
from plugrad.tensor import gradient as gradients


class StateMixin:
    """Computing, writing, devices, gradients."""

    __slots__ = ()

    # computing
    realize = realization.realize
    schedule = realization.schedule
    kernelize = realization.kernelize
    clone = realization.contiguous
    copy = realization.contiguous
    contiguous = realization.contiguous
    contiguous_backward = realization.contiguous_backward
    custom_kernel = staticmethod(kernels.custom_kernel)

    # writing
    assign = writing.assign
    replace = writing.replace

    # devices
    detach = devices.detach
    to = devices.to
    cpu = devices.cpu
    cuda = devices.cuda
    to_ = devices.to_
    requires_grad_ = devices.requires_grad_
    to_device = devices.to_device

    # gradients
    gradient = gradients.gradient
    backward = gradients.backward
