"""Write kernels that change memory in place, by steps that follow each other.

`steps` are loops in order, `each` is a loop whose steps do not depend on each other. Elements are read and
written by their place, `x[i, j]`; a write has loops of its own over what `each` gave its place or value. A
value is what memory held when it was read, whatever is written later. What moves along a loop of `each` can
only be read in the loop of the write: of memory that has been overwritten by then, keep a copy in `scratch`.
"""

import itertools
import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from plugrad.codegen.rebuild import at
from plugrad.dtype import DType, dtypes
from plugrad.uop import AxisType, KernelInfo, Ops, UOp

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
        self._axes = itertools.count(first_axis)
        self._locals = itertools.count()

    def each(self, size: Number) -> UOp:
        """Return the number of a step of a loop around each write or reduction."""
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

    def reduce(self, op: Ops, value: UOp, r: UOp) -> UOp:
        """Return `op` of a value over all steps of `r`."""
        own = UOp.range(r.src[0], next(self._axes), AxisType.REDUCE)
        return at(value, r, own).reduce(op, own)

    def sum(self, value: UOp, r: UOp) -> UOp:
        """Return the sum of a value over all steps of `r`."""
        return self.reduce(Ops.ADD, value, r)

    def first(self, found: UOp, r: UOp) -> UOp:
        """Return the first step of `r` in which `found` holds, or their number."""
        size: int = r.src[0].arg
        return size - self.reduce(Ops.MAX, found.where(size - r, 0).cast(dtypes.int32), r)

    def sink(self, info: KernelInfo) -> UOp:
        """Return the kernel."""
        return UOp.sink(*self.stores, arg=info)


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
        own = {r: kernel.each(r.src[0]) for r in sorted(loops, key=lambda r: r.arg.ident)}
        store = spot.substitute(own).store(value.substitute(own), *kernel.around, *own.values())
        kernel.add(store)

    def exchange(self, one: Place, other: Place, r: UOp, kept: "Elements") -> None:
        """Exchange what is at two places, at all steps of `r`, through `kept`."""
        kept[r] = self[one]
        self[one] = self[other]
        self[other] = kept[r]

    def rotate(self, one: Place, other: Place, r: UOp, cosine: UOp, sine: UOp, kept: "Elements") -> None:
        """Rotate what is at two places, at all steps of `r`, through `kept`."""
        kept[r] = self[one]
        self[one] = cosine * kept[r] + sine * self[other]
        self[other] = cosine * self[other] - sine * kept[r]

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
