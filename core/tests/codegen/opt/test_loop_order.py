from dataclasses import replace

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

LOOPS = replace(CAPABILITIES, grid_dims=0, max_grid=(), max_workgroup=0, vector_bits=512, threads=2)
PANELS = replace(LOOPS, vector_registers=32, local_memory_bytes=1 << 20)


def param(slot: int, numel: int) -> UOp:
    return UOp(Ops.PARAM, dtypes.float32, (), (slot, numel))


def chosen(ast: UOp) -> list[Opt]:
    return optimise(KernelOpt(ast, PANELS)).applied


def windows(images: int, places: int) -> UOp:
    """Return the kernel of sums of four elements of images, each times a factor that all images share."""
    i, j, k = UOp.range(images, 0), UOp.range(places, 1), UOp.range(4, 2, AxisType.REDUCE)
    image = param(1, images * places * 4).index(i * (places * 4) + k * places + j).load()
    factor = param(2, places * 4).index(k * places + j).load()
    total = (image * factor).reduce(Ops.ADD, k)
    return UOp.sink(param(0, images * places).index(i * places + j).store(total, i, j), arg=KernelInfo())


def test_loops_are_not_turned_for_what_the_first_cache_holds_anyway() -> None:
    near, far = LOOPS.cache_bytes[0] // 32, LOOPS.cache_bytes[0]
    assert not any(opt.op is OptOps.SWAP for opt in chosen(windows(64, near)))
    assert any(opt.op is OptOps.SWAP for opt in chosen(windows(64, far)))
