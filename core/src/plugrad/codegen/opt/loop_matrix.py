"""Choose matrix instructions of one thread, for targets that run loops.

Their columns are lanes of a vector. A tile of rows and vectors accumulates in registers; the columns' factor
is copied before the loop over the rows, in the order in which an instruction takes it.
"""

from collections.abc import Iterator

from plugrad.codegen.opt.grid.matrix import AlongAxis
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import MatrixTile, Opt, OptOps
from plugrad.codegen.opt.tensor_core import Product, products_of
from plugrad.codegen.opt.threads import add_threads
from plugrad.codegen.rebuild import ranges_of_reduce, stores_of
from plugrad.target import TensorCore
from plugrad.uop import AxisType, Ops, UOp
from plugrad.uop.strides import constant_size

# Vectors along the columns, and rows: of 32 registers, one has a row's factors, and a row of B the others.
_TILES = ((4, 6), (3, 8), (2, 12), (1, 14))


def use_matrix_loops(kernel: KernelOpt) -> bool:
    """Compute a product by matrix instructions of one thread; say whether there was one."""
    cores = [core for core in kernel.capabilities.tensor_cores if core.threads == 1]
    if not cores or len(stores_of(kernel.ast)) != 1 or not kernel.can_repeat():
        return False
    return any(_applied(kernel, core, p) for core in cores for p in products_of(kernel.ast, core))


def _applied(kernel: KernelOpt, core: TensorCore, product: Product) -> bool:
    columns, rows = product.columns[0], max(product.rows, key=_steps)
    if product.a.op is not Ops.LOAD or ranges_of_reduce(product.reduce) != product.inner[:1]:
        # another sum around, or work that each tile of columns would repeat
        return False
    if not core.suits_loops(_steps(rows), _steps(columns), _steps(product.inner[0])):
        return False
    for opts in _plans(kernel, core, columns, rows, product.inner[0]):
        trial = KernelOpt(kernel.ast, kernel.capabilities).apply_all(opts)
        add_threads(trial)
        if (loop := _loop_over(trial, rows)) is not None:
            kernel.apply_all(trial.applied)
            _move_inside(kernel, loop)
            kernel.apply(Opt(OptOps.STAGE, loop.arg.ident))
            return True
    return False


def _steps(r: UOp) -> int:
    return constant_size(r) or 0


def _plans(kernel: KernelOpt, core: TensorCore, columns: UOp, rows: UOp, inner: UOp) -> Iterator[list[Opt]]:
    lanes = core.dims[0]
    for vectors, height in _TILES:
        panel = _steps(inner) * vectors * lanes * core.dtype_in.itemsize
        if panel > kernel.capabilities.local_memory_bytes:
            continue
        if not kernel.fits_axis(_steps(columns), vectors * lanes):
            continue
        of_columns = AlongAxis(columns.arg.ident, _steps(columns), lanes, vectors)
        of_rows = AlongAxis(rows.arg.ident, _steps(rows), 1, height)
        tile = MatrixTile(core.name, rows=of_rows.tiled, inner=inner.arg.ident)
        yield [
            *of_rows.shifted(),
            *of_columns.shifted(),
            Opt(OptOps.TC, of_columns.tiled, tile),
            *of_rows.upcast(),
            *of_columns.upcast(),
        ]


def _loop_over(kernel: KernelOpt, rows: UOp) -> UOp | None:
    """Return the loop over tiles of rows that threads have left."""
    own = rows.arg.ident
    return next((r for r in kernel.axes(AxisType.LOOP) if r.arg.ident[: len(own)] == own), None)


def _move_inside(kernel: KernelOpt, loop: UOp) -> None:
    """Make a loop the innermost one: the others then have copies of their own."""
    (store,) = stores_of(kernel.ast)
    last = [r for r in store.src[2:] if r.op is Ops.RANGE and r.arg.kind is AxisType.LOOP][-1]
    if last is not loop:
        kernel.apply(Opt(OptOps.SWAP, loop.arg.ident, last.arg.ident))
