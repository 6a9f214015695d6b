"""Choose what is copied into fast memory: tiles before loops, and what several loops compute."""

from plugrad.codegen.opt.analysis import steps_of
from plugrad.codegen.opt.keeping import kept_values
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.opt.staging import panels_of
from plugrad.codegen.rebuild import stores_of
from plugrad.target import LINE_BYTES
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
    capabilities = kernel.capabilities
    near, most = capabilities.cache_bytes[0], capabilities.cache_bytes[-1]
    memory = capabilities.local_memory_bytes
    is_wide = capabilities.vector_bits >= 8 * LINE_BYTES
    found = [(n, panels_of(kernel.ast, loop)) for n, loop in enumerate(loops)]
    for n, panels in found:
        is_whole = any(not set(loops).isdisjoint(p.axes) for p in panels)
        limit = min(near // 2, memory) if is_whole else memory
        if steps_of(loops[n:]) < _STEPS_TO_STAGE or sum(panel.nbytes for panel in panels) > limit:
            continue
        if any(p.span_bytes >= most or p.is_gathered or (is_wide and p.crosses_lines) for p in panels):
            kernel.apply(Opt(OptOps.STAGE, loops[n].arg.ident))
            return
    # products of whole vectors take elements from memory themselves, the sooner where these are side by side
    for n, panels in found if is_wide else ():
        again = min([steps_of(set(loops[n:]) - set(p.axes)) for p in panels], default=0)
        is_small = sum(panel.nbytes for panel in panels) <= min(most // 2, memory)
        if again >= _STEPS_TO_STAGE and is_small and all(p.is_gathered and p.is_loaded for p in panels):
            kernel.apply(Opt(OptOps.STAGE, loops[n].arg.ident))
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
