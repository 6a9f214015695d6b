"""Methods for the state of a tensor: memory, device, gradient."""

from plugrad.tensor import assign as writing
from plugrad.tensor import computing, devices
from plugrad.tensor import custom_kernel as kernels
from plugrad.tensor import gradient as gradients


class StateMixin:
    """Computing, writing, devices, gradients."""

    __slots__ = ()

    # computing
    realize = computing.realize
    schedule = computing.schedule
    kernelize = computing.kernelize
    clone = computing.contiguous
    copy = computing.contiguous
    contiguous = computing.contiguous
    contiguous_backward = computing.contiguous_backward
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
