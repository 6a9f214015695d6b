"""Small random kernels and random optimisations of them, from a seed.

Values stay integers that every dtype holds, so that sums may be reordered and still agree to the last bit.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import GroupTile, Opt, OptOps
from plugrad.dtype import DType, dtypes, is_bool, is_float, is_int, is_unsigned
from plugrad.errors import KernelOptError
from plugrad.uop import AxisType, KernelInfo, Ops, UOp
from plugrad.uop.strides import constant_size
from plugrad_conformance.testing.kernels import evaluate_kernel, storage_of, values_of

_SIZES = (1, 2, 3, 4, 5, 6, 8, 8, 12, 16, 16)
_DTYPES = (
    *(dtypes.float32, dtypes.float32, dtypes.int32, dtypes.float16, dtypes.bool, dtypes.uint8),
    *(dtypes.int64, dtypes.float64, dtypes.uint32, dtypes.bfloat16, dtypes.int8),
)
# integers up to here are exact; 8-bit integers wrap the same way in any order
_EXACT = {dtypes.float16: 2048, dtypes.bfloat16: 256, dtypes.float32: 1 << 24, dtypes.float64: 1 << 50}
# from here on, neighbours differ by 2
_DIGIT_LIMITS = {**_EXACT, dtypes.float64: 1 << 53}
_MAX_STEPS = 6000


@dataclass(frozen=True)
class RandomKernel:
    """A kernel, what its buffers hold at first, and its variables' values."""

    ast: UOp
    buffers: tuple[NDArray[np.uint8], ...]
    dtypes: tuple[DType, ...]
    variables: dict[str, int]

    def copies(self) -> list[NDArray[np.uint8]]:
        """Return buffers to run on."""
        return [buffer.copy() for buffer in self.buffers]

    def expected(self) -> list[NDArray[np.uint8]]:
        """Return the contents of the buffers after the kernel."""
        out = self.copies()
        evaluate_kernel(self.ast, out, self.variables)
        return out

    def difference(self, got: Sequence[NDArray[np.uint8]], want: Sequence[NDArray[np.uint8]]) -> str:
        """Return where two results differ (zeros of either sign are equal); empty if nowhere."""
        for slot, (dtype, a, b) in enumerate(zip(self.dtypes, got, want, strict=True)):
            x, y = values_of(a, dtype), values_of(b, dtype)
            wrong = np.flatnonzero((x != y) & ~((x != x) & (y != y)))
            if len(wrong):
                at = int(wrong[0])
                return f"slot {slot} of {dtype.name} has {x[at]} at {at}, not {y[at]} ({len(wrong)} differ)"
        return ""


