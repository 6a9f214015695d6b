"""Compute products of matrices with the target's matrix instructions.

The threads of a warp hold the tiles of A, B and C together; which element each of them has in which place is
data (`plugrad.target.Fragment`). So a fragment of A is a vector of A's own expression, with the axes it moves
along exchanged for coordinates that the thread's number and the place say; and the axes of the result become
the coordinates of C.
"""

from collections.abc import Iterator, Sequence

from plugrad._frozen import frozen
from plugrad.codegen.opt.opt_ops import MatrixTile
from plugrad.codegen.rebuild import all_ranges, at, ranges_of_reduce, rebuild, stores_of
from plugrad.dtype import DType
from plugrad.errors import KernelOptError
from plugrad.target import Fragment, FragmentLoad, TensorCore
from plugrad.uop import AxisType, Ops, UOp, identity_of
from plugrad.uop.strides import coefficient, constant_size, is_multiple


@frozen
class Product:
    """A sum of products in a kernel: `sum(a * b)`.

    `a` is over rows and inner axis, `b` over inner and columns.

    Attributes:
        reduce: the REDUCE.
        a: the factor that moves with the rows.
        b: the factor that moves with the columns.
        columns: output axes that only `b` moves along, the fastest first.
        rows: output axes that only `a` moves along, the fastest first.
        inner: reduced axes that both move along, those with contiguous memory first.
    """

    reduce: UOp
    a: UOp
    b: UOp
    columns: tuple[UOp, ...]
    rows: tuple[UOp, ...]
    inner: tuple[UOp, ...]


def products_of(ast: UOp, core: TensorCore) -> list[Product]:
    """Return the sums of products in a kernel with the dtypes of `core`."""
    axes = [r for s in stores_of(ast)[:1] for r in reversed(s.src[2:]) if r.op is Ops.RANGE]
    return [p for u in ast.toposort() for p in _products(u, core, axes)]


def _products(u: UOp, core: TensorCore, axes: Sequence[UOp]) -> Iterator[Product]:
    if u.op is not Ops.REDUCE or u.arg != (Ops.ADD, 1) or u.dtype is not core.dtype_out:
        return
    x, y = _factors(u.src[0], core.dtype_in)
    if x is None or y is None or any(u.op is Ops.REDUCE for u in UOp.sink(x, y).toposort()):
        # each place of a fragment would repeat a reduction inside of a factor
        return
    both = (x, y)
    only_x = [r for r in axes if r in x.ranges and r not in y.ranges]
    only_y = [r for r in axes if r in y.ranges and r not in x.ranges]
    inner = sorted(
        (r for r in ranges_of_reduce(u) if r in x.ranges and r in y.ranges and constant_size(r)),
        key=lambda r: sum(_is_contiguous(f, r) for f in both),
        reverse=True,
    )
    if not only_x or not only_y or not inner:
        return
    # the fastest axis is that of the columns: what neighbouring places hold is stored side by side
    if axes.index(only_x[0]) < axes.index(only_y[0]):
        x, y, only_x, only_y = y, x, only_y, only_x
    yield Product(u, x, y, tuple(only_y), tuple(only_x), tuple(inner))


def _factors(value: UOp, dtype: DType) -> tuple[UOp | None, UOp | None]:
    """Return the factors of a product. Padded steps are 0."""
    if value.op is Ops.WHERE and value.src[2].op is Ops.CONST and value.src[2].arg == 0:
        inside, product, _ = value.src
        x, y = _factors(product, dtype)
        return _gated(inside, x), _gated(inside, y)
    if value.op is not Ops.MUL:
        return None, None
    x, y = value.src
    return _factor(x, dtype), _factor(y, dtype)


def _gated(inside: UOp, x: UOp | None) -> UOp | None:
    return None if x is None else inside.where(x, x.const_like(0))


def _factor(x: UOp, dtype: DType) -> UOp | None:
    """Return the factor in the dtype that the instruction takes, where it is one."""
    if x.op is Ops.CAST and x.src[0].dtype is dtype:
        return x.src[0]
    return x if x.dtype is dtype else None


def _is_contiguous(x: UOp, r: UOp) -> bool:
    places = [u for u in x.toposort() if u.op is Ops.INDEX and r in u.ranges]
    return bool(places) and all(coefficient(u.src[1], r) == 1 for u in places)


@frozen
class Coordinate:
    """The value of an axis in terms of others, and their loops."""

    value: UOp
    parts: tuple[UOp, ...]


