"""Builders for nodes that move, convert, reduce, load and store."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from plugrad.dtype import DType, complex_dtype, dtypes, is_complex, part_dtype, truncate
from plugrad.errors import DtypeError
from plugrad.uop.node.sizes import permuted_shape, reduced_shape
from plugrad.uop.ops import DispatchArg, DispatchRule, FactorArg, FourierArg, Ops

if TYPE_CHECKING:
    from plugrad.uop.uop import UOp

    Pairs = Sequence[tuple[int | UOp, int | UOp]]


class StructureMixin:
    """Builders of single nodes, without checks of user input.

    Where nothing changes they return the node itself.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        op: Ops
        dtype: DType
        src: "tuple[UOp, ...]"
        arg: Any
        _placement: Any

        @property
        def shape(self) -> "tuple[int | UOp, ...]": ...  # noqa: D102
        @property
        def device(self) -> str | None: ...  # noqa: D102

    def _derive(
        self,
        op: Ops,
        dtype: DType | None = None,
        extra: "tuple[UOp, ...]" = (),
        arg: Any = None,
        placement: Any = None,
    ) -> Self:
        kind: Any = type(self)
        # said to the class, it takes twice as long
        return kind.__new__(
            kind, op, self.dtype if dtype is None else dtype, (self, *extra), arg, None, placement
        )

    def _size_node(self, size: "int | UOp") -> "UOp":
        return constant(type(self), dtypes.index, size) if isinstance(size, int) else size  # pyright: ignore

    def _resized(self, op: Ops, shape: "tuple[int | UOp, ...]") -> Self:
        for size in shape:
            if type(size) is not int:
                return self._derive(op, extra=tuple(map(self._size_node, shape)))
        sizes: Any = tuple(shape)
        return self._derive(op, extra=_numbers(type(self), sizes), placement=self._placed(sizes))  # pyright: ignore

    def _placed(self, shape: tuple[Any, ...]) -> Any:
        """Return the placement in another shape, as `placement_of` would find out; None: not known."""
        known = self._placement
        return None if known is None or self.dtype is dtypes.index else (shape, known[1])

    def _placed_by(self, shape_of: Callable[[Any, Any], Any], axes: tuple[int, ...]) -> Any:
        """Return the placement in the shape that a rule gives; None: not known."""
        known = self._placement
        return self._placed(shape_of(known[0], axes)) if known is not None and known[0] else None

    def reshape(self, shape: "tuple[int | UOp, ...]") -> Self:
        """Return the same elements, in row-major order, in another shape."""
        if shape == self.shape:
            return self
        return self._resized(Ops.RESHAPE, shape)

    def expand(self, shape: "tuple[int | UOp, ...]") -> Self:
        """Return this with axes of size 1 repeated to `shape` (same number of axes)."""
        if shape == self.shape:
            return self
        return self._resized(Ops.EXPAND, shape)

    def spread(self, shape: "tuple[int | UOp, ...]") -> Self:
        """Return this number in each place of `shape`, or a value of that shape."""
        return self if shape == self.shape else self.reshape((1,) * len(shape)).expand(shape)

    def permute(self, axes: tuple[int, ...]) -> Self:
        """Return this with axis `axes[i]` in place `i`."""
        if axes == tuple(range(len(axes))):
            return self
        return self._derive(Ops.PERMUTE, arg=axes, placement=self._placed_by(permuted_shape, axes))

    def pad(self, widths: "Pairs") -> Self:
        """Return this with `(before, after)` zeros around each axis."""
        if all(isinstance(w, int) and w == 0 for pair in widths for w in pair):
            return self
        return self._derive(Ops.PAD, extra=tuple(self._size_node(w) for pair in widths for w in pair))

    def shrink(self, intervals: "Pairs") -> Self:
        """Return the half-open `(begin, end)` of each axis."""
        pairs: Any = [*map(tuple, intervals)]
        if pairs == [(0, size) for size in self.shape]:
            return self
        ends = [end for pair in pairs for end in pair]
        nodes = tuple([self._size_node(end) for end in ends])
        for end in ends:
            if type(end) is not int:
                return self._derive(Ops.SHRINK, extra=nodes)
        placement = self._placed(tuple([end - begin for begin, end in pairs]))
        return self._derive(Ops.SHRINK, extra=nodes, placement=placement)

    def flip(self, axes: tuple[int, ...]) -> Self:
        """Return this with the order along `axes` reversed."""
        return self._derive(Ops.FLIP, arg=axes) if axes else self

    def reduce_axis(self, op: Ops, axes: tuple[int, ...]) -> Self:
        """Return `op` over `axes`, which stay with size 1."""
        if op is Ops.MAX and is_complex(self.dtype):
            raise DtypeError(f"{op.name} over axes of {self.dtype.name}: complex numbers have no order.")
        if not axes:
            return self
        axes = tuple(sorted(axes))
        placement = self._placed_by(reduced_shape, axes)
        return self._derive(Ops.REDUCE_AXIS, arg=(op, axes), placement=placement)

    def cast(self, dtype: DType) -> Self:
        """Return the value in `dtype` (a scalar type keeps this node's number of lanes)."""
        if dtype is self.dtype:
            return self
        dtype = dtype.scalar().vec(self.dtype.count)
        if dtype is self.dtype:
            return self
        return self._derive(Ops.CAST, dtype, placement=None if dtype is dtypes.index else self._placement)

    def with_imag(self, imag: "UOp") -> Self:
        """Return complex numbers of these real and the given imaginary parts.

        Both have the same float dtype.
        """
        return self._derive(Ops.COMPLEX, complex_dtype(self.dtype), (imag,))

    def real(self) -> Self:
        """Return the real part: of real numbers themselves."""
        return self._complex_part(Ops.REAL, 0) if is_complex(self.dtype) else self

    def imag(self) -> Self:
        """Return the imaginary part of complex numbers."""
        return self._complex_part(Ops.IMAG, 1)

    def _complex_part(self, op: Ops, index: int) -> Self:
        if self.op is Ops.COMPLEX and self.src[index].shape == self.shape:
            return self.src[index]  # pyright: ignore[reportReturnType] - the only class that mixes this in is UOp
        if self.op is Ops.CAST and index == 0:
            return self.src[0].real().cast(part_dtype(self.dtype))  # pyright: ignore[reportReturnType]
        return self._derive(op, part_dtype(self.dtype))

    def conj(self) -> Self:
        """Return the complex conjugate: of real numbers themselves."""
        if not is_complex(self.dtype):
            return self
        imag: Any = self.imag()
        return self.real().with_imag(-imag)

    def bitcast(self, dtype: DType) -> Self:
        """Return the bits as `dtype`, of the same size."""
        dtype = dtype.scalar().vec(self.dtype.count)
        return self if dtype is self.dtype else self._derive(Ops.BITCAST, dtype)

    def contiguous(self) -> Self:
        """Return this in memory of its own."""
        return self._derive(Ops.CONTIGUOUS)

    def fourier(self, arg: FourierArg, *roots: "UOp") -> Self:
        """Return the Fourier transform along an axis, for devices with loops."""
        return self._derive(Ops.FOURIER, extra=roots, arg=arg)

    def factor(self, kind: str) -> Self:
        """Return matrices as loops leave them that factorize, for devices with loops."""
        shape: Any = self.shape
        return self._derive(Ops.FACTOR, arg=FactorArg(kind, shape[-2:]))

    def detach(self) -> Self:
        """Return this without a gradient."""
        return self._derive(Ops.DETACH)

    def later(self, *before: "UOp") -> Self:
        """Return this node for kernels that run once `before` is in memory."""
        return self._derive(Ops.LATER, extra=before) if before else self

    def dispatch(self, rule: DispatchRule, *inputs: "UOp") -> Self:
        """Return this node with a `rule` for other graphs on some devices: see `DispatchArg`."""
        return self._derive(Ops.DISPATCH, extra=inputs, arg=DispatchArg(rule))

    def copy_to_device(self, device: str) -> Self:
        """Return this on another device."""
        return self._derive(Ops.COPY, arg=device)

    def assign(self, value: "UOp", op: Ops | None = None) -> Self:
        """Return this memory with `value` written to it, or combined with it by `op`."""
        return self._derive(Ops.ASSIGN, extra=(value,), arg=op)

    def after(self, *effects: "UOp") -> Self:
        """Return this, once `effects` happened."""
        return self._derive(Ops.AFTER, extra=effects) if effects else self

    def index(self, idx: "UOp", gate: "UOp | None" = None) -> Self:
        """Return the place of element `idx` of this buffer.

        With `gate`, it is a place only where that holds.
        """
        return self._derive(Ops.INDEX, extra=(idx,) if gate is None else (idx, gate))

    def load(self, *alt_and_gate: "UOp", dtype: DType | None = None) -> Self:
        """Return the element at this INDEX (a vector dtype loads consecutive elements)."""
        return self._derive(Ops.LOAD, dtype, extra=alt_and_gate)

    def store(self, value: "UOp", *ranges: "UOp", op: Ops | None = None) -> Self:
        """Write `value` to this INDEX, or update it by `op`, and end `ranges`."""
        return self._derive(Ops.STORE, dtypes.void, extra=(value, *ranges), arg=op)

    def reduce(self, op: Ops, *ranges: "UOp") -> Self:
        """Return `op` of this value over all steps of `ranges`."""
        return self._derive(Ops.REDUCE, extra=ranges, arg=(op, 1)) if ranges else self

    def gep(self, *lanes: int) -> Self:
        """Return the given lanes of this vector; one lane is a scalar."""
        return self._derive(Ops.GEP, self.dtype.scalar().vec(len(lanes)), arg=lanes)

    def broadcast(self, count: int) -> Self:
        """Return a vector with this scalar in `count` lanes."""
        if count == 1:
            return self
        if self.op is Ops.CONST:
            return type(self)(Ops.CONST, self.dtype.vec(count), (), self.arg)  # pyright: ignore
        return type(self)(Ops.VECTORIZE, self.dtype.vec(count), (self,) * count)  # pyright: ignore


@lru_cache(maxsize=1024)
def _numbers(kind: "type[UOp]", sizes: tuple[int, ...]) -> "tuple[UOp, ...]":
    return tuple([constant(kind, dtypes.index, size) for size in sizes])


@lru_cache(maxsize=4096, typed=True)
def constant(kind: "type[UOp]", dtype: DType, value: int | float) -> "UOp":
    """Return a constant, kept for the next time; -0.0 equals 0.0 and is no argument."""
    return kind(Ops.CONST, dtype, (), truncate(value, dtype))
