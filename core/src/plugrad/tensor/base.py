"""What every tensor has: a graph node, a device, and how results are made of it.

The mixins build on this class; `Tensor` joins them.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from plugrad.device import Device
from plugrad.dtype import ConstType, DType, dtypes, from_py, is_bool, is_float, least_upper_dtype, parse_dtype
from plugrad.engine import storage
from plugrad.errors import DeviceError, ShapeError
from plugrad.tensor.host import check_fits
from plugrad.tensor.live import LiveSet
from plugrad.tensor.shapes import Dim, Shape, is_static, product, show
from plugrad.uop.ops import MOVEMENT, Ops
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor

DTypeLike = DType | str


def has_memory(u: UOp) -> bool:
    """Say whether `u` names memory, or a view of it: what can be assigned to."""
    while u.op in MOVEMENT and u.op not in (Ops.PAD, Ops.EXPAND):
        u = u.src[0]
    return u.op in (Ops.BUFFER, Ops.ASSIGN, Ops.AFTER)


class TensorBase:
    """A node of the graph with a device.

    Attributes:
        grad: the gradient that `backward()` left here, or None.
    """

    __slots__ = ("__weakref__", "_device", "_is_leaf", "_is_tracked", "_is_view", "_uop", "grad")

    _live: "ClassVar[LiveSet[Tensor]]" = LiveSet()
    #: Whether layers behave as they do in training (see `Tensor.train`).
    training: ClassVar[bool] = False

    _uop: UOp
    _device: str
    _is_leaf: bool  # the user set requires_grad
    _is_tracked: bool  # computed from tensors that require a gradient: keeps its graph when realized
    _is_view: bool  # was made as memory or a view of it: sees later assigns to that memory
    grad: "Self | None"

    @classmethod
    def held_graphs(cls) -> list[UOp]:
        """Return the graphs of all tensors that are alive in this process.

        Example:
            >>> t = Tensor([1, 2])
            >>> t.uop in Tensor.held_graphs()
            True
        """
        return [tensor._uop for tensor in cls._live]

    def _init(self, uop: UOp, device: str, tracked: bool = False) -> None:
        self._uop = uop
        self._device = uop.device or device
        self._is_leaf = False
        self._is_tracked = tracked
        self._is_view = has_memory(uop)
        self.grad = None
        self._live.add(self)  # pyright: ignore[reportArgumentType] - only Tensor is instantiated

    @classmethod
    def _make(cls, uop: UOp, device: str, tracked: bool = False) -> Self:
        self = object.__new__(cls)
        self._init(uop, device, tracked)
        return self

    def _like(self, uop: UOp, *others: "TensorBase") -> Self:
        """Return the result `uop` of this tensor and `others`."""
        tracked = self.requires_grad or any([other.requires_grad for other in others])
        return self._make(uop, self._device, tracked and is_float(uop.dtype))

    # --- what it is ---

    @property
    def uop(self) -> UOp:
        """The graph of this tensor; once it is realized, the BUFFER.

        Example:
            >>> (Tensor([1, 2]) + 1).uop.op
            Ops.ADD
        """
        found = storage.resolve(self._uop)
        if found is not self._uop and not self._is_tracked:
            self._uop = found
        return found

    @property
    def _graph(self) -> UOp:
        """The node that results are built on: with its history where that is needed for a gradient."""
        return self._uop if self._is_tracked else self.uop

    @property
    def dtype(self) -> DType:
        """The type of the elements.

        Example:
            >>> Tensor([1, 2]).dtype
            dtypes.int32
        """
        return self._uop.dtype

    @property
    def shape(self) -> Shape:
        """The size of each axis; symbolic sizes are nodes.

        Example:
            >>> Tensor([[1, 2], [3, 4]]).shape
            (2, 2)
        """
        return self._uop.shape

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
        return len(self._uop.shape)

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow into this tensor. Set it on those that are to get a `.grad`."""
        return self._is_leaf or self._is_tracked

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._is_leaf = bool(value)
        self._is_tracked = self._is_tracked and bool(value)

    def numel(self) -> Dim:
        """Return the number of elements.

        Example:
            >>> Tensor.zeros(2, 3).numel()
            6
        """
        return product(self.shape)

    def nbytes(self) -> int:
        """Return the size of the elements in bytes.

        Raises:
            ShapeError: the shape is symbolic.

        Example:
            >>> Tensor([1, 2]).nbytes()
            8
        """
        return product(self.static_shape("nbytes")) * self.dtype.itemsize

    def element_size(self) -> int:
        """Return the size of one element in bytes.

        Example:
            >>> Tensor([1, 2]).element_size()
            4
        """
        return self.dtype.itemsize

    def size(self, axis: int | None = None) -> Any:
        """Return the shape, or the size of one axis.

        Example:
            >>> Tensor([[1, 2, 3]]).size(), Tensor([[1, 2, 3]]).size(1)
            ((1, 3), 3)
        """
        return self.shape if axis is None else self.shape[axis]

    def static_shape(self, what: str = "static_shape") -> tuple[int, ...]:
        """Return the shape, all of whose sizes are numbers.

        Args:
            what: who asks, for the message.

        Raises:
            ShapeError: a size is symbolic.

        Example:
            >>> Tensor([1, 2]).static_shape()
            (2,)
        """
        shape: Any = self.shape
        if not is_static(shape):
            raise ShapeError(
                f"{what}: the shape {show(shape)} is symbolic. Take a slice of fixed size, or use the "
                "variable's value."
            )
        return shape

    # --- operands ---

    # NumPy leaves `array + tensor` to the tensor
    __array_ufunc__ = None

    def _from_host(self, data: Any) -> Self:
        """Return an array of the host as a tensor beside this one."""
        raise NotImplementedError

    def _const(self, value: ConstType, dtype: DType | None = None) -> UOp:
        """Return a Python number as a node of `dtype`, or of this tensor's."""
        dtype = self.dtype if dtype is None else dtype
        return UOp.const(dtype, check_fits(value, dtype))

    def _check_device(self, *others: "TensorBase") -> None:
        """Refuse operands in the memory of different devices; constants live anywhere."""
        first: TensorBase | None = None
        for t in (self, *others):
            if t._uop.device is None:
                continue
            if first is not None and first._device != t._device:
                raise DeviceError(
                    f"tensors on {first._device} and {t._device} do not mix. "
                    f"Move one: .to({first._device!r}).",
                    device=t._device,
                )
            first = t


def scalar_dtype(value: ConstType, beside: DType) -> DType:
    """Return the dtype of an operation on a tensor of dtype `beside` and a Python number.

    Python numbers are weak: they take the tensor's dtype where its kind can hold them. A float beside
    integers
    gives the default float, an int beside bools the default int.

    Example:
        >>> scalar_dtype(1, dtypes.float16), scalar_dtype(1.5, dtypes.int8)
        (dtypes.float16, dtypes.float32)
    """
    if isinstance(value, bool) or is_float(beside):
        return beside
    if isinstance(value, float):
        return dtypes.default_float
    return from_py(value) if is_bool(beside) else beside


def promoted(operands: "Iterable[TensorBase | ConstType]") -> DType:
    """Return the dtype in which tensors and Python numbers meet.

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
    """Return the dtype that was asked for, or `otherwise`."""
    return otherwise if dtype is None else parse_dtype(dtype)


def the_device(device: str | None) -> str:
    """Return the canonical name of the device that was asked for, or of the default."""
    return Device.canonicalize(device)
