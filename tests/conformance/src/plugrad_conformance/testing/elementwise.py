"""Compute an elementwise graph by the interpreter alone, without scheduler and codegen."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrad.builtin.arithmetic import storage_dtype
from plugrad.builtin.interpreter import Interpreter
from plugrad.builtin.listing import instructions
from plugrad.dtype import DType, dtypes, from_numpy
from plugrad.uop import Ops, UOp

Array = NDArray[Any]


def elementwise_kernel(
    build: Callable[..., UOp], types: Sequence[DType], numel: int, lanes: int = 1
) -> tuple[UOp, DType]:
    """Return a kernel that stores `build(*loads)`, one work-item an element, and the dtype it stores.

    Slot 0 is the output, inputs of the given types follow. With `lanes`, each work-item does that many
    consecutive elements as one vector.
    """
    item = UOp(Ops.SPECIAL, dtypes.int32, (UOp.const(dtypes.int32, numel // lanes),), "gidx0")
    at = item if lanes == 1 else item * lanes
    params = [UOp(Ops.PARAM, dtype, (), (slot + 1, numel)) for slot, dtype in enumerate(types)]
    out = build(*[p.index(at).load(dtype=p.dtype.vec(lanes)) for p in params])
    target = UOp(Ops.PARAM, out.dtype.scalar(), (), (0, numel))
    return UOp.sink(target.index(at).store(out)), out.dtype.scalar()


def compute_elementwise(
    build: Callable[..., UOp],
    *inputs: Array,
    types: Sequence[DType] | None = None,
    lanes: int = 1,
    lower: Callable[[UOp], UOp] | None = None,
) -> Array:
    """Compute `build` on arrays, element by element.

    Args:
        build: makes the graph from a node for each input.
        inputs: one-dimensional arrays of the same length; bfloat16 as its bits in uint16.
        types: the inputs' dtypes, where NumPy's do not say.
        lanes: elements in each vector; it divides the length.
        lower: rewrites the kernel before it runs, such as a decomposition.

    Example:
        >>> compute_elementwise(lambda x: x + 1, np.arange(3))
        array([1, 2, 3])
    """
    types = types or [from_numpy(array.dtype) for array in inputs]
    numel = len(inputs[0])
    sink, dtype = elementwise_kernel(build, types, numel, lanes)
    program = instructions(list((lower(sink) if lower else sink).toposort()))
    out = np.full(numel, 0xA5, np.uint8).repeat(storage_dtype(dtype).itemsize)
    buffers = [out, *[np.ascontiguousarray(array).view(np.uint8) for array in inputs]]
    Interpreter("elementwise", program).run(buffers, {}, (numel // lanes,))
    return out.view(np.bool_ if dtype is dtypes.bool else storage_dtype(dtype))