@frozen
class Tiled:
    """A kernel whose product is made of matrix instructions, before its output axes are exchanged.

    Attributes:
        ast: the kernel.
        columns: what takes the place of the columns' axis.
        rows: what takes the place of the rows' axis.
        warp: the threads of a warp, which end with both; of one thread, its number.
    """

    ast: UOp
    columns: Coordinate
    rows: Coordinate
    warp: UOp


def tiled(ast: UOp, tile: MatrixTile, columns: UOp, core: TensorCore) -> Tiled:
    """Write the product of a kernel with `core`.

    Args:
        ast: the kernel.
        tile: the instruction and its other axes.
        columns: the axis of the columns of B.
        core: what `tile` names.

    Raises:
        KernelOptError: there is no such product, or the tile does not divide an axis.
    """
    products = [p for p in products_of(ast, core) if _is_meant(p, tile, columns)]
    if len(products) != 1:
        raise KernelOptError(
            f"{core.name} takes a sum of products of {core.dtype_in.name} in {core.dtype_out.name}, over "
            f"axis {tile.inner}, of a factor along {tile.rows} and one along {columns.arg.ident}: this "
            f"kernel has {len(products)} of them."
        )
    (product,) = products
    rows = next(r for r in product.rows if r.arg.ident == tile.rows)
    inner = next(r for r in product.inner if r.arg.ident == tile.inner)
    _check_alone(ast, product.reduce, inner)
    for r, size in zip((columns, rows, inner), core.dims, strict=True):
        if (constant_size(r) or 0) % size:
            where = f"{size} steps of axis {r.arg.ident}, which do not divide its {r.src[0].vmax}"
            raise KernelOptError(f"{core.name} takes {where}. Use SHIFTIN or PADTO first.")
    return _Tiling(ast, core, product, columns, rows, inner).run()


def _is_meant(product: Product, tile: MatrixTile, columns: UOp) -> bool:
    return (
        columns in product.columns
        and any(r.arg.ident == tile.rows for r in product.rows)
        and any(r.arg.ident == tile.inner for r in product.inner)
    )


def _check_alone(ast: UOp, reduce: UOp, inner: UOp) -> None:
    others = [u for u in ast.toposort() if u.op is Ops.REDUCE and u is not reduce]
    if any(inner in ranges_of_reduce(u) for u in others):
        raise KernelOptError(f"another reduction runs over axis {inner.arg.ident}: it would lose its steps.")


