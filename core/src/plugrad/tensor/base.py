"""The part of a tensor that all mixins share: its storage and its graphs."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from plugrad import events
from plugrad.dtype import (
    DType,
    Number,
    element_dtype,
    from_py,
    is_complex,
    is_float,
    is_inexact,
    least_upper_dtype,
)
from plugrad.engine.capture import current_capture
from plugrad.engine.checks import note_line
from plugrad.engine.storage import Storage, resolve
from plugrad.engine.view_path import ViewPath, path_between, shown
from plugrad.errors import DeviceError
from plugrad.messages import name_outer_method
from plugrad.observe.tensors import announce_tensor
from plugrad.runtime.live import LiveSet
from plugrad.settings import settings
from plugrad.tensor.callable_sizes import ByteCount, size_of_shape
from plugrad.tensor.scalars import check_element, scalar_dtype
from plugrad.tensor.shapes import Dim, Shape, fixed_shape, product
from plugrad.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor

DTypeLike = DType | str | type


class TensorBase:
    """A tensor shows the part `_path` of `_storage`; two graphs follow from that.

    - `uop` is what is read: memory, once this tensor was realized, read or written to, or was made of data;
      else the graph as it was written down. Asking for it changes nothing that a program could see. Whether
      an equal graph lies in memory is not asked: the scheduler finds it there (`engine.storage.resolve`).
    - `_graph` is what results are built on, and what is differentiated: the same, but the graph as it was
      written down where a gradient will flow (`_is_tracked`), and behind DETACH where none may.
    """

    __slots__ = (
        "__weakref__",
        "_device",
        "_grad",
        "_is_computed",
        "_is_detached",
        "_is_leaf",
        "_is_tracked",
        "_node",
        "_path",
        "_root",
        "_storage",
    )

    _live: "ClassVar[LiveSet[Tensor]]" = LiveSet()
    #: Whether layers behave as they do in training (see `Tensor.train`).
    training: ClassVar[bool] = False
    # whether results are without a gradient (see `Tensor.no_grad`)
    _forgets: ClassVar[bool] = False

    _storage: Storage  # what is written to: shared with all views
    _path: ViewPath  # how this tensor shows the storage; empty: all of it
    _node: UOp  # what the path shows of `_root`, which is what `_shown` found last
    _root: UOp
    _device: str
    _is_computed: bool  # realized, or read, by itself: stands for memory, whatever it was computed from
    _is_leaf: bool | None  # what the user set requires_grad to; None: nobody did
    _is_tracked: bool  # computed from tensors that require a gradient: keeps its graph when realized
    _is_detached: bool  # shows the memory of another tensor without its gradient
    _grad: "Tensor | None"

    def _begin(self, tracked: bool = False) -> None:
        """Initialise the state of gradients and register the tensor as alive."""
        self._is_leaf = None
        self._is_tracked = tracked
        self._grad = None
        self._live.add(self)  # pyright: ignore[reportArgumentType] - only Tensor is instantiated
        if settings.CHECK:
            note_line(self._node)

    def _hold(self, uop: UOp, device: str, has_history: bool = False) -> None:
        """Show the value of `uop`, or its memory where no other tensor shows that."""
        storage = Storage(uop, device, has_history)
        self._show(storage, (), storage.device, uop)

    def _show(self, storage: Storage, path: ViewPath, device: str, node: UOp) -> None:
        """Show `path` of `storage`, which is `node` now."""
        self._storage = storage
        self._path = path
        self._root = storage.uop
        self._node = node
        self._device = device
        self._is_computed = False
        self._is_detached = False
        if events.active:
            announce_tensor(node)

    @classmethod
    def _blank(cls) -> Self:
        """Return a tensor of the class that results have, without any state yet."""
        return object.__new__(cls)

    @classmethod
    def _make(cls, uop: UOp, device: str, tracked: bool = False) -> Self:
        """Return a computed value: no write to another tensor changes it."""
        self = cls._blank()
        keeps = tracked and not TensorBase._forgets
        self._hold(uop, device, keeps)
        self._begin(keeps)
        if tracked and not keeps:
            self._is_detached = True
            self._is_leaf = False
        return self

    @classmethod
    def _part(cls, storage: Storage, path: ViewPath, device: str) -> Self:
        """Return a tensor of the part `path` of `storage`."""
        self = cls._blank()
        node = shown(storage.uop, path)
        self._show(storage, path, node.device or device, node)
        self._begin()
        return self

    def _share(self, other: "TensorBase", device: str) -> None:
        """Show the same part of the same storage as `other`."""
        other._note_read()
        node = other._shown()
        self._show(other._storage, other._path, node.device or device, node)
        self._root = other._root
        self._is_computed = other._is_computed
        self._is_detached = other._is_detached

    def _like(self, uop: UOp, *others: Any) -> Self:
        """Return the result `uop` of this tensor and `others`, among which numbers may be."""
        tracked = has_constant = False
        for t in (self, *others):
            if isinstance(t, TensorBase):
                if t._is_leaf or t._is_tracked:
                    tracked = True
                if t._is_leaf is False:
                    has_constant = True
        # a constant takes the device of what it is combined with: that of the graph
        out = self._make(uop, self._device, tracked and is_inexact(uop.dtype))
        if has_constant:
            # what is computed of constants is one; integers, such as positions, are trained by nobody
            trained = [t for t in (self, *others) if isinstance(t, TensorBase) and is_inexact(t.dtype)]
            if all([t._is_leaf is False for t in trained]):
                out._is_leaf = False
        return out

    def _view(self, move: Callable[[UOp], UOp]) -> Self:
        """Return a view: movement ops on this tensor, sharing its memory.

        Args:
            move: from a graph of this shape to movement ops on it. They show elements of this tensor only:
                padding may not stay.
        """
        if current_capture() is not None:
            self._note_read()
        # the path goes on from it also where a part was realized
        below = self._shown()
        uop = move(below)
        out = self._blank()
        path = self._path + path_between(uop, below)
        out._show(self._storage, path, uop.device or self._device, uop)
        out._root = self._root
        out._is_computed = self._is_computed
        tracked = self.requires_grad and is_inexact(uop.dtype)
        out._is_detached = self._is_detached or (tracked and TensorBase._forgets)
        out._begin(tracked and not TensorBase._forgets)
        if self._is_leaf is False or out._is_detached:
            out._is_leaf = False
        return out

    # --- what it is ---

    @property
    def uop(self) -> UOp:
        """The graph of this tensor; once it is realized, the BUFFER.

        Example:
            >>> (Tensor([1, 2]) + 1).uop.op
            Ops.ADD
        """
        if current_capture() is not None:
            self._note_read()
        storage = self._storage
        if storage.is_memory:
            return self._shown()
        if not (self._is_computed or storage.is_computed):
            # others may have computed the same: that stands for what is read, not for how it is computed
            return self._history()
        node = self._node
        found = resolve(node, self._device)
        if found is not node and storage.is_copy:
            # by another name, memory has been overwritten: the copy was made before
            return resolve(shown(storage.uop, self._path))
        return found

    @property
    def _graph(self) -> UOp:
        """The node that results are built on, with its history where a gradient needs it."""
        storage = self._storage
        if not storage.is_memory:
            if self._is_tracked:
                self._note_read()
                return self._history()
            if storage.is_computed:
                # nobody has to remember how it was computed
                storage.settle()
        return self.uop.detach() if self._is_detached else self.uop

    def _shown(self) -> UOp:
        """Return the node of `path` in the memory, or in the graph as first built."""
        storage = self._storage
        if storage.is_memory and (root := storage.present()) is not self._root:
            self._node = shown(root, self._path) if self._path else root
            self._root = root
        return self._node

    def _history(self) -> UOp:
        """Return the graph of a value without memory, as first built."""
        storage = self._storage
        is_overwritten = storage.is_copy and resolve(self._node) is not self._node
        return shown(storage.uop, self._path) if is_overwritten else self._node

    def _note_read(self) -> None:
        """Record in the current capture that this tensor was read, and its value."""
        if (capture := current_capture()) is not None:
            capture.used.add(id(self))
            if not self._storage.is_memory:
                capture.found.append((id(self), self._node))

    @property
    def dtype(self) -> DType:
        """The type of the elements.

        Example:
            >>> Tensor([1, 2]).dtype
            dtypes.int32
        """
        return self._node.dtype

    @property
    def shape(self) -> Shape:
        """The size of each axis; symbolic sizes are nodes.

        Example:
            >>> Tensor([[1, 2], [3, 4]]).shape
            (2, 2)
        """
        return self._node.shape

    @property
    def device(self) -> str:
        """The device that holds, or will hold, the elements.

        Example:
            >>> Tensor([1, 2], device="PYTHON").device
            'PYTHON'
        """
        return self._device

    @property
    def ndim(self) -> int:
        """The number of axes.

        Example:
            >>> Tensor([[1, 2], [3, 4]]).ndim
            2
        """
        return len(self._node.shape)

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow into this tensor; set it on those that need a `.grad`."""
        return self._is_leaf or self._is_tracked

    @property
    def grad(self) -> "Tensor | None":
        """The gradient that `backward()` left here, or None.

        Example:
            >>> w = Tensor([1.0, 2.0], requires_grad=True)
            >>> _ = (w * w).sum().backward()
            >>> w.grad.tolist()
            [2.0, 4.0]
        """
        if (capture := current_capture()) is not None and id(self) not in capture.gradients_set:
            capture.gradients_read.add(id(self))
        return self._grad

    @grad.setter
    def grad(self, value: "Tensor | None") -> None:
        if (capture := current_capture()) is not None:
            capture.gradients_set.add(id(self))
        self._grad = value

    def numel(self) -> Dim:
        """Return the number of elements.

        Example:
            >>> Tensor.zeros(2, 3).numel()
            6
        """
        return product(self.shape)

    @property
    def nbytes(self) -> ByteCount:
        """The size of the elements in bytes; called, the same, as in tinygrad.

        Raises:
            ShapeError: the shape is symbolic.

        Example:
            >>> Tensor([1, 2]).nbytes, Tensor([1, 2]).nbytes()
            (8, 8)
        """
        return ByteCount(product(fixed_shape(self.shape, "nbytes")) * self.dtype.itemsize)

    def element_size(self) -> int:
        """Return the size of one element in bytes.

        Example:
            >>> Tensor([1, 2]).element_size()
            4
        """
        return self.dtype.itemsize

    def is_complex(self) -> bool:
        """Say whether elements are complex numbers.

        Example:
            >>> Tensor([1j]).is_complex(), Tensor([1.0]).is_complex()
            (True, False)
        """
        return is_complex(self.dtype)

    def is_floating_point(self) -> bool:
        """Say whether elements are floats.

        Example:
            >>> Tensor([1.0]).is_floating_point(), Tensor([1]).is_floating_point()
            (True, False)
        """
        return is_float(self.dtype)

    @property
    def size(self) -> Any:
        """The number of elements, as in NumPy.

        Called, it returns the shape, or the size of one axis, as in PyTorch.

        Of a symbolic shape it can only be called.

        Raises:
            AxisError: when called: there is no such axis.

        Example:
            >>> t = Tensor([[1, 2, 3]])
            >>> t.size, t.size(), t.size(1)
            (3, (1, 3), 3)
        """
        return size_of_shape(self.shape)

    # --- operands ---

    def _from_host(self, data: Any, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Return data that `Tensor` accepts as a tensor on this device."""
        raise NotImplementedError

    def _const(self, value: Number, dtype: DType | None = None) -> UOp:
        """Return a Python number as a node of `dtype`, or of this tensor's."""
        dtype = self.dtype if dtype is None else dtype
        return UOp.const(dtype, check_element(value, dtype))

    def _check_device(self, *others: "TensorBase") -> None:
        """Refuse operands in the memory of different devices; constants live anywhere."""
        first: TensorBase | None = None
        for t in (self, *others):
            if t._node.device is None and t.uop.device is None:
                continue
            if first is not None and first._device != t._device:
                message = f"tensors on {first._device} and {t._device} do not mix. Move one: "
                raise DeviceError(name_outer_method(f"{message}.to({first._device!r})."), device=t._device)
            first = t


if not TYPE_CHECKING:
    # the class of all tensors, for annotations: the modules of its methods are below it
    Tensor = TensorBase


def promoted(operands: "Iterable[TensorBase | Number]") -> DType:
    """Return the common dtype of tensors and Python numbers.

    Example:
        >>> promoted([Tensor([1, 2]), 0.5])
        dtypes.float32
    """
    given = list(operands)
    strong = [x.dtype for x in given if isinstance(x, TensorBase)]
    weak = [x for x in given if not isinstance(x, TensorBase)]
    dtype = least_upper_dtype(*strong) if strong else least_upper_dtype(*map(from_py, weak))
    for value in weak:
        dtype = scalar_dtype(value, dtype)
    return dtype


def the_dtype(dtype: DTypeLike | None, otherwise: DType) -> DType:
    """Return the requested dtype, or `otherwise`."""
    return otherwise if dtype is None else element_dtype(dtype)
