"""Write kernels that change memory in place, by steps that follow each other.

`steps` are loops in order, `each` is a loop whose steps do not depend on each other. Elements are read and
written by their place, `x[i, j]`; a write ends the loops of `each` that its place or value names. A value is
what memory held when it was read, whatever is written later. What moves along a loop of `each` can only be
read in that loop: of memory that has been overwritten by then, keep a copy in `scratch`.
"""

import itertools
import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from plugrad.dtype import DType, dtypes
from plugrad.errors import VerifyError
from plugrad.uop import Axis, AxisType, KernelInfo, Ops, UOp

Number = UOp | int
Place = Number | tuple[Number, ...]


class LoopKernel:
    """The writes of a kernel, in the order in which they are made.

    Example:
        >>> kernel = LoopKernel()
        >>> sums = kernel.scratch(dtypes.float32, 8)
        >>> with kernel.steps(7) as i:
        ...     sums[i + 1] = sums[i + 1] + sums[i]
        >>> len(kernel.stores)
        1
    """

    def __init__(self, first_axis: int = 0, around: Sequence[UOp] = ()) -> None:
        self.stores: list[UOp] = []
        self.around = list(around)
        self._batch = frozenset(around)
        self._axes = itertools.count(first_axis)
        self._locals = itertools.count()

    def each(self, size: Number) -> UOp:
        """Return the number of a step of one loop, around one write or one reduction."""
        return UOp.range(size, next(self._axes))

    @contextmanager
    def steps(self, size: Number) -> Generator[UOp]:
        """Put what is written into a loop, and give the number of its step."""
        if size == 1:
            yield UOp.const(dtypes.index, 0)
            return
        step = UOp.range(size, next(self._axes), AxisType.ORDERED)
        self.around.append(step)
        yield step
        self.around.pop()

    def scratch(self, dtype: DType, *shape: int) -> "Elements":
        """Return memory that only this kernel sees, in row-major order."""
        node = UOp(Ops.DEFINE_LOCAL, dtype, (), (next(self._locals), math.prod(shape)))
        return Elements(self, node, shape)

    def add(self, store: UOp) -> None:
        """Append a write."""
        # the number of the store says which reads come before it
        self.stores.append(store.rtag(len(self.stores)))

    def sink(self, info: KernelInfo) -> UOp:
        """Return the kernel.

        Raises:
            VerifyError: a loop of `each` is around two writes or reductions, which would not be in order.
        """
        sink = UOp.sink(*self.stores, arg=info)
        reduced = [r for u in sink.toposort() if u.op is Ops.REDUCE for r in u.src[u.arg[1] :]]
        ended = [r for store in self.stores for r in store.src[2:] if r.arg.kind is AxisType.LOOP]
        own = [r for r in ended if r not in self._batch] + reduced
        if len(set(own)) < len(own):
            raise VerifyError(f"kernel {info.name}: two writes or reductions share a loop of `each`.")
        return sink.substitute({r: r.replace(arg=Axis(r.arg.ident, AxisType.REDUCE)) for r in reduced})


class Elements:
    """The elements of a memory, read and written by their place."""

    def __init__(self, kernel: LoopKernel, node: UOp, shape: Sequence[int]) -> None:
        self.kernel, self.node, self.shape = kernel, node, tuple(shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.node.dtype

    def __getitem__(self, place: Place) -> UOp:
        kernel = self.kernel
        version = UOp(Ops.AFTER, self.dtype, (self.node, *kernel.around), len(kernel.stores))
        return version.index(self._index(place)).load()

    def __setitem__(self, place: Place, value: UOp) -> None:
        kernel, spot = self.kernel, self.node.index(self._index(place))
        loops = (spot.ranges | value.ranges).difference(kernel.around)
        kernel.add(spot.store(value, *kernel.around, *sorted(loops, key=lambda r: r.arg.ident)))

    def _index(self, place: Place) -> UOp:
        index = UOp.const(dtypes.index, 0)
        for axis, number in enumerate(place if isinstance(place, tuple) else (place,)):
            index = index + number * math.prod(self.shape[axis + 1 :])
        return index


class Matrix(Elements):
    """The elements of one matrix of a batch, in the memory that a kernel writes.

    Args:
        kernel: that kernel.
        place: of the element at `row` and `column`.
        row: a range over the rows.
        column: a range over the columns.
        shape: the number of both.
    """

    def __init__(self, kernel: LoopKernel, place: UOp, row: UOp, column: UOp, shape: tuple[int, int]) -> None:
        super().__init__(kernel, place.src[0], shape)
        self._place, self._axes = place.src[1], (row, column)

    def _index(self, place: Place) -> UOp:
        assert isinstance(place, tuple), "a matrix has two axes"
        return self._place.substitute(
            {r: r.const_like(n) if isinstance(n, int) else n for r, n in zip(self._axes, place, strict=True)}
        )


def magnitude(x: UOp) -> UOp:
    """Return magnitudes; NaN stays NaN."""
    return (x < 0.0).where(-x, x)
