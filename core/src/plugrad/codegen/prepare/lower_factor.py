"""Give a factorization its loops, which change the matrix where the result belongs."""

from collections.abc import Callable
from typing import Any

from plugrad.codegen.factors.cholesky import cholesky
from plugrad.codegen.factors.eigh import eigenvectors
from plugrad.codegen.factors.householder import reflect
from plugrad.codegen.factors.loop_kernel import LoopKernel, Matrix
from plugrad.codegen.factors.lu import eliminate
from plugrad.codegen.factors.substitution import substitute
from plugrad.codegen.factors.svd import singular_vectors
from plugrad.codegen.factors.triangle import invert
from plugrad.codegen.rebuild import all_ranges
from plugrad.uop import Ops, UOp

_WRITERS: dict[str, Callable[[LoopKernel, Matrix], None]] = {
    "cholesky": cholesky,
    "eigh": eigenvectors,
    "householder": reflect,
    "inverse": invert,
    "lu": eliminate,
    "substitution": substitute,
    "svd": singular_vectors,
}


def lower_factor(sink: UOp, _: Any = None) -> UOp:
    """Replace a factorization by the steps that make it.

    before: STORE(INDEX(p, i*n + j), FACTOR(x(i, j), i, j), i, j)
    after:  STORE(INDEX(p, i*n + j), x(i, j), i, j), and after that the stores of the steps
    """
    (store, *others) = sink.src
    if others or store.src[1].op is not Ops.FACTOR:
        return sink
    place, value, *loops = store.src
    x, row, column = value.src
    around = [r for r in loops if r is not row and r is not column]
    kernel = LoopKernel(max(r.arg.ident[0] for r in all_ranges(sink)) + 1, around)
    kernel.add(store.replace(src=(place, x, *around, row, column)))
    _WRITERS[value.arg.kind](kernel, Matrix(kernel, place, row, column, value.arg.shape))
    return kernel.sink(sink.arg)
