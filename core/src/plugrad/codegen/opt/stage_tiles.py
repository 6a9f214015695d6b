"""Choose what is copied into fast memory: tiles before loops, and what several loops compute."""

from plugrad.codegen.opt.analysis import steps_of
from plugrad.codegen.opt.keeping import kept_values
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.opt.staging import panels_of
from plugrad.codegen.rebuild import stores_of
from plugrad.uop import AxisType

# Steps of a loop from which a copy made before it costs little beside it: it is about one step.
_STEPS_TO_STAGE = 16


def stage_tiles(kernel: KernelOpt) -> None:
    """Copy tiles that inner loops of a reduction reread from uncached or gathered places.

    The lines and pages of a tile of columns are as many as the rows: they crowd a few sets of each cache. The
    copy is made before the outermost loop inside of which it does not change, or where all of it is small.
    """
    loops = [r for s in stores_of(kernel.ast)[:1] for r in s.src[2:] if r.arg.kind is AxisType.LOOP]
    if not loops or len(stores_of(kernel.ast)) != 1 or not kernel.can_repeat():
        return
    near, most = kernel.capabilities.cache_bytes[0], kernel.capabilities.cache_bytes[-1]
    memory = kernel.capabilities.local_memory_bytes
    for n, loop in enumerate(loops):
        panels = panels_of(kernel.ast, loop)
        is_whole = any(not set(loops).isdisjoint(p.axes) for p in panels)
        limit = min(near // 2, memory) if is_whole else memory
        if steps_of(loops[n:]) < _STEPS_TO_STAGE or sum(panel.nbytes for panel in panels) > limit:
            continue
        if any(panel.span_bytes >= most or panel.is_gathered for panel in panels):
            kernel.apply(Opt(OptOps.STAGE, loop.arg.ident))
            return


def keep_values(kernel: KernelOpt) -> None:
    """Keep what a reduction and another loop compute alike, where the caches hold it."""
    if len(stores_of(kernel.ast)) != 1 or not kernel.can_repeat():
        return
    if any(opt.op in (OptOps.STAGE, OptOps.HOIST) for opt in kernel.applied):
        return
    most = min(kernel.capabilities.cache_bytes[-1], kernel.capabilities.local_memory_bytes)
    if 0 < sum(kept.nbytes for kept in kept_values(kernel.ast)) <= most:
        kernel.apply(Opt(OptOps.KEEP))
