"""Random products of matrices, and random matrix instructions that compute them, from a seed.

Any order of any axes in memory, batches, rows and columns of several axes, sizes that no tile divides, masks,
factors that are computed, and results that are used further. Values stay integers that every dtype holds.
"""

import random
from collections.abc import Sequence

import numpy as np

from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import AxisId, GroupTile, MatrixTile, Opt, OptOps
from plugrad.codegen.opt.tensor_core import products_of
from plugrad.dtype import DType, dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Fragment, TensorCore
from plugrad.uop import AxisType, KernelInfo, Ops, UOp
from plugrad.uop.strides import constant_size
from plugrad_conformance.testing.kernels import storage_of
from plugrad_conformance.testing.random_kernels import RandomKernel, random_opts

_DTYPES = (
    (dtypes.float16, dtypes.float32),
    (dtypes.bfloat16, dtypes.float32),
    (dtypes.float32, dtypes.float32),
    (dtypes.int8, dtypes.int32),
    (dtypes.uint8, dtypes.uint32),
    (dtypes.float64, dtypes.float64),
)


def random_core(seed: int) -> TensorCore:
    """Return a matrix instruction of small random dimensions whose fragments are laid out at random.

    Example:
        >>> random_core(0).threads in (2, 4, 8)
        True
    """
    rng = random.Random(seed)
    bits = [rng.randint(1, 3) for _ in range(3)]
    columns, rows, inner = bits
    sides = {"a": (("m", rows), ("k", inner)), "b": (("k", inner), ("n", columns))}
    sides["c"] = (("m", rows), ("n", columns))
    most = min(sum(n for _, n in side) for side in sides.values())
    shared = rng.randint(1, min(3, most))
    fragments = {name: _random_fragment(rng, side, shared) for name, side in sides.items()}
    dtype_in, dtype_out = rng.choice(_DTYPES)
    n, m, k = (1 << b for b in bits)
    a, b, c = (fragments[name] for name in "abc")
    return TensorCore("random", (n, m, k), 1 << shared, dtype_in, dtype_out, a, b, c)


def _random_fragment(rng: random.Random, side: Sequence[tuple[str, int]], shared: int) -> Fragment:
    bits = [f"{axis}{i}" for axis, count in side for i in range(count)]
    rng.shuffle(bits)
    return Fragment(threads=tuple(bits[:shared]), places=tuple(bits[shared:]))


def random_product(seed: int, core: TensorCore) -> RandomKernel:
    """Return a random product of matrices in dtypes of `core`, mostly with divisible axes."""
    return _Writer(random.Random(seed), core).kernel()


def random_product_opts(kernel: KernelOpt, seed: int, core: TensorCore) -> tuple[Opt, ...]:
    """Apply `core` and random optimisations to `kernel`; return the accepted ones.

    Axes that the tile does not divide are padded first. Where the kernel refuses the instruction, only the
    others are there.
    """
    rng = random.Random(seed)
    products = products_of(kernel.ast, core)
    if products:
        found = rng.choice(products)
        axes = [rng.choice(choices) for choices in (found.columns, found.rows, found.inner)]
        for r, step in zip(axes, core.dims, strict=True):
            if (constant_size(r) or 1) % step:
                kernel.apply(Opt(OptOps.PADTO, r.arg.ident, step))
        column, row, inner = (r.arg.ident for r in axes)
        if rng.random() < 0.5:
            inner = _shared(kernel, (column, row), inner, core.dims[2], rng)
        try:
            kernel.apply(Opt(OptOps.TC, column, MatrixTile(core.name, row, inner)))
        except KernelOptError:
            # copies also move with axes of rows outside of the tile, which may have been the fastest
            if not any(opt.op is OptOps.SHARE for opt in kernel.applied):
                raise
    return random_opts(kernel, seed + 1, 32)


def _shared(
    kernel: KernelOpt, axes: Sequence[AxisId], inner: AxisId, depth: int, rng: random.Random
) -> AxisId:
    """Share both factors where a group can; return the axis of the instruction."""
    padded = constant_size(kernel.axis(inner)) or 1
    steps = rng.choice([n for n in range(depth, padded + 1, depth) if padded % n == 0])
    tile = GroupTile(steps, tuple(axes), in_memory_order=rng.random() < 0.5, ahead=rng.randint(0, 2))
    try:
        kernel.apply(Opt(OptOps.SHARE, inner, tile))
    except KernelOptError:
        return inner
    return (*inner, 1)


