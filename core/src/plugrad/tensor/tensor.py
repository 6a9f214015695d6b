"""The tensor: made of data, computed when asked for, read back by the host."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from plugrad._util import numpy as np
from plugrad.device import Device
from plugrad.dtype import ConstType, dtypes, is_bool, is_float, is_int, parse_dtype, to_numpy
from plugrad.engine import storage
from plugrad.engine.capture import current_capture
from plugrad.engine.realize import ScheduleItem, kernelize, realize, schedule
from plugrad.errors import (
    ArgumentError,
    DeviceError,
    DtypeError,
    GradientError,
    JitError,
    ShapeError,
    ViewError,
)
from plugrad.runtime.buffer import Buffer
from plugrad.tensor.advanced import AdvancedIndexingMixin
from plugrad.tensor.base import DTypeLike, TensorBase, the_device
from plugrad.tensor.cell import Path, path_between
from plugrad.tensor.fourier import FourierMixin
from plugrad.tensor.gradient import GradientMixin
from plugrad.tensor.host import HOST, empty_lists, host_buffer, nest, pack, unpack
from plugrad.tensor.indexing import cut_out, parse_index, whole_steps
from plugrad.tensor.positions import has_tensors
from plugrad.tensor.shapes import expanded, show
from plugrad.tensor.source import bytes_of, graph_of
from plugrad.tensor.spectra import SpectralMixin
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    import numpy.typing as npt


class Tensor(GradientMixin, AdvancedIndexingMixin, SpectralMixin, FourierMixin):
    """An array of one dtype on one device, and the graph that computes it.

    Nothing runs until a value is needed: `realize`, `numpy`, `tolist`, `item`, `print` of an element. Tensors
    with the same graph are the same computation, done once.

    Args:
        data: nested lists of numbers, a number, bytes, a NumPy array, a graph, or a `pathlib.Path`: the bytes
            of that file, which stay there until they are needed.
        dtype: the type of the elements; by default it follows the data: bool, `dtypes.default_int` (int64
        where
            a number needs it), `dtypes.default_float`, uint8 for bytes, an array's own.
        device: where the elements live; by default `Device.DEFAULT`, for a path the file itself.
        requires_grad: let `backward()` leave a gradient in `.grad`.
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
        data: "Any",
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
        copy: bool = True,
    ) -> None:
        name = the_device(device)
        chosen = None if dtype is None else parse_dtype(dtype)
        uop = given = graph_of(data, chosen, name, copy=copy)
        if uop.device == HOST != name and uop.op is Ops.BUFFER and not isinstance(data, UOp):
            uop = uop.copy_to_device(name)
        if chosen is not None:
            uop = uop.cast(chosen)
        if device is not None and uop.device not in (None, name):
            uop = uop.copy_to_device(name)
        if isinstance(data, UOp) and uop is data:
            self._join(uop, name)
        elif isinstance(data, Tensor) and uop is given and not data._cell.has_history:
            self._share(data, name)
        else:
            self._hold(uop, name)
        self._begin()
        if requires_grad:
            self.requires_grad = True

    def _from_host(self, data: Any) -> "Tensor":
        return Tensor(data, device=self._device)

    # --- settings of all tensors ---

    @classmethod
    @contextmanager
    def train(cls, mode: bool = True) -> Generator[None]:
        """Let layers behave as in training inside a `with` block: dropout drops, batchnorm uses the batch.

        Example:
            >>> with Tensor.train():
            ...     Tensor.training
            True
        """
        before = TensorBase.training
        TensorBase.training = mode
        try:
            yield
        finally:
            TensorBase.training = before

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow into this tensor. Set it on those that are to get a `.grad`.

        Setting it gives the tensor memory of its own, so that tensors of equal values are told apart.

        Raises:
            GradientError: set on a tensor that holds no floats.

        Example:
            >>> w = Tensor([1.0, 2.0], requires_grad=True)
            >>> (w * 2).requires_grad
            True
        """
        return self._is_leaf or self._is_tracked

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value and not is_float(self.dtype):
            raise GradientError(
                f"{self!r} holds no floats, so it has no gradient. Cast it to a float dtype first."
            )
        if value and not self._is_leaf and not self._is_tracked:
            self._own_memory()
        if not value and self._is_tracked:
            # what it was computed from is nobody's business any more; its views go on asking for it
            self._hold(self._uop, self._device)
            self._is_tracked = False
        self._is_leaf = bool(value)

    def _own_memory(self) -> None:
        """Make this tensor's graph unlike any other's: the value of memory of its own. Runs nothing."""
        uop = self.uop
        is_whole = not self._path and not self._is_detached
        if is_whole and (self._cell.is_memory or (uop.op is Ops.COPY and storage.is_view(uop.src[0]))):
            return
        value = uop.src[0] if uop.op is Ops.CONTIGUOUS else uop
        shape = self.static_shape("requires_grad")
        self._hold(storage.new_buffer(self._device, shape, self.dtype).assign(value), self._device)

    # --- computing ---

    def realize(self, *others: "Tensor") -> Self:
        """Compute this tensor (and `others`, in one schedule) and keep it in memory; return it.

        Example:
            >>> t = (Tensor([1, 2]) + 1).realize()
            >>> t.uop.op
            Ops.BUFFER
        """
        tensors = (self, *others)
        realize([t._materialized() for t in tensors], self._device)
        for t in tensors:
            # asking for it forgets how it was made, unless a gradient will want to know
            _ = t.uop
        return self

    def schedule(self, *others: "Tensor") -> list[ScheduleItem]:
        """Return the steps that `realize` would run, each with its graph `ast` and its buffers `bufs`.

        Example:
            >>> x = Tensor([1, 2]).realize()
            >>> len(((x + 1) * 2).schedule())
            1
        """
        return schedule([t._materialized() for t in (self, *others)], self._device)

    def kernelize(self, *others: "Tensor") -> Self:
        """Replace the graphs of this tensor (and `others`) by the kernels that compute them; run nothing.

        Example:
            >>> (Tensor([1, 2]) + 1).kernelize().tolist()
            [2, 3]
        """
        tensors = (self, *others)
        for t in tensors:
            t._with_memory()
        found = kernelize([t._cell.uop for t in tensors], self._device)
        for cell in {t._cell for t in tensors}:
            if cell.uop in found:
                cell.replace(found[cell.uop])
        return self

    def _materialized(self) -> UOp:
        """Return the graph to compute; numbers, which have no device, become memory on this tensor's."""
        if self._is_tracked and not self._cell.is_memory:
            return self._uop
        u = self.uop
        if u.device is None and all(isinstance(size, int) for size in self.shape):
            if not self._path:
                self._with_memory()
                return self.uop
            # a part of many numbers is computed alone
            shape: Any = self.shape
            u = self._uop = storage.new_buffer(self._device, shape, self.dtype).assign(u)
        return u

    def _with_memory(self) -> None:
        """Let the value that this tensor shows lie in memory once it is computed."""
        cell = self._cell
        if cell.uop.device is None and not cell.settle():
            shape: Any = cell.uop.shape
            if all(isinstance(size, int) for size in shape):
                cell.replace(storage.new_buffer(self._device, shape, self.dtype).assign(cell.uop))

    def _in_memory(self) -> UOp:
        """Return the computed memory that this tensor shows and, unless it is tracked, may write to."""
        if self._cell.has_history:
            return self.realize().uop
        if self._path and not any(t is not self and t._cell is self._cell for t in self._live):
            # nobody else will see what it writes: a part of a value is computed alone
            self._hold(self._uop, self._device)
        self._with_memory()
        cell = self._cell
        realize([cell.uop], self._device)
        if not cell.settle():
            # another tensor has come by the same memory, because it has the same graph
            shape: Any = cell.uop.shape
            cell.replace(storage.new_buffer(self._device, shape, self.dtype).assign(cell.uop))
            realize([cell.uop], self._device)
        # numbers of symbolic shape live in kernels: without memory, their value would be part of these
        return self.uop if storage.is_view(self.uop) else self.contiguous().realize().uop

    def contiguous(self) -> Self:
        """Return the same values in memory of their own, in row-major order, once they are computed.

        Example:
            >>> Tensor([[1, 2], [3, 4]]).T.contiguous().tolist()
            [[1, 3], [2, 4]]
        """
        u = self._graph
        if u.device is None and not self._is_tracked and all(isinstance(size, int) for size in self.shape):
            shape: Any = self.shape
            return self._like(storage.new_buffer(self._device, shape, self.dtype).assign(u))
        return self._like(u.contiguous())

    def detach(self) -> Self:
        """Return the same memory without a gradient; of what was computed with a gradient, the values.

        Example:
            >>> w = Tensor([1.0, 2.0], requires_grad=True)
            >>> w.detach().assign([3.0, 4.0]).requires_grad, w.tolist()
            (False, [3.0, 4.0])
        """
        out = self._make(self._uop, self._device) if self._cell.has_history else self._view(lambda u: u)
        out._is_tracked = False
        out._is_detached = True
        return out

    def to(self, device: str | None) -> Self:
        """Return this tensor on another device; itself if it is there, or if `device` is None.

        Raises:
            DeviceNotFound: there is no such device.

        Example:
            >>> Tensor([1, 2]).to("PYTHON").device
            'PYTHON'
        """
        if device is None or (name := Device.canonicalize(device)) == self._device:
            return self
        u = self._graph
        tracked = self.requires_grad
        return self._make(u if u.device is None else u.copy_to_device(name), name, tracked)

    def to_device(self, device: str, /, *, stream: None = None) -> Self:
        """Return `to(device)`, by the name that the array API standard has for it.

        Raises:
            DeviceNotFound: there is no such device.

        Example:
            >>> Tensor([1, 2]).to_device("PYTHON").device
            'PYTHON'
        """
        return self.to(device)

    # --- changing ---

    def assign(self, value: "Tensor | ConstType | list[Any]") -> Self:
        """Write `value`, broadcast to this shape, into this tensor's memory once it is computed; return this.

        Basic indices, `reshape`, `permute` and the like, `flip`, `shrink` and `detach` give views: who writes
        to one writes to the tensor that it shows, and all other views of that see it, whatever was realized
        by then. All other operations give values, which keep what they were computed from; so do `pad`,
        `cat`, indexing with tensors, and a tensor that happens to be computed like another one. Writing to
        such a value gives it memory of its own. An expanded tensor is a view that cannot be written to.

        Raises:
            ShapeError: the value does not broadcast to this shape.
            DtypeError: the value has another dtype.
            DeviceError: the value lives on another device.
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
        self._check_writable()
        self._write((), self._assignable(value, self.shape))
        return self

    def replace(self, other: "Tensor") -> Self:
        """Become what `other` is: the same graph or memory, dtype and device; return this.

        Nothing is copied or written: views of what this tensor was stay what they are. Whether it requires a
        gradient, and its `.grad`, stay.

        Raises:
            ShapeError: the shapes differ.

        Example:
            >>> rows = Tensor([[1, 2], [3, 4]])
            >>> first = Tensor([0, 0]).replace(rows[0])
            >>> rows[0] = 5
            >>> first.tolist()
            [5, 5]
        """
        if other.shape != self.shape:
            raise ShapeError(
                f"cannot replace a tensor of shape {show(self.shape)} by one of {show(other.shape)}. "
                "Reshape it first."
            )
        self._share(other, other._device)
        self._is_tracked = other._is_tracked
        return self

    def __setitem__(self, index: Any, value: "Tensor | ConstType | list[Any]") -> None:
        """Write `value`, broadcast, into part of this tensor: what `x[index]` reads.

        Of several writes to one element the last wins; positions out of range write nothing. See `assign`.

        Raises:
            AxisError: too many indices, or an integer out of range.
            ShapeError: the value does not broadcast to the part.
            DtypeError: the value has another dtype.
            ViewError: elements of this tensor share memory, because it was expanded.
            GradientError: this tensor was computed from tensors that require a gradient.

        Example:
            >>> t = Tensor([1, 2, 3])
            >>> t[1:] = 0
            >>> t.tolist()
            [1, 0, 0]
        """
        self._check_writable()
        if has_tensors(index):
            self._set_named(index, value)
            return
        cuts = parse_index(index, self.shape)
        new = self._assignable(value, cuts.shape())
        for piece, bounds in whole_steps(cuts, self.shape):
            u = self.uop
            self._write(path_between(cut_out(u, piece), u), new.shrink(bounds))

    def _check_writable(self) -> None:
        if self._cell.has_history:
            raise GradientError(
                f"cannot write into {self!r}: its gradient is tracked. Write into .detach().contiguous(), "
                "or use where()."
            )
        if any(op is Ops.EXPAND for op, _, _ in self._path):
            raise ViewError(
                f"cannot write into {self!r}: it was expanded, and shows elements of its memory more than "
                "once. Write into what was expanded, or into .contiguous()."
            )

    def _write(self, path: Path, value: UOp) -> None:
        """Write into what `path` shows of this tensor."""
        if not self._cell.settle():
            whole = self._cell.uop.shape
            if not all(isinstance(size, int) for size in whole):
                raise ShapeError(
                    f"assign: the shape {show(whole)} is symbolic. Write into memory of fixed size, through "
                    "a slice of it."
                )
        self._cell.write(self._path + path, value)

    def _set_named(self, index: Any, value: Any) -> None:
        """Write into the elements that an index with tensors names, by writing all of its view anew."""
        mask = index if isinstance(index, Tensor) and is_bool(index.dtype) else None
        if mask is not None and mask.shape == self.shape and isinstance(value, (bool, int, float)):
            # nobody needs to know how many there are
            self.assign(mask.where(self._like(self._const(value)), self))
            return
        plan = self._plan(index)
        view = self[plan.basic]
        new = self._assignable(value, plan.shape(view.shape))
        self[plan.basic] = self._make(plan.written(view._graph, new, self._device), self._device)

    def _read_number(self) -> int:
        return self.item()

    def _assignable(self, value: Any, shape: Any) -> UOp:
        """Return `value` as a node of this dtype and of `shape`."""
        if isinstance(value, (bool, int, float)):
            return expanded(self._const(value), shape)
        other = value if isinstance(value, Tensor) else Tensor(value, dtype=self.dtype, device=self._device)
        if other.dtype is not self.dtype:
            raise DtypeError(
                f"cannot assign {other.dtype.name} to {self.dtype.name}: memory keeps its dtype. "
                f"Cast: .cast(dtypes.{self.dtype.name})."
            )
        if other._graph.device not in (None, self._device):
            raise DeviceError(
                f"cannot assign a tensor on {other._device} to one on {self._device}. Move it: "
                f".to({self._device!r}).",
                device=other._device,
            )
        missing = len(shape) - other.ndim
        fits = missing >= 0 and all(
            a is b or a == b or a == 1 for a, b in zip(other.shape, shape[missing:], strict=True)
        )
        if not fits:
            raise ShapeError(
                f"cannot assign shape {show(other.shape)} to {show(shape)}: it does not broadcast. Reshape "
                "it first."
            )
        return expanded(other._graph, shape)

    # --- reading ---

    def data(self) -> memoryview:
        """Return the elements as read-only host memory of this shape; floats of 16 and 8 bits as their bits.

        On devices in the host's memory that is the tensor's memory itself, without a copy. It does not change
        and stays as long as anything made of it: an assign to the tensor moves the tensor to other memory.

        Raises:
            ShapeError: the shape is symbolic.

        Example:
            >>> Tensor([[1, 2], [3, 4]]).data()[1, 0]
            3
        """
        shape = self.static_shape("data")
        flat: Any = self._bytes()
        fmt: Any = self.dtype.fmt
        if fmt is None or fmt == "e":
            # memoryview has no floats of one byte or two
            fmt = "B" if self.dtype.itemsize == 1 else "H"
        return flat.cast(fmt) if 0 in shape else flat.cast(fmt, shape)

    def _bytes(self) -> memoryview:
        """Return the elements' bytes as they are now, in row-major order: read-only, never changed."""
        with storage.lock:
            stored = self._stored()
            return stored.snapshot() if isinstance(stored, Buffer) else memoryview(stored)

    def _stored(self) -> Buffer | bytes:
        """Compute the elements and return where they lie in row-major order; as bytes those of no memory."""
        if self.uop.op is Ops.CONST:
            return pack([self.uop.arg], self.dtype)
        if 0 in self.shape:
            return b""
        if current_capture() is not None:
            raise JitError(
                f"a jitted function reads the elements of {self!r}. Its replays run no Python, so what it "
                "does with them would not be done again. Return the tensor and read it outside; choose with "
                "where()."
            )
        t = self.realize()
        if not _is_whole(t.uop):
            t = self._make(t.uop.contiguous(), self._device).realize()
        return storage.buffer_of(storage.base_of(t.uop))

    def numpy(self) -> "npt.NDArray[Any]":
        """Return a NumPy array of the elements, which is the caller's own. bfloat16 comes as float32.

        That takes one copy. `np.asarray(tensor)` takes none where the tensor is in the host's memory, and is
        read-only.

        Raises:
            ShapeError: the shape is symbolic.

        Example:
            >>> Tensor([1, 2]).numpy()
            array([1, 2], dtype=int32)
        """
        shape = self.static_shape("numpy")
        dtype = to_numpy(self.dtype)
        if dtype is None:
            return self.cast(dtypes.float32).numpy()
        with storage.lock:
            stored = self._stored()
            if isinstance(stored, bytes):
                return np.frombuffer(stored, dtype).reshape(shape).copy()
            out = np.empty(shape, dtype)
            stored.copyout(bytes_of(out))
            return out

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the elements: a graph names its memory by numbers that are this process's own."""
        data = bytes(self._bytes()), self.static_shape("pickle"), self.dtype.name
        return _unpickled, (*data, self._device, self._is_leaf, self.grad)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> "npt.NDArray[Any]":
        """Let NumPy take this tensor as an array: without a copy where it can, and then read-only.

        The array does not change: an assign to the tensor moves the tensor to other memory.

        Raises:
            ValueError: `copy=False`, and a copy is needed.

        Example:
            >>> array = np.asarray(Tensor([1, 2]))
            >>> array.tolist(), array.flags.writeable
            ([1, 2], False)
        """
        own = to_numpy(self.dtype)
        wanted = own if dtype is None else np.dtype(dtype)
        if copy or own is None:
            if copy is False:
                raise ArgumentError(f"NumPy has no {self.dtype.name}: {self!r} needs a copy.")
            out = self.numpy()
            return out if wanted is None else out.astype(wanted, copy=False)
        flat = self._bytes() if copy is None else self._shared()
        out = np.frombuffer(flat, own).reshape(self.static_shape("numpy"))
        if copy is False and wanted != own:
            raise ArgumentError(f"{self!r} as {wanted} needs a copy. Let it be copied, or cast it first.")
        return out if wanted is None else out.astype(wanted, copy=False)

    def _shared(self) -> memoryview:
        """Return the memory itself as bytes that never change."""
        with storage.lock:
            stored = self._stored()
            shared = stored.share() if isinstance(stored, Buffer) else memoryview(stored)
        if shared is None:
            raise ArgumentError(
                f"the memory of {self!r} cannot be shared: it is not the host's, belongs to somebody else, "
                "or a jitted function uses it. Let it be copied."
            )
        return shared

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers; one number for shape ().

        Example:
            >>> Tensor([[1, 2], [3, 4]]).tolist()
            [[1, 2], [3, 4]]
        """
        shape = self.static_shape("tolist")
        if 0 in shape:
            return empty_lists(shape)
        return nest(unpack(self._bytes().cast("B"), self.dtype), shape)

    def item(self) -> Any:
        """Return the only element as a Python number.

        Raises:
            ShapeError: there are more or fewer.

        Example:
            >>> Tensor([[5]]).item()
            5
        """
        if self.numel() != 1:
            raise ShapeError(
                f"item() of shape {show(self.shape)}: it has {self.numel()} elements. Index one, reduce, "
                "or use tolist()."
            )
        return unpack(self._bytes().cast("B"), self.dtype)[0]

    # --- Python ---

    def __repr__(self) -> str:
        u = self.uop
        state = (
            ""
            if storage.is_view(u)
            else f", {u.op.name} not computed"
            if u.op is not Ops.CONST
            else f", {u.arg}"
        )
        grad = ", requires_grad" if self._is_leaf else ""
        return f"<Tensor {show(self.shape)} {self.dtype.name} on {self._device}{state}{grad}>"

    def __len__(self) -> int:
        if not self.ndim:
            raise ShapeError("a tensor of shape () has no length. Use numel() for the number of elements.")
        size = self.shape[0]
        if not isinstance(size, int):
            raise ShapeError(
                f"the first axis of shape {show(self.shape)} is symbolic: its length is not known."
            )
        return size

    def __iter__(self) -> Iterator[Self]:
        for index in range(len(self)):
            yield self[index]

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise ShapeError(
                f"a tensor of shape {show(self.shape)} is neither true nor false. Use .any() or .all()."
            )
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if not is_int(self.dtype):
            raise DtypeError(f"{self.dtype.name} is no index. Cast to an integer dtype first.")
        return self.item()

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else repr(self)


def _is_whole(u: UOp) -> bool:
    """Say whether `u` is memory in its own order: a BUFFER, of whatever shape."""
    while u.op is Ops.RESHAPE:
        u = u.src[0]
    return u.op is Ops.BUFFER


def _unpickled(
    data: bytes, shape: tuple[int, ...], dtype: str, device: str, requires_grad: bool, grad: Tensor | None
) -> Tensor:
    out = Tensor(host_buffer(data, shape, parse_dtype(dtype)), device=device, requires_grad=requires_grad)
    out.grad = grad
    return out
