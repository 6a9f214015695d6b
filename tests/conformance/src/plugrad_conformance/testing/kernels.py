"""Run kernel graphs without a device: lowered in the interpreter, or unlowered in NumPy.

`evaluate_kernel` is the meaning of a kernel: every node is an array with one axis for each range. What any
sequence of optimisations makes of the kernel has to write the same.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrad.builtin import arithmetic
from plugrad.builtin.interpreter import Interpreter
from plugrad.builtin.listing import read, write
from plugrad.codegen.lower import Lowered
from plugrad.codegen.rebuild import ranges_of_reduce
from plugrad.dtype import DType, dtypes
from plugrad.uop import Ops, UOp, identity_of
from plugrad.uop.shape import size_at

Array = NDArray[Any]


def storage_of(values: Array, dtype: DType) -> Array:
    """Return the bytes of `values` as a buffer of `dtype` holds them (bfloat16 from float32)."""
    stored = arithmetic.to_storage(values.astype(arithmetic.lane_dtype(dtype)), dtype)
    return np.ascontiguousarray(stored).view(np.uint8).copy()


def values_of(raw: Array, dtype: DType) -> Array:
    """Decode the bytes of a buffer of `dtype`."""
    return arithmetic.from_storage(raw.view(arithmetic.storage_dtype(dtype)), dtype)


def run_lowered(
    lowered: Lowered, buffers: Sequence[Array], variables: Mapping[str, int] | None = None
) -> None:
    """Run a lowered kernel in the interpreter on `buffers`: bytes, slot by slot."""
    variables = variables or {}
    name, instructions = read(write(lowered.program, lowered.name))
    grid, group = (
        tuple(size_at(d, variables) for d in dims) for dims in (lowered.global_size, lowered.local_size)
    )
    values = {variable: variables[variable] for variable in lowered.variables}
    Interpreter(name, instructions).run(buffers, values, grid, group, lowered.threads)


def evaluate_kernel(ast: UOp, buffers: Sequence[Array], variables: Mapping[str, int] | None = None) -> None:
    """Apply the unlowered kernel `ast` to `buffers`, which are bytes, slot by slot."""
    bound = {u: u.const_like((variables or {})[u.arg[0]]) for u in ast.variables()}
    with np.errstate(all="ignore"):
        _Evaluation(ast.substitute(bound), buffers).run()


class _Evaluation:
    def __init__(self, ast: UOp, buffers: Sequence[Array]) -> None:
        self.ast = ast
        self.ranges = [u for u in ast.toposort() if u.op is Ops.RANGE]
        self.buffers = buffers
        self.values: dict[UOp, Any] = {}

    def run(self) -> None:
        for u in self.ast.toposort():
            self.values[u] = self.value(u)

    def sources(self, u: UOp) -> list[Any]:
        return [self.values[s] for s in u.src]

    def value(self, u: UOp) -> Any:
        if u.op is Ops.CONST:
            return self.shaped(np.full(1, u.arg, arithmetic.lane_dtype(_native(u.dtype))))
        if u.op is Ops.RANGE:
            steps = np.arange(self.size(u), dtype=np.int64)
            return steps.reshape([-1 if r is u else 1 for r in (*self.ranges, None)])
        if u.op is Ops.LOAD:
            return self.load(u)
        if u.op is Ops.REDUCE:
            return self.reduce(u)
        if u.op is Ops.STORE:
            return self.store(u)
        if u.op in (Ops.INDEX, Ops.PARAM, Ops.SINK):
            return None
        return self.compute(u)

    def compute(self, u: UOp) -> Array:
        src = self.sources(u)
        if u.op in (Ops.FLOORDIV, Ops.FLOORMOD):
            divide = np.floor_divide if u.op is Ops.FLOORDIV else np.remainder
            return divide(*src)
        if u.op is Ops.CAST and u.dtype is dtypes.index and src[0].dtype.kind in "iu":
            return src[0].astype(np.int64)
        compute = arithmetic.function(u.op, _native(u.dtype), tuple(_native(s.dtype) for s in u.src))
        return compute(*src)

    def shaped(self, flat: Array) -> Array:
        # one axis more than ranges: a kernel without any still computes arrays
        return flat.reshape([1] * (len(self.ranges) + 1))

    def size(self, r: UOp) -> int:
        return int(self.values[r.src[0]].item())

    def memory(self, place: UOp) -> tuple[Array, DType]:
        dtype = place.src[0].dtype
        slot: int = place.src[0].arg[0]
        memory = self.buffers[slot]
        return memory.view(arithmetic.storage_dtype(dtype)), dtype

    def load(self, u: UOp) -> Array:
        place = u.src[0]
        memory, dtype = self.memory(place)
        idx = self.values[place.src[1]]
        if len(place.src) == 2:
            if idx.size and (idx.min() < 0 or idx.max() >= len(memory)):
                raise IndexError(f"load of {idx.min()}..{idx.max()} from {len(memory)} elements")
            return arithmetic.from_storage(memory[idx], dtype)
        idx, gate = np.broadcast_arrays(idx, self.values[place.src[2]])
        inside = arithmetic.from_storage(memory[np.where(gate, idx, 0)], dtype)
        if ((idx < 0) | (idx >= len(memory)))[gate].any():
            raise IndexError("a gated load is outside of its buffer")
        return np.where(gate, inside, np.zeros(1, inside.dtype))

    def reduce(self, u: UOp) -> Array:
        op, count = u.arg
        ended = ranges_of_reduce(u)
        value = reduce(arithmetic.function(op, _native(u.dtype), (u.dtype, u.dtype)), self.sources(u)[:count])
        steps = (self.size(r) if r in ended else n for r, n in zip(self.ranges, value.shape, strict=False))
        value = np.broadcast_to(value, (*steps, 1))
        combine = arithmetic.function(op, _native(u.dtype), (u.dtype, u.dtype))
        for r in ended:
            axis = self.ranges.index(r)
            parts = [value.take([i], axis) for i in range(value.shape[axis])]
            shape = [1 if i == axis else n for i, n in enumerate(value.shape)]
            value = reduce(combine, parts) if parts else np.full(shape, identity_of(op, u.dtype), value.dtype)
        return value

    def store(self, u: UOp) -> None:
        place, value, *ended = u.src
        memory, dtype = self.memory(place)
        shape = (*(self.size(r) if r in ended else 1 for r in self.ranges), 1)
        idx, new = (np.broadcast_to(self.values[s], shape) for s in (place.src[1], value))
        if u.arg is None:
            memory[idx] = arithmetic.to_storage(new, dtype)
        else:
            {Ops.ADD: np.add, Ops.MAX: np.maximum}[u.arg].at(memory, idx, new)


def _native(dtype: DType) -> DType:
    """Return the dtype that NumPy computes in: addresses are int64."""
    return dtypes.int64 if dtype is dtypes.index else dtype
