"""The class Tensor, made of all mixins."""

from __future__ import annotations

import copy
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from plugrad.device import Device
from plugrad.dtype import ConstType, element_dtype, is_float, parse_dtype
from plugrad.engine import storage
from plugrad.engine.view_path import shown, written_through
from plugrad.errors import GradientError, ShapeError
from plugrad.tensor.assign import check_writable
from plugrad.tensor.base import DTypeLike, TensorBase
from plugrad.tensor.create.mixin import CreateMixin
from plugrad.tensor.elementwise.mixin import ElementwiseMixin
from plugrad.tensor.fft.mixin import FourierMixin
from plugrad.tensor.functional.mixin import FunctionalMixin
from plugrad.tensor.host.display import describe, html_of, text_of
from plugrad.tensor.host.host_data import HOST, host_buffer
from plugrad.tensor.host.mixin import HostMixin
from plugrad.tensor.host.reading import shaped_memory, stored_bytes
from plugrad.tensor.host.source import graph_of, holds_tensors
from plugrad.tensor.indexing.mixin import IndexingMixin
from plugrad.tensor.linalg.mixin import LinalgMixin
from plugrad.tensor.migration_hints import FOREIGN_NAMES, ForeignNames
from plugrad.tensor.mixin import StateMixin
from plugrad.tensor.reduce.mixin import ReduceMixin
from plugrad.tensor.shape.joins import fix_size
from plugrad.tensor.shape.mixin import ShapeMixin
from plugrad.tensor.shapes import as_flag, fixed_shape, show
from plugrad.tensor.sort.mixin import SortMixin
from plugrad.uop import Ops, UOp


