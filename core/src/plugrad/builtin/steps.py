"""Make one Python function for each instruction of a linear program, run at every launch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plugrad._util import numpy as np
from plugrad.builtin.arithmetic import Array, constant, function, lane_dtype, storage_dtype
from plugrad.builtin.fragments import WARP, elements_of, rows_of_matrices
from plugrad.builtin.listing import Instruction
from plugrad.builtin.spaces import Address, Space, both, gather, scatter, update
from plugrad.dtype import is_float
from plugrad.errors import DeviceError
from plugrad.target import Fragment
from plugrad.uop import ALU, Ops

_COMPUTED = ALU | {Ops.CAST, Ops.BITCAST}
#: The functions of NumPy that update memory with an operation.
_COMBINED = {Ops.ADD.name: "add", Ops.MAX.name: "maximum"}


@dataclass(slots=True)
class Lanes:
    """The state of the work-items that run together.

    Attributes:
        kernel: name of the program.
        count: how many work-items.
        per_group: how many of them make one workgroup.
        specials: launch position of each work-item, by name.
        sizes: the launch's size on each of these axes.
        variables: the kernel's scalars, by name.
        buffers: memory by slot, in bytes.
        values: what each instruction computed last; None before, and after its last use.
        mask: work-items inside all open IFs; None: all.
    """

    kernel: str
    count: int
    per_group: int
    specials: Mapping[str, Array]
    sizes: Mapping[str, int]
    variables: Mapping[str, int]
    buffers: Sequence[Array]
    values: list[Any]
    mask: Array | None = None
    outer_masks: list[Array | None] = field(default_factory=list[Array | None])
    trips: dict[int, Array] = field(default_factory=dict[int, Array])
    done: dict[int, int] = field(default_factory=dict[int, int])


# runs one instruction; returns the position to go on at, or None for the next one
Step = Callable[[Lanes], "int | None"]
# the value of one instruction
Value = Callable[[Lanes], Any]


def build_step(i: int, program: Sequence[Instruction], ends: Mapping[int, int]) -> Step:
    """Return a function for instruction `i` of `program`. Its blocks open and close at `ends`."""
    ins = program[i]
    if ins.op in _COMPUTED:
        return _computed(i, program)
    if (values := _VALUES.get(ins.op)) is not None:
        value = values(ins)

        def step(lanes: Lanes) -> None:
            lanes.values[i] = value(lanes)

        return step
    build = _BUILDERS.get(ins.op)
    if build is None:
        raise DeviceError(
            f"PYTHON cannot run {ins.op.name} (instruction {i}): it does not belong in a linear program. "
            "A pass of codegen should have lowered it.",
            device="PYTHON",
        )
    return build(i, program, ends)


def _computed(i: int, program: Sequence[Instruction]) -> Step:
    ins = program[i]
    sources = tuple(program[s].dtype for s in ins.src)
    compute = function(ins.op, ins.dtype, sources)
    widen = ins.op is not Ops.BITCAST and ins.dtype.count > 1 and any(d.count == 1 for d in sources)
    if widen:
        places = [(s, program[s].dtype.count == 1) for s in ins.src]

        def mixed(lanes: Lanes) -> None:
            values = lanes.values
            values[i] = compute(*[values[s][:, None] if narrow else values[s] for s, narrow in places])

        return mixed
    if len(ins.src) == 2:
        a, b = ins.src

        def binary(lanes: Lanes) -> None:
            values = lanes.values
            values[i] = compute(values[a], values[b])

        return binary

    def general(lanes: Lanes) -> None:
        values = lanes.values
        values[i] = compute(*[values[s] for s in ins.src])

    return general


def _constant(ins: Instruction) -> Value:
    value = constant(ins.arg, ins.dtype)
    return lambda lanes: value


def _param(ins: Instruction) -> Value:
    slot: int = ins.arg[0]
    numel: Any = ins.arg[1]
    dtype = ins.dtype
    stored = storage_dtype(dtype)

    def space(lanes: Lanes) -> Space:
        if slot >= len(lanes.buffers):
            raise _misfit(lanes, f"uses buffer slot {slot}, but {len(lanes.buffers)} were given")
        memory = lanes.buffers[slot]
        size = memory.nbytes // stored.itemsize
        if isinstance(numel, int):
            if size < numel:
                raise _misfit(lanes, f"needs {numel} {dtype.name} in buffer slot {slot}, which holds {size}")
            size = numel
        array = memory[: size * stored.itemsize].view(stored)
        return Space(lanes.kernel, f"buffer slot {slot}", array, size, dtype)

    return space


def _local(ins: Instruction) -> Value:
    (ident, numel), dtype = ins.arg, ins.dtype
    stored = storage_dtype(dtype)

    def space(lanes: Lanes) -> Space:
        groups = lanes.count // lanes.per_group
        # NaN in every float, -1 in every integer: what was never written shows
        memory = np.full(groups * numel * stored.itemsize, 0xFF, np.uint8).view(stored)
        base = np.repeat(np.arange(groups) * numel, lanes.per_group) if groups > 1 else None
        return Space(lanes.kernel, f"local memory {ident}", memory, numel, dtype, base)

    return space


def _variable(ins: Instruction) -> Value:
    name, lowest, highest = ins.arg
    dtype = lane_dtype(ins.dtype)

    def number(lanes: Lanes) -> Array:
        value = lanes.variables.get(name)
        if value is None:
            raise _misfit(lanes, f"needs the variable {name!r}; given: {dict(lanes.variables)}")
        if not lowest <= value <= highest:
            raise _misfit(lanes, f"was made for {name} in {lowest}..{highest}, not {value}")
        return np.full(1, value, dtype)

    return number


def _special(ins: Instruction) -> Value:
    name, dtype = ins.arg, lane_dtype(ins.dtype)

    def place(lanes: Lanes) -> Array:
        size = _uniform(lanes, ins.src[0]) if ins.src else lanes.sizes.get(name)
        if lanes.sizes.get(name) != size:
            raise _misfit(lanes, f"has {name} of size {size}, but is launched with {dict(lanes.sizes)}")
        return lanes.specials[name].astype(dtype)

    return place


def _range(i: int, program: Sequence[Instruction], ends: Mapping[int, int]) -> Step:
    size, dtype = program[i].src[0], lane_dtype(program[i].dtype)
    if i not in ends:
        raise DeviceError(f"the loop at instruction {i} has no END.", device="PYTHON")
    end = ends[i]

    def step(lanes: Lanes) -> int | None:
        count = _uniform(lanes, size)
        if count <= 0:
            return end + 1
        lanes.trips[i] = np.arange(count, dtype=dtype)
        lanes.done[i] = 0
        lanes.values[i] = lanes.trips[i][:1]
        return None

    return step


def _end(i: int, program: Sequence[Instruction], ends: Mapping[int, int]) -> Step:
    start = ends[i]

    def step(lanes: Lanes) -> int | None:
        turn = lanes.done[start] + 1
        trips = lanes.trips[start]
        if turn == len(trips):
            return None
        lanes.done[start] = turn
        lanes.values[start] = trips[turn : turn + 1]
        return start + 1

    return step


def _if(i: int, program: Sequence[Instruction], ends: Mapping[int, int]) -> Step:
    condition, end = program[i].src[0], ends[i]

    def step(lanes: Lanes) -> int | None:
        inside = both(lanes.mask, lanes.values[condition])
        if inside is not None and not inside.any():
            return end + 1
        lanes.outer_masks.append(lanes.mask)
        lanes.mask = inside
        return None

    return step


def _endif(i: int, program: Sequence[Instruction], ends: Mapping[int, int]) -> Step:
    def step(lanes: Lanes) -> None:
        lanes.mask = lanes.outer_masks.pop()

    return step


def _accumulate(i: int, program: Sequence[Instruction], ends: Mapping[int, int]) -> Step:
    register, new = program[i].src[:2]
    is_vector = program[i].dtype.count > 1

    def step(lanes: Lanes) -> None:
        values, mask = lanes.values, lanes.mask
        value: Array = values[new]
        if mask is not None:
            value = np.where(mask[:, None] if is_vector else mask, value, values[register])
        values[i] = values[register] = value

    return step


def _index(ins: Instruction) -> Value:
    return lambda lanes: Address(*[lanes.values[s] for s in ins.src])


def _load(ins: Instruction) -> Value:
    place, *alternative = ins.src
    count = ins.dtype.count
    zero = constant(0, ins.dtype)

    def loaded(lanes: Lanes) -> Array:
        values = lanes.values
        alt, gate = (values[s] for s in alternative) if alternative else (zero, None)
        return gather(values[place], count, lanes.count, both(lanes.mask, gate), alt)

    return loaded


def _store(i: int, program: Sequence[Instruction], ends: Mapping[int, int]) -> Step:
    place, value = program[i].src[:2]
    count = program[value].dtype.count
    if program[i].arg is not None:
        combine = getattr(np, _COMBINED[program[i].arg])

        def updated(lanes: Lanes) -> None:
            update(lanes.values[place], lanes.count, lanes.mask, lanes.values[value], combine)

        return updated

    def step(lanes: Lanes) -> None:
        scatter(lanes.values[place], count, lanes.count, lanes.mask, lanes.values[value])

    return step


def _copy_async(i: int, program: Sequence[Instruction], ends: Mapping[int, int]) -> Step:
    (to, source, *gates), count = program[i].src, program[i].arg
    zero = constant(0, program[source].dtype.vec(count) if count > 1 else program[source].dtype)

    def step(lanes: Lanes) -> None:
        mask = both(lanes.mask, lanes.values[gates[0]]) if gates else lanes.mask
        value = gather(lanes.values[source], count, lanes.count, mask, zero)
        scatter(lanes.values[to], count, lanes.count, lanes.mask, value)

    return step


def _vectorize(ins: Instruction) -> Value:
    return lambda lanes: np.stack(np.broadcast_arrays(*[lanes.values[s] for s in ins.src]), axis=-1)


def _gep(ins: Instruction) -> Value:
    vector, picked = ins.src[0], ins.arg
    lane: Any = picked[0] if len(picked) == 1 else list(picked)
    return lambda lanes: lanes.values[vector][:, lane]


def _wmma(ins: Instruction) -> Value:
    threads, (n, m, k), offset, *bits = ins.arg
    fragments = [Fragment(*b) for b in bits]
    shapes = ((m, k), (k, n), (m, n))
    where = [elements_of(f, threads, axes) for f, axes in zip(fragments, ("mk", "kn", "mn"), strict=True)]
    # sums of products in twice the digits, rounded once
    wide = np.float64 if is_float(ins.dtype) else np.int64
    out = lane_dtype(ins.dtype)

    def product(lanes: Lanes) -> Array:
        if lanes.mask is not None:
            raise _misfit(lanes, "has a matrix instruction where only some work-items run")
        if lanes.per_group % threads:
            raise _misfit(lanes, f"has warps of {threads}, which do not divide groups of {lanes.per_group}")
        warps = lanes.count // threads
        tiles: list[Array] = []
        for source, fragment, shape, (rows, columns) in zip(ins.src, fragments, shapes, where, strict=True):
            values = lanes.values[source]
            # a fragment of one element is no vector
            values = values[:, None] if fragment.count == 1 else values
            held = np.broadcast_to(values, (lanes.count, fragment.count))
            tile = np.zeros((warps, *shape), wide)
            tile[:, rows, columns] = held.reshape(warps, threads, fragment.count)
            tiles.append(tile)
        a, b, c = tiles
        rows, columns = where[2]
        result = ((a + offset) @ b + c)[:, rows, columns]
        shape = (lanes.count,) if fragments[2].count == 1 else (lanes.count, -1)
        return result.reshape(shape).astype(out)

    return product


def _load_matrix(ins: Instruction) -> Value:
    (place,), count = ins.src, ins.dtype.count
    in_row = 4 * count // ins.arg[0]
    zero = constant(0, ins.dtype.scalar().vec(in_row))
    rows, elements = rows_of_matrices(count, ins.arg)

    def loaded(lanes: Lanes) -> Array:
        if lanes.mask is not None or lanes.per_group % WARP:
            raise _misfit(lanes, "has a load of a whole warp where only some work-items run")
        held = gather(lanes.values[place], in_row, lanes.count, None, zero).reshape(-1, WARP, in_row)
        return held[:, rows, elements].reshape(lanes.count, count)

    return loaded


def _same_as_source(ins: Instruction) -> Value:
    source = ins.src[0]
    return lambda lanes: lanes.values[source]


# instructions that only give a value
_VALUES: dict[Ops, Callable[[Instruction], Value]] = {
    Ops.CONST: _constant,
    Ops.PARAM: _param,
    Ops.DEFINE_LOCAL: _local,
    Ops.DEFINE_VAR: _variable,
    Ops.DEFINE_ACC: _same_as_source,
    Ops.AFTER: _same_as_source,
    Ops.SPECIAL: _special,
    Ops.INDEX: _index,
    Ops.LOAD: _load,
    Ops.VECTORIZE: _vectorize,
    Ops.GEP: _gep,
    Ops.WMMA: _wmma,
    Ops.LOAD_MATRIX: _load_matrix,
}
_BUILDERS: dict[Ops, Callable[[int, Sequence[Instruction], Mapping[int, int]], Step]] = {
    Ops.ACCUMULATE: _accumulate,
    Ops.RANGE: _range,
    Ops.END: _end,
    Ops.IF: _if,
    Ops.ENDIF: _endif,
    Ops.STORE: _store,
    Ops.COPY_ASYNC: _copy_async,
    **dict.fromkeys((Ops.BARRIER, Ops.COMMIT, Ops.SINK), lambda i, program, ends: lambda lanes: None),
}


def _uniform(lanes: Lanes, source: int) -> int:
    value = lanes.values[source]
    if len(value) > 1 and (value != value[0]).any():
        raise _misfit(lanes, "has a loop or launch size that differs between work-items")
    return int(value[0])


def _misfit(lanes: Lanes, what: str) -> DeviceError:
    return DeviceError(f"kernel {lanes.kernel} {what}.", device="PYTHON")
