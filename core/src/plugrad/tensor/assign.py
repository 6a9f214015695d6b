"""Write into the memory of a tensor."""

from __future__ import annotations

from typing import Any

from plugrad.device import Device
from plugrad.dtype import ConstType
from plugrad.engine import storage
from plugrad.engine.capture import current_capture
from plugrad.engine.realize import overwriting
from plugrad.engine.view_path import ViewPath, shown
from plugrad.errors import DeviceError, DtypeError, GradientError, JitError, ShapeError, ViewError
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.host.display import describe
from plugrad.tensor.host.host_data import computes
from plugrad.tensor.host.reading import stored_bytes
from plugrad.tensor.host.strided import write_view
from plugrad.tensor.keywords import REQUIRED, renamed
from plugrad.tensor.shapes import expanded, show
from plugrad.uop import Ops, UOp


def assign(self: Tensor, value: Tensor | ConstType | list[Any] = REQUIRED, **names: Any) -> Tensor:
    """Write `value`, broadcast to this shape, into this tensor's memory; return this tensor.

    The write happens once the value is computed.

    Axes of size 1 that `value` has in front of those of this tensor fall away, as in `x[...] = value`.

    Basic indices, `reshape`, `permute` and the like, `flip`, `shrink` and `detach` give views: who writes
    to one writes to the tensor that it shows, and all other views of that see it, whatever was realized
    by then. All other operations give values, which keep what they were computed from; so do `pad`,
    `cat`, indexing with tensors, and a tensor that happens to be computed like another one. Writing to
    such a value gives it memory of its own. An expanded tensor is a view that cannot be written to.

    A tensor on DISK is its file, which is written at once.

    Gradients flow through what is written, to what the value was computed from, until it is realized:
    memory itself has no history.

    Raises:
        ShapeError: the value does not broadcast to this shape.
        DtypeError: the value has another dtype.
        DeviceError: the value lives on another device, which only files take; or the file is read-only.
        ViewError: elements of this tensor share memory, because it was expanded.
        GradientError: this tensor was computed from tensors that require a gradient.

    Example:
        >>> t = Tensor([1, 2, 3])
        >>> t.assign(t + 1).tolist()
        [2, 3, 4]
        >>> _ = t[1:].flip(0).assign([30, 40])
        >>> t.tolist()
        [2, 40, 30]
    """
    if names or value is REQUIRED:
        (value,) = renamed(self.assign, names, value=value)
    check_writable(self)
    write_part(self, (), assignable_graph(self, value, self.shape))
    return self


def replace(self: Tensor, other: Tensor = REQUIRED, **names: Any) -> Tensor:
    """Take over the graph or memory, dtype and device of `other`; return this tensor.

    Nothing is copied or written: views of what this tensor was stay what they are. Whether it requires a
    gradient, and its `.grad`, stay.

    Raises:
        DtypeError: `other` is no tensor.
        ShapeError: the shapes differ.

    Example:
        >>> rows = Tensor([[1, 2], [3, 4]])
        >>> first = Tensor([0, 0]).replace(rows[0])
        >>> rows[0] = 5
        >>> first.tolist()
        [5, 5]
    """
    if names or other is REQUIRED:
        (other,) = renamed(self.replace, names, other=other)
    require_tensors(other=other)
    if other.shape != self.shape:
        raise ShapeError(
            f"cannot replace a tensor of shape {show(self.shape)} by one of {show(other.shape)}. "
            "Reshape it first."
        )
    self._share(other, other._device)
    self._is_tracked = other._is_tracked
    return self


def check_writable(x: Tensor) -> None:
    """Refuse to write into a value with a gradient, or into elements that share memory."""
    if x._storage.has_history:
        raise GradientError(
            f"cannot write into {describe(x)}: its gradient is tracked. Write into "
            ".detach().contiguous(), or use where()."
        )
    if 0 not in x.shape and any(op is Ops.EXPAND for op, _, _ in x._path):
        raise ViewError(
            f"cannot write into {describe(x)}: it was expanded, and shows elements of its memory more "
            "than once. Write into what was expanded, or into .contiguous()."
        )


def write_part(x: Tensor, path: ViewPath, value: UOp) -> None:
    """Write into the part of this tensor that `path` shows, unless it is empty."""
    if 0 in value.shape:
        return
    if not computes(x._device):
        _write_stored(x, path, value)
        return
    if (capture := current_capture()) is not None:
        capture.used.add(id(x))
    x._storage.write(x._path + path, value)


def _write_stored(x: Tensor, path: ViewPath, value: UOp) -> None:
    """Write at once into memory of a device that only stores, such as a file."""
    if current_capture() is not None:
        raise JitError(
            f"a jitted function writes into {describe(x)}, which its replays would not do again. "
            "Return the values and write them outside."
        )
    elements = stored_bytes(x._make(value, value.device or Device.DEFAULT))
    memory = x.realize()._storage.uop
    with overwriting([storage.viewed(memory)]):
        write_view(shown(memory, x._path + path), elements)


def assignable_graph(x: Tensor, value: Any, shape: Any) -> UOp:
    """Return `value` as a node of this dtype and of `shape`.

    Axes of size 1 that it has in front of these fall away.
    """
    if isinstance(value, (bool, int, float)):
        return expanded(x._const(value), shape)
    other = value if isinstance(value, TensorBase) else x._from_host(value, x.dtype)
    if other.dtype is not x.dtype:
        raise DtypeError(
            f"cannot assign {other.dtype.name} to {x.dtype.name}: memory keeps its dtype. "
            f"Cast: .cast(dtypes.{x.dtype.name})."
        )
    if other._graph.device not in (None, x._device) and computes(x._device):
        raise DeviceError(
            f"cannot assign a tensor on {other._device} to one on {x._device}. Move it: .to({x._device!r}).",
            device=other._device,
        )
    extra = max(other.ndim - len(shape), 0)
    sizes = other.shape[extra:] if other.shape[:extra] == (1,) * extra else other.shape
    missing = len(shape) - len(sizes)
    fits = missing >= 0 and all(
        a is b or a == b or a == 1 for a, b in zip(sizes, shape[missing:], strict=True)
    )
    if not fits:
        raise ShapeError(
            f"cannot assign shape {show(other.shape)} to {show(shape)}: it does not broadcast. Reshape "
            "it first."
        )
    graph = other._graph.detach() if x._forgets and other.requires_grad else other._graph
    return expanded(graph.reshape(sizes) if extra else graph, shape)
