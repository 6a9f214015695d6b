"""Order the loops of a register tile by what their steps load anew."""

from plugrad.codegen.opt.analysis import bodies_of, steps_of
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.opt.tile import moving
from plugrad.codegen.rebuild import stores_of
from plugrad.uop import AxisType, Ops, UOp


def order_loops(kernel: KernelOpt) -> None:
    """Move loops outside whose steps load most anew. What the innermost one repeats stays cached.

    What fits the first cache stays there in any order: for its sake no other memory is read in jumps.
    """
    stores = stores_of(kernel.ast)
    if len(stores) != 1:
        return
    main = max(bodies_of(kernel.ast)[1:], key=lambda b: b.steps)
    near = kernel.capabilities.cache_bytes[0]
    places = [p for p in moving(main) if nbytes_between(p.index) > near]
    loops = [r for r in stores[0].src[2:] if r.op is Ops.RANGE and r.arg.kind is AxisType.LOOP]

    def loaded_anew(r: UOp) -> int:
        moved = (p for p in places if p.moves(r))
        return sum(steps_of(set(p.index.ranges) - set(loops)) * p.index.dtype.itemsize for p in moved)

    for n, r in enumerate(sorted(loops, key=loaded_anew, reverse=True)):
        if loops[n] is not r:
            kernel.apply(Opt(OptOps.SWAP, loops[n].arg.ident, r.arg.ident))
            other = loops.index(r)
            loops[n], loops[other] = r, loops[n]


def nbytes_between(place: UOp) -> int:
    """Return the bytes from the lowest address of an INDEX to the highest."""
    address = place.src[1]
    return (int(address.vmax) - int(address.vmin) + 1) * place.dtype.itemsize