class _Writer:
    def __init__(self, rng: random.Random, core: TensorCore) -> None:
        self.rng, self.core = rng, core
        self.params: list[tuple[DType, int]] = []
        self.axes = 0

    def kernel(self) -> RandomKernel:
        rng, core = self.rng, self.core
        n, m, k = core.dims
        columns, rows = self.side(n, AxisType.LOOP), self.side(m, AxisType.LOOP)
        batch = self.side(1, AxisType.LOOP) if rng.random() < 0.3 else []
        outputs = [*batch, *rows, *columns]
        rng.shuffle(outputs)
        inner = self.side(k, AxisType.REDUCE)
        place = self.place(core.dtype_out, outputs)
        factors = [self.factor([*batch, *rows, *inner]), self.factor([*batch, *columns, *inner])]
        rng.shuffle(factors)
        product = factors[0].cast(core.dtype_out) * factors[1].cast(core.dtype_out)
        value = self.used(product.reduce(Ops.ADD, *inner), columns, place)
        ast = UOp.sink(place.store(value, *outputs), arg=KernelInfo("product"))
        buffers = tuple(self.contents(*param) for param in self.params)
        return RandomKernel(ast, buffers, tuple(dtype for dtype, _ in self.params), {})

    def side(self, step: int, kind: AxisType) -> list[UOp]:
        """Return one axis or two, most of them divisible by `step`."""
        rng = self.rng
        size = step * rng.choice((1, 2, 2, 3)) if rng.random() < 0.8 else rng.randint(2, 2 * step + 1)
        sizes = [size, rng.choice((2, 3))] if rng.random() < 0.25 else [size]
        rng.shuffle(sizes)
        return [self.range(n, kind) for n in sizes]

    def range(self, size: int, kind: AxisType) -> UOp:
        self.axes += 1
        return UOp.range(size, (self.axes,), kind)

    def place(self, dtype: DType, axes: Sequence[UOp]) -> UOp:
        """Return where an element lies in a new buffer that has `axes` in random order."""
        in_order = list(axes)
        if self.rng.random() < 0.5:
            self.rng.shuffle(in_order)
        index, count = UOp.const(dtypes.index, 0), 1
        for r in in_order:
            size = constant_size(r) or 1
            index, count = index * size + r, count * size
        offset = self.rng.choice((0, 0, 0, 1, 4))
        self.params.append((dtype, count + offset))
        return UOp(Ops.PARAM, dtype, (), (len(self.params) - 1, count + offset)).index(index + offset)

    def factor(self, axes: Sequence[UOp]) -> UOp:
        rng, dtype = self.rng, self.core.dtype_in
        x = self.place(dtype, axes).load()
        choice = rng.random()
        if choice < 0.15:
            other = self.place(dtype, [r for r in axes if rng.random() < 0.7]).load()
            return x.alu(rng.choice((Ops.ADD, Ops.MAX)), other)
        if choice < 0.3:
            r = rng.choice(list(axes))
            return (r < rng.randint(1, constant_size(r) or 1)).where(x, x.const_like(0))
        if choice < 0.4:
            stored = self.place(dtypes.int32, axes).load()
            return stored.maximum(stored.const_like(0)).cast(dtype)
        return x

    def used(self, total: UOp, columns: Sequence[UOp], place: UOp) -> UOp:
        choice, dtype = self.rng.random(), total.dtype
        if choice < 0.15:
            return total.maximum(total.const_like(0)) + total.const_like(1)
        if choice < 0.35:
            return total + self.place(dtype, columns).load()
        if choice < 0.5:
            # in place: a store that runs twice shows
            return total + place.load()
        return total

    def contents(self, dtype: DType, count: int) -> np.ndarray:
        rng = np.random.default_rng(self.rng.randrange(1 << 30))
        lowest = 0 if dtype in (dtypes.uint8, dtypes.uint32) else -3
        return storage_of(rng.integers(lowest, 4, count), dtype)