def random_kernel(seed: int) -> RandomKernel:
    """Return the kernel of `seed`."""
    return _Writer(random.Random(seed)).kernel()


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.params: list[tuple[DType, int, str]] = []
        self.axes = 0
        self.variables: dict[str, int] = {}
        self.reduced: list[tuple[UOp, ...]] = []
        self.budget = 6

    def kernel(self) -> RandomKernel:
        rng = self.rng
        outs = tuple(self.new_range(AxisType.LOOP) for _ in range(rng.choice((0, 1, 1, 2, 2, 3))))
        stores: list[UOp] = []
        for _ in range(rng.choice((1, 1, 1, 2))):
            mine = outs if rng.random() < 0.8 else tuple(r for r in outs if rng.random() < 0.6)
            self.budget = rng.choice((1, 2, 3, 5))
            dtype = rng.choice(_DTYPES)
            value, _ = self.value(dtype, mine, rng.choice((1, 2, 3)))
            in_order = list(mine)
            if rng.random() < 0.3:
                rng.shuffle(in_order)
            idx, numel = _flat([(r, int(r.src[0].vmax)) for r in in_order])
            place = self.param(dtype, numel, "out").index(idx)
            if rng.random() < 0.2:
                # in place: a store that runs twice shows
                old = place.load()
                value = value.maximum(old) if is_float(dtype) or is_bool(dtype) else value + old
            stores.append(place.store(value, *mine))
        buffers = tuple(self.contents(*param) for param in self.params)
        types = tuple(dtype for dtype, _, _ in self.params)
        return RandomKernel(UOp.sink(*stores, arg=KernelInfo("fuzz")), buffers, types, self.variables)

    def new_range(self, kind: AxisType) -> UOp:
        self.axes += 1
        if self.rng.random() < 0.08:
            name = f"n{self.axes}"
            most = self.rng.choice((3, 6))
            least = self.rng.choice((0, 1, 1)) if kind is AxisType.REDUCE else 1
            self.variables[name] = self.rng.randint(least, most)
            return UOp.range(UOp.variable(name, least, most), self.axes, kind)
        # an empty reduction gives its identity; kernels without results are never made
        empty = kind is AxisType.REDUCE and self.rng.random() < 0.03
        size = 0 if empty else self.rng.choice(_SIZES)
        return UOp.range(size, self.axes, kind)

    def param(self, dtype: DType, numel: int, content: str) -> UOp:
        self.params.append((dtype, numel, content))
        return UOp(Ops.PARAM, dtype, (), (len(self.params) - 1, numel))

    def contents(self, dtype: DType, numel: int, content: str) -> NDArray[np.uint8]:
        rng = np.random.default_rng(self.rng.randrange(1 << 30))
        if content == "out":
            return np.full(numel * dtype.itemsize, 0x55, np.uint8)
        if content.startswith("below"):
            return storage_of(rng.integers(0, int(content[5:]), numel), dtype)
        lowest = 1 if content == "positive" else 0 if is_unsigned(dtype) or is_bool(dtype) else -3
        return storage_of(rng.integers(lowest, 2 if is_bool(dtype) else 4, numel), dtype)

    # --- values: each comes with a bound of its magnitude ---

    def value(self, dtype: DType, ranges: Sequence[UOp], depth: int) -> tuple[UOp, int]:
        rng = self.rng
        choice = rng.random()
        if depth <= 0 or choice < 0.15:
            return self.load(dtype, ranges)
        if choice < 0.2:
            const = rng.randint(0, 2)
            return UOp.const(dtype, bool(const) if is_bool(dtype) else const), 2
        if choice < 0.28 and ranges and not is_bool(dtype):
            r = rng.choice(list(ranges))
            return (r + rng.randint(0, 2)).cast(dtype), int(r.src[0].vmax) + 2
        if choice < 0.6 and self.budget > 0:
            self.budget -= 1
            return self.reduction(dtype, ranges, depth)
        if choice < 0.68:
            source = rng.choice(_DTYPES)
            if is_float(source) == is_float(dtype) or (is_int(source) and is_int(dtype)):
                inner, most = self.value(source, ranges, depth - 1)
                if most < _exact(dtype):
                    return inner.cast(dtype), most
        if choice < 0.78:
            x, a = self.value(dtype, ranges, depth - 1)
            y, b = self.value(dtype, ranges, depth - 1)
            return self.condition(ranges, depth - 1).where(x, y), max(a, b)
        if is_int(dtype) and choice < 0.84:
            return self.division(dtype, ranges, depth)
        if dtype in _EXACT and choice < 0.84:
            return self.rounding(dtype, ranges, depth)
        return self.binary(dtype, ranges, depth)

    def binary(self, dtype: DType, ranges: Sequence[UOp], depth: int) -> tuple[UOp, int]:
        x, a = self.value(dtype, ranges, depth - 1)
        y, b = self.value(dtype, ranges, depth - 1)
        op = self.rng.choice((Ops.ADD, Ops.MUL, Ops.MAX, Ops.SUB))
        most = a * b if op is Ops.MUL else max(a, b) if op is Ops.MAX else a + b
        if most >= _exact(dtype) or (op is Ops.SUB and is_bool(dtype)):
            return x.alu(Ops.MAX, y), max(a, b)
        return x.alu(op, y), most

    def rounding(self, dtype: DType, ranges: Sequence[UOp], depth: int) -> tuple[UOp, int]:
        """Return a value rounded to a power of two by adding a large constant.

        The constant is subtracted again.
        """
        x, most = self.value(dtype, ranges, depth - 1)
        multiple = 2 ** self.rng.randint(1, 4)
        if most + multiple >= _exact(dtype):
            return x, most
        large = self.rng.choice((-1.5, 1.0, 1.5)) * _DIGIT_LIMITS[dtype] * multiple
        return (x + large) + -large, most + multiple

    def division(self, dtype: DType, ranges: Sequence[UOp], depth: int) -> tuple[UOp, int]:
        x, a = self.value(dtype, ranges, depth - 1)
        op = self.rng.choice((Ops.FLOORDIV, Ops.FLOORMOD, Ops.CDIV, Ops.CMOD))
        if self.rng.random() < 0.5:
            y = x.const_like(self.rng.randint(1, 5))
        else:
            idx, numel = self.address(ranges)
            y = self.param(dtype, numel, "positive").index(idx).load()
        return x.alu(op, y), a + 5

    def condition(self, ranges: Sequence[UOp], depth: int) -> UOp:
        if ranges and self.rng.random() < 0.5:
            r = self.rng.choice(list(ranges))
            return r < self.rng.randint(0, int(r.src[0].vmax))
        dtype = self.rng.choice((dtypes.int32, dtypes.float32, dtypes.int64))
        x, _ = self.value(dtype, ranges, depth - 1)
        return x < x.const_like(1)

    def reduction(self, dtype: DType, ranges: Sequence[UOp], depth: int) -> tuple[UOp, int]:
        rng = self.rng
        if self.reduced and rng.random() < 0.3:
            ended = rng.choice(self.reduced)
        else:
            ended = tuple(self.new_range(AxisType.REDUCE) for _ in range(rng.choice((1, 1, 2))))
            self.reduced.append(ended)
        steps = int(np.prod([int(r.src[0].vmax) for r in (*ranges, *ended)]))
        if set(ended) & set(ranges) or steps > _MAX_STEPS:
            return self.load(dtype, ranges)
        # a reduction may leave out ranges around it: then it is hoisted
        kept = [r for r in ranges if rng.random() < 0.85]
        value, most = self.value(dtype, (*kept, *ended), depth - 1)
        own = int(np.prod([int(r.src[0].vmax) for r in ended]))
        op = rng.choice((Ops.ADD, Ops.ADD, Ops.MAX, Ops.MUL))
        if op is Ops.MUL and is_float(dtype):
            op = Ops.MAX
        if op is Ops.ADD and most * own >= _exact(dtype):
            op = Ops.MAX
        return value.reduce(op, *ended), most * own if op is Ops.ADD else most if op is Ops.MAX else 1 << 62

    # --- memory ---

    def load(self, dtype: DType, ranges: Sequence[UOp]) -> tuple[UOp, int]:
        rng = self.rng
        gates: list[UOp] = []
        if rng.random() < 0.12:
            idx, numel = self.address(ranges)
            size = rng.randint(1, 9)
            at = self.param(rng.choice((dtypes.int32, dtypes.uint8, dtypes.int64)), numel, f"below{size}")
            dims: list[tuple[UOp, int]] = [(at.index(idx).load().cast(dtypes.index), size)]
            used = [r for r in ranges if rng.random() < 0.4]
        else:
            dims = []
            used = [r for r in ranges if rng.random() < 0.85]
        if rng.random() < 0.2:
            rng.shuffle(used)
        dims += [self.dimension(r, ranges, gates) for r in used]
        idx, numel = _flat(dims)
        gate = None
        for g in gates:
            gate = g if gate is None else gate & g
        return self.param(dtype, numel, "small").index(idx, gate).load(), 3

    def address(self, ranges: Sequence[UOp]) -> tuple[UOp, int]:
        return _flat([(r, int(r.src[0].vmax)) for r in ranges if self.rng.random() < 0.7])

    def dimension(self, r: UOp, ranges: Sequence[UOp], gates: list[UOp]) -> tuple[UOp, int]:
        """Return one index in terms of `r`, and how many values it may have."""
        rng, n = self.rng, int(r.src[0].vmax)
        choice = rng.random()
        if choice < 0.6:
            return r, n
        if choice < 0.66:
            return r * -1 + (n - 1), n
        if choice < 0.72:
            return r * 2 + rng.randint(0, 1), 2 * n
        if choice < 0.77:
            return r // 2, n // 2 + 1
        if choice < 0.8:
            return r % 3, 3
        if choice < 0.86:
            other = rng.choice(list(ranges))
            return r + other, n + int(other.src[0].vmax)
        before, inside = rng.randint(0, 2), rng.randint(1, max(n, 1))
        gates.append(~(r < before) & (r < before + inside))
        return r - before, inside