class Tensor(
    StateMixin,
    HostMixin,
    FunctionalMixin,
    IndexingMixin,
    ElementwiseMixin,
    CreateMixin,
    ShapeMixin,
    SortMixin,
    ReduceMixin,
    LinalgMixin,
    FourierMixin,
    ForeignNames,
    TensorBase,
):
    """An array of one dtype on one device, and the graph that computes it.

    Nothing runs until a value is needed: `realize`, `numpy`, `tolist`, `item`, `print` of an element. Tensors
    with the same graph are the same computation, done once.

    Arrays of NumPy are operands on either side of an operator, and the result is a tensor. Functions of
    NumPy, such as `np.sin`, refuse tensors: use the methods, or `np.asarray(tensor)`.

    Args:
        data: nested lists of numbers (those of NumPy count as Python's there), a number, bytes, a NumPy array
            or another buffer of elements, a graph, or a `pathlib.Path`: the bytes of that file, which stay
            there until they are needed. A `dtype` reads bytes as elements, and casts elements.
        dtype: the type of the elements; by default it follows the data: bool, `dtypes.default_int` (int64
            where a number needs it), `dtypes.default_float`, uint8 for bytes, an array's own.
        device: where the elements live; by default `Device.DEFAULT`, for a path the file itself.
        requires_grad: let `backward()` leave a gradient in `.grad`; or not. It can be set later as well. Of a
            model's tensors of floats of which it never was, `nn.state.get_parameters` warns.
        copy: by default an array is copied, once, at once: it may change afterwards. False uses the memory of
            a NumPy array itself, where the device can. Nobody may write to it then as long as the tensor, or
            anything not yet computed from it, is used. The tensor does not either: an assign moves it to
            memory of its own.

    Raises:
        ArgumentError: `copy=False`, and the data cannot be used where it is.
        ShapeError: lists are ragged, or bytes are no whole number of elements.
        DtypeError: an element is no number, or does not fit the dtype.
        DeviceNotFound: there is no such device.

    Example:
        >>> (Tensor([[1, 2], [3, 4]]) * 2).sum(0).tolist()
        [8, 12]
    """

    __slots__ = ()

    def __init__(
        self,
        data: Any,
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool | None = None,
        copy: bool = True,
    ) -> None:
        name = Device.present(device)
        chosen = None if dtype is None else element_dtype(dtype)
        if holds_tensors(data):
            data = type(self).stack(*[Tensor(x, device=device) for x in data])
        uop = given = graph_of(data, chosen, name, copy=as_flag(copy, "copy"))
        if uop.device == HOST != name and uop.op is Ops.BUFFER and not isinstance(data, UOp):
            uop = uop.copy_to_device(name)
        if chosen is not None:
            uop = uop.cast(chosen)
        if device is not None and uop.device not in (None, name):
            uop = uop.copy_to_device(name)
        if isinstance(data, UOp) and uop is data:
            shows, path = storage.storage_at(uop, name)
            self._show(shows, path, uop.device or name, shown(shows.uop, path))
        elif isinstance(data, Tensor) and uop is given and not data._storage.has_history:
            self._share(data, name)
        else:
            self._hold(uop, name)
            # data were not computed from any tensor
            self._storage.is_computed = not isinstance(data, (Tensor, UOp))
        self._begin()
        if requires_grad is not None:
            self.requires_grad = requires_grad

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name not in FOREIGN_NAMES]

    def _from_host(self, data: Any, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
        return Tensor(data, dtype=dtype, device=self._device if device is None else device)

    # --- settings of all tensors ---

    @classmethod
    @contextmanager
    def train(cls, mode: bool = True) -> Generator[None]:
        """Switch layers to training inside a `with` block: dropout drops, batchnorm uses the batch.

        Example:
            >>> with Tensor.train():
            ...     Tensor.training
            True
        """
        before = TensorBase.training
        TensorBase.training = as_flag(mode, "mode")
        try:
            yield
        finally:
            TensorBase.training = before

    @classmethod
    @contextmanager
    def no_grad(cls, mode: bool = True) -> Generator[None]:
        """Compute without gradients inside a `with` block or a decorated function.

        Results stand for their values alone, as after `detach()`: they do not require a gradient, and keep
        nothing of what they were computed from. A block with `mode=False` inside lets gradients flow again.

        Example:
            >>> w = Tensor([1.0, 2.0], requires_grad=True)
            >>> with Tensor.no_grad():
            ...     y = w * 2
            >>> y.requires_grad
            False
        """
        before = TensorBase._forgets
        TensorBase._forgets = as_flag(mode, "mode")
        try:
            yield
        finally:
            TensorBase._forgets = before

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow into this tensor; set it on those that need a `.grad`.

        Setting it gives the tensor memory of its own, so that tensors of equal values are told apart.

        Raises:
            ArgumentError: set to what is neither True nor False.
            GradientError: set on a tensor that holds no floats.

        Example:
            >>> w = Tensor([1.0, 2.0], requires_grad=True)
            >>> (w * 2).requires_grad
            True
        """
        return self._is_leaf or self._is_tracked

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        value = as_flag(value, "requires_grad")
        if value and not is_float(self.dtype):
            raise GradientError(
                f"{describe(self)} holds no floats, so it has no gradient. Cast it to a float dtype first."
            )
        if value and not self._is_leaf and not self._is_tracked:
            self._own_memory()
        if not value and self._is_tracked:
            # what it was computed from is nobody's business any more; its views go on asking for it
            self._hold(self._shown(), self._device)
            self._is_tracked = False
        self._is_leaf = value

    @property
    def data(self) -> TensorData:
        """The same memory without a gradient, as `detach()`; called, the elements in host memory.

        Who writes to it, or sets it, writes into this tensor, whose gradient does not hear of it.

        Called, it gives read-only memory of this shape: floats of 16 and 8 bits as their bits, complex
        numbers as two floats along a last axis. On devices in the host's memory that is the tensor's memory
        itself, without a copy. It does not change and stays as long as anything made of it: an assign to the
        tensor moves the tensor to other memory.

        Raises:
            GradientError: when set: this tensor was computed from tensors that require a gradient.
            ShapeError: when called: a symbolic size has no value.

        Example:
            >>> w = Tensor([1.0, 2.0], requires_grad=True)
            >>> w.data -= 0.5
            >>> w.tolist(), w.requires_grad
            ([0.5, 1.5], True)
            >>> w.data()[1]
            1.5
        """
        out = object.__new__(TensorData)
        out._share(self.detach(), self._device)
        out._begin()
        out._is_leaf = False
        return out

    @data.setter
    def data(self, value: Tensor | ConstType | list[Any]) -> None:
        # `w.data -= x` has written already, and sets what it wrote to
        if isinstance(value, Tensor) and value._storage is self._storage and value._path == self._path:
            return
        check_writable(self)
        self.detach().assign(value)

    def _own_memory(self) -> None:
        """Give this tensor a graph of its own: the value of new memory. Runs nothing."""
        uop = self.uop
        is_whole = not self._path and not self._is_detached
        if is_whole and (self._storage.is_memory or (uop.op is Ops.COPY and storage.is_view(uop.src[0]))):
            return
        value = uop.src[0] if uop.op is Ops.CONTIGUOUS else uop
        memory = storage.new_memory(self._device, self.shape, self.dtype)
        self._hold(written_through(memory, (), value), self._device)

    # --- Python ---

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the elements, as graphs name memory by numbers of this process.

        Each tensor gets memory of its own; views that are copied together by `copy.deepcopy` share theirs.
        """
        data = bytes(stored_bytes(self)), fixed_shape(self.shape, "pickle"), self.dtype.name
        return _unpickled, (*data, self._device, self._is_leaf, self.grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """Copy the memory once for all views copied together, which go on sharing it.

        Raises:
            ShapeError: the shape is symbolic.

        Example:
            >>> base = Tensor([1, 2, 3])
            >>> twin, view = copy.deepcopy((base, base[1:]))
            >>> twin.assign(twin * 10).tolist(), view.tolist(), base.tolist()
            ([10, 20, 30], [20, 30], [1, 2, 3])
        """
        fixed_shape(self.shape, "deepcopy")
        self._note_read()
        # brings the storage up to date
        self._shown()
        whole = memo.get(id(self._storage))
        if whole is None:
            all_of_it = self._make(self._storage.uop, self._device) if self._path else self
            shape = fixed_shape(all_of_it.shape, "deepcopy")
            data = host_buffer(bytes(stored_bytes(all_of_it)), shape, all_of_it.dtype)
            whole = Tensor(data, device=self._device)
            memo[id(self._storage)] = whole
        out = self._part(whole._storage, self._path, self._device)
        out._is_leaf = self._is_leaf
        out._is_detached = self._is_detached
        out.grad = copy.deepcopy(self.grad, memo)
        return out

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        """Return the values and the folded graph for notebooks."""
        return html_of(self)

    def __len__(self) -> int:
        if not self.ndim:
            raise _NoLength("a tensor of shape () has no length. Use numel() for the number of elements.")
        size = self.shape[0]
        if not isinstance(size, int):
            raise _NoLength(
                f"len of shape {show(self.shape)}: a length is a number, and the first axis is symbolic. Use "
                "shape[0]."
            )
        return size

    def __iter__(self) -> Iterator[Tensor]:
        """Return the slices along the first axis, of a symbolic one at its present size."""
        x = fix_size(self, 0, "iteration") if self.ndim else self
        # the length is asked for at once: by `iter` failing, others learn that a number has no elements
        return map(x.__getitem__, range(len(x)))

    def __contains__(self, item: Any) -> bool:
        """Return whether some element equals a value, broadcasting tensors, as in PyTorch."""
        equal: Any = self == item
        return equal if isinstance(equal, bool) else bool(equal.any())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else text_of(self)


class TensorData(Tensor):
    """The memory of a tensor without its gradient: PyTorch's `x.data`, and tinygrad's `x.data()`.

    What is computed from it is a plain tensor.
    """

    __slots__ = ()

    _blank = Tensor._blank  # pyright: ignore[reportAssignmentType] - results are of the class above

    def __call__(self) -> memoryview:
        """Return the elements as read-only host memory of this shape.

        Example:
            >>> Tensor([[1, 2], [3, 4]]).data()[1, 0]
            3
        """
        return shaped_memory(self)


class _NoLength(ShapeError, TypeError):
    """Error of an unknown length; a TypeError, so `list` goes on without a hint."""


def _unpickled(
    data: bytes,
    shape: tuple[int, ...],
    dtype: str,
    device: str,
    requires_grad: bool | None,
    grad: Tensor | None,
) -> Tensor:
    out = Tensor(host_buffer(data, shape, parse_dtype(dtype)), device=device, requires_grad=requires_grad)
    out.grad = grad
    return out
