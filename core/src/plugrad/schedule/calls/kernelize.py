"""Turn the graphs of rangeify into kernels that are independent of their buffers.

Buffers become numbered parameters, ranges and variables get canonical names: equal computations are the same
object, whatever tensors they were written with, so they are lowered and compiled once.
"""

import itertools
import math
from typing import Any

from plugrad._frozen import frozen
from plugrad.schedule.calls.memory_parts import take_parts
from plugrad.schedule.fused_kernel import FusedKernel
from plugrad.schedule.movement import max_shape
from plugrad.schedule.rangeify import Rangeify
from plugrad.schedule.versions import part_of, slice_of
from plugrad.uop import Axis, AxisType, KernelInfo, Ops, UOp, simplify


@frozen
class KernelCall:
    """One step of a schedule: a kernel (or a COPY) and its memory.

    Attributes:
        ast: the kernel's SINK, or COPY of a PARAM.
        memory: slot by slot, the node that owns the memory (a BUFFER, or the root of the call that makes it),
            or a part of it. Slot 0 is written.
        root: the value that this call brings about.
        reads: the versions of memory that it reads: a BUFFER, an AFTER, or the root of another call.
        target: the version of memory that it writes over; None where the memory is its own.
        device: where it runs.
        after: values whose calls, if there are any, run before it, though it reads nothing of theirs.
        others: calls whose work it does as well, with results of their own.
    """

    ast: UOp
    memory: tuple[UOp, ...]
    root: UOp
    reads: tuple[UOp, ...]
    target: UOp | None
    device: str
    after: tuple[UOp, ...] = ()
    others: "tuple[KernelCall, ...]" = ()

    @property
    def roots(self) -> tuple[UOp, ...]:
        """The values that it brings about, with those of others."""
        return (self.root, *[other.root for other in self.others])

    @property
    def targets(self) -> tuple[UOp, ...]:
        """The versions of memory that it writes over."""
        return tuple([call.target for call in (self, *self.others) if call.target is not None])


def make_kernel_call(kernel: FusedKernel, walk: Rangeify) -> KernelCall:
    """Return `kernel` with canonical parameters, ranges and name."""
    if kernel.ast is None:
        return _copy(kernel, walk)
    root = kernel.root
    cost, written = walk.cost.get(kernel.device), walk.storage_of(root)
    takes_parts = cost is not None and cost.takes_parts
    ast, parts = take_parts(
        simplify(kernel.ast),
        lambda param: takes_parts and walk.storage_of(walk.memory_of(param)) is not written,
        cost.max_buffers if cost is not None else 0,
    )
    renamed: dict[UOp, UOp] = {}
    memory: list[UOp] = []
    reads: dict[UOp, None] = {}
    axes = itertools.count()
    # the output's parameter and ranges come first, then everything in the order of use
    for u in (ast.src[0].src[0], *ast.src[2:], *ast.toposort()):
        if u in renamed:
            continue
        if u.op is Ops.PARAM:
            part = parts.get(u)
            version = walk.memory_of(u if part is None else part.whole)
            owner = walk.storage_of(version)
            if version is not root:
                reads[version] = None
            # versions of one buffer share a slot: a kernel may write what it has read at the same place
            place = owner if part is None else part_of(owner, part.begin, u.arg[1])
            if place not in memory:
                memory.append(place)
            renamed[u] = u.replace(arg=(memory.index(place), u.arg[1]))
        elif u.op is Ops.RANGE:
            size = u.src[0].substitute(renamed)
            renamed[u] = UOp(Ops.RANGE, u.dtype, (size,), Axis((next(axes),), u.arg.kind))
    ast = ast.substitute(renamed)
    target = root.src[0].base if root.op is Ops.ASSIGN else None
    if target is not None and root.arg is not None:
        reads[target] = None
    sink = UOp.sink(ast, arg=KernelInfo(kernel_name(ast)))
    return KernelCall(sink, tuple(memory), root, tuple(reads), target, kernel.device, tuple(kernel.after))


def written_kernel(u: UOp, walk: Rangeify) -> KernelCall:
    """Return the call that the graph spells out as the KERNEL `u`."""
    memory = tuple(map(walk.storage_of, u.src))
    return KernelCall(u.arg, memory, u, u.src[1:], u.src[0], str(u.src[0].device))


def _copy(kernel: FusedKernel, walk: Rangeify) -> KernelCall:
    root = kernel.root
    source = root.src[0]
    numel: Any = math.prod(max_shape(root.shape))
    place = UOp(Ops.PARAM, source.dtype, (), (1, numel))
    if source in walk.kernels and source.op is not Ops.ASSIGN:
        memory, version = source, source
    else:
        shown = slice_of(source)
        assert shown is not None, "normalize puts elements in order before they are copied"
        memory, version = part_of(*shown, numel), source.base
    return KernelCall(place.copy_to_device(root.arg), (root, memory), root, (version,), None, kernel.device)


def kernel_name(ast: UOp) -> str:
    """Return the name of a kernel: its kind, and the trip counts of its loops."""
    ranges = sorted((u for u in ast.toposort() if u.op is Ops.RANGE), key=lambda r: r.arg.ident)
    sizes = [str(r.src[0].vmax) for r in ranges]
    head = "reduce" if any(r.arg.kind is AxisType.REDUCE for r in ranges) else "map"
    return "_".join((head, *(sizes or ["1"])))