class _Tiling:
    def __init__(
        self, ast: UOp, core: TensorCore, product: Product, columns: UOp, rows: UOp, inner: UOp
    ) -> None:
        self.ast, self.core, self.product = ast, core, product
        self.axes = {"n": columns, "m": rows, "k": inner}
        self.sizes = dict(zip("nmk", core.dims, strict=True))
        free = max(r.arg.ident[0] for r in all_ranges(ast)) + 1
        warp = UOp.range(core.threads, (free,), AxisType.WARP)
        self.warp = warp if core.threads > 1 else warp.const_like(0)
        self.outer = {name: self._outer(name) for name in "nmk"}

    def _outer(self, name: str) -> UOp:
        """Return the axis that counts tiles; of one tile, its number."""
        r = self.axes[name]
        tiles = (constant_size(r) or 0) // self.sizes[name]
        return r.const_like(0) if tiles == 1 else UOp.range(tiles, (*r.arg.ident, 0), r.arg.kind)

    def run(self) -> Tiled:
        c = self.core.c
        runs = list(_runs(c.places))
        places = [self._upcast_range(number, run) for number, run in enumerate(runs)]
        number = self.warp.const_like(0)
        for run, place in zip(runs, places, strict=True):
            number = number + place * (1 << run.first)
        result = _picked(self._accumulated(), number)
        ast = rebuild(self.ast, lambda u: result if u is self.product.reduce else None)
        columns, rows = (self._coordinate(name, runs, places) for name in "nm")
        return Tiled(ast, columns, rows, self.warp)

    def _upcast_range(self, number: int, run: "_Run") -> UOp:
        ident = (*self.axes[run.axis].arg.ident, 1 + number)
        return UOp.range(1 << run.length, ident, AxisType.UPCAST)

    def _coordinate(self, name: str, runs: "Sequence[_Run]", places: Sequence[UOp]) -> Coordinate:
        """Return an output axis as tile, vector element and thread position."""
        value = self.outer[name] * self.sizes[name] + _bits(name, self.core.c.threads, self.warp)
        own = [(run, place) for run, place in zip(runs, places, strict=True) if run.axis == name]
        for run, place in own:
            value = value + place * (1 << run.bit)
        loops = (self.outer[name],) if self.outer[name].op is Ops.RANGE else ()
        return Coordinate(value, (*loops, *(place for _, place in own)))

    def _accumulated(self) -> UOp:
        """Return the fragment of the result."""
        core, product = self.core, self.product
        a = self._fragment(product.a, core.a, "mk")
        b = self._fragment(product.b, core.b, "kn")
        total = self._sum_of_products(a, b)
        # 0 is multiplied as what is added to each element of A
        return total - self._sum_of_products(a.const_like(0), b) if core.offset else total

    def _sum_of_products(self, a: UOp, b: UOp) -> UOp:
        core, out = self.core, self.core.dtype_out.vec(self.core.c.count)
        zero = UOp.const(out, identity_of(Ops.ADD, out))
        tile = UOp(Ops.WMMA, out, (a, b, zero), core)
        kept = (r for r in ranges_of_reduce(self.product.reduce) if r is not self.axes["k"])
        loops = tuple(r for r in (*kept, self.outer["k"]) if r.op is Ops.RANGE)
        return UOp(Ops.REDUCE, out, (tile, *loops), (Ops.ADD, 1)) if loops else tile

    def _fragment(self, factor: UOp, fragment: Fragment, names: str) -> UOp:
        if (loaded := self._loaded_rows(factor, fragment, names)) is not None:
            return loaded
        lanes: list[UOp] = []
        for place in range(fragment.count):
            element = factor
            for name in names:
                bits = _bits(name, fragment.threads, self.warp) + fragment.coordinate(name, 0, place)
                element = at(element, self.axes[name], self.outer[name] * self.sizes[name] + bits)
            lanes.append(element)
        if fragment.count == 1:
            return lanes[0]
        return UOp(Ops.VECTORIZE, self.core.dtype_in.vec(fragment.count), tuple(lanes))

    def _loaded_rows(self, factor: UOp, fragment: Fragment, names: str) -> UOp | None:
        """Return a fragment as one load of all threads.

        None unless it is in local memory in rows of 16 bytes.
        """
        if not self.core.loads_rows or factor.op is not Ops.LOAD or not _is_local(factor.src[0]):
            return None
        together = 4 // self.core.dtype_in.itemsize
        of_word = together.bit_length() - 1
        within, four = fragment.places[:of_word], fragment.threads[:2]
        eight, matrices = fragment.threads[2:], fragment.places[of_word:]
        place = factor.src[0].src[1]
        row = next((name for name in names if coefficient(place, self.axes[name]) == 1), "")
        if (*within, *four) == tuple(f"{row}{bit}" for bit in range(of_word + 2)):
            bits = (*eight, *matrices)
        elif together == 2 and eight == tuple(f"{row}{bit}" for bit in range(3)):
            bits = (*within, *four, *matrices)
        else:
            return None
        start = factor.src[0]
        for name in names:
            value = self.outer[name] * self.sizes[name] + _bits(name, bits, self.warp)
            start = at(start, self.axes[name], value)
        if not is_multiple(start.src[1], 4 * together):
            return None
        load = FragmentLoad(1 << len(matrices), is_transposed=bits[: len(eight)] != eight)
        return UOp(Ops.LOAD_MATRIX, self.core.dtype_in.vec(fragment.count), (start,), load)


def _is_local(place: UOp) -> bool:
    memory = place.src[0].src[0] if place.src[0].op is Ops.AFTER else place.src[0]
    return memory.op is Ops.DEFINE_LOCAL and len(place.src) == 2


@frozen
class _Run:
    """Neighbouring bits of a number that are neighbouring bits of a coordinate."""

    axis: str
    first: int
    bit: int
    length: int


def _runs(bits: Sequence[str]) -> Iterator[_Run]:
    first = 0
    for i in range(1, len(bits) + 1):
        axis, bit = bits[first][0], int(bits[first][1:])
        if i == len(bits) or bits[i] != f"{axis}{bit + i - first}":
            yield _Run(axis, first, bit, i - first)
            first = i


def _bits(name: str, bits: Sequence[str], number: UOp) -> UOp:
    """Return the bits of the coordinate `name` in `number`."""
    out = number.const_like(0)
    for run in _runs(bits):
        if run.axis == name:
            out = out + number // (1 << run.first) % (1 << run.length) * (1 << run.bit)
    return out


def _picked(vector: UOp, number: UOp) -> UOp:
    """Return the lane of number `number`, a choice that unrolling decides."""
    out = vector.gep(0)
    for i in range(1, vector.dtype.count):
        out = number.eq(i).where(vector.gep(i), out)
    return out
