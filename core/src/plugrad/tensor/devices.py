"""Move tensors to other devices and dtypes, and detach them from gradients."""

from __future__ import annotations

from plugrad.device import Device
from plugrad.dtype import DType
from plugrad.errors import ArgumentError
from plugrad.plugin.hints import NVIDIA, PROCESSOR
from plugrad.tensor.base import DTypeLike, Tensor, TensorBase
from plugrad.tensor.shapes import as_int


def detach(self: Tensor) -> Tensor:
    """Return the same memory without a gradient; for tracked results, the values.

    Example:
        >>> w = Tensor([1.0, 2.0], requires_grad=True)
        >>> w.detach().assign([3.0, 4.0]).requires_grad, w.tolist()
        (False, [3.0, 4.0])
    """
    out = self._make(self._shown(), self._device) if self._storage.has_history else self._view(lambda u: u)
    out._is_tracked = False
    out._is_detached = True
    out._is_leaf = False
    return out


def to(
    self: Tensor, device: str | DType | TensorBase | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """Return this tensor on another device or in another dtype, itself if neither changes.

    Args:
        device: where to; None for where it is. A dtype (not the name of one) in its place is that, and a
            tensor stands for its device and dtype, as in PyTorch.
        dtype: what to cast to; by default the elements stay what they are.

    Raises:
        DeviceNotFound: there is no such device.
        DtypeError: there is no such dtype.

    Example:
        >>> Tensor([1, 2]).to("PYTHON").device, Tensor([1, 2]).to(dtypes.float16).tolist()
        ('PYTHON', [1.0, 2.0])
    """
    if isinstance(device, TensorBase):
        return self.to(device._device, device.dtype if dtype is None else dtype)
    if isinstance(device, DType):
        return self.to(None, device)
    if dtype is not None:
        return self.cast(dtype).to(device)
    if device is None or (name := Device.present(device)) == self._device:
        return self
    u = self._graph
    out = self._make(u if u.device is None else u.copy_to_device(name), name, self.requires_grad)
    if self._is_leaf is False:
        out._is_leaf = False
    return out


def cpu(self: Tensor) -> Tensor:
    """Return this tensor in the memory of the processor's device: `to` that.

    Raises:
        DeviceNotFound: there is no such device.

    Example:
        >>> Tensor([1, 2], device="PYTHON").cpu().tolist()
        [1, 2]
    """
    return self.to(PROCESSOR)


def cuda(self: Tensor, device: int | str | None = None) -> Tensor:
    """Return this tensor on an NVIDIA GPU: `to` that.

    Args:
        device: the number of the GPU, by default the first one; or the name of a device.

    Raises:
        ArgumentError: `device` is neither.
        DeviceNotFound: there is no such device.

    Example:
        >>> Tensor([1, 2]).cuda("PYTHON").device
        'PYTHON'
    """
    if isinstance(device, str):
        return self.to(device)
    return self.to(NVIDIA if device is None else f"{NVIDIA}:{as_int(device, 'device')}")


def to_(self: Tensor, device: str | None) -> Tensor:
    """Move this tensor, and its `.grad`, to another device; return this.

    Views of what it was stay where they are.

    Raises:
        DeviceNotFound: there is no such device.

    Example:
        >>> w = Tensor([1.0, 2.0], requires_grad=True)
        >>> w.to_("PYTHON").device, w.requires_grad
        ('PYTHON', True)
    """
    moved = self.to(device)
    if moved is self:
        return self
    if self.grad is not None:
        self.grad = self.grad.to(device)
    is_leaf = self._is_leaf
    self.replace(moved.detach().contiguous() if is_leaf else moved)
    self._is_leaf = is_leaf
    return self


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set `requires_grad`; return this.

    Raises:
        GradientError: the tensor holds no floats.

    Example:
        >>> Tensor([1.0, 2.0]).requires_grad_().requires_grad
        True
    """
    self.requires_grad = requires_grad
    return self


def to_device(self: Tensor, device: str, /, *, stream: None = None) -> Tensor:
    """Return `to(device)`, by the name of the array API standard.

    Raises:
        ArgumentError: `stream` is not None.
        DeviceNotFound: there is no such device.

    Example:
        >>> Tensor([1, 2]).to_device("PYTHON").device
        'PYTHON'
    """
    given: object = stream
    if given is not None:
        raise ArgumentError(f"stream={given!r:.60}. Copies are in no stream: pass None.")
    return self.to(device)
