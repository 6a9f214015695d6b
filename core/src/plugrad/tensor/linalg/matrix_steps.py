"""Steps of factorizations: how they follow each other, and parts of matrices by computed number.

The graph of all steps of a large matrix would take longer to schedule than its kernels to run. So many steps
are computed while the graph is made: one of them is planned, and its launches repeated.
"""

import struct
from collections.abc import Callable
from typing import Any

from plugrad.device import Device
from plugrad.dtype import dtypes, is_complex
from plugrad.engine import storage
from plugrad.engine.bulk_apply import bulk_apply
from plugrad.engine.realize import realize
from plugrad.engine.resolve_graph import resolve_graph
from plugrad.tensor.dispatch import OnGrids
from plugrad.tensor.host.host_data import HOST, host_buffer
from plugrad.tensor.lookup import counted
from plugrad.tensor.shapes import Shape, expanded
from plugrad.uop import Ops, UOp

# So many steps are a graph like any other.
FEW = 32

State = tuple[UOp, ...]
Steps = Callable[..., UOp]


def repeat_step(
    step: Callable[[State], State], state: State, count: int, device: str, few: int = FEW
) -> State:
    """Return the state after `count` steps.

    Many steps are computed now. Few are a graph like any other, as are steps of values that nobody knows yet:
    those of one example inside of `vmap`.

    Args:
        step: from one state to the next.
        state: what the first step takes.
        count: the number of steps.
        device: where they are computed.
        few: how many steps are few: fewer where many other steps follow.

    Example:
        >>> x = Tensor([1.0])
        >>> (state,) = repeat_step(lambda state: ((state[0] + 1).contiguous(),), (x.uop,), 3, x.device)
        >>> Tensor(state).tolist()
        [4.0]
    """
    if count > few and _is_known(state):
        return bulk_apply(lambda state: _in_memory(step(state), device), state, count)
    for _ in range(count):
        state = step(state)
    return state


def computed(values: State, device: str) -> State:
    """Compute values by one schedule; inputs that are not known yet leave them graphs."""
    return _in_memory(values, device) if _is_known(values) else values


def _in_memory(values: State, device: str) -> State:
    realize([u for u in values if u.src], device)
    return tuple([storage.resolve(u, device) for u in values])


def repeat_parts(part: Callable[[State], State], state: State, count: int, device: str) -> State:
    """Return the state after `count` parts, each of repeated steps and a graph."""
    if _is_known(state):
        return bulk_apply(lambda state: _in_memory(part(state), device), state, count)
    for _ in range(count):
        state = part(state)
    return state


def _is_known(state: State) -> bool:
    graph = resolve_graph(UOp.sink(*state)).values()
    return all(storage.find_buffer(u) is not None for u in graph if u.op is Ops.BUFFER)


def factorized(kind: str, steps: Steps, x: UOp, *inputs: UOp, device: str, is_small: bool) -> UOp:
    """Return factors of matrices, by loops where devices run them, elsewhere by `steps`.

    Complex matrices take the steps everywhere.

    Args:
        kind: names the loops, see `plugrad.codegen.factors`.
        steps: takes `x`, `inputs` and the device, and returns a graph for the same values.
        x: (*B, n, m).
        inputs: what else the steps read.
        device: where they are computed.
        is_small: the steps are a graph like any other; those of large matrices are computed now.

    Example:
        >>> x = Tensor([[4.0, 2.0], [2.0, 5.0]], device="PYTHON")
        >>> u = factorized("cholesky", lambda x, device: x * 0.5, x.uop, device=x.device, is_small=True)
        >>> Tensor(u).tolist()
        [[2.0, 1.0], [1.0, 2.5]]
    """
    shape: Any = x.shape
    if is_complex(x.dtype) or min(shape[-2:]) < 2:
        return steps(x, *inputs, device)
    if is_small:
        return x.factor(kind).dispatch(OnGrids(_take_steps, (steps,)), x, *inputs)
    return steps(x, *inputs, device) if Device[device].capabilities.grid_dims else x.factor(kind)


def _take_steps(device: str, *given: Any) -> UOp:
    *inputs, steps = given
    return steps(*inputs, device)


def counter(device: str) -> UOp:
    """Return the first step number, 0, in memory: (1,) of int32."""
    number = host_buffer(struct.pack("=i", 0), (1,), dtypes.int32)
    return number if device == HOST else number.copy_to_device(device)


def rows_of(shape: Shape) -> UOp:
    """Return the row number of each element."""
    return counted(shape[-2], dtypes.int32, shape, len(shape) - 2)


def columns_of(shape: Shape) -> UOp:
    """Return the column number of each element."""
    return counted(shape[-1], dtypes.int32, shape, len(shape) - 1)


def at(x: UOp, axis: int, place: UOp) -> UOp:
    """Return the element at a computed place modulo the axis, which becomes 1."""
    axis += len(x.shape)
    size: Any = x.shape[axis]
    # modulo: then no access has to ask whether the place exists
    here = counted(size, dtypes.int32, x.shape, axis).eq(expanded(place % size, x.shape))
    return here.where(x, x.const_like(0)).reduce_axis(Ops.ADD, (axis,))


def sum_along(x: UOp, axis: int) -> UOp:
    """Return sums along axis -1 or -2, which keeps size 1."""
    return x.reduce_axis(Ops.ADD, (axis + len(x.shape),))


def transposed(x: UOp) -> UOp:
    """Return transposed matrices."""
    last = len(x.shape)
    return x.permute((*range(last - 2), last - 1, last - 2))


def cut(x: UOp, rows: tuple[Any, Any], columns: tuple[Any, Any]) -> UOp:
    """Return an interval of the rows and one of the columns of matrices."""
    return x.shrink([*((0, dim) for dim in x.shape[:-2]), rows, columns])


def padded(x: UOp, rows: tuple[Any, Any], columns: tuple[Any, Any]) -> UOp:
    """Return matrices with so many rows and columns of zeros around them."""
    return x.pad([*[(0, 0)] * (len(x.shape) - 2), rows, columns])


def slice_rows(panel: UOp, first: int, count: Any) -> UOp:
    """Return `count` rows of matrices from number `first` on."""
    return cut(panel, (first, first + count), (0, panel.shape[-1]))


def take_rows(x: UOp, places: UOp) -> UOp:
    """Return rows by number, zeros for numbers out of range.

    Shapes: (*B, n, m) and (*B, k), or (k,) for the same ones of each matrix -> (*B, k, m).
    """
    *batch, size, columns = x.shape
    count = places.shape[-1]
    shape = (*batch, count, size, columns)
    axis = len(batch) + 1
    wanted = expanded(places, (*batch, count)).reshape((*batch, count, 1, 1)).expand(shape)
    rows = x.reshape((*batch, 1, size, columns)).expand(shape)
    picked = counted(size, dtypes.int32, shape, axis).eq(wanted).where(rows, rows.const_like(0))
    return picked.reduce_axis(Ops.ADD, (axis,)).reshape((*batch, count, columns))


def append_rows(x: UOp, *rows: UOp) -> UOp:
    """Return matrices with further rows at their end."""
    count: Any = x.shape[-2]
    out = padded(x, (0, len(rows)), (0, 0))
    for number, row in enumerate(rows):
        out = out + padded(row, (count + number, len(rows) - 1 - number), (0, 0))
    return out
