"""Tensors from and to other array libraries."""

from __future__ import annotations

import importlib
from typing import Any

from plugrad._util import numpy as np
from plugrad.device import Device
from plugrad.errors import ArgumentError, DeviceError, DtypeError, SharingError
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.host.display import describe
from plugrad.tensor.host.dlpack import HOST, Shared, export_memory, import_memory, knows_versions
from plugrad.tensor.host.host_data import computes, copied_buffer, host_buffer, shared_buffer
from plugrad.tensor.host.reading import shared_bytes, stored_bytes
from plugrad.tensor.host.source import bytes_of
from plugrad.tensor.shapes import as_flag, is_one_of, shape_today
from plugrad.uop import UOp


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """Return DLPack's name of the host: elements on other devices are copied there."""
    return HOST


def __dlpack__(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return a DLPack capsule of the elements, for `from_dlpack` of other libraries.

    On devices in the host's memory large tensors are not copied. That memory is marked as read-only and
    does not change: an assign to the tensor moves the tensor to other memory. PyTorch does not see the
    mark: do not write to what `torch.from_dlpack` returns, or use `to_torch()`.

    Args:
        stream: None: the elements are there when this returns.
        max_version: the newest DLPack that the caller reads. Before 1.0 it cannot see the mark, so the
            elements are copied; so they are with a NumPy before 2.1, which cannot set it.
        dl_device: where the caller wants the memory.
        copy: True copies in any case, and what is returned may be written; False never.

    Raises:
        ArgumentError: `copy` is neither None nor a bool, or `max_version` no pair of integers.
        SharingError: `copy=False`, and a copy is needed; or `dl_device` is not the host.
        ShapeError: a symbolic size has no value.

    Example:
        >>> np.from_dlpack(Tensor([1, 2])).tolist()
        [1, 2]
    """
    if dl_device is not None and (not isinstance(dl_device, tuple) or dl_device != HOST):  # pyright: ignore
        raise SharingError(f"DLPack memory on {dl_device}: plugrad gives the host's, {HOST}.")
    if stream is not None:
        raise SharingError(f"DLPack with stream={stream!r}: the host's memory has none. Pass None.")
    copy = None if copy is None else as_flag(copy, "copy")
    shape = shape_today(self.shape, "DLPack")
    is_versioned = max_version is not None and _major(max_version) >= 1 and knows_versions()
    if copy or (copy is None and not is_versioned):
        memory = memoryview(bytearray(stored_bytes(self).cast("B")))
        return export_memory(memory, shape, self.dtype, is_versioned=is_versioned, is_copied=True)
    if copy is False and not is_versioned:
        raise SharingError(
            f"{describe(self)} is read-only memory, which DLPack before 1.0 cannot say, nor NumPy before "
            "2.1. Let it be copied."
        )
    try:
        memory = stored_bytes(self) if copy is None else shared_bytes(self)
    except ArgumentError as error:
        raise SharingError(str(error)) from error
    return export_memory(memory, shape, self.dtype, is_versioned=True, is_copied=False)


def __bytes__(self: Tensor) -> bytes:
    r"""Return the bytes of the elements in row-major order, as those of a NumPy array.

    Example:
        >>> bytes(Tensor([1, 258], dtype="int16"))
        b'\x01\x00\x02\x01'
    """
    shape_today(self.shape, "bytes")
    return bytes(stored_bytes(self))


def from_dlpack(cls: type[Tensor], x: Any, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """Return a tensor of another library's array, sharing its memory where possible.

    Nobody may write to the memory then as long as the tensor, or anything not yet computed from it, is
    used. The tensor does not either: an assign moves it to memory of its own.

    Args:
        x: an object with `__dlpack__`, such as an array of NumPy or a tensor of PyTorch.
        copy: True copies in any case, False never; by default the memory is shared where the device uses
            the host's, and the elements lie in row-major order.

    Raises:
        ArgumentError: `copy` is neither None nor a bool.
        SharingError: `x` knows no DLPack, is of no dtype of plugrad's, or `copy=False` and a copy is
            needed.

    Example:
        >>> Tensor.from_dlpack(np.array([1, 2])).tolist()
        [1, 2]
    """
    copy = None if copy is None else as_flag(copy, "copy")
    if isinstance(x, TensorBase) and device is None and not copy:
        return cls._make(x.uop, x.device)
    if not hasattr(x, "__dlpack__"):
        raise SharingError(f"{x!r} ({type(x).__name__}) has no __dlpack__. Use Tensor(...).")
    name = Device.present(device)
    shared = import_memory(_request_capsule(x))
    if not copy:
        uop = _shared_graph(shared, name)
        if uop is not None:
            return cls._make(uop, name)
        if copy is False:
            raise SharingError(
                f"from_dlpack(copy=False): {name} does not use the host's memory, or not at this "
                "alignment, or the elements do not lie in row-major order. Let them be copied."
            )
    return cls._make(_copied_graph(shared, name), name)


def from_torch(cls: type[Tensor], x: Any, *, device: str | None = None, copy: bool = True) -> Tensor:
    """Return a tensor of the values of a PyTorch tensor, wherever that is.

    Args:
        x: the PyTorch tensor; its history of gradients is left behind.
        copy: False uses its memory where that is possible, as `from_dlpack` does: nobody may write to it.

    Raises:
        DtypeError: it is no PyTorch tensor.
        SharingError: its dtype is none of plugrad's, such as a quantized one; or it is sparse, or a
            "meta" tensor without elements.

    Example:
        >>> import torch
        >>> Tensor.from_torch(torch.tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    if not hasattr(x, "detach") or not hasattr(x, "__dlpack__"):
        raise DtypeError(f"from_torch of {x!r} ({type(x).__name__}), which is no PyTorch tensor.")
    try:
        return cls.from_dlpack(x.detach().cpu(), device=device, copy=bool(copy) or None)
    except DeviceError:
        raise
    except RuntimeError as error:
        raise SharingError(f"PyTorch does not hand over this tensor: {error}") from error


def to_torch(self: Tensor, *, copy: bool = True) -> Any:
    """Return a PyTorch tensor of the elements, on the host.

    Args:
        copy: False uses this tensor's memory where that is possible: do not write to it then.

    Raises:
        ArgumentError: PyTorch is not installed, or `copy` is no bool.
        ShapeError: a symbolic size has no value.

    Example:
        >>> Tensor([1.0, 2.0]).to_torch()
        tensor([1., 2.])
    """
    shape_today(self.shape, "to_torch")
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError as error:
        raise ArgumentError("to_torch needs PyTorch. Install it: pip install torch") from error
    return torch.from_dlpack(self, copy=bool(copy) or None)


def __array_namespace__(self: Tensor, *, api_version: str | None = None) -> Any:
    """Return `plugrad.array_api`, the functions of the Python array API standard.

    Raises:
        ArgumentError: `api_version` is a version that is not followed.

    Example:
        >>> Tensor([1, 2]).__array_namespace__().__name__
        'plugrad.array_api'
    """
    # imported when first asked for: it is built on tensors
    namespace = importlib.import_module("plugrad.array_api")
    if api_version is not None and not is_one_of(api_version, namespace.SUPPORTED_VERSIONS):
        raise ArgumentError(
            f"version {api_version!r} of the array API: plugrad follows "
            f"{', '.join(namespace.SUPPORTED_VERSIONS)}."
        )
    return namespace


def _major(version: Any) -> int:
    try:
        major, _ = map(int, version)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            f"DLPack with max_version={version!r}: pass two integers, such as (1, 0)."
        ) from error
    return major


def _request_capsule(x: Any) -> Any:
    """Return the newest capsule that `x` can export, in host memory."""
    options: dict[str, Any] = {} if tuple(map(int, x.__dlpack_device__())) == HOST else {"dl_device": HOST}
    try:
        return x.__dlpack__(max_version=(1, 0), **options)
    except TypeError:
        # from before 1.0
        return x.__dlpack__()
    except BufferError as error:
        raise SharingError(
            f"{type(x).__module__} does not hand over this {type(x).__name__}: {error}"
        ) from error


def _shared_graph(shared: Shared, device: str) -> UOp | None:
    if not shared.elements.size:
        return _copied_graph(shared, device)
    if not shared.elements.flags.c_contiguous:
        return None
    return shared_buffer(bytes_of(shared.elements), shared.elements.shape, shared.dtype, device)


def _copied_graph(shared: Shared, device: str) -> UOp:
    elements, shape = shared.elements, shared.elements.shape
    if not computes(device) or not elements.size:
        return host_buffer(elements.tobytes(), shape, shared.dtype).copy_to_device(device)
    return copied_buffer(bytes_of(np.ascontiguousarray(elements)), shape, shared.dtype, device)