def _exact(dtype: DType) -> int:
    return _EXACT.get(dtype, 1 << 60)


def _flat(dims: Sequence[tuple[UOp, int]]) -> tuple[UOp, int]:
    idx, numel = UOp.const(dtypes.index, 0), 1
    for position, size in dims:
        idx, numel = idx * size + position, numel * size
    return idx, max(numel, 1)


_OPS = (
    *(OptOps.UPCAST,) * 5,
    *(OptOps.UNROLL,) * 3,
    *(OptOps.BLOCK,) * 2,
    *(OptOps.LOCAL,) * 3,
    *(OptOps.GROUP,) * 3,
    *(OptOps.JOIN,) * 2,
    *(OptOps.THREAD,) * 2,
    *(OptOps.SWAP,) * 2,
    *(OptOps.PADTO,) * 3,
    *(OptOps.SHIFTIN,) * 3,
    *(OptOps.SPLIT_REMAINDER,) * 3,
    *(OptOps.SPLIT,) * 3,
    *(OptOps.SHARE,) * 4,
)
_UNROLLED = (AxisType.UPCAST, AxisType.UNROLL, AxisType.PARTIAL)


def random_opts(kernel: KernelOpt, seed: int, most_copies: int = 64) -> tuple[Opt, ...]:
    """Apply random optimisations to `kernel` and return the accepted ones.

    Most are legal; the others have to be refused with a KernelOptError.
    """
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 2, 3, 4, 6))):
        axes = kernel.axes()
        if not axes:
            break
        op = rng.choice(_OPS)
        r = rng.choice(axes)
        size = constant_size(r) or 1
        divisors = [d for d in range(2, size + 1) if size % d == 0]
        count = rng.choice(divisors) if divisors and rng.random() < 0.9 else rng.randint(1, 9)
        arg = rng.choice(axes).arg.ident if op in (OptOps.SWAP, OptOps.JOIN) else count
        if op is OptOps.PADTO:
            arg = rng.choice((2, 4, 8, 16))
        if op is OptOps.SHARE:
            arg = _random_tile(kernel, count, rng)
        if op in (OptOps.SHIFTIN, OptOps.SPLIT_REMAINDER, OptOps.SPLIT):
            arg = rng.randint(2, max(2, size - 1))
        copies = np.prod([constant_size(u) or 1 for u in kernel.axes(*_UNROLLED)])
        if op in (OptOps.UPCAST, OptOps.UNROLL) and copies * count > most_copies:
            continue
        try:
            kernel.apply(Opt(op, r.arg.ident, arg))
        except KernelOptError:
            continue
    if rng.random() < 0.7:
        _copy_one(kernel, rng)
    return tuple(kernel.applied)


def _random_tile(kernel: KernelOpt, steps: int, rng: random.Random) -> GroupTile:
    """Return some steps of a reduced axis, and some output axes."""
    axes = [r.arg.ident for r in kernel.axes(AxisType.GLOBAL, AxisType.LOOP) if rng.random() < 0.6]
    return GroupTile(steps, tuple(axes), in_memory_order=rng.random() < 0.5, ahead=rng.randint(0, 2))


def _copy_one(kernel: KernelOpt, rng: random.Random) -> None:
    """Keep values, stage panels or hoist a reduced axis, as the last optimisation."""
    loops, reduced = (kernel.axes(kind) for kind in (AxisType.LOOP, AxisType.REDUCE))
    stages = [Opt(OptOps.STAGE, r.arg.ident) for r in loops]
    hoists = [Opt(OptOps.HOIST, r.arg.ident, loop.arg.ident) for r in reduced for loop in loops]
    opts = [Opt(OptOps.KEEP), *stages, *hoists]
    for opt in rng.sample(opts, len(opts)):
        try:
            kernel.apply(opt)
        except KernelOptError:
            continue
        return
